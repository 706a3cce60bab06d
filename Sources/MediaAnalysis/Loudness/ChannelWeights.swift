/// How much each channel counts for loudness (ITU-R BS.1770-5, tables 3 and 4).
///
/// Channels from the side, 60° to 120° from the middle and not higher than 30°, count 1.41 times, all others once, and
/// low-frequency effects not at all. Where a layout has back channels and no side channels, as `5.1` and `quad` of libavutil have,
/// these are the surround channels of BS.775 at 110°.
package enum ChannelWeights {
    private static let surround = 1.41

    /// The weight of each channel of a layout by libavutil's name of it.
    ///
    /// Where the name does not say which channels there are, four are taken as `quad`, five as `5.0` and six as `5.1`, as
    /// libebur128 has it, and all others count once.
    ///
    /// - Parameters:
    ///   - name: Such as `5.1(side)`, or channels as `FL+FR+LFE`.
    ///   - channels: How many channels there are.
    package static func weights(layout name: String, channels: Int) -> [Double] {
        let named = self.channels(of: name)
        if named.count == channels {
            let hasSides = named.contains("SL") || named.contains("SR")
            return named.map { weight(of: $0, backIsSurround: !hasSides) }
        }
        switch channels {
        case 4: return [1, 1, surround, surround]
        case 5: return [1, 1, 1, surround, surround]
        case 6: return [1, 1, 1, 0, surround, surround]
        default: return Array(repeating: 1, count: max(0, channels))
        }
    }

    private static func weight(of channel: String, backIsSurround: Bool) -> Double {
        switch channel {
        case "LFE", "LFE2": 0
        case "SL", "SR", "WL", "WR", "SDL", "SDR", "SSL", "SSR": surround
        case "BL", "BR": backIsSurround ? surround : 1
        default: 1
        }
    }

    /// The channels of a named layout in order; empty for a name that is not known.
    private static func channels(of name: String) -> [String] {
        if let list = layouts[name] { return list.split(separator: " ").map(String.init) }
        // A layout without a name of its own: "3 channels (FL+FR+LFE)", or the channels alone.
        let inner = name.split(separator: "(").last?.split(separator: ")").first ?? ""
        guard inner.contains("+") else { return [] }
        return inner.split(separator: "+").map { String($0.split(separator: "@").first ?? $0) }
    }

    /// Names and orders of `av_channel_layout_describe`.
    private static let layouts = [
        "mono": "FC", "stereo": "FL FR", "2.1": "FL FR LFE", "3.0": "FL FR FC", "3.0(back)": "FL FR BC",
        "4.0": "FL FR FC BC", "quad": "FL FR BL BR", "quad(side)": "FL FR SL SR", "3.1": "FL FR FC LFE",
        "5.0": "FL FR FC BL BR", "5.0(side)": "FL FR FC SL SR", "4.1": "FL FR FC LFE BC",
        "5.1": "FL FR FC LFE BL BR", "5.1(side)": "FL FR FC LFE SL SR", "6.0": "FL FR FC BC SL SR",
        "6.0(front)": "FL FR FLC FRC SL SR", "hexagonal": "FL FR FC BL BR BC", "6.1": "FL FR FC LFE BC SL SR",
        "6.1(back)": "FL FR FC LFE BL BR BC", "6.1(front)": "FL FR LFE FLC FRC SL SR",
        "7.0": "FL FR FC BL BR SL SR", "7.0(front)": "FL FR FC FLC FRC SL SR",
        "7.1": "FL FR FC LFE BL BR SL SR", "7.1(wide)": "FL FR FC LFE BL BR FLC FRC",
        "7.1(wide-side)": "FL FR FC LFE FLC FRC SL SR", "7.1(top)": "FL FR FC LFE BL BR TFL TFR",
        "octagonal": "FL FR FC BL BR BC SL SR", "cube": "FL FR BL BR TFL TFR TBL TBR", "downmix": "DL DR",
        "22.2": """
        FL FR FC LFE BL BR FLC FRC BC SL SR TC TFL TFC TFR TBL TBC TBR LFE2 TSL TSR BFC BFL BFR
        """,
    ]
}
