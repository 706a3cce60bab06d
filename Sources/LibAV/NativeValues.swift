import CFFmpeg
package import MediaBase

// MediaBase's values as libav's structures and numbers, for what is written.

extension ChannelLayout {
    /// Writes the layout into a field of libav's; one whose name libavutil does not know keeps its count alone.
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

    /// Whether libavutil knows a layout of this name and number of channels, or the name only counts them.
    package var isKnown: Bool {
        guard (1...Limits.channels).contains(channels) else { return false }
        guard knownName != nil else { return true }
        var layout = AVChannelLayout()
        defer { av_channel_layout_uninit(&layout) }
        return av_channel_layout_from_string(&layout, name) >= 0 && layout.nb_channels == channels
    }
}

extension ChannelLayout {
    /// The layout itself where it says which channels there are, else libavutil's usual one of so many channels.
    package var orDefault: ChannelLayout {
        guard knownName == nil, (1...Limits.channels).contains(channels) else { return self }
        var layout = AVChannelLayout()
        av_channel_layout_default(&layout, Int32(channels))
        defer { av_channel_layout_uninit(&layout) }
        return ChannelLayout(layout)
    }
}

extension Rational {
    /// The fraction as libav's, of 32 bits; the nearest one where its parts are larger, `nil` where it is invalid.
    var native: AVRational? {
        guard isValid else { return nil }
        var result = AVRational()
        av_reduce(&result.num, &result.den, num, den, Int64(Int32.max))
        return result.den > 0 ? result : nil
    }
}

extension ColorInfo {
    /// libavutil's numbers of the names; "unspecified" for what is not known.
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
    /// The order that MediaBase names; unknown for none.
    init(name: String?) {
        self =
            switch name {
            case "progressive": AV_FIELD_PROGRESSIVE
            case "tt": AV_FIELD_TT
            case "bb": AV_FIELD_BB
            case "tb": AV_FIELD_TB
            case "bt": AV_FIELD_BT
            default: AV_FIELD_UNKNOWN
            }
    }
}
