import MediaBase

/// The loudspeaker positions of an audio track's channels, in the order in which the channels are stored (`chan`).
///
/// QuickTime File Format, "Audio Channel Layout"; the numbers are those of Core Audio Format's channel layout chunk.
package struct SpeakerLayout: Hashable, Sendable {
    /// The loudspeakers by libavutil's short names, such as `FL`.
    ///
    /// The name is empty for a channel without a known loudspeaker. The array is empty if the layout states nothing.
    package var speakers: [String]

    /// The maximum number of channels that are read.
    private static let maximumChannels: UInt32 = 64

    /// Reads a `chan` payload: a tag for all channels, a bit for each, or a description of each.
    ///
    /// Unknown tags, and tags without loudspeakers such as ambisonic ones, yield no loudspeakers.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        try reader.skip(4)
        let tag = try reader.uint32()
        let bits = try reader.uint32()
        switch tag {
        case 0:
            let count = try reader.uint32()
            var labels: [UInt32] = []
            for _ in 0..<min(count, Self.maximumChannels) {
                labels.append(try reader.uint32())
                // The coordinate flags and the coordinates.
                try reader.skip(16)
            }
            self.init(labels: labels)
        case 1 << 16:
            // The bits of the first 18 loudspeakers are in the order of their labels.
            self.init(labels: (1...18).filter { bits >> ($0 - 1) & 1 == 1 })
        default:
            let labels = Self.layouts[tag >> 16] ?? []
            self.init(labels: UInt32(labels.count) == tag & 0xFFFF ? labels : [])
        }
    }

    private init(labels: [UInt32]) {
        // Left and right surround are at the rear, unless other channels are.
        let hasRear = labels.contains(33) || labels.contains(34)
        speakers = labels.map { label in
            switch label {
            case 5 where hasRear: "SL"
            case 6 where hasRear: "SR"
            default: Self.names[label] ?? ""
            }
        }
    }

    /// True if the loudspeakers are in the order of libavutil's channel masks, which libavutil assumes.
    package var isInMaskOrder: Bool {
        let places = speakers.compactMap { Self.maskOrder.firstIndex(of: $0) }
        return places.count == speakers.count && zip(places, places.dropFirst()).allSatisfy { $0 < $1 }
    }

    private static let maskOrder = [
        "FL", "FR", "FC", "LFE", "BL", "BR", "FLC", "FRC", "BC", "SL", "SR", "TC", "TFL", "TFC", "TFR", "TBL", "TBC",
        "TBR", "DL", "DR", "WL", "WR", "LFE2",
    ]

    /// The loudspeaker names by label.
    private static let names: [UInt32: String] = [
        1: "FL", 2: "FR", 3: "FC", 4: "LFE", 5: "BL", 6: "BR", 7: "FLC", 8: "FRC", 9: "BC", 10: "SL", 11: "SR",
        12: "TC",
        13: "TFL", 14: "TFC", 15: "TFR", 16: "TBL", 17: "TBC", 18: "TBR", 33: "BL", 34: "BR", 35: "WL", 36: "WR",
        37: "LFE2", 38: "DL", 39: "DR", 42: "FC", 44: "BC", 301: "FL", 302: "FR",
    ]

    /// The labels of the tagged layouts, keyed by the tag's upper 16 bits; layouts without loudspeakers are left out.
    private static let layouts: [UInt32: [UInt32]] = [
        100: [3], 101: [1, 2], 102: [1, 2], 103: [38, 39], 108: [1, 2, 5, 6], 109: [1, 2, 5, 6, 3],
        110: [1, 2, 5, 6, 3, 9], 111: [1, 2, 33, 34, 3, 9, 10, 11], 113: [1, 2, 3], 114: [3, 1, 2], 115: [1, 2, 3, 9],
        116: [3, 1, 2, 9], 117: [1, 2, 3, 5, 6], 118: [1, 2, 5, 6, 3], 119: [1, 3, 2, 5, 6], 120: [3, 1, 2, 5, 6],
        121: [1, 2, 3, 4, 5, 6], 122: [1, 2, 5, 6, 3, 4], 123: [1, 3, 2, 5, 6, 4], 124: [3, 1, 2, 5, 6, 4],
        125: [1, 2, 3, 4, 5, 6, 9], 126: [1, 2, 3, 4, 5, 6, 7, 8], 127: [3, 7, 8, 1, 2, 5, 6, 4],
        128: [1, 2, 3, 4, 5, 6, 33, 34], 129: [1, 2, 5, 6, 3, 4, 7, 8], 130: [1, 2, 3, 4, 5, 6, 38, 39],
        131: [1, 2, 9],
        132: [1, 2, 5, 6], 133: [1, 2, 4], 134: [1, 2, 4, 9], 135: [1, 2, 4, 5, 6], 136: [1, 2, 3, 4],
        137: [1, 2, 3, 4, 9], 138: [1, 2, 5, 6, 4], 139: [1, 2, 5, 6, 3, 9], 140: [1, 2, 5, 6, 3, 33, 34],
        141: [3, 1, 2, 5, 6, 9], 142: [3, 1, 2, 5, 6, 9, 4], 143: [3, 1, 2, 5, 6, 33, 34],
        144: [3, 1, 2, 5, 6, 33, 34, 9], 149: [3, 4], 150: [1, 3, 2], 151: [1, 3, 2, 9], 152: [1, 3, 2, 4],
        153: [1, 2, 9, 4], 154: [1, 3, 2, 9, 4],
    ]
}
