import Bitstreams
import LibAV
public import MediaBase

/// A playlist of the segments that an ``AssetWriter`` hands out, for HTTP Live Streaming (RFC 8216).
///
/// ```swift
/// var playlist = HLSPlaylist(initialization: "init.mp4")
/// // For each media segment, after it was stored as "1.m4s", "2.m4s" and so on:
/// playlist.append("\(number).m4s", segment)
/// // At the end:
/// playlist.isComplete = true
/// try playlist.text.write(toFile: "index.m3u8", atomically: true, encoding: .utf8)
/// ```
public struct HLSPlaylist: Sendable, Hashable {
    /// A segment in the playlist.
    public struct Segment: Sendable, Hashable {
        /// The segment's URI, relative to the playlist.
        public let uri: String
        /// The time at which the segment starts.
        public let start: MediaTime
        /// The duration of the leading track in the segment.
        public let duration: MediaTime
        /// The number of bytes.
        public let byteCount: Int
    }

    /// The URI of the header, relative to the playlist.
    public let initialization: String
    /// The segments in order.
    public private(set) var segments: [Segment] = []
    /// True once no more segments follow; players may then seek in all of them.
    public var isComplete = false

    /// Creates a playlist without segments.
    ///
    /// - Parameter initialization: The URI of the header, relative to the playlist.
    public init(initialization: String) { self.initialization = initialization }

    /// Appends a segment; does nothing for the header, and for a segment without samples.
    ///
    /// - Parameters:
    ///   - uri: The segment's URI, relative to the playlist.
    ///   - segment: The segment, whose report states its duration.
    public mutating func append(_ uri: String, _ segment: AssetSegment) {
        guard let track = segment.report?.leading else { return }
        segments.append(
            Segment(
                uri: uri, start: track.earliestPresentationTime, duration: track.duration,
                byteCount: segment.data.count))
    }

    /// The text of the playlist, to be served as `application/vnd.apple.mpegurl`.
    public var text: String {
        // The target duration is at least every duration, rounded to a whole second (4.3.3.1).
        let longest = segments.map(\.duration).max() ?? .zero
        let target = max(1, longest.ticks(in: .one, rounding: .halfAwayFromZero) ?? 1)
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:\(target)", "#EXT-X-MEDIA-SEQUENCE:0",
            "#EXT-X-PLAYLIST-TYPE:\(isComplete ? "VOD" : "EVENT")", "#EXT-X-INDEPENDENT-SEGMENTS",
            "#EXT-X-MAP:URI=\"\(initialization)\"",
        ]
        for segment in segments { lines += ["#EXTINF:\(Self.decimal(segment.duration)),", segment.uri] }
        if isComplete { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The bit rate of the segment with the highest, in bits per second.
    public var peakBitRate: Int { segments.map { Self.bitRate($0.byteCount, $0.duration) }.max() ?? 0 }

    /// The bit rate of all segments together, in bits per second.
    public var averageBitRate: Int {
        Self.bitRate(segments.reduce(0) { $0 + $1.byteCount }, segments.reduce(MediaTime.zero) { $0 + $1.duration })
    }

    private static func bitRate(_ bytes: Int, _ duration: MediaTime) -> Int {
        duration > .zero ? Int(exactly: (Double(bytes) * 8 / duration.seconds).rounded(.up)) ?? 0 : 0
    }

    /// Returns a duration in seconds with six decimals.
    private static func decimal(_ time: MediaTime) -> String {
        let ticks = max(0, time.ticks(in: Rational(1, 1_000_000), rounding: .halfAwayFromZero) ?? 0)
        let fraction = String(ticks % 1_000_000)
        return "\(ticks / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// Returns a multivariant playlist (4.3.4) that names this playlist as its only variant.
    ///
    /// It states what a player needs to know before it loads anything: bit rates, codecs, picture size and frame rate.
    ///
    /// - Parameters:
    ///   - uri: The URI of this playlist, relative to the multivariant playlist.
    ///   - tracks: The tracks of the movie, as an asset of the header reports them.
    public func multivariantText(uri: String, tracks: [AssetTrack]) -> String {
        var attributes = ["BANDWIDTH=\(max(1, peakBitRate))", "AVERAGE-BANDWIDTH=\(max(1, averageBitRate))"]
        let media = tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }
        let codecs = media.map { $0.formatDescriptions.first?.codecsParameter }
        let known = codecs.compactMap(\.self)
        if known.count == codecs.count, !known.isEmpty {
            var named: [String] = []
            for codec in known where !named.contains(codec) { named.append(codec) }
            attributes.append("CODECS=\"\(named.joined(separator: ","))\"")
        }
        if let video = media.first(where: { $0.mediaType == .video }), let size = video.formatDescriptions.first?.video
        {
            attributes.append("RESOLUTION=\(size.encodedSize.width)x\(size.encodedSize.height)")
        }
        return "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-STREAM-INF:"
            + attributes.joined(separator: ",") + "\n\(uri)\n"
    }
}

extension FormatDescription {
    /// The format as the `codecs` parameter of a media type (RFC 6381), such as `avc1.640028`; `nil` if unknown.
    ///
    /// Players decide by it whether they can play a track: it goes into `CODECS` of a playlist, into
    /// `MediaSource.isTypeSupported` and the like.
    public var codecsParameter: String? {
        let header = extradata
        switch codec {
        case "h264":
            // AVCDecoderConfigurationRecord: ISO/IEC 14496-15, 5.3.3.
            guard header.count > 3, header[0] == 1 else { return nil }
            return "avc1." + header[1...3].hexadecimal.uppercased()
        case "hevc":
            // HEVCDecoderConfigurationRecord and its text form: ISO/IEC 14496-15, 8.3.3 and annex E.
            guard header.count > 12, header[0] == 1 else { return nil }
            let space = ["", "A", "B", "C"][Int(header[1] >> 6)]
            let flags = header[2...5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            var reversed: UInt32 = 0
            for bit in 0..<32 where flags >> UInt32(bit) & 1 == 1 { reversed |= 1 << UInt32(31 - bit) }
            var constraints = Array(header[6...11])
            while constraints.last == 0 { constraints.removeLast() }
            return
                ([
                    "hvc1", space + "\(header[1] & 31)", String(reversed, radix: 16, uppercase: true),
                    (header[1] >> 5 & 1 == 1 ? "H" : "L") + "\(header[12])",
                ]
                + constraints.map { String($0, radix: 16, uppercase: true) }).joined(separator: ".")
        case "av1":
            // AV1CodecConfigurationRecord: AV1 in ISOBMFF, 2.3 and 5.
            guard header.count > 2, header[0] == 0x81 else { return nil }
            let depth = header[2] >> 6 & 1 == 0 ? 8 : header[2] >> 5 & 1 == 1 ? 12 : 10
            let (level, tier) = (padded(header[1] & 31, to: 2), header[2] >> 7 == 1 ? "H" : "M")
            return "av01.\(header[1] >> 5).\(level)\(tier).\(padded(depth, to: 2))"
        case "aac":
            guard let config = try? AudioSpecificConfig(header) else { return "mp4a.40.2" }
            // Explicit band replication and parametric stereo have object types of their own.
            if config.hasParametricStereo == true { return "mp4a.40.29" }
            return "mp4a.40.\(config.hasBandReplication == true ? 5 : config.objectType)"
        case "mp3": return "mp4a.40.34"
        case "ac3": return "ac-3"
        case "eac3": return "ec-3"
        case "opus": return "Opus"
        case "flac": return "fLaC"
        case "alac": return "alac"
        default: return nil
        }
    }
}
