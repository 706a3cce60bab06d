package import AssetKit
package import MediaBase

/// Which track a person means: `3` (its index), `a:1` (the second audio track) or `id:5` (the container's number).
///
/// ```swift
/// let track = try TrackSelector(parsing: "a:1").track(of: .audio, in: tracks)
/// ```
package enum TrackSelector: Sendable, Hashable {
    /// The place in the container, from 0: ``AssetTrack/index``, as probe prints it.
    case index(Int)
    /// The place among the tracks of a type, from 0.
    case ordinal(MediaType, Int)
    /// The container's own number: ``AssetTrack/id``.
    case id(Int)

    /// The forms, for help texts and error messages.
    package static let forms =
        "an index (3), a type with a number from 0 (a:1, v:0, s:0, d:0) or an id (id:5, id:0x101)"

    private static let letters: [Substring: MediaType] = ["a": .audio, "v": .video, "s": .subtitle, "d": .data]

    /// Reads one of the ``forms``.
    ///
    /// - Throws: ``MediaError`` `invalidArgument`, naming the forms, for every other text.
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
        // `Int` would take a sign.
        guard let first = digits.first, first != "+", first != "-" else { return nil }
        return Int(digits, radix: isHexadecimal ? 16 : 10)
    }
}

extension TrackSelector {
    /// The track that is meant.
    ///
    /// - Parameters:
    ///   - type: What the track must carry.
    ///   - tracks: All tracks of the asset.
    /// - Throws: ``MediaError`` `noSuchTrack`, naming the tracks that there are.
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

    /// The track that is meant where nobody named one: the first enabled one of the type, else its first.
    ///
    /// Cover pictures are taken only where there is nothing else.
    ///
    /// - Throws: ``MediaError`` `noSuchTrack`, naming the tracks that there are.
    package static func standardTrack(of type: MediaType, in tracks: [AssetTrack]) throws(MediaError) -> AssetTrack {
        let candidates = tracks.filter { $0.mediaType == type }
        let moving = candidates.filter { !$0.isAttachedPicture }
        guard let track = moving.first(where: \.isEnabled) ?? moving.first ?? candidates.first else {
            throw MediaError(.noSuchTrack, "there is no \(type) track; \(list(tracks))")
        }
        return track
    }

    /// The tracks of sound that are meant, in the order of the file: all where nobody named any.
    ///
    /// - Throws: ``MediaError`` `noSuchTrack`, naming the tracks that there are.
    static func audioTracks(_ wanted: [TrackSelector]?, in tracks: [AssetTrack]) throws(MediaError) -> [AssetTrack] {
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
    /// What is known of a track and its asset for telling the times that are asked for in it.
    ///
    /// The start timecode is the track's own, else that of its timecode track, else the container's; it names the
    /// track's first picture.
    ///
    /// - Throws: what opening the asset throws.
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
    /// The highest frame number among the times; `nil` where none is one.
    var highestFrame: Int64? {
        compactMap { if case .frame(let number) = $0 { number } else { nil } }.max()
    }
}

/// The part of a file that is written, as it was asked for.
struct TrimRange {
    /// From the first moment to the first that is not wanted; all of the file where nothing was asked for.
    ///
    /// Both are rounded to times from which all times of what is written can be counted exactly.
    let range: MediaTimeRange
    /// The same in exact times as it was asked for; `nil` where nothing was.
    let requested: RequestedRange?

    /// - Parameters:
    ///   - track: The track by which times are told.
    ///   - grid: Where what is written can begin and end; `nil` for the track's own.
    /// - Throws: `outOfRange` for a start before zero or behind the track, `invalidArgument` for an empty range, and what
    ///   resolving the times throws.
    init(
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
        try WaveformRange.check(start: first, end: last)
        let grid = grid ?? track.trimGrid
        let (start, end) = (first.map(grid.rounded), last.map(grid.rounded))
        try WaveformRange.check(start: start, end: end)
        if let start, case let end = track.timeRange.end, end.isNumeric, start >= end {
            let what = track.mediaType == .video ? "pictures'" : "sound's"
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is not before the \(what) end at \(end.seconds) s")
        }
        // What is asked for beyond the end adds nothing.
        range =
            end.map { MediaTimeRange(start: start ?? .zero, end: $0) }
            ?? MediaTimeRange(start: start ?? .zero, duration: .positiveInfinity)
        requested = RequestedRange(start: first, end: last)
    }

    /// Whether times depend on how long the track is, so that an asset has to be opened with exact timing.
    static func needsExactDuration(_ times: [TimeExpression?]) -> Bool {
        times.contains { if case .percentage = $0 { true } else { $0 == .end } }
    }
}

/// A range as it was asked for, in exact times.
package struct RequestedRange: Encodable, Sendable {
    /// The first moment; `nil` where none was asked for.
    package var start: MediaTime?
    /// The first moment that is not wanted; `nil` for the end.
    package var end: MediaTime?
}

/// What a person is told where media ends before the end that was asked for.
package enum EarlyEnd {
    /// The warning; `nil` where the media reaches that end, or where nothing is known of its own.
    ///
    /// - Parameters:
    ///   - what: What ends, as in "the sound ends".
    ///   - end: Where the media ends.
    ///   - wanted: Where it was to end; `nil` for its own end.
    package static func warning(_ what: String, at end: MediaTime, before wanted: MediaTime?) -> String? {
        // Who writes a length rounded to hundredths means the end.
        guard let wanted, wanted.isNumeric, end.isNumeric, wanted > end + MediaTime(value: 1, timescale: 100) else {
            return nil
        }
        return "\(what) at \(end.seconds) s, before '--end' (\(wanted.seconds) s)"
    }
}

extension TimeExpression {
    /// Whether it is a moment of its own, not one that follows from the length of the track.
    package var isMoment: Bool {
        switch self {
        case .time, .timecode, .frame: true
        case .percentage, .end: false
        }
    }
}
