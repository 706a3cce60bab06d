package import MediaBase

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

    /// The caller has checked that the format holds the peaks.
    static func encodeBinary(_ peaks: Peaks) -> [UInt8] {
        var bytes = binaryHeader(of: peaks, length: peaks.length)
        bytes.reserveCapacity(bytes.count + peaks.data.count * peaks.bits / 8)
        appendBinary(peaks.data.span, bits: peaks.bits, to: &bytes)
        return bytes
    }

    /// Version 1 for one channel, else version 2.
    private static func binaryHeader(of peaks: Peaks, length: Int) -> [UInt8] {
        let isVersion1 = peaks.channels == 1
        var header: [UInt32] = [
            isVersion1 ? 1 : 2,
            peaks.bits == 8 ? eightBitFlag : 0,
            UInt32(truncatingIfNeeded: peaks.sampleRate),
            UInt32(truncatingIfNeeded: peaks.samplesPerPixel),
            UInt32(truncatingIfNeeded: length),
        ]
        if !isVersion1 { header.append(UInt32(truncatingIfNeeded: peaks.channels)) }

        return header.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) } }
    }

    private static func appendBinary(_ values: Span<Int16>, bits: Int, to bytes: inout [UInt8]) {
        if bits == 8 {
            for index in 0..<values.count { bytes.append(UInt8(truncatingIfNeeded: values[index])) }
        } else {
            let start = bytes.count
            bytes += [UInt8](repeating: 0, count: values.count * 2)
            var span = bytes.mutableSpan
            for index in 0..<values.count {
                span[start &+ 2 &* index] = UInt8(truncatingIfNeeded: values[index])
                span[start &+ 2 &* index &+ 1] = UInt8(truncatingIfNeeded: values[index] >> 8)
            }
        }
    }

    /// Makes a binary file of peaks that are not in memory as a whole: the header, and then block by block.
    ///
    /// ```swift
    /// var file = try PeakFile.BinaryBlocks(tail, length: spilled + tail.length, bits: 8)
    /// try output.write(contentsOf: file.header)
    /// try output.write(contentsOf: file.encode(block.span))
    /// ```
    package struct BinaryBlocks {
        /// What the file begins with.
        package let header: [UInt8]
        private let bits: Int

        /// - Parameters:
        ///   - peaks: Some of the peaks, with 16 bits.
        ///   - length: The number of all points.
        ///   - bits: The resolution in the file: 8 or 16.
        /// - Throws: ``MediaError`` `unsupported` as ``PeakFile/encode(_:as:)`` does.
        package init(_ peaks: Peaks, length: Int, bits: Int) throws(MediaError) {
            try PeakFile.checkWritable(peaks)
            self.bits = bits
            header = PeakFile.binaryHeader(of: try peaks.emptied().converted(toBits: bits), length: length)
        }

        /// The bytes of some values of 16 bits.
        package func encode(_ values: Span<Int16>) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(values.count * bits / 8)
            if bits == 8 {
                // As Peaks.converted(toBits:) divides.
                for index in 0..<values.count { bytes.append(UInt8(truncatingIfNeeded: values[index] / 256)) }
            } else {
                PeakFile.appendBinary(values, bits: bits, to: &bytes)
            }
            return bytes
        }
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
