import CFFmpeg
package import MediaBase

// Conversion of libav's enumerations to the names that MediaBase uses, and back.

extension PixelFormat {
    init(_ format: AVPixelFormat) {
        self.init(rawValue: av_get_pix_fmt_name(format).map { String(cString: $0) } ?? "unknown")
    }

    /// libavutil's value for the format; `nil` if it has no format of this name.
    var native: AVPixelFormat? {
        let format = av_get_pix_fmt(rawValue)
        return format == AV_PIX_FMT_NONE ? nil : format
    }

    /// True if libavutil has a format of this name.
    package var isKnown: Bool { native != nil }

    /// True if frames can be converted to this format (`sws_isSupportedOutput`).
    package var canBeMade: Bool { native.map { sws_isSupportedOutput($0) != 0 } ?? false }
}

extension SampleFormat {
    /// Returns the format for libavutil's value.
    ///
    /// The conversion avoids names because it runs for every frame.
    static func make(_ format: AVSampleFormat) -> (format: SampleFormat, isPlanar: Bool)? {
        let known: SampleFormat? =
            switch av_get_packed_sample_fmt(format) {
            case AV_SAMPLE_FMT_U8: .uint8
            case AV_SAMPLE_FMT_S16: .int16
            case AV_SAMPLE_FMT_S32: .int32
            case AV_SAMPLE_FMT_S64: .int64
            case AV_SAMPLE_FMT_FLT: .float32
            case AV_SAMPLE_FMT_DBL: .float64
            default: nil
            }
        return known.map { ($0, av_sample_fmt_is_planar(format) != 0) }
    }

    func native(isPlanar: Bool) -> AVSampleFormat {
        let packed = av_get_sample_fmt(rawValue)
        return isPlanar ? av_get_planar_sample_fmt(packed) : packed
    }
}

extension ChannelLayout {
    init(_ layout: AVChannelLayout) {
        // The most common layouts are not described again for each frame.
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
    /// The bits of `AV_CH_LAYOUT_MONO`: front centre.
    private static let monoMask: UInt64 = 0x4
    /// The bits of `AV_CH_LAYOUT_STEREO`: front left and front right.
    private static let stereoMask: UInt64 = 0x3
}

extension ColorInfo {
    /// Creates colour information from code points of ITU-T H.273, as containers store them.
    ///
    /// A code point that is unknown or means "unspecified" becomes `nil`.
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
    /// Returns libavcodec's name for a four-character codec tag of MP4 and QuickTime; `nil` if there is none.
    ///
    /// Uses `avformat_get_mov_video_tags` and `avformat_get_mov_audio_tags`.
    package static func codec(ofTag tag: String, mediaType: MediaType) -> String? {
        let number = tag.unicodeScalars.reversed().reduce(UInt32(0)) { $0 << 8 | $1.value & 0xFF }
        let tags = mediaType == .audio ? avformat_get_mov_audio_tags() : avformat_get_mov_video_tags()
        let codec = shim_codec_of_tag(tags, number)
        guard codec != AV_CODEC_ID_NONE else { return nil }
        return avcodec_descriptor_get(codec).map { String(cString: $0.pointee.name) }
    }
}

// Conversion of MediaBase's values to libav's structures and numbers, for writing.

extension ChannelLayout {
    /// Writes the layout to a libav field; if libavutil does not know the name, only the number of channels is kept.
    func copy(into layout: inout AVChannelLayout) throws(MediaError) {
        guard (1...Limits.channels).contains(channels) else {
            throw MediaError(.limitExceeded, "\(channels) channels are outside the limit of \(Limits.channels)")
        }
        av_channel_layout_uninit(&layout)
        if av_channel_layout_from_string(&layout, name) < 0 || layout.nb_channels != channels {
            av_channel_layout_uninit(&layout)
            layout.order = AV_CHANNEL_ORDER_UNSPEC
            layout.nb_channels = Int32(channels)
        }
    }

    /// True if libavutil has a layout of this name and number of channels, or if the name only states the number.
    package var isKnown: Bool {
        guard (1...Limits.channels).contains(channels) else { return false }
        guard knownName != nil else { return true }
        var layout = AVChannelLayout()
        defer { av_channel_layout_uninit(&layout) }
        return av_channel_layout_from_string(&layout, name) >= 0 && layout.nb_channels == channels
    }
}

extension ChannelLayout {
    /// Returns the layout that libavutil knows by a name (`av_channel_layout_from_string`); `nil` if there is none.
    package static func named(_ name: String) -> ChannelLayout? {
        var layout = AVChannelLayout()
        defer { av_channel_layout_uninit(&layout) }
        guard av_channel_layout_from_string(&layout, name) >= 0,
            (1...Int32(Limits.channels)).contains(layout.nb_channels)
        else { return nil }
        return ChannelLayout(layout)
    }

    /// The layout itself if it names its channels; otherwise libavutil's default layout for the number of channels.
    package var orDefault: ChannelLayout {
        guard knownName == nil, (1...Limits.channels).contains(channels) else { return self }
        var layout = AVChannelLayout()
        av_channel_layout_default(&layout, Int32(channels))
        defer { av_channel_layout_uninit(&layout) }
        return ChannelLayout(layout)
    }
}

extension Rational {
    /// The fraction as libav's 32-bit type, rounded to the nearest one if its parts are larger; `nil` if it is invalid.
    var native: AVRational? {
        guard isValid else { return nil }
        var result = AVRational()
        av_reduce(&result.num, &result.den, num, den, Int64(Int32.max))
        return result.den > 0 ? result : nil
    }
}

extension ColorInfo {
    /// libavutil's values for the names; "unspecified" for unknown names.
    var native:
        (
            primaries: AVColorPrimaries, transfer: AVColorTransferCharacteristic, matrix: AVColorSpace,
            range: AVColorRange, chromaLocation: AVChromaLocation
        )
    {
        func number(_ name: String?, _ find: (UnsafePointer<CChar>?) -> Int32) -> UInt32? {
            guard let name, case let found = find(name), found >= 0 else { return nil }
            return UInt32(found)
        }
        return (
            number(primaries, av_color_primaries_from_name).map { AVColorPrimaries(rawValue: $0) }
                ?? AVCOL_PRI_UNSPECIFIED,
            number(transfer, av_color_transfer_from_name).map { AVColorTransferCharacteristic(rawValue: $0) }
                ?? AVCOL_TRC_UNSPECIFIED,
            number(matrix, av_color_space_from_name).map { AVColorSpace(rawValue: $0) } ?? AVCOL_SPC_UNSPECIFIED,
            number(range, av_color_range_from_name).map { AVColorRange(rawValue: $0) } ?? AVCOL_RANGE_UNSPECIFIED,
            number(chromaLocation, av_chroma_location_from_name).map { AVChromaLocation(rawValue: $0) }
                ?? AVCHROMA_LOC_UNSPECIFIED
        )
    }
}

extension AVFieldOrder {
    private static let all: [(native: AVFieldOrder, order: FieldOrder)] = [
        (AV_FIELD_PROGRESSIVE, .progressive), (AV_FIELD_TT, .topFieldFirst), (AV_FIELD_BB, .bottomFieldFirst),
        (AV_FIELD_TB, .topFieldStoredFirst), (AV_FIELD_BT, .bottomFieldStoredFirst),
    ]

    /// Creates libav's value, which is unknown for `nil` and for an order that libav does not have.
    init(_ order: FieldOrder?) { self = Self.all.first { $0.order == order }?.native ?? AV_FIELD_UNKNOWN }

    /// The order; `nil` if it is unknown.
    var order: FieldOrder? { Self.all.first { $0.native == self }?.order }
}

extension MediaTime {
    /// Creates the time of `ticks` in units of `timeBase` seconds.
    ///
    /// The time is ``MediaTime/indefinite`` for `AV_NOPTS_VALUE`, and invalid for a time base without a denominator. It
    /// is exact if the result fits a 32-bit timescale, as it does for every time base of libavformat.
    package init(ticks: Int64, timeBase: Rational) {
        guard ticks != shim_no_pts, let timescale = Int32(exactly: timeBase.den) else {
            self = .indefinite
            return
        }
        self = MediaTime(value: timeBase.num, timescale: timescale).multiplied(by: ticks)
    }

    init(ticks: Int64, timeBase: AVRational) {
        self.init(ticks: ticks, timeBase: Rational(Int64(timeBase.num), Int64(timeBase.den)))
    }
}

extension Rational {
    /// Creates a fraction from an `AVRational`; `nil` if either part is 0 or negative, which in libav means unknown.
    init?(_ value: AVRational) {
        guard value.num > 0, value.den > 0 else { return nil }
        self.init(Int64(value.num), Int64(value.den))
    }
}

/// Returns the entries of a dictionary owned by libav, in their order and with invalid UTF-8 repaired.
func entries(of dictionary: OpaquePointer?) -> [(key: String, value: String)] {
    var result: [(key: String, value: String)] = []
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while true {
        entry = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)
        guard let entry, result.count < Limits.metadataItems else { return result }
        result.append((String(cString: entry.pointee.key), String(cString: entry.pointee.value)))
    }
}

/// The FFmpeg libraries that this process uses.
package enum LoadedLibraries {
    /// The name and the version of each, such as `libavcodec` and `59.37.100`: avcodec_version().
    package static var versions: [(name: String, version: String)] {
        [
            ("libavformat", avformat_version()), ("libavcodec", avcodec_version()), ("libswscale", swscale_version()),
            ("libswresample", swresample_version()), ("libavutil", avutil_version()),
        ].map { ($0.0, "\($0.1 >> 16).\($0.1 >> 8 & 0xFF).\($0.1 & 0xFF)") }
    }
}
