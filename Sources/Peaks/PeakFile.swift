public import MediaBase

/// Reads and writes peaks files like audiowaveform: binary (`.dat`) and JSON (`.json`).
///
/// Values keep the resolution of the peaks; to write 8 bits, call ``Peaks/converted(toBits:)`` first. The reader trusts
/// nothing: every length is compared with the bytes present before memory is allocated.
public enum PeakFile {
    /// The two formats of a peaks file.
    public enum Format: Sendable, Hashable {
        /// The binary format of audiowaveform, version 1 or 2.
        case binary
        /// The JSON format of audiowaveform.
        case json
    }

    /// The minimum number of samples per pixel in a file, as audiowaveform's reader requires.
    public static let minimumSamplesPerPixel = 2

    /// The maximum number of channels in a file, as audiowaveform's reader requires.
    public static let maximumChannels = 24

    /// Returns the format of a file that starts with `prefix`, or `nil` if it is not a peaks file.
    ///
    /// Twenty bytes are enough; whitespace before a JSON brace is allowed. A binary file is recognised by its version
    /// and by plausible values for flags, sample rate and samples per pixel; JSON by its opening brace alone.
    public static func format(ofPrefix prefix: some Collection<UInt8>) -> Format? {
        let bytes = Array(prefix.prefix(4096))
        if isJSON(bytes) { return .json }
        var reader = LittleEndianReader(bytes: bytes)
        guard let version = reader.next(), let flags = reader.next(), let rate = reader.next(),
            let samplesPerPixel = reader.next()
        else { return nil }
        guard version == 1 || version == 2, flags <= 1, rate >= 1, samplesPerPixel >= 2 else { return nil }
        return rate <= UInt32(Int32.max) && samplesPerPixel <= UInt32(Int32.max) ? .binary : nil
    }

    /// Returns the bytes of a file in `format`.
    ///
    /// - Throws: ``MediaError`` `unsupported` if the format cannot hold the peaks: the number of samples per pixel is a
    ///   fraction or below ``minimumSamplesPerPixel``, or there are more channels than ``maximumChannels``.
    public static func encode(_ peaks: Peaks, as format: Format) throws(MediaError) -> [UInt8] {
        try checkWritable(peaks)
        switch format {
        case .binary: return encodeBinary(peaks)
        case .json: return encodeJSON(peaks)
        }
    }

    /// Reads a file in either format.
    ///
    /// - Throws: ``MediaError`` `unknownFormat` if it is not a peaks file; `damaged` if it is inconsistent (lengths,
    ///   values, limits); `limitExceeded` above ``Peaks/maximumValueCount``.
    public static func decode(_ bytes: [UInt8]) throws(MediaError) -> Peaks {
        isJSON(bytes) ? try decodeJSON(bytes) : try decodeBinary(bytes)
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        bytes.first { !" \n\r\t".utf8.contains($0) } == UInt8(ascii: "{")
    }

    static func checkWritable(_ peaks: Peaks) throws(MediaError) {
        guard peaks.spacing.points == 1, peaks.samplesPerPixel >= minimumSamplesPerPixel else {
            throw MediaError(
                .unsupported,
                "a peaks file holds a whole number of samples per pixel, 2 or more, not \(peaks.spacing)")
        }
        guard peaks.channels <= maximumChannels else {
            throw MediaError(
                .unsupported,
                "a peaks file holds at most \(maximumChannels) channels, not \(peaks.channels): mix or choose one")
        }
    }

    /// Creates the peaks after checking the numbers that a file declares.
    static func makePeaks(
        sampleRate: Int, samplesPerPixel: Int, channels: Int, bits: Int, data: [Int16]
    ) throws(MediaError) -> Peaks {
        do {
            return try Peaks(
                sampleRate: sampleRate, spacing: Peaks.Spacing(samples: samplesPerPixel), channels: channels,
                bits: bits, data: data)
        } catch {
            throw MediaError(error.code == .limitExceeded ? error.code : .damaged, error.message)
        }
    }

    /// Throws if the header declares values that a file may not have.
    static func checkHeader(sampleRate: Int, samplesPerPixel: Int, channels: Int) throws(MediaError) {
        guard sampleRate >= 1, sampleRate <= Int(Int32.max) else {
            throw MediaError(.damaged, "the peaks file states a sample rate of \(sampleRate)")
        }
        guard samplesPerPixel >= minimumSamplesPerPixel, samplesPerPixel <= Int(Int32.max) else {
            throw MediaError(.damaged, "the peaks file states \(samplesPerPixel) samples per pixel")
        }
        guard channels >= 1, channels <= maximumChannels else {
            throw MediaError(.damaged, "the peaks file states \(channels) channels")
        }
    }
}

/// Reads 32-bit little-endian integers sequentially from an array.
struct LittleEndianReader {
    let bytes: [UInt8]
    private(set) var offset = 0

    /// Returns the next integer, or `nil` if fewer than four bytes are left.
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

    /// Returns a binary file; the caller has checked that the format can hold the peaks.
    static func encodeBinary(_ peaks: Peaks) -> [UInt8] {
        var bytes = binaryHeader(of: peaks, length: peaks.length)
        bytes.reserveCapacity(bytes.count + peaks.data.count * peaks.bits / 8)
        appendBinary(peaks.data.span, bits: peaks.bits, to: &bytes)
        return bytes
    }

    /// Returns a header of version 1 for one channel, otherwise of version 2.
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

    /// Writes a binary file of peaks that are not all in memory: first the header, then block by block.
    ///
    /// ```swift
    /// var file = try PeakFile.BinaryBlocks(tail, length: spilled + tail.length, bits: 8)
    /// try output.write(contentsOf: file.header)
    /// try output.write(contentsOf: file.encode(block.span))
    /// ```
    package struct BinaryBlocks {
        /// The start of the file.
        package let header: [UInt8]
        private let bits: Int

        /// Creates the header of a file.
        ///
        /// - Parameters:
        ///   - peaks: Some of the peaks, with 16 bits.
        ///   - length: The total number of points.
        ///   - bits: The resolution in the file: 8 or 16.
        /// - Throws: ``MediaError`` `unsupported` as ``PeakFile/encode(_:as:)`` does.
        package init(_ peaks: Peaks, length: Int, bits: Int) throws(MediaError) {
            try PeakFile.checkWritable(peaks)
            self.bits = bits
            header = PeakFile.binaryHeader(of: try peaks.emptied().converted(toBits: bits), length: length)
        }

        /// Returns the bytes of some 16-bit values.
        package func encode(_ values: Span<Int16>) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(values.count * bits / 8)
            if bits == 8 {
                // The same division as in Peaks.converted(toBits:).
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
        // The format has signed numbers here, so values above Int32.max are negative.
        try checkHeader(
            sampleRate: Int(Int32(bitPattern: sampleRate)), samplesPerPixel: Int(Int32(bitPattern: samplesPerPixel)),
            channels: Int(Int32(bitPattern: channels)))

        let width = flags & eightBitFlag == 0 ? 2 : 1
        // At most 2^32 · 24 · 2 · 2, far within 64 bits.
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

/// Writes peaks as text for other programs: lines of numbers, and JSON for wavesurfer.js.
package enum PeakText {
    /// Returns one line per point: the minimum and maximum of each channel in turn, without a header.
    ///
    /// With commas, this is the format that audiowaveform writes as `.txt`; each line ends with a line feed.
    ///
    /// - Parameter separator: The ASCII character between two numbers of a line.
    package static func lines(_ peaks: Peaks, separator: UInt8 = UInt8(ascii: ",")) -> [UInt8] {
        lines(peaks.data.span, from: 0, channels: peaks.channels, bits: peaks.bits, separator: separator)
    }

    /// Returns the part of the lines that holds some of the values.
    ///
    /// - Parameters:
    ///   - values: Some of ``Peaks/data``.
    ///   - start: The number of values that precede them.
    ///   - bits: The resolution of the values, from which the text's size is estimated.
    ///   - separator: The ASCII character between two numbers of a line.
    package static func lines(
        _ values: Span<Int16>, from start: Int, channels: Int, bits: Int, separator: UInt8
    ) -> [UInt8] {
        let width = 2 * channels
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * (bits == 8 ? 4 : 6))
        for index in 0..<values.count {
            append(values[index], to: &bytes)
            bytes.append((start + index + 1) % width == 0 ? UInt8(ascii: "\n") : separator)
        }
        return bytes
    }

    /// Returns JSON for wavesurfer.js: `{"peaks":[[min,max,…],…],"duration":seconds}` and a line feed.
    ///
    /// - Parameters:
    ///   - peaks: Peaks with 16 bits. Each value becomes exactly value / 32768, in one array per channel.
    ///   - seconds: The duration of the audio.
    package static func wavesurfer(_ peaks: Peaks, seconds: Double) -> [UInt8] {
        let width = 2 * peaks.channels
        var bytes = Array("{\"peaks\":[".utf8)
        bytes.reserveCapacity(peaks.data.count * 12)
        for channel in 0..<peaks.channels {
            bytes.append(contentsOf: (channel == 0 ? "[" : ",[").utf8)
            for start in stride(from: channel * 2, to: peaks.data.count, by: width) {
                if start >= width { bytes.append(UInt8(ascii: ",")) }
                append(fraction: peaks.data[start], to: &bytes)
                bytes.append(UInt8(ascii: ","))
                append(fraction: peaks.data[start + 1], to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(contentsOf: "],\"duration\":\(seconds.isFinite ? seconds : 0)}\n".utf8)
        return bytes
    }

    private static func append(fraction value: Int16, to bytes: inout [UInt8]) {
        // Quiet audio consists mostly of zeros.
        if value == 0 { return bytes.append(UInt8(ascii: "0")) }
        bytes.append(contentsOf: (Double(value) / 32768).description.utf8)
    }

    /// Appends an integer in decimal digits.
    @inline(__always)
    static func append(_ value: Int16, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let magnitude = value.magnitude
        var divisor: UInt16 = 1
        if magnitude >= 10_000 {
            divisor = 10_000
        } else if magnitude >= 1000 {
            divisor = 1000
        } else if magnitude >= 100 {
            divisor = 100
        } else if magnitude >= 10 {
            divisor = 10
        }
        while divisor > 0 {
            bytes.append(48 &+ UInt8(truncatingIfNeeded: magnitude / divisor % 10))
            divisor /= 10
        }
    }
}
