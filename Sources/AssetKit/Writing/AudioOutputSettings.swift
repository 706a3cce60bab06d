import LibAV
public import MediaBase

/// How a writer encodes sound.
///
/// What is `nil` follows from the sound that is appended.
///
/// ```swift
/// // AAC, 128 kb/s, 44.1 kHz, stereo
/// let settings = AudioOutputSettings(codec: .aac, sampleRate: 44100, channelLayout: .stereo, bitRate: 128_000)
/// ```
public struct AudioOutputSettings: Sendable, Hashable {
    /// A codec that sound can be encoded with.
    public enum Codec: String, Sendable, Hashable, CaseIterable {
        /// MPEG-4 AAC, low complexity.
        case aac
        /// Opus; sound of other rates becomes 48 kHz.
        case opus
        /// FLAC, lossless.
        case flac
        /// Apple Lossless.
        case alac
        /// Linear PCM, integers of 8, 16, 24 or 32 bits or floating point.
        case pcm
    }

    /// The codec.
    public var codec: Codec
    /// Samples a second.
    public var sampleRate: Int?
    /// Which channels; others are mixed down or up.
    public var channelLayout: ChannelLayout?
    /// Bits a second; `nil` for 64 kb/s a channel with AAC and the encoder's own choice with Opus.
    public var bitRate: Int?
    /// Significant bits of a sample: 8, 16, 24 or 32 with PCM (32 or 64 where it ``isFloat``), 16 or 24 with FLAC and
    /// ALAC; `nil` for 16, or more where the sound that is appended has more.
    public var bitsPerSample: Int?
    /// Whether PCM is IEEE floating point, of 32 or 64 bits.
    public var isFloat = false
    /// Whether PCM is stored with the highest byte first; AIFF always is.
    public var isBigEndian = false
    /// Further options of the encoder by libavcodec's names; one that it does not have is an error.
    public var encoderOptions: [String: String] = [:]

    /// Settings that keep what is not given.
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
    /// libavcodec's name of what is made.
    func codecName(in fileType: MediaFileType, bits: Int) -> String {
        guard codec == .pcm else { return codec.rawValue }
        let order = isBigEndian || fileType == .aiff ? "be" : "le"
        if isFloat { return "pcm_f\(bits > 32 ? 64 : 32)\(order)" }
        return bits == 8 ? "pcm_u8" : "pcm_s\(bits)\(order)"
    }

    /// The codec by the name that containers are asked about, before it is known what is appended.
    func nominalCodecName(in fileType: MediaFileType) -> String {
        codecName(in: fileType, bits: bitsPerSample ?? (isFloat ? 32 : 16))
    }

    /// What sound of a layout becomes another by, in words; `nil` where the layout stays.
    package func layoutChange(from source: ChannelLayout) -> String? {
        guard codec == .aac, channelLayout == nil, case let written = source.writtenAsAAC, written != source else {
            return nil
        }
        return "\(source) became \(written): AAC does not tell surround at the sides from surround behind"
    }

    /// How the encoder is opened for sound of a form.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` where the settings contradict each other or the codec.
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

    /// Throws for what no sound can be encoded with, as far as that is known before any has come.
    func check(in fileType: MediaFileType) throws(MediaError) {
        if let impossibility = channelLayout?.impossibility { throw MediaError(.invalidArgument, impossibility) }
        let source = AudioFormat(
            sampleRate: sampleRate ?? 48000, channelLayout: channelLayout ?? .stereo, sampleFormat: .int16)
        let name = codec == .opus ? "libopus" : codecName(in: fileType, bits: try bits(for: source))
        guard Encoder.exists(name) else {
            throw MediaError(.unsupported, "this build of FFmpeg has no encoder \(name)")
        }
        let rate = try rate(for: source, encoder: name)
        // The highest bit rate follows from what is encoded, where that is not given here.
        if let bitRate {
            try check(
                bitRate: bitRate, rate: sampleRate == nil ? nil : rate, channels: channelLayout?.channels)
        }
    }

    /// - Parameters:
    ///   - rate: Samples a second; `nil` where it is not known yet.
    ///   - channels: How many; `nil` where it is not known yet.
    private func check(bitRate: Int, rate: Int?, channels: Int?) throws(MediaError) {
        guard bitRate > 0, codec == .aac || codec == .opus else {
            throw MediaError(.invalidArgument, "\(codec.rawValue) takes no bit rate of \(bitRate)")
        }
        // 6144 bits for 1024 samples of a channel (ISO/IEC 14496-3, 4.5.3.3); the encoder would take that in silence.
        guard codec == .aac, let rate, let channels else { return }
        let (most, overflow) = rate.multipliedReportingOverflow(by: 6 * channels)
        guard overflow || bitRate <= most else {
            throw MediaError(
                .invalidArgument,
                "a bit rate of \(bitRate) is more than aac has for \(channels) channels of \(rate) Hz, \(most)")
        }
    }

    /// Whether an encoder for sound of a form opens without the bit rate, and with it does not.
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

    /// The rate itself where the encoder takes it, else the lowest one above it, else its highest.
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
    /// The layout by which AAC's decoders read this one, where AAC has a number for its loudspeakers.
    ///
    /// ISO/IEC 14496-3, table 1.19: left and right "surround" are neither at the sides nor behind; libavcodec calls them
    /// back. Other layouts need a list of loudspeakers (PCE), of which few players and not even libavcodec tell the layout.
    package var writtenAsAAC: ChannelLayout {
        switch name {
        case "5.0(side)": ChannelLayout(channels: 5, name: "5.0")
        case "5.1(side)": ChannelLayout(channels: 6, name: "5.1")
        default: self
        }
    }
}
