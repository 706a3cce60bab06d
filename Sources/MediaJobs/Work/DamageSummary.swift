package import AssetKit
package import MediaBase

/// What of a file could not be used, as every command reports it.
package struct DamageSummary: Encodable, Sendable {
    /// Packets that are damaged: see ``DamageReport/packetCount``.
    package var packets: Int
    /// Whether the container broke off before its end.
    package var truncated: Bool
    /// When the first of the packets would have been shown or heard.
    package var times: [MediaTime]

    /// What a reader or an image generator saw.
    package init(_ report: DamageReport) {
        packets = report.packetCount
        truncated = report.isTruncated
        times = report.places.map(\.time)
    }

    /// Whether everything could be used.
    package var isEmpty: Bool { packets == 0 && !truncated }

    /// What is damaged, in words; empty where nothing is.
    package var text: String {
        var parts: [String] = []
        if packets > 0 {
            let place = times.min().map { packets == 1 ? " at \($0.clockText())" : ", the first at \($0.clockText())" }
            parts.append((packets == 1 ? "1 packet is damaged" : "\(packets) packets are damaged") + (place ?? ""))
        }
        if truncated { parts.append("the file breaks off before its end") }
        return parts.joined(separator: "; ")
    }

    /// The error that damage is where it is not allowed; `nil` where nothing is damaged.
    package var strictError: MediaError? {
        isEmpty ? nil : MediaError(.damaged, "\(text), which --strict does not allow")
    }
}
