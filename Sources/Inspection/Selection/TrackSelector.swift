package import AssetKit
package import MediaBase

/// A user's choice of a track: `3` (its index), `a:1` (the second audio track) or `id:5` (the container's ID).
///
/// ```swift
/// let track = try TrackSelector(parsing: "a:1").track(of: .audio, in: tracks)
/// ```
package enum TrackSelector: Sendable, Hashable {
    /// The index in the container, from 0: ``AssetTrack/index``, as printed by probe.
    case index(Int)
    /// The index among the tracks of a type, from 0.
    case ordinal(MediaType, Int)
    /// The container's ID: ``AssetTrack/id``.
    case id(Int)

    /// The accepted forms, for help texts and error messages.
    package static let forms =
        "an index (3), a type with a number from 0 (a:1, v:0, s:0, d:0) or an id (id:5, id:0x101)"

    private static let letters: [Substring: MediaType] = ["a": .audio, "v": .video, "s": .subtitle, "d": .data]

    /// Parses one of the ``forms``.
    ///
    /// - Throws: ``MediaError`` `invalidArgument`, which lists the forms, for any other text.
    package init(parsing text: String) throws(MediaError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 1, let index = Self.number(parts[0]) {
            self = .index(index)
        } else if parts.count == 2, parts[0] == "id", let id = Self.number(parts[1], allowsHexadecimal: true) {
            self = .id(id)
        } else if parts.count == 2, let type = Self.letters[parts[0]], let ordinal = Self.number(parts[1]) {
            self = .ordinal(type, ordinal)
        } else {
            throw MediaError(.invalidArgument, "'\(text.prefix(40))' names no track; write \(Self.forms)")
        }
    }

    private static func number(_ text: Substring, allowsHexadecimal: Bool = false) -> Int? {
        let isHexadecimal = allowsHexadecimal && text.hasPrefix("0x")
        let digits = isHexadecimal ? text.dropFirst(2) : text
        // `Int` would accept a sign.
        guard let first = digits.first, first != "+", first != "-" else { return nil }
        return Int(digits, radix: isHexadecimal ? 16 : 10)
    }
}

extension TrackSelector {
    /// Returns the selected track.
    ///
    /// - Parameters:
    ///   - type: The required media type of the track.
    ///   - tracks: All tracks of the asset.
    /// - Throws: ``MediaError`` `noSuchTrack`, which lists the existing tracks.
    package func track(of type: MediaType, in tracks: [AssetTrack]) throws(MediaError) -> AssetTrack {
        let found =
            switch self {
            case .index(let index): tracks.first { $0.index == index }
            case .ordinal(let type, let ordinal): tracks.filter { $0.mediaType == type }.dropFirst(ordinal).first
            case .id(let id): tracks.first { $0.id == id }
            }
        guard let found else {
            throw MediaError(.noSuchTrack, "there is no track \(self); \(Self.list(tracks))")
        }
        guard found.mediaType == type else {
            throw MediaError(
                .noSuchTrack, "track \(self) carries \(found.mediaType), not \(type); \(Self.list(tracks))")
        }
        return found
    }

    /// Returns the default track of a type: the first enabled one, else the first.
    ///
    /// Cover pictures are used only if there is nothing else.
    ///
    /// - Throws: ``MediaError`` `noSuchTrack`, which lists the existing tracks.
    package static func standardTrack(of type: MediaType, in tracks: [AssetTrack]) throws(MediaError) -> AssetTrack {
        let candidates = tracks.filter { $0.mediaType == type }
        let moving = candidates.filter { !$0.isAttachedPicture }
        guard let track = moving.first(where: \.isEnabled) ?? moving.first ?? candidates.first else {
            throw MediaError(.noSuchTrack, "there is no \(type) track; \(list(tracks))")
        }
        return track
    }

    /// Returns the selected audio tracks in file order; all audio tracks if `wanted` is `nil`.
    ///
    /// - Throws: ``MediaError`` `noSuchTrack`, which lists the existing tracks.
    package static func audioTracks(_ wanted: [TrackSelector]?, in tracks: [AssetTrack]) throws(MediaError)
        -> [AssetTrack]
    {
        let all = tracks.filter { $0.mediaType == .audio }
        guard let wanted else { return all }
        var indices: Set<Int> = []
        for selector in wanted { indices.insert(try selector.track(of: .audio, in: tracks).index) }
        return all.filter { indices.contains($0.index) }
    }

    private static func list(_ tracks: [AssetTrack]) -> String {
        guard !tracks.isEmpty else { return "the file has no tracks" }
        let shown = tracks.prefix(16).map { "\($0.index) (\($0.mediaType))" }.joined(separator: ", ")
        return "the file has \(shown)" + (tracks.count > 16 ? " and \(tracks.count - 16) more" : "")
    }
}

extension TrackSelector: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    package var description: String {
        switch self {
        case .index(let index): "\(index)"
        case .ordinal(let type, let ordinal): "\(type.rawValue.prefix(1)):\(ordinal)"
        case .id(let id): "id:\(id)"
        }
    }
}

extension TimeExpression.Context {
    /// Creates the context for resolving times in a track of an asset.
    ///
    /// The start timecode is the track's own, else that of its timecode track, else the container's. It is the timecode
    /// of the track's first frame.
    ///
    /// - Throws: Errors of opening the asset.
    package init(_ track: AssetTrack, in asset: Asset) throws(MediaError) {
        let frameRate = track.pictureRate
        let timecodes = try Self.startTimecodes(track, in: asset)
        let timecode = timecodes.lazy.compactMap { Self.timecode($0, frameRate: frameRate) }.first
        let scale = track.naturalTimeScale
        self.init(
            timeRange: track.timeRange, frameRate: frameRate, startTimecode: timecode,
            timecodeOrigin: timecode == nil ? .zero : track.timeRange.start, timestampScale: scale > 0 ? scale : nil)
    }

    private static func startTimecodes(_ track: AssetTrack, in asset: Asset) throws(MediaError) -> [String] {
        let associated = Set(track.associatedTracks["tmcd"] ?? [])
        let others = try asset.loadNow(.tracks).filter { associated.contains($0.id) }.map(\.startTimecode)
        return ([track.startTimecode] + others + [try asset.loadNow(.container).startTimecode]).compactMap(\.self)
    }

    private static func timecode(_ text: String, frameRate: Rational?) -> Timecode? {
        guard let frameRate, let fields = try? Timecode.Fields(parsing: text),
            let rate = try? Timecode.Rate(frameRate: frameRate, isDropFrame: fields.isDropFrame)
        else { return nil }
        return try? Timecode(fields, rate: rate)
    }
}

extension Sequence<TimeExpression> {
    /// The highest frame number among the times; `nil` if there is none.
    package var highestFrame: Int64? {
        compactMap { if case .frame(let number) = $0 { number } else { nil } }.max()
    }
}

/// The part of a file to write, as requested.
package struct TrimRange {
    /// The range to write; the whole file if none was requested.
    ///
    /// Both ends are rounded to times from which all output times can be counted exactly.
    package let range: MediaTimeRange
    /// The range in exact times as requested; `nil` if none was.
    package let requested: RequestedRange?

    /// - Parameters:
    ///   - track: The track that times refer to.
    ///   - grid: The possible start and end times of the output; `nil` for those of the track.
    /// - Throws: `outOfRange` for a start before zero or after the track, `invalidArgument` for an empty range, and
    ///   errors of resolving the times.
    package init(
        start: TimeExpression?, end: TimeExpression?, of track: AssetTrack, in asset: Asset, grid: TrimGrid? = nil,
        threads: Int
    ) throws(MediaError) {
        guard start != nil || end != nil else {
            range = MediaTimeRange(start: .zero, duration: .positiveInfinity)
            requested = nil
            return
        }
        let context = try TimeExpression.Context(track, in: asset)
        var frames: FrameTimes?
        if track.mediaType == .video {
            let highest = [start, end].compactMap(\.self).highestFrame ?? 0
            frames = FrameTimes(asset, track: track, highest: highest, threads: threads)
        }
        func frameTime(_ number: Int64) throws(MediaError) -> MediaTime {
            guard let time = try frames?.time(of: number) else { return try TimeExpression.noFrames(number) }
            return time
        }
        let first = try start?.resolve(in: context, frameTime: frameTime)
        let last = try end?.resolve(in: context, frameTime: frameTime)
        try RequestedRange.check(start: first, end: last)
        let grid = grid ?? track.trimGrid
        let (start, end) = (first.map(grid.rounded), last.map(grid.rounded))
        try RequestedRange.check(start: start, end: end)
        if let start, case let end = track.timeRange.end, end.isNumeric, start >= end {
            let what = track.mediaType == .video ? "pictures'" : "sound's"
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is not before the \(what) end at \(end.seconds) s")
        }
        // A requested end after the media's end adds nothing.
        range =
            end.map { MediaTimeRange(start: start ?? .zero, end: $0) }
            ?? MediaTimeRange(start: start ?? .zero, duration: .positiveInfinity)
        requested = RequestedRange(start: first, end: last)
    }

    /// Returns whether times depend on the track's duration, so that an asset has to be opened with exact timing.
    package static func needsExactDuration(_ times: [TimeExpression?]) -> Bool {
        times.contains { if case .percentage = $0 { true } else { $0 == .end } }
    }
}

/// A requested range, in exact times.
package struct RequestedRange: Encodable, Sendable {
    /// The start time; `nil` if none was requested.
    package var start: MediaTime?
    /// The end time, which is excluded; `nil` for the end of the media.
    package var end: MediaTime?

    /// Creates a range.
    package init(start: MediaTime?, end: MediaTime?) {
        self.start = start
        self.end = end
    }

    /// Throws ``MediaError`` `outOfRange` for a start before 0, `invalidArgument` for an empty range.
    package static func check(start: MediaTime?, end: MediaTime?) throws(MediaError) {
        if let start, start < .zero {
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is before the beginning; times count from 0")
        }
        if let end, end <= start ?? .zero {
            throw MediaError(
                .invalidArgument, "there is nothing from \((start ?? .zero).seconds) s to \(end.seconds) s")
        }
    }
}

/// The warning for media that ends before the requested end.
package enum EarlyEnd {
    /// Returns the warning; `nil` if the media reaches the requested end, or its own end is unknown.
    ///
    /// - Parameters:
    ///   - what: The part of the media that ends, as in "the sound ends".
    ///   - end: The end of the media.
    ///   - wanted: The requested end; `nil` for the media's own end.
    package static func warning(_ what: String, at end: MediaTime, before wanted: MediaTime?) -> String? {
        // Allow for a requested end that is the media's duration rounded to hundredths.
        guard let wanted, wanted.isNumeric, end.isNumeric, wanted > end + MediaTime(value: 1, timescale: 100) else {
            return nil
        }
        return "\(what) at \(end.seconds) s, before '--end' (\(wanted.seconds) s)"
    }
}

extension TimeExpression {
    /// Indicates whether the time is independent of the track's duration.
    package var isMoment: Bool {
        switch self {
        case .time, .timecode, .frame: true
        case .percentage, .end: false
        }
    }
}
