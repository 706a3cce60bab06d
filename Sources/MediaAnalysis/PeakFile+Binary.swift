internal import MediaBase

/// Reads 32-bit little-endian numbers from the front of an array.
struct LittleEndianReader {
    let bytes: [UInt8]
    private(set) var offset = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The next number; `nil` where fewer than four bytes are left.
    mutating func next() -> UInt32? {
        guard bytes.count - offset >= 4 else { return nil }
        var value: UInt32 = 0
        for index in 0..<4 { value |= UInt32(bytes[offset + index]) << UInt32(8 * index) }
        offset += 4
        return value
    }
}

extension PeakFile {
    private static let eightBitFlag: UInt32 = 1

    /// Version 1 for one channel, else version 2; the caller has checked that the format holds the peaks.
    static func encodeBinary(_ peaks: Peaks) -> [UInt8] {
        let isVersion1 = peaks.channels == 1
        var header: [UInt32] = [
            isVersion1 ? 1 : 2,
            peaks.bits == 8 ? eightBitFlag : 0,
            UInt32(truncatingIfNeeded: peaks.sampleRate),
            UInt32(truncatingIfNeeded: peaks.samplesPerPixel),
            UInt32(truncatingIfNeeded: peaks.length),
        ]
        if !isVersion1 { header.append(UInt32(truncatingIfNeeded: peaks.channels)) }

        let width = peaks.bits / 8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(header.count * 4 + peaks.data.count * width)
        for number in header {
            for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * index))) }
        }
        if width == 1 {
            for value in peaks.data { bytes.append(UInt8(truncatingIfNeeded: value)) }
        } else {
            for value in peaks.data {
                bytes.append(UInt8(truncatingIfNeeded: value))
                bytes.append(UInt8(truncatingIfNeeded: value >> 8))
            }
        }
        return bytes
    }

    static func decodeBinary(_ bytes: [UInt8]) throws(MediaError) -> Peaks {
        var reader = LittleEndianReader(bytes: bytes)
        guard let version = reader.next(), version == 1 || version == 2 else {
            throw MediaError(.unknownFormat, "not a peaks file of version 1 or 2")
        }
        guard let flags = reader.next(), let sampleRate = reader.next(), let samplesPerPixel = reader.next(),
            let length = reader.next(), let channels = version == 1 ? 1 : reader.next()
        else { throw MediaError(.damaged, "the peaks file ends inside its header") }
        guard flags & ~eightBitFlag == 0 else {
            throw MediaError(.damaged, "the peaks file sets flags that its format does not have")
        }
        // The format has signed numbers here, so a large one is a negative one.
        try checkHeader(
            sampleRate: Int(Int32(bitPattern: sampleRate)), samplesPerPixel: Int(Int32(bitPattern: samplesPerPixel)),
            channels: Int(Int32(bitPattern: channels)))

        let width = flags & eightBitFlag == 0 ? 2 : 1
        // At most 2^32 · 24 · 2 · 2, far inside 64 bits.
        let count = Int(length) * Int(channels) * 2
        let present = bytes.count - reader.offset
        guard count * width == present else {
            throw MediaError(
                .damaged, "the peaks file states \(length) points, which is not what its \(present) bytes of data hold")
        }
        guard count <= Peaks.maximumValueCount else {
            throw MediaError(.limitExceeded, "the peaks file holds more than \(Peaks.maximumValueCount) values")
        }
        var data: [Int16] = []
        data.reserveCapacity(count)
        let values = bytes.span.extracting(last: present)
        if width == 1 {
            for index in 0..<count { data.append(Int16(Int8(bitPattern: values[index]))) }
        } else {
            for index in 0..<count {
                let low = UInt16(values[2 * index])
                let high = UInt16(values[2 * index + 1])
                data.append(Int16(bitPattern: high << 8 | low))
            }
        }
        return try makePeaks(
            sampleRate: Int(sampleRate), samplesPerPixel: Int(samplesPerPixel), channels: Int(channels),
            bits: width * 8, data: data)
    }
}
