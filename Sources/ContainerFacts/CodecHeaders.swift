package import Bitstreams
package import LibAV
import MatroskaMedia
package import MediaBase

// Reads from a codec's own header what a decoder would find out about a stream. The result is in libavcodec's terms, so
// that code that decodes or copies the stream sees no difference.

extension StreamFacts {
    /// The number of bytes read from a first sample; information on all samples is at its beginning.
    private static let sampleBeginning = 4096

    /// Reads the codec headers of a file's streams; omits streams whose header leaves something open.
    @Sendable package static func read(_ file: InputFile) -> [Int: StreamFacts] {
        var found: [Int: StreamFacts] = [:]
        let matroska = file.format == .matroska ? MatroskaTracks(file) : nil
        let blocks = matroska?.firstBlocks(of: file, byteCount: sampleBeginning) ?? [:]
        for index in 0..<file.streamCount {
            guard let format = file.openFormat(ofStream: index) else { continue }
            guard format.mediaType == .video || format.mediaType == .audio else {
                // These streams can be read without information from their samples.
                found[index] = StreamFacts()
                continue
            }
            guard
                var facts = read(
                    format,
                    sample: {
                        matroska == nil
                            ? file.beginningOfFirstSample(ofStream: index, count: sampleBeginning)
                            : blocks[index]?.bytes ?? []
                    })
            else { continue }
            // If H.264 does not state the extent of its reordering, only a table of all times or decoding can.
            guard format.codec != "h264" || facts.reorderedPictures != nil || file.tellsAllTimes(ofStream: index)
            else { continue }
            if let block = blocks[index], let delay = matroska?.codecDelay(ofStream: index),
                let timeBase = file.timeBase(ofStream: index),
                let early = delay.ticks(in: timeBase, rounding: .halfAwayFromZero),
                case let (start, overflow) = block.ticks.subtractingReportingOverflow(early), !overflow
            {
                facts.startTicks = start
            }
            found[index] = facts
        }
        return found
    }

    /// Reads a codec's header; `nil` if it leaves something open or a decoder might interpret it differently.
    ///
    /// - Parameters:
    ///   - format: The stream as described by the container.
    ///   - sample: Returns the beginning of the first sample; empty if its position is unknown.
    static func read(_ format: FormatDescription, sample: () -> [UInt8]) -> StreamFacts? {
        switch format.codec {
        case "h264", "hevc": StreamFacts(parameterSetsOf: format, sample: sample())
        case "av1": StreamFacts(av1: format, sample: sample())
        case "vp9": StreamFacts(vp9: format, sample: sample())
        case "prores": StreamFacts(proRes: format, sample: sample())
        default: format.audio.flatMap { StreamFacts(sound: $0, codec: format.codec, header: format.extradata) }
        }
    }
}

// MARK: - Video

extension StreamFacts {
    /// Reads the parameter sets of H.264 (ITU-T H.264, 7.3.2.1.1 and E.1.1) or HEVC (ITU-T H.265, 7.3.2.2 and E.2.1).
    private init?(parameterSetsOf format: FormatDescription, sample: [UInt8]) {
        let isHEVC = format.codec == "hevc"
        let sets = ParameterSets(format.extradata, isHEVC: isHEVC)
        func sequences(_ units: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>] {
            units.filter { unit in unit.first.map { isHEVC ? $0 >> 1 & 0x3F == 33 : $0 & 0x1F == 7 } ?? false }
        }
        let written = sequences(sets.units)
        // If the sample contains a different parameter set, a decoder uses that one.
        guard let lengthSize = sets.lengthSize, written.count == 1, let unit = written.first,
            sequences(NALUnits.inSample(sample, lengthSize: lengthSize)).allSatisfy({ $0.elementsEqual(unit) })
        else { return nil }
        let headers = PictureHeaders(codec: format.codec, header: format.extradata, sample: sample)
        guard let video = format.video, let sequence = headers.sequence, headers.messages.preferredTransfer == nil,
            // libavcodec has no separate number for level 1b of H.264.
            isHEVC || sequence.level != 9, sequence.size == video.encodedSize,
            let depth = sequence.bitDepth, sequence.chroma == .monochrome || sequence.chromaBitDepth ?? depth == depth
        else { return nil }
        self.init()
        profile = sequence.profile
        level = sequence.level
        reorderedPictures = sequence.reorderedPictures
        sampleAspectRatio = sequence.sampleAspectRatio
        var color = isHEVC ? ColorInfo(range: "tv") : video.color
        if let points = sequence.color {
            let written = ColorInfo(points)
            color.range = written.range
            if sequence.hasColorDescription {
                (color.primaries, color.transfer, color.matrix) = (written.primaries, written.transfer, written.matrix)
            }
        }
        if isHEVC {
            color.chromaLocation = headers.color?.chromaLocation
        } else {
            if sequence.h264Syntax?.hasUsability == true {
                color.chromaLocation = headers.color?.chromaLocation ?? "left"
            }
            bitsPerSample = depth
            // The container or the first picture states the order of fields.
            guard let order = video.fieldOrder ?? headers.sequence?.scan, order != .interlaced else { return nil }
            fieldOrder = order
        }
        self.color = color
        // libavcodec decodes H.264 without chroma as if it had chroma.
        let chroma = isHEVC || sequence.chroma != .monochrome ? sequence.chroma : .quarter
        // For HEVC, it has full-range names only for 4:2:0.
        let isFull = color.range == "pc" && depth == 8 && (!isHEVC || chroma == .quarter)
        pixelFormat = PixelFormat(chroma, bits: depth, isRGB: color.matrix == "gbr", isFull: isFull)
        if pixelFormat == nil { return nil }
    }

    /// Reads an AV1 sequence header.
    ///
    /// AV1 Codec ISO Media File Format Binding, 2.3; AV1 Bitstream & Decoding Process Specification, 5.5.
    private init?(av1 format: FormatDescription, sample: [UInt8]) {
        let own = PictureHeaders(codec: "av1", header: format.extradata, sample: []).sequence
        let first = PictureHeaders(codec: "av1", header: [], sample: sample).sequence
        guard let video = format.video, let sequence = own ?? first, first == nil || first == sequence,
            sequence.size == video.encodedSize, let depth = sequence.bitDepth,
            // Frames have their own aspect ratio, which is stated only in the frames.
            video.sampleAspectRatio != nil
        else { return nil }
        self.init()
        profile = sequence.profile
        level = sequence.level
        var color = ColorInfo(sequence.color ?? SequenceInfo.CodePoints())
        color.chromaLocation = PictureHeaders.name(ofChromaLocation: sequence.chromaLocation)
        self.color = color
        let points = sequence.color ?? SequenceInfo.CodePoints()
        pixelFormat = PixelFormat(
            sequence.chroma, bits: depth, isRGB: points.matrix == 0 && points.primaries == 1 && points.transfer == 13)
        if pixelFormat == nil { return nil }
    }

    /// Reads a VP9 keyframe (VP9 Bitstream & Decoding Process Specification, 6.2).
    private init?(vp9 format: FormatDescription, sample: [UInt8]) {
        guard let video = format.video, let sequence = try? SequenceInfo(vp9KeyFrame: sample),
            sequence.size == video.encodedSize, let depth = sequence.bitDepth
        else { return nil }
        self.init()
        profile = sequence.profile
        var color = video.color
        if let written = sequence.color.map({ ColorInfo($0) }) {
            (color.matrix, color.range) = (written.matrix, written.range)
        }
        self.color = color
        pixelFormat = PixelFormat(sequence.chroma, bits: depth, isRGB: color.matrix == "gbr")
        if pixelFormat == nil { return nil }
    }

    /// Reads a ProRes frame header (SMPTE RDD 36, 5.1).
    private init?(proRes format: FormatDescription, sample: [UInt8]) {
        let profiles = ["apco": 0, "apcs": 1, "apcn": 2, "apch": 3, "ap4h": 4, "ap4x": 5]
        guard let video = format.video, let tag = format.codecTag, let profile = profiles[tag],
            let header = try? ProResFrameHeader(sample), header.size == video.encodedSize
        else { return nil }
        self.init()
        self.profile = profile
        let depth = profile < 4 ? 10 : 12
        bitsPerSample = depth
        let alpha = header.alphaBits == nil ? "" : "a"
        pixelFormat = PixelFormat(rawValue: "yuv\(alpha)\(header.chroma == .full ? 444 : 422)p\(depth)le")
        var color = ColorInfo(header.color)
        color.chromaLocation = video.color.chromaLocation
        self.color = color
    }
}

extension ColorInfo {
    fileprivate init(_ points: SequenceInfo.CodePoints) {
        self.init(
            primaries: points.primaries, transfer: points.transfer, matrix: points.matrix,
            isFullRange: points.isFullRange)
    }
}

extension PixelFormat {
    /// Selects the planar format with a number of bits; `nil` if libavutil has none.
    ///
    /// - Parameter isFull: True if the format's name is to state that 8 bits use the full range.
    fileprivate init?(_ chroma: SequenceInfo.Chroma?, bits: Int, isRGB: Bool, isFull: Bool = false) {
        let order = bits == 8 ? "" : "\(bits)le"
        let name: String? =
            switch chroma {
            case .monochrome: "gray" + order
            case .full where isRGB: "gbrp" + order
            case .quarter: "yuv\(isFull ? "j" : "")420p" + order
            case .half: "yuv\(isFull ? "j" : "")422p" + order
            case .full: "yuv\(isFull ? "j" : "")444p" + order
            case .narrow, nil: nil
            }
        guard let name, case let format = PixelFormat(rawValue: name), format.isKnown else { return nil }
        self = format
    }
}

// MARK: - Audio

extension StreamFacts {
    private init?(sound: AudioFormat, codec: String, header: [UInt8]) {
        self.init()
        switch codec {
        case "aac":
            guard readAAC(header, sound) else { return nil }
        case "alac":
            // The `alac` box including its box header.
            guard header.count >= 36, Int(header[21]) == sound.channels, setUsualLayout(sound.channels) else {
                return nil
            }
            let bits = Int(header[17])
            guard [16, 20, 24, 32].contains(bits) else { return nil }
            bitsPerSample = bits
            sampleFormat = (bits == 16 ? .int16 : .int32, true)
        case "flac":
            guard readFLAC(header, sound) else { return nil }
        case "opus":
            // Mapping family 0 has one or two channels (RFC 7845, 5.1.1.1).
            guard header.count >= 19, header.starts(with: Array("OpusHead".utf8)), header[18] == 0,
                Int(header[9]) == sound.channels, setUsualLayout(sound.channels)
            else { return nil }
            sampleFormat = (.float32, true)
        case "vorbis":
            // There are three headers in sequence; the first starts after their lengths.
            let mark: [UInt8] = [1] + Array("vorbis".utf8)
            guard let place = header.prefix(64).indices.first(where: { header[$0...].starts(with: mark) }),
                place + 12 <= header.count, Int(header[place + 11]) == sound.channels, setUsualLayout(sound.channels)
            else { return nil }
            sampleFormat = (.float32, true)
        case "ac3":
            // `dac3` states the channels; Matroska states only their number.
            guard sound.channelLayout.knownName != nil else { return nil }
            sampleFormat = (.float32, true)
        default:
            guard let (format, bits) = Self.pcm[codec] else { return nil }
            sampleFormat = (format, false)
            bitsPerSample = bits
        }
    }

    /// libavcodec's sample format for each PCM codec, and the bit depth that it reports if the format has more room.
    private static let pcm: [String: (SampleFormat, bits: Int?)] = {
        var formats: [String: (SampleFormat, bits: Int?)] = [
            "pcm_u8": (.uint8, nil), "pcm_s8": (.uint8, nil), "pcm_alaw": (.int16, nil), "pcm_mulaw": (.int16, nil),
        ]
        for end in ["le", "be"] {
            formats["pcm_s16\(end)"] = (.int16, nil)
            formats["pcm_s24\(end)"] = (.int32, 24)
            formats["pcm_s32\(end)"] = (.int32, 32)
            formats["pcm_f32\(end)"] = (.float32, nil)
            formats["pcm_f64\(end)"] = (.float64, nil)
        }
        return formats
    }()

    private mutating func setUsualLayout(_ channels: Int) -> Bool {
        guard channels == 1 || channels == 2 else { return false }
        channelLayout = channels == 1 ? .mono : .stereo
        return true
    }

    /// Reads an `AudioSpecificConfig` (ISO/IEC 14496-3, 1.6.2.1), provided that it leaves nothing open.
    private mutating func readAAC(_ header: [UInt8], _ sound: AudioFormat) -> Bool {
        let layouts = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1"]
        guard let config = try? AudioSpecificConfig(header), config.objectType == 2, config.frameLength == 1024,
            layouts.indices.contains(config.channelConfiguration - 1)
        else { return false }
        var channels = config.channelConfiguration
        if config.hasBandReplication == true {
            // One channel may become two without any signalling.
            guard config.extendedSampleRate == 2 * config.sampleRate,
                channels > 1 || config.hasParametricStereo != nil
            else { return false }
            if config.hasParametricStereo == true, channels == 1 { channels = 2 }
            profile = channels > config.channelConfiguration ? 28 : 4
            frameSize = 2048
        } else {
            // If the header does not mention band replication, it is not used at these rates.
            guard config.hasBandReplication == false || config.sampleRate >= 32000 else { return false }
            profile = 1
            frameSize = 1024
        }
        let rate = config.extendedSampleRate ?? config.sampleRate
        guard rate == sound.sampleRate, sound.channels == channels || sound.channels == config.channelConfiguration
        else { return false }
        channelLayout = ChannelLayout(channels: channels, name: layouts[channels - 1])
        sampleFormat = (.float32, true)
        return true
    }

    /// Reads the STREAMINFO block (RFC 9639, 8.2), with or without the bytes that precede it in a FLAC file.
    private mutating func readFLAC(_ header: [UInt8], _ sound: AudioFormat) -> Bool {
        let block = header.starts(with: Array("fLaC".utf8)) ? header.dropFirst(8) : header[...]
        guard block.count >= 34 else { return false }
        var reader = BitReader(Array(block.prefix(34)))
        guard (try? reader.skip(80)) != nil, let rate = try? reader.bits(20), let channels = try? reader.bits(3),
            let bits = try? reader.bits(5), Int(rate) == sound.sampleRate, Int(channels) + 1 == sound.channels,
            setUsualLayout(sound.channels)
        else { return false }
        bitsPerSample = Int(bits) + 1
        sampleFormat = (bits < 16 ? .int16 : .int32, false)
        return true
    }
}

// Properties stated by coded pictures themselves, independently of the container.

extension PictureHeaders {
    /// The colours stated by the headers, in libavutil's names; `nil` if they state none.
    package var color: ColorInfo? {
        guard let sequence else { return nil }
        let points = sequence.color ?? SequenceInfo.CodePoints()
        var color = ColorInfo(
            primaries: points.primaries, transfer: points.transfer, matrix: points.matrix,
            isFullRange: points.isFullRange)
        color.chromaLocation = Self.name(ofChromaLocation: sequence.chromaLocation)
        return color.isUnknown ? nil : color
    }

    /// Returns libavutil's name for a chroma sample location as numbered by ITU-T H.273.
    static func name(ofChromaLocation number: Int?) -> String? {
        number.flatMap { [0: "left", 1: "center", 2: "topleft", 3: "top", 4: "bottomleft", 5: "bottom"][$0] }
    }
}

extension HDRInfo {
    /// Combines the HDR metadata of the container and of the coded pictures; `nil` if there is none.
    ///
    /// The container's values, which libavformat passes on, take precedence.
    package init?(_ container: HDRInfo?, headers: PictureHeaders?) {
        self = container ?? HDRInfo()
        let messages = headers?.messages
        masteringDisplay = masteringDisplay ?? messages?.masteringDisplay
        contentLightLevel = contentLightLevel ?? messages?.contentLightLevel
        if messages?.hasHDR10Plus == true { hdr10Plus = true }
        // Code point 18 of ITU-T H.273; such a stream declares itself as BT.2020 for the sake of old displays.
        if messages?.preferredTransfer == 18, transferFamily == nil { transferFamily = "HLG" }
        if self == HDRInfo() { return nil }
    }
}

extension StreamInfo {
    /// Uses the frame rate fixed by the codec's header, for a stream whose container states none.
    package mutating func stateCodedFrameRate() {
        guard attachedPicture == nil,
            ["h264", "mpeg1video", "mpeg2video"].contains(format.codec)
        else { return }
        let headers = PictureHeaders(codec: format.codec, header: format.extradata, sample: [])
        statedFrameRate = headers.sequence?.fixedFrameRate
    }
}

extension StreamInfo {
    /// Frames per second, as counted by timecodes: see ``MediaBase/Rational/pictureRate(nominal:average:fieldOrder:)``.
    var pictureRate: Rational? {
        Rational.pictureRate(nominal: nominalFrameRate, average: averageFrameRate, fieldOrder: format.video?.fieldOrder)
    }
}

extension Rational {
    /// Computes frames per second as counted by timecodes: the nominal rate, halved if this counts fields.
    package static func pictureRate(nominal: Rational?, average: Rational?, fieldOrder: FieldOrder?) -> Rational? {
        guard let nominal, let average else { return nominal ?? average }
        let ratio = nominal.doubleValue / average.doubleValue
        let isInterlaced = fieldOrder.map { $0 != .progressive } ?? false
        guard isInterlaced, ratio > 1.9, ratio < 2.1 else { return nominal }
        return nominal.divided(by: Rational(2))
    }
}

extension FieldOrder {
    /// Creates the order that QuickTime's `fiel` atom and Matroska's `FieldOrder` number alike.
    init?(detail: some BinaryInteger) {
        switch detail {
        case 1, 9: self = .topFieldFirst
        case 6, 14: self = .bottomFieldFirst
        default: return nil
        }
    }
}
