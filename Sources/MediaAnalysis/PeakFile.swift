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
