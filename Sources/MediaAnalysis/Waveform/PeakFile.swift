public import MediaBase

/// Peaks files as audiowaveform writes and reads them: binary (`.dat`) and JSON (`.json`).
///
/// Values stay in the resolution of the peaks; ``Peaks/converted(toBits:)`` comes first where 8 bits are wanted.
/// Reading trusts nothing: every length is compared with the bytes that are there before memory is taken.
public enum PeakFile {
    /// The two forms of a peaks file.
    public enum Format: Sendable, Hashable {
        /// audiowaveform's binary format, version 1 or 2.
        case binary
        /// audiowaveform's JSON.
        case json
    }

    /// The smallest number of samples per pixel in a file, which audiowaveform's reader insists on.
    public static let minimumSamplesPerPixel = 2

    /// The most channels in a file, which audiowaveform's reader insists on.
    public static let maximumChannels = 24

    /// The format of a file that begins with `prefix`, or `nil` where it is no peaks file.
    ///
    /// Twenty bytes are enough; blanks before a JSON brace are allowed. A binary file is recognised by its version
    /// and by flags, sample rate and samples per pixel that are possible; JSON by its brace alone.
    public static func format(ofPrefix prefix: some Collection<UInt8>) -> Format? {
        let bytes = Array(prefix.prefix(4096))
        if let first = bytes.first(where: { !JSONScanner.isBlank($0) }), first == UInt8(ascii: "{") { return .json }
        var reader = LittleEndianReader(bytes: bytes)
        guard let version = reader.next(), let flags = reader.next(), let rate = reader.next(),
            let samplesPerPixel = reader.next()
        else { return nil }
        guard version == 1 || version == 2, flags <= 1, rate >= 1, samplesPerPixel >= 2 else { return nil }
        return rate <= UInt32(Int32.max) && samplesPerPixel <= UInt32(Int32.max) ? .binary : nil
    }

    /// The bytes of a file in `format`.
    ///
    /// - Throws: ``MediaError`` `unsupported` where the format cannot hold the peaks: samples per pixel that are a
    ///   fraction or below ``minimumSamplesPerPixel``, or more channels than ``maximumChannels``.
    public static func encode(_ peaks: Peaks, as format: Format) throws(MediaError) -> [UInt8] {
        try checkWritable(peaks)
        switch format {
        case .binary: return encodeBinary(peaks)
        case .json: return encodeJSON(peaks)
        }
    }

    /// Reads a file, whichever format it has.
    ///
    /// - Throws: ``MediaError`` `unknownFormat` where it is no peaks file; `damaged` where it contradicts itself
    ///   (lengths, values, limits); `limitExceeded` over ``Peaks/maximumValueCount``.
    public static func decode(_ bytes: [UInt8]) throws(MediaError) -> Peaks {
        if let first = bytes.first(where: { !JSONScanner.isBlank($0) }), first == UInt8(ascii: "{") {
            return try decodeJSON(bytes)
        }
        return try decodeBinary(bytes)
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

    /// Checks the numbers that a file states about itself, and makes the peaks.
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

    /// Refuses what a header may not say.
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

/// Peaks as text that other programs read: lines of numbers, and what wavesurfer.js loads.
package enum PeakText {
    /// A line for each point: minimum and maximum of each channel in turn, parted by commas, without a header.
    ///
    /// This is what audiowaveform writes as `.txt`; each line ends with a line feed.
    package static func lines(_ peaks: Peaks) -> [UInt8] {
        lines(peaks.data.span, from: 0, channels: peaks.channels, bits: peaks.bits)
    }

    /// The part of such lines that some of the values give.
    ///
    /// - Parameters:
    ///   - values: Some of ``Peaks/data``.
    ///   - start: How many values come before them.
    ///   - bits: About how large they are.
    package static func lines(_ values: Span<Int16>, from start: Int, channels: Int, bits: Int) -> [UInt8] {
        let width = 2 * channels
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * (bits == 8 ? 4 : 6))
        for index in 0..<values.count {
            append(values[index], to: &bytes)
            bytes.append((start + index + 1) % width == 0 ? UInt8(ascii: "\n") : UInt8(ascii: ","))
        }
        return bytes
    }

    /// JSON for wavesurfer.js: `{"peaks":[[min,max,…],…],"duration":seconds}` and a line feed.
    ///
    /// - Parameters:
    ///   - peaks: Of 16 bits; each value becomes value / 32768, exactly. One array a channel.
    ///   - seconds: How long the sound lasts.
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
        // Most of a quiet track.
        if value == 0 { return bytes.append(UInt8(ascii: "0")) }
        bytes.append(contentsOf: (Double(value) / 32768).description.utf8)
    }

    /// Appends a whole number in decimal digits.
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
