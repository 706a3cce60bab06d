import CFFmpeg
import MediaBase

// A stream's AVCodecParameters and side data as a format description.

extension FormatDescription {
    init(_ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar.pointee
        let tag = FormatDescription.tagText(parameters.codec_tag)
        let codec = avcodec_descriptor_get(parameters.codec_id).map { String(cString: $0.pointee.name) } ?? "unknown"
        self.init(
            mediaType: Self.mediaType(parameters, tag: tag), codec: codec, codecTag: tag,
            profile: avcodec_profile_name(parameters.codec_id, parameters.profile).map { String(cString: $0) },
            level: parameters.level >= 0 ? Int(parameters.level) : nil,
            bitRate: parameters.bit_rate > 0 ? parameters.bit_rate : nil,
            extradata: parameters.extradata.map {
                Array(UnsafeBufferPointer(start: $0, count: max(0, Int(parameters.extradata_size))))
            } ?? [])
        switch parameters.codec_type {
        case AVMEDIA_TYPE_AUDIO: audio = AudioFormat(parameters)
        // Without a size nothing is known of the pictures.
        case AVMEDIA_TYPE_VIDEO where parameters.width > 0 && parameters.height > 0: video = VideoFormat(stream)
        default: break
        }
    }

    private static func mediaType(_ parameters: AVCodecParameters, tag: String?) -> MediaType {
        switch parameters.codec_type {
        case AVMEDIA_TYPE_VIDEO: .video
        case AVMEDIA_TYPE_AUDIO: .audio
        case AVMEDIA_TYPE_SUBTITLE: .subtitle
        case AVMEDIA_TYPE_ATTACHMENT: .attachment
        default: tag == "tmcd" ? .timecode : .data
        }
    }

    /// The four characters of a tag, or its number as `0x001b` where they are not all printable ASCII, as in WAV and
    /// transport streams; `nil` for no tag.
    private static func tagText(_ tag: UInt32) -> String? {
        guard tag != 0 else { return nil }
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * UInt32($0))) }
        if bytes.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(decoding: bytes, as: UTF8.self) }
        return "0x" + padded(tag, to: 4, radix: 16)
    }
}

extension AudioFormat {
    fileprivate init(_ parameters: AVCodecParameters) {
        let decoded = SampleFormat.make(AVSampleFormat(rawValue: parameters.format))
        let stored = max(parameters.bits_per_raw_sample, av_get_bits_per_sample(parameters.codec_id))
        self.init(
            sampleRate: max(0, Int(parameters.sample_rate)), channelLayout: ChannelLayout(parameters.ch_layout),
            sampleFormat: decoded?.format, isPlanar: decoded?.isPlanar ?? false,
            bitsPerSample: stored > 0 ? Int(stored) : nil,
            priming: parameters.initial_padding > 0 ? Int(parameters.initial_padding) : nil,
            remainder: parameters.trailing_padding > 0 ? Int(parameters.trailing_padding) : nil)
    }
}

extension VideoFormat {
    fileprivate init(_ stream: UnsafeMutablePointer<AVStream>) {
        let parameters = stream.pointee.codecpar.pointee
        let pixelFormat = AVPixelFormat(rawValue: parameters.format)
        let container = Rational(stream.pointee.sample_aspect_ratio)
        self.init(
            encodedSize: Dimensions(width: Int(parameters.width), height: Int(parameters.height)),
            sampleAspectRatio: container ?? Rational(parameters.sample_aspect_ratio),
            pixelFormat: pixelFormat == AV_PIX_FMT_NONE ? nil : PixelFormat(pixelFormat),
            bitDepth: Self.bitDepth(parameters, pixelFormat),
            color: ColorInfo(
                primaries: parameters.color_primaries, transfer: parameters.color_trc, matrix: parameters.color_space,
                range: parameters.color_range, chromaLocation: parameters.chroma_location),
            fieldOrder: Self.name(parameters.field_order), hdr: HDRInfo(stream),
            reorders: parameters.video_delay > 0)
        chromaSubsampling = Self.chromaSubsampling(pixelFormat)
    }

    private static func chromaSubsampling(_ format: AVPixelFormat) -> String? {
        guard let descriptor = av_pix_fmt_desc_get(format)?.pointee,
            descriptor.flags & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER) == 0
        else { return nil }
        guard descriptor.nb_components >= 3 else { return "4:0:0" }
        switch (descriptor.log2_chroma_w, descriptor.log2_chroma_h) {
        case (0, 0): return "4:4:4"
        case (0, 1): return "4:4:0"
        case (1, 0): return "4:2:2"
        case (1, 1): return "4:2:0"
        case (2, 0): return "4:1:1"
        case (2, 2): return "4:1:0"
        default: return nil
        }
    }

    private static func bitDepth(_ parameters: AVCodecParameters, _ format: AVPixelFormat) -> Int? {
        if parameters.bits_per_raw_sample > 0 { return Int(parameters.bits_per_raw_sample) }
        guard let descriptor = av_pix_fmt_desc_get(format) else { return nil }
        return Int(descriptor.pointee.comp.0.depth)
    }

    private static func name(_ order: AVFieldOrder) -> String? {
        switch order {
        case AV_FIELD_PROGRESSIVE: "progressive"
        case AV_FIELD_TT: "tt"
        case AV_FIELD_BB: "bb"
        case AV_FIELD_TB: "tb"
        case AV_FIELD_BT: "bt"
        default: nil
        }
    }
}

extension HDRInfo {
    /// What the stream's side data and transfer characteristic say; `nil` where they say nothing.
    fileprivate init?(_ stream: UnsafeMutablePointer<AVStream>) {
        self.init()
        switch stream.pointee.codecpar.pointee.color_trc {
        case AVCOL_TRC_SMPTE2084: transferFamily = "PQ"
        case AVCOL_TRC_ARIB_STD_B67: transferFamily = "HLG"
        default: break
        }
        func sideData<Value>(_ type: AVPacketSideDataType, as _: Value.Type) -> Value? {
            var size = 0
            guard let bytes = shim_stream_side_data(stream, type, &size), size >= MemoryLayout<Value>.size else {
                return nil
            }
            return UnsafeRawPointer(bytes).loadUnaligned(as: Value.self)
        }
        if let display = sideData(AV_PKT_DATA_MASTERING_DISPLAY_METADATA, as: AVMasteringDisplayMetadata.self) {
            masteringDisplay = MasteringDisplay(display)
        }
        if let light = sideData(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, as: AVContentLightMetadata.self) {
            contentLightLevel = ContentLightLevel(
                maximum: Int(light.MaxCLL), maximumFrameAverage: Int(light.MaxFALL))
        }
        if let record = sideData(AV_PKT_DATA_DOVI_CONF, as: AVDOVIDecoderConfigurationRecord.self) {
            let layers = [
                (record.bl_present_flag, "base"), (record.el_present_flag, "enhancement"),
                (record.rpu_present_flag, "metadata"),
            ]
            dolbyVision = DolbyVisionConfiguration(
                profile: Int(record.dv_profile), level: Int(record.dv_level),
                layers: layers.filter { $0.0 != 0 }.map(\.1), compatibility: Int(record.dv_bl_signal_compatibility_id))
        }
        guard self != HDRInfo() else { return nil }
    }
}

extension HDRInfo.MasteringDisplay {
    init(_ display: AVMasteringDisplayMetadata) {
        self.init()
        if display.has_primaries != 0 {
            func pair(_ values: (AVRational, AVRational)) -> [Rational]? {
                guard let x = Rational(values.0), let y = Rational(values.1) else { return nil }
                return [x, y]
            }
            red = pair(display.display_primaries.0)
            green = pair(display.display_primaries.1)
            blue = pair(display.display_primaries.2)
            whitePoint = pair(display.white_point)
        }
        if display.has_luminance != 0 {
            // Nothing but 0 cd/m² is a level that is not positive and still known.
            let darkest = display.min_luminance
            minimumLuminance = darkest.num == 0 && darkest.den > 0 ? .zero : Rational(darkest)
            maximumLuminance = Rational(display.max_luminance)
        }
    }
}
