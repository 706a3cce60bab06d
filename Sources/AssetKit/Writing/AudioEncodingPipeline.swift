import LibAV
public import MediaBase

/// Settings with which a writer encodes audio.
///
/// Settings that are `nil` are taken from the audio that is appended.
///
/// ```swift
/// // AAC, 128 kb/s, 44.1 kHz, stereo
/// let settings = AudioOutputSettings(codec: .aac, sampleRate: 44100, channelLayout: .stereo, bitRate: 128_000)
/// ```
public struct AudioOutputSettings: Sendable, Hashable {
    /// An audio codec for encoding.
    public enum Codec: String, Sendable, Hashable, CaseIterable {
        /// MPEG-4 AAC, low complexity.
        case aac
        /// Opus; audio at other sample rates is resampled to 48 kHz.
        case opus
        /// FLAC, lossless.
        case flac
        /// Apple Lossless.
        case alac
        /// Linear PCM: integers of 8, 16, 24 or 32 bits, or floating point.
        case pcm
    }

    /// The codec.
    public var codec: Codec
    /// The sample rate in hertz.
    public var sampleRate: Int?
    /// The channel layout; audio in other layouts is mixed down or up.
    public var channelLayout: ChannelLayout?
    /// The bit rate in bits per second; `nil` for 64 kb/s per channel with AAC and the encoder's default with Opus.
    public var bitRate: Int?
    /// The significant bits of a sample; `nil` for 16, or more if the appended audio has more.
    ///
    /// Valid values are 8, 16, 24 or 32 for PCM (32 or 64 if ``isFloat``), and 16 or 24 for FLAC and ALAC.
    public var bitsPerSample: Int?
    /// Indicates whether PCM is IEEE floating point of 32 or 64 bits.
    public var isFloat = false
    /// Indicates whether PCM is stored in big-endian byte order; AIFF always is.
    public var isBigEndian = false
    /// Further options of the encoder by libavcodec's names; an unknown option is an error.
    public var encoderOptions: [String: String] = [:]

    /// Creates settings; values that are omitted are taken from the source.
    public init(
        codec: Codec, sampleRate: Int? = nil, channelLayout: ChannelLayout? = nil, bitRate: Int? = nil,
        bitsPerSample: Int? = nil
    ) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.bitRate = bitRate
        self.bitsPerSample = bitsPerSample
    }
}

extension AudioOutputSettings {
    /// Returns libavcodec's name of the codec.
    func codecName(in fileType: MediaFileType, bits: Int) -> String {
        guard codec == .pcm else { return codec.rawValue }
        let order = isBigEndian || fileType == .aiff ? "be" : "le"
        if isFloat { return "pcm_f\(bits > 32 ? 64 : 32)\(order)" }
        return bits == 8 ? "pcm_u8" : "pcm_s\(bits)\(order)"
    }

    /// Returns the codec name to check a container with, before the format of the audio is known.
    func nominalCodecName(in fileType: MediaFileType) -> String {
        codecName(in: fileType, bits: bitsPerSample ?? (isFloat ? 32 : 16))
    }

    /// Returns a sentence on how the encoder changes a channel layout; `nil` if the layout is kept.
    package func layoutChange(from source: ChannelLayout) -> String? {
        guard codec == .aac, channelLayout == nil, case let written = source.writtenAsAAC, written != source else {
            return nil
        }
        return "\(source) became \(written): AAC does not tell surround at the sides from surround behind"
    }

    /// Returns the configuration that opens the encoder for audio of a format.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the settings contradict each other or the codec.
    func configuration(
        for source: AudioFormat, in fileType: MediaFileType, usesGlobalHeader: Bool
    ) throws(MediaError) -> Encoder.Configuration {
        let bits = try bits(for: source)
        let name = codec == .opus ? "libopus" : codecName(in: fileType, bits: bits)
        let rate = try rate(for: source, encoder: name)
        var configuration = Encoder.Configuration(name: name, timeBase: Rational(1, Int64(rate)))
        var layout = channelLayout ?? (codec == .pcm ? source.channelLayout : source.channelLayout.orDefault)
        if codec == .aac { layout = layout.writtenAsAAC }
        let (format, isPlanar) = try form(bits: bits, encoder: name)
        configuration.audio = AudioFormat(
            sampleRate: rate, channelLayout: layout, sampleFormat: format, isPlanar: isPlanar,
            bitsPerSample: codec == .flac || codec == .alac ? bits : nil)
        if let bitRate {
            try check(bitRate: bitRate, rate: rate, channels: layout.channels)
            configuration.bitRate = Int64(bitRate)
        } else if codec == .aac {
            configuration.bitRate = Int64(64_000 * layout.channels)
        }
        configuration.usesGlobalHeader = usesGlobalHeader
        configuration.options = encoderOptions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return configuration
    }

    /// Throws if the settings are already known to be unusable, before any samples arrive.
    func check(in fileType: MediaFileType) throws(MediaError) {
        if let impossibility = channelLayout?.impossibility { throw MediaError(.invalidArgument, impossibility) }
        let source = AudioFormat(
            sampleRate: sampleRate ?? 48000, channelLayout: channelLayout ?? .stereo, sampleFormat: .int16)
        let name = codec == .opus ? "libopus" : codecName(in: fileType, bits: try bits(for: source))
        guard Encoder.exists(name) else {
            throw MediaError(.unsupported, "this build of FFmpeg has no encoder \(name)")
        }
        let rate = try rate(for: source, encoder: name)
        // If the rate or the channels are not set here, the maximum bit rate depends on the source.
        if let bitRate {
            try check(
                bitRate: bitRate, rate: sampleRate == nil ? nil : rate, channels: channelLayout?.channels)
        }
    }

    /// Returns the settings with what they leave open taken from a source's format.
    func completed(from source: AudioFormat?) -> Self {
        var settings = self
        guard let source else { return settings }
        // Opus has a rate of its own, to which everything is converted.
        if codec != .opus { settings.sampleRate = sampleRate ?? source.sampleRate }
        settings.channelLayout = channelLayout ?? (source.channelLayout.knownName == nil ? nil : source.channelLayout)
        return settings
    }

    /// Throws if audio of a format cannot be encoded with the settings, or if it is no audio.
    func check(_ source: FormatDescription, in fileType: MediaFileType) throws(MediaError) {
        guard let audio = source.audio else {
            throw MediaError(.invalidArgument, "the source format hint is of \(source.mediaType), not of audio")
        }
        _ = try configuration(for: audio, in: fileType, usesGlobalHeader: true)
    }

    /// - Parameters:
    ///   - rate: The sample rate; `nil` if not known yet.
    ///   - channels: The number of channels; `nil` if not known yet.
    private func check(bitRate: Int, rate: Int?, channels: Int?) throws(MediaError) {
        guard bitRate > 0, codec == .aac || codec == .opus else {
            throw MediaError(.invalidArgument, "\(codec.rawValue) takes no bit rate of \(bitRate)")
        }
        // 6144 bits for 1024 samples of a channel (ISO/IEC 14496-3, 4.5.3.3); the encoder would accept more without an
        // error.
        guard codec == .aac, let rate, let channels else { return }
        let (most, overflow) = rate.multipliedReportingOverflow(by: 6 * channels)
        guard overflow || bitRate <= most else {
            throw MediaError(
                .invalidArgument,
                "a bit rate of \(bitRate) is more than aac has for \(channels) channels of \(rate) Hz, \(most)")
        }
    }

    /// Returns true if an encoder for audio of a format opens only without the bit rate.
    package func isBitRateRefused(for source: AudioFormat, in fileType: MediaFileType) -> Bool {
        guard bitRate != nil else { return false }
        var others = self
        others.bitRate = nil
        return !opens(for: source, in: fileType) && others.opens(for: source, in: fileType)
    }

    private func opens(for source: AudioFormat, in fileType: MediaFileType) -> Bool {
        do throws(MediaError) {
            _ = try Encoder.open(configuration(for: source, in: fileType, usesGlobalHeader: true))
            return true
        } catch {
            return false
        }
    }

    private func bits(for source: AudioFormat) throws(MediaError) -> Int {
        let allowed: [Int] =
            switch codec {
            case .aac, .opus: [16, 24, 32]
            case .flac, .alac: [16, 24]
            case .pcm: isFloat ? [32, 64] : [8, 16, 24, 32]
            }
        if let bitsPerSample {
            guard allowed.contains(bitsPerSample) else {
                throw MediaError(.invalidArgument, "\(codec.rawValue) has no samples of \(bitsPerSample) bits")
            }
            return bitsPerSample
        }
        if isFloat { return source.sampleFormat == .float64 ? 64 : 32 }
        let wide: Bool =
            switch source.sampleFormat {
            case .int32, .int64, .float32, .float64: (source.bitsPerSample ?? 24) > 16
            default: false
            }
        return wide ? 24 : 16
    }

    /// Returns the wanted rate if the encoder supports it, else the next higher one, else the encoder's highest.
    private func rate(for source: AudioFormat, encoder: String) throws(MediaError) -> Int {
        let allowed = Encoder.sampleRates(of: encoder)
        let wanted = sampleRate ?? source.sampleRate
        guard wanted > 0 else { throw MediaError(.invalidArgument, "a sample rate of \(wanted) makes no sense") }
        if allowed.isEmpty || allowed.contains(wanted) { return wanted }
        guard sampleRate == nil else {
            let list = allowed.sorted().map(String.init).joined(separator: ", ")
            throw MediaError(.invalidArgument, "\(codec.rawValue) has no sample rate of \(wanted) Hz; it has \(list)")
        }
        return allowed.filter { $0 > wanted }.min() ?? allowed.max() ?? wanted
    }

    private func form(bits: Int, encoder: String) throws(MediaError) -> (format: SampleFormat, isPlanar: Bool) {
        let allowed = Encoder.sampleFormats(of: encoder)
        guard let first = allowed.first else {
            throw MediaError(.unsupported, "this build of FFmpeg has no encoder \(encoder)")
        }
        guard codec == .flac || codec == .alac else { return codec == .opus ? (.float32, false) : first }
        return allowed.first { $0.format == (bits > 16 ? .int32 : .int16) } ?? first
    }
}

extension ChannelLayout {
    /// The layout as AAC decoders read it, if AAC has a channel configuration for these loudspeakers.
    ///
    /// In ISO/IEC 14496-3, table 1.19, left and right "surround" are neither at the sides nor at the back; libavcodec
    /// calls them back. Other layouts need a list of loudspeakers (PCE), from which few players and not even libavcodec
    /// derive the layout.
    package var writtenAsAAC: ChannelLayout {
        switch name {
        case "5.0(side)": ChannelLayout(channels: 5, name: "5.0")
        case "5.1(side)": ChannelLayout(channels: 6, name: "5.1")
        default: self
        }
    }
}

/// Turns audio into packets of the encoder's frame size.
///
/// The pipeline converts the samples, cuts them exactly at the session's start and end, and fills gaps with silence. Its
/// ``InputSession`` lets one thread at a time use it.
final class AudioEncodingPipeline: EncodingPipeline, @unchecked Sendable {
    private let settings: AudioOutputSettings
    /// The session; from the first sample on, its start lies on a sample.
    private(set) var session: SessionFacts

    private var encoder: Encoder?
    private var converter: SampleConverter?
    private var queue: SampleQueue?
    private var sourceRate: Int32 = 0
    /// Computes sample positions on the source's time line.
    private var place = SampleClock(timeBase: Rational(1, 1_000_000), snapsToZero: false, codec: "pcm")
    /// The expected position of the next source sample, at the source's rate from the session's start.
    private var nextSource: Int64?
    /// The position of the next sample for the encoder, at the encoder's rate.
    private var nextEncoded: Int64 = 0
    private var firstEncoded: Int64 = 0
    private var rate: Int32 = 0

    init(_ settings: AudioOutputSettings, session: SessionFacts) {
        self.settings = settings
        self.session = session
    }

    /// The range from the first sample to the last sample's end.
    var presented: (start: MediaTime, end: MediaTime)? {
        guard rate > 0, nextEncoded > firstEncoded else { return nil }
        return (MediaTime(value: firstEncoded, timescale: rate), MediaTime(value: nextEncoded, timescale: rate))
    }

    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        guard let sound = buffer.audioBuffer, let format = buffer.formatDescription.audio else {
            throw MediaError(.invalidArgument, "an audio input takes linear PCM, not other samples")
        }
        let time = buffer.presentationTime
        guard time.isNumeric else { throw MediaError(.invalidArgument, "a run of sound has no presentation time") }
        if sourceRate == 0 {
            sourceRate = Int32(clamping: sound.sampleRate)
            if sourceRate > 0 { session.begin(atSampleOf: sourceRate) }
        }
        guard sound.sampleRate == Int(sourceRate), sourceRate > 0 else {
            throw MediaError(.invalidArgument, "the sample rate changes from \(sourceRate) to \(sound.sampleRate) Hz")
        }
        let (count, furthest) = (Int64(sound.sampleCount), Int64(1) << 60)
        // No session extends beyond this limit, and all sums below fit into 64 bits.
        func index(_ time: MediaTime) -> Int64? {
            time.sampleIndex(rate: sourceRate, rounding: .up).flatMap { $0.magnitude < furthest ? $0 : nil }
        }
        let placed = place.place(count: sound.sampleCount, rate: sound.sampleRate, time: time)
        guard let zero = index(session.start), placed.magnitude < furthest else { return }
        let begins = placed - zero
        let end = index(session.end).map { $0 - zero } ?? furthest
        let from = min(max(0, -begins), count)
        let to = max(from, min(count, end - begins))
        guard to > from else { return }
        if encoder == nil { try open(for: sound, format: format, to: sink) }
        try begin(at: begins + from, to: sink)
        try sound.withFrame { (frame, range) throws(MediaError) in
            let wanted = range.lowerBound + Int(from)..<range.lowerBound + Int(to)
            let cut = try frame.cropped(to: wanted)
            try convert(cut, to: sink)
        }
        nextSource = begins + to
    }

    /// Advances the encoder to the position of the next sample.
    private func begin(at start: Int64, to sink: any PacketSink) throws(MediaError) {
        guard let next = nextSource else {
            let moment = MediaTime(value: start, timescale: sourceRate)
            let first = moment.sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
            if session.keepsLateStarts {
                (firstEncoded, nextEncoded) = (first, first)
            } else {
                try silence(first, to: sink)
            }
            return
        }
        guard start > next else { return }
        // The samples that the converter holds belong before the gap.
        if let rest = try converter?.drain() { try encode(rest, to: sink) }
        let moment = MediaTime(value: start, timescale: sourceRate)
        let due = moment.sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? nextEncoded
        try silence(due - nextEncoded - Int64(queue?.count ?? 0), to: sink)
    }

    private func convert(_ frame: borrowing Frame, to sink: any PacketSink) throws(MediaError) {
        guard let converted = try converter?.convert(frame) else { return }
        try encode(converted, to: sink)
    }

    private func silence(_ count: Int64, to sink: any PacketSink) throws(MediaError) {
        var left = count
        while left > 0 {
            let some = Int(min(left, 1 << 15))
            try queue?.appendSilence(some)
            try encodeWhole(to: sink)
            left -= Int64(some)
        }
    }

    private func encode(_ frame: borrowing Frame, to sink: any PacketSink) throws(MediaError) {
        guard frame.sampleCount > 0 else { return }
        try queue?.append(frame, 0..<frame.sampleCount)
        try encodeWhole(to: sink)
    }

    /// Encodes all complete frames in the queue.
    private func encodeWhole(to sink: any PacketSink) throws(MediaError) {
        let size = frameSize
        while (queue?.count ?? 0) >= size { try encodeFrame(size, to: sink) }
    }

    private func encodeFrame(_ size: Int, to sink: any PacketSink) throws(MediaError) {
        guard let frame = try queue?.take(size) else { return }
        try encoder?.send(frame, at: nextEncoded)
        nextEncoded += Int64(frame.sampleCount)
        try drain(to: sink)
    }

    /// The encoder's frame size; if it accepts any, a size at which packets are neither tiny nor delayed.
    private var frameSize: Int {
        guard let size = encoder?.frameSize, size > 0 else { return 1024 }
        return size
    }

    func finish(to sink: any PacketSink) throws(MediaError) {
        guard encoder != nil else { return }
        if let rest = try converter?.drain() { try encode(rest, to: sink) }
        try encodeFrame(frameSize, to: sink)
        try encoder?.finish()
        try drain(to: sink)
        encoder = nil
    }

    private func drain(to sink: any PacketSink) throws(MediaError) {
        while case .packet(let packet)? = try encoder?.receive() { try sink.add(packet) }
    }

    private func open(for sound: AudioBuffer, format: AudioFormat, to sink: any PacketSink) throws(MediaError) {
        var source = format
        source.sampleRate = sound.sampleRate
        source.channelLayout = sound.channelLayout
        source.sampleFormat = sound.sampleFormat
        let configuration = try settings.configuration(
            for: source, in: session.fileType, usesGlobalHeader: session.usesGlobalHeader)
        guard let encoded = configuration.audio, let form = encoded.sampleFormat else { return }
        converter = try SampleConverter(
            to: form, isPlanar: encoded.isPlanar, sampleRate: encoded.sampleRate,
            channelLayout: encoded.channelLayout)
        queue = try SampleQueue(
            format: form, isPlanar: encoded.isPlanar, sampleRate: encoded.sampleRate,
            channelLayout: encoded.channelLayout)
        rate = Int32(clamping: encoded.sampleRate)
        let made = try Encoder.open(configuration)
        var stream = WrittenStream(parameters: made.parameters, timeBase: configuration.timeBase)
        stream.priming = MediaTime(value: Int64(max(0, made.parameters.initialPadding)), timescale: max(1, rate))
        encoder = consume made
        try sink.begin(stream)
    }
}
