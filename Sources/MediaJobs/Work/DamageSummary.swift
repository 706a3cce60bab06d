package import AssetKit
package import MediaBase

/// What of a file could not be used, as every command reports it.
package struct DamageSummary: Encodable, Sendable {
    /// Packets that are damaged: see ``DamageReport/packetCount``.
    package var packets: Int
    /// Whether the container broke off before its end.
    package var truncated: Bool
    /// From when to when the packets would have been shown or heard: see ``DamageReport/places``.
    package var ranges: [Range]
    /// Bytes before the media that are none of it: see ``DamageReport/skippedBytes``.
    package var skippedBytes: Int64
    /// How much there is of what the container states, where both are known.
    private var shortfall: DamageReport.Shortfall?

    private enum CodingKeys: CodingKey {
        case packets, truncated, ranges, skippedBytes
    }

    /// Packets in a row.
    package struct Range: Encodable, Sendable {
        /// The track: ``AssetTrack/index``.
        package var trackIndex: Int
        /// When the first would have been shown or heard.
        package var start: MediaTime
        /// How long they are together; 0 where that is not known.
        package var duration: MediaTime
    }

    /// What a reader or an image generator saw.
    package init(_ report: DamageReport) {
        packets = report.packetCount
        truncated = report.isTruncated
        skippedBytes = report.skippedBytes
        shortfall = report.shortfall
        ranges = report.places.map {
            Range(trackIndex: $0.trackIndex, start: $0.timeRange.start, duration: $0.timeRange.duration)
        }
    }

    /// Whether everything could be used.
    package var isEmpty: Bool { packets == 0 && !truncated && skippedBytes == 0 }

    /// What is damaged, in words; empty where nothing is.
    package var text: String {
        var parts: [String] = []
        if skippedBytes > 0 { parts.append(Self.text(ofSkipped: skippedBytes)) }
        if packets > 0 {
            let first = ranges.map(\.start).min()?.clockText()
            let place = first.map { packets == 1 ? " at \($0)" : ", the first at \($0)" }
            parts.append((packets == 1 ? "1 packet is damaged" : "\(packets) packets are damaged") + (place ?? ""))
        }
        if truncated {
            let times = shortfall.map {
                ": the container says \(Self.seconds($0.stated)), \(Self.seconds($0.read)) could be read"
            }
            parts.append("the file breaks off before its end" + (times ?? ""))
        }
        return parts.joined(separator: "; ")
    }

    private static func seconds(_ time: MediaTime) -> String {
        (Rational(time).map { QuantityText.decimal($0) } ?? "\(time)") + " s"
    }

    /// What is told of bytes that come before the media.
    package static func text(ofSkipped bytes: Int64) -> String {
        "\(bytes) bytes before the first frame are none of the media and were passed over"
    }

    /// The error that damage is where it is not allowed; `nil` where nothing is damaged.
    package var strictError: MediaError? {
        isEmpty ? nil : MediaError(.damaged, "\(text), which --strict does not allow")
    }
}
