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

/// A track of an input that is not in an output, and why; `leftOut` in the JSON of `proxy` and `export`.
package struct LeftOutTrack: Encodable, Sendable, Hashable {
    /// ``AssetTrack/index``.
    package var trackIndex: Int
    /// The container's own number of it.
    package var trackID: Int
    /// What it carries.
    package var type: String
    /// libavcodec's name of the codec; `nil` where it is not known.
    package var codec: String?
    /// Why it is not there, in words that follow "because".
    package var reason: String

    /// Names a track.
    ///
    /// - Parameter reason: Words that follow "because".
    package init(_ track: AssetTrack, because reason: String) {
        let codec = track.formatDescriptions.first?.codec
        trackIndex = track.index
        trackID = track.id
        type = track.mediaType.rawValue
        self.codec = codec.flatMap { $0.isEmpty || $0 == "unknown" ? nil : $0 }
        self.reason = reason
    }

    /// Names all tracks but those that are written.
    ///
    /// A timecode track is not among them, because it is made again, nor is a cover picture, which is metadata.
    ///
    /// - Parameters:
    ///   - tracks: All of the input's.
    ///   - written: Those that are written.
    ///   - videoReason: Why there is no video where none is written; `nil` for a wish.
    package static func others(
        of tracks: [AssetTrack], besides written: [AssetTrack], videoReason: String? = nil
    ) -> [LeftOutTrack] {
        let taken = Set(written.map(\.index))
        let hasVideo = written.contains { $0.mediaType == .video }
        return tracks.filter {
            !taken.contains($0.index) && $0.mediaType != .timecode && !$0.isAttachedPicture
        }.map { track in
            let reason =
                switch track.mediaType {
                case .video where hasVideo: "one video track is written"
                case .video: videoReason ?? notAskedFor
                case .audio: notAskedFor
                case let type: "\(type.rawValue) tracks are not carried"
                }
            return LeftOutTrack(track, because: reason)
        }
    }

    /// The reason of a track that a caller chose to leave out.
    private static let notAskedFor = "it was not asked for"
    /// The reason of a track that has nothing in the part that is written.
    private static let nothingInRange = "it has nothing in this range"

    /// Names tracks of which nothing came.
    ///
    /// - Parameter undecodable: Why tracks gave nothing, by their index.
    package static func silent(_ tracks: [AssetTrack], _ undecodable: [Int: MediaError]) -> [LeftOutTrack] {
        tracks.map { LeftOutTrack($0, because: undecodable[$0.index]?.message ?? nothingInRange) }
    }

    /// One line for a person.
    package var warning: String { "track \(trackIndex) (\(type)) was left out: \(reason)" }
}

extension AssetTrack {
    /// Reports whether the container itself says that there is nothing in the track.
    ///
    /// - Parameter isFragmented: Whether samples lie in fragments, which the movie's own tables do not count.
    func isSaidToBeEmpty(inFragments isFragmented: Bool) -> Bool {
        if sampleCount == 0, !isFragmented { return true }
        // An edit list may hide all there is, or be nothing but gaps.
        return !segments.isEmpty && (timeRange.duration == .zero || segments.allSatisfy { $0.mediaStart == nil })
    }

    /// Reports whether the container says how long the track is, and that something is in it.
    func statesContent(inFragments isFragmented: Bool) -> Bool {
        timeRange.duration.isNumeric && timeRange.duration > .zero && !isSaidToBeEmpty(inFragments: isFragmented)
    }

    /// The error of a track that gave not one sample although the container says that it has some.
    var errorOfNothing: MediaError {
        let length = Rational(timeRange.duration).map { ", of which the container says \(QuantityText.decimal($0)) s" }
        return MediaError(.damaged, "not one sample of track \(index) (\(mediaType)) could be read\(length ?? "")")
    }
}

extension AssetTrack {
    /// What of a track's pictures is not kept when they are encoded, in words.
    func changes(by settings: VideoOutputSettings) -> [String] {
        guard let source = formatDescriptions.first?.video else { return [] }
        var changes: [String] = []
        let codec = settings.codec.rawValue
        if settings.codec.isLimitedRangeOnly, source.color.range == "pc" {
            changes.append("full range became limited range, the only one that \(codec) has")
        }
        if let matrix = settings.codec.matrix, let own = source.color.matrix, own != matrix, own != "gbr" {
            changes.append("the matrix \(own) became \(matrix), the only one that \(codec) has")
        }
        if source.hasAlpha, !settings.keepsAlpha { changes.append("transparency was left out") }
        if let order = source.fieldOrder, order != "progressive", settings.fieldOrder == "progressive" {
            let reason = settings.codec.holdsFields ? "scaling would mix them" : "\(codec) has no fields"
            changes.append("pictures of two fields became pictures of the first field, because \(reason)")
        }
        if let depth = source.bitDepth, case let kept = settings.encodedBitDepth, kept < depth {
            changes.append("\(depth) bits a component became \(kept)")
        }
        return changes
    }
}

// Bit rates that an encoder refuses, told by the option that asks for them, before anything is encoded.

extension VideoOutputSettings {
    /// Refuses a bit rate with which a track's pictures cannot be encoded.
    ///
    /// - Throws: `invalidArgument`, which names the option.
    func checkBitRate(for track: AssetTrack, in fileType: MediaFileType) throws(MediaError) {
        guard let bitRate, let source = track.formatDescriptions.first?.video,
            isBitRateRefused(for: source, in: fileType)
        else { return }
        throw MediaError(
            .invalidArgument, "\(codec.rawValue) takes no bit rate of \(bitRate); give another --bitrate, or none")
    }
}

extension AudioOutputSettings {
    /// Refuses a bit rate with which a track's sound cannot be encoded.
    ///
    /// - Throws: `invalidArgument`, which names the option.
    func checkBitRate(for track: AssetTrack, in fileType: MediaFileType) throws(MediaError) {
        guard let bitRate, let source = track.formatDescriptions.first?.audio,
            isBitRateRefused(for: source, in: fileType)
        else { return }
        throw MediaError(
            .invalidArgument,
            "\(codec.rawValue) takes no bit rate of \(bitRate); give another --audio-bitrate, or none")
    }
}
