import CFFmpeg
package import MediaBase

// libav's enumerations as the names that MediaBase uses, and back.

extension PixelFormat {
    init(_ format: AVPixelFormat) {
        self.init(rawValue: av_get_pix_fmt_name(format).map { String(cString: $0) } ?? "unknown")
    }

    /// libavutil's number of the format; `nil` where it has no format of this name.
    var native: AVPixelFormat? {
        let format = av_get_pix_fmt(rawValue)
        return format == AV_PIX_FMT_NONE ? nil : format
    }

    /// Whether libavutil knows a format of this name.
    package var isKnown: Bool { native != nil }

    /// Whether pictures can be converted to it (`sws_isSupportedOutput`).
    package var canBeMade: Bool { native.map { sws_isSupportedOutput($0) != 0 } ?? false }
}

extension SampleFormat {
    /// By number, because it is asked for every frame.
    static func make(_ format: AVSampleFormat) -> (format: SampleFormat, isPlanar: Bool)? {
        switch format {
        case AV_SAMPLE_FMT_U8: (.uint8, false)
        case AV_SAMPLE_FMT_S16: (.int16, false)
        case AV_SAMPLE_FMT_S32: (.int32, false)
        case AV_SAMPLE_FMT_S64: (.int64, false)
        case AV_SAMPLE_FMT_FLT: (.float32, false)
        case AV_SAMPLE_FMT_DBL: (.float64, false)
        case AV_SAMPLE_FMT_U8P: (.uint8, true)
        case AV_SAMPLE_FMT_S16P: (.int16, true)
        case AV_SAMPLE_FMT_S32P: (.int32, true)
        case AV_SAMPLE_FMT_S64P: (.int64, true)
        case AV_SAMPLE_FMT_FLTP: (.float32, true)
        case AV_SAMPLE_FMT_DBLP: (.float64, true)
        default: nil
        }
    }

    func native(isPlanar: Bool) -> AVSampleFormat {
        let packed = av_get_sample_fmt(rawValue)
        return isPlanar ? av_get_planar_sample_fmt(packed) : packed
    }
}

extension ChannelLayout {
    init(_ layout: AVChannelLayout) {
        // What nearly all frames have is not described anew for each.
        if layout.order == AV_CHANNEL_ORDER_NATIVE {
            switch (layout.nb_channels, layout.u.mask) {
            case (1, ChannelLayout.monoMask):
                self = .mono
                return
            case (2, ChannelLayout.stereoMask):
                self = .stereo
                return
            default: break
            }
        }
        var layout = layout
        var text = [CChar](repeating: 0, count: 128)
        let written = av_channel_layout_describe(&layout, &text, text.count)
        let name = text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        self.init(channels: Int(layout.nb_channels), name: written > 0 ? name : "\(layout.nb_channels) channels")
    }
}

extension ChannelLayout {
    /// `AV_CH_LAYOUT_MONO` and `AV_CH_LAYOUT_STEREO`: the bits of front centre, and of front left and right.
    private static let monoMask: UInt64 = 0x4
    private static let stereoMask: UInt64 = 0x3
}

extension ColorInfo {
    /// What code points of ITU-T H.273 mean, as a container writes them; one that is not known, or that means
    /// "unspecified", is `nil`.
    package init(primaries: UInt16, transfer: UInt16, matrix: UInt16, isFullRange: Bool?) {
        self.init(
            primaries: AVColorPrimaries(rawValue: UInt32(primaries)),
            transfer: AVColorTransferCharacteristic(rawValue: UInt32(transfer)),
            matrix: AVColorSpace(rawValue: UInt32(matrix)),
            range: isFullRange.map { $0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG } ?? AVCOL_RANGE_UNSPECIFIED,
            chromaLocation: AVCHROMA_LOC_UNSPECIFIED)
    }

    init(
        primaries: AVColorPrimaries, transfer: AVColorTransferCharacteristic, matrix: AVColorSpace,
        range: AVColorRange, chromaLocation: AVChromaLocation
    ) {
        func name(_ text: UnsafePointer<CChar>?, known: Bool) -> String? {
            guard known, let text else { return nil }
            let name = String(cString: text)
            return name == "reserved" ? nil : name
        }
        self.init(
            primaries: name(av_color_primaries_name(primaries), known: primaries != AVCOL_PRI_UNSPECIFIED),
            transfer: name(av_color_transfer_name(transfer), known: transfer != AVCOL_TRC_UNSPECIFIED),
            matrix: name(av_color_space_name(matrix), known: matrix != AVCOL_SPC_UNSPECIFIED),
            range: name(av_color_range_name(range), known: range != AVCOL_RANGE_UNSPECIFIED),
            chromaLocation: name(
                av_chroma_location_name(chromaLocation), known: chromaLocation != AVCHROMA_LOC_UNSPECIFIED))
    }
}

extension FormatDescription {
    /// libavcodec's name of the codec that MP4 and QuickTime call by four characters; `nil` where it knows none.
    ///
    /// `avformat_get_mov_video_tags`, `avformat_get_mov_audio_tags`.
    package static func codec(ofTag tag: String, mediaType: MediaType) -> String? {
        let number = tag.unicodeScalars.reversed().reduce(UInt32(0)) { $0 << 8 | $1.value & 0xFF }
        let tags = mediaType == .audio ? avformat_get_mov_audio_tags() : avformat_get_mov_video_tags()
        let codec = shim_codec_of_tag(tags, number)
        guard codec != AV_CODEC_ID_NONE else { return nil }
        return avcodec_descriptor_get(codec).map { String(cString: $0.pointee.name) }
    }
}
