package import AssetKit
package import MediaBase

/// A summary of the unusable data in a file, as reported by every command.
package struct DamageSummary: Encodable, Sendable {
    /// The number of damaged packets; see ``DamageReport/packetCount``.
    package var packets: Int
    /// Indicates whether the file ends before the end of the container.
    package var truncated: Bool
    /// The presentation time ranges of the damaged packets; see ``DamageReport/places``.
    package var ranges: [Range]
    /// The number of bytes before the media that are not part of it; see ``DamageReport/skippedBytes``.
    package var skippedBytes: Int64
    /// The duration that could be read, and the one stated by the container, if both are known.
    private var shortfall: DamageReport.Shortfall?

    private enum CodingKeys: CodingKey {
        case packets, truncated, ranges, skippedBytes
    }

    /// A range of consecutive packets.
    package struct Range: Encodable, Sendable {
        /// The index of the track: ``AssetTrack/index``.
        package var trackIndex: Int
        /// The presentation time of the first packet.
        package var start: MediaTime
        /// The total duration of the packets; 0 if unknown.
        package var duration: MediaTime
    }

    /// Creates a summary of the report of a reader or an image generator.
    package init(_ report: DamageReport) {
        packets = report.packetCount
        truncated = report.isTruncated
        skippedBytes = report.skippedBytes
        shortfall = report.shortfall
        ranges = report.places.map {
            Range(trackIndex: $0.trackIndex, start: $0.timeRange.start, duration: $0.timeRange.duration)
        }
    }

    /// Indicates whether everything could be used.
    package var isEmpty: Bool { packets == 0 && !truncated && skippedBytes == 0 }

    /// A description of the damage; empty if there is none.
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

    /// Returns the message about bytes before the media.
    package static func text(ofSkipped bytes: Int64) -> String {
        "\(bytes) bytes before the first frame are none of the media and were passed over"
    }

    /// The error to throw if damage is not allowed; `nil` if there is none.
    package var strictError: MediaError? {
        isEmpty ? nil : MediaError(.damaged, "\(text), which --strict does not allow")
    }
}

extension AssetTrack {
    /// Returns whether the container itself declares the track to be empty.
    ///
    /// - Parameter isFragmented: True if samples are stored in fragments, which the movie's own tables do not count.
    package func isSaidToBeEmpty(inFragments isFragmented: Bool) -> Bool {
        if sampleCount == 0, !isFragmented { return true }
        // An edit list may hide all content, or consist only of gaps.
        return !segments.isEmpty && (timeRange.duration == .zero || segments.allSatisfy { $0.mediaStart == nil })
    }

    /// Returns whether the container declares a duration and content for the track.
    package func statesContent(inFragments isFragmented: Bool) -> Bool {
        timeRange.duration.isNumeric && timeRange.duration > .zero && !isSaidToBeEmpty(inFragments: isFragmented)
    }

    /// The error for a track from which no sample could be read although the container declares content.
    package var errorOfNothing: MediaError {
        let length = Rational(timeRange.duration).map { ", of which the container says \(QuantityText.decimal($0)) s" }
        return MediaError(.damaged, "not one sample of track \(index) (\(mediaType)) could be read\(length ?? "")")
    }
}
