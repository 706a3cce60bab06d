internal import AssetKit
internal import MediaBase
internal import SystemPackage

/// The pieces of media that a timeline shows and plays.
///
/// Nested tracks and stacks are flattened into pieces at their positions. Their trims and speeds are applied to the
/// pieces.
struct TimelinePieces {
    /// The video pieces, in no particular order.
    private(set) var video: [TimelinePiece] = []
    /// The audio pieces, in no particular order.
    private(set) var audio: [TimelinePiece] = []
    /// Messages about differences from the timeline.
    private(set) var warnings: [String] = []
    /// The duration of the timeline.
    private(set) var duration = MediaTime.zero
    /// The frames per second of the first range in a video track that counts frames; `nil` if there is none.
    private(set) var frameRate: Rational?
    /// The numbers of clips, dissolves and tracks.
    private(set) var counts = TimelineCounts()

    /// The maximum duration; a longer one is assumed to be an error.
    private static let longest = MediaTime(value: 7 * 24 * 3600, timescale: 1)

    private let media: TimelineMedia
    private let allowsMissing: Bool

    /// - Parameter allowsMissing: True if clips without media become gaps instead of errors.
    /// - Throws: An error that names the element which cannot be rendered.
    init(_ timeline: Timeline, media: TimelineMedia, allowsMissing: Bool) throws(MediaError) {
        self.media = media
        self.allowsMissing = allowsMissing
        let start = timeline.root.sourceRange?.start ?? .zero
        duration = try length(of: timeline.root, in: nil)
        guard duration <= Self.longest else {
            throw MediaError(
                .limitExceeded, "the timeline lasts \(duration.seconds) s; at most a week can be exported")
        }
        let whole = MediaTimeRange(start: .zero, duration: duration)
        let map = TimelineMap(inner: start, outer: .zero, stretch: .one)
        guard timeline.root.speed == .one else {
            throw timeline.root.failure(.unsupported, "a time warp of the whole timeline cannot be exported")
        }
        guard timeline.root.isEnabled else { return }
        switch timeline.root.content {
        case .stack(let items): try place(stack: items, in: nil, map, visible: whole, level: [])
        default:
            var item = timeline.root
            item.sourceRange = nil
            try place(item, at: .zero, in: nil, map, visible: whole, level: [0])
        }
    }

    // MARK: Lengths

    /// Returns the duration of an item in its track or stack.
    private func length(of item: TimelineItem, in kind: MediaType?) throws(MediaError) -> MediaTime {
        if let range = item.sourceRange { return range.duration }
        switch item.content {
        case .gap: return .zero
        case .clip(let reference):
            if let range = reference.availableRange { return range.duration }
            guard let source = try source(of: reference, item),
                let track = source.track(kind ?? .video) ?? source.audio,
                track.timeRange.end.isNumeric
            else { throw item.failure(.damaged, "nothing says how long it is; give it a source_range") }
            return track.timeRange.end
        case .track(let kind, let children):
            var sum = MediaTime.zero
            for case .item(let child) in children { sum += try length(of: child, in: kind) }
            return sum
        case .stack(let items):
            var longest = MediaTime.zero
            for child in items { longest = max(longest, try length(of: child, in: kind)) }
            return longest
        }
    }

    // MARK: Places

    private mutating func place(
        stack items: [TimelineItem], in kind: MediaType?, _ map: TimelineMap, visible: MediaTimeRange, level: [Int]
    ) throws(MediaError) {
        for (index, item) in items.enumerated() {
            try place(item, at: .zero, in: kind, map, visible: visible, level: level + [index])
        }
    }

    /// Places an item that starts at a time on the clock of its track or stack.
    private mutating func place(
        _ item: TimelineItem, at start: MediaTime, in kind: MediaType?, _ map: TimelineMap, visible: MediaTimeRange,
        level: [Int], passages: Passages = Passages()
    ) throws(MediaError) {
        guard item.isEnabled else { return }
        if case .clip(let reference) = item.content {
            return try place(
                clip: reference, item, at: start, in: kind ?? .video, map, visible: visible, level, passages)
        }
        if case .gap = item.content { return }
        let duration = try length(of: item, in: kind)
        guard passages.isEmpty else {
            throw item.failure(.unsupported, "a dissolve from or to tracks that lie in a track cannot be exported")
        }
        guard let stretch = item.speed.inverse, let product = map.stretch.multiplied(by: stretch), product.isPositive
        else { throw item.failure(.unsupported, "tracks cannot stand still as a whole; freeze their clips") }
        let inside = TimelineMap(
            inner: item.sourceRange?.start ?? .zero, outer: map.time(start), stretch: product)
        let shown = visible.intersection(map.range(start, start + duration))
        switch item.content {
        case .stack(let items): try place(stack: items, in: kind, inside, visible: shown, level: level)
        case .track(let own, let children):
            if kind == nil { if own == .video { counts.videoTracks += 1 } else { counts.audioTracks += 1 } }
            // A stack in a track can hold both kinds; only those of the enclosing track's kind are used.
            guard kind == nil || kind == own else { return }
            try place(track: children, of: own, inside, visible: shown, level: level)
        default: break
        }
    }

    /// The dissolves at both ends of an item, each with its durations before and after the cut.
    private struct Passages {
        var leading: TimelineDissolve?
        var trailing: TimelineDissolve?
        /// Indicates whether nothing is shown after the trailing dissolve.
        var endsInNothing = false
        var isEmpty: Bool { leading == nil && trailing == nil }
    }

    private mutating func place(
        track children: [TimelineChild], of kind: MediaType, _ map: TimelineMap, visible: MediaTimeRange, level: [Int]
    ) throws(MediaError) {
        var start = MediaTime.zero
        for (index, child) in children.enumerated() {
            guard case .item(let item) = child else {
                if case .dissolve(let dissolve) = child { try check(dissolve, at: index, among: children) }
                continue
            }
            if kind == .video { frameRate = frameRate ?? item.frameRate }
            var passages = Passages()
            if index > 0, case .dissolve(let dissolve) = children[index - 1] { passages.leading = dissolve }
            if index + 1 < children.count, case .dissolve(let dissolve) = children[index + 1] {
                passages.trailing = dissolve
                passages.endsInNothing = try isNothing(children.dropFirst(index + 2).first)
            }
            let length = try length(of: item, in: kind)
            let taken = (passages.leading?.after ?? .zero) + (passages.trailing?.before ?? .zero)
            if let dissolve = passages.trailing ?? passages.leading, taken > length {
                throw MediaError(
                    .damaged, "\(dissolve.described): dissolves take more than there is of \(item.described)")
            }
            // In a dissolve, the later piece lies above the earlier one.
            try place(item, at: start, in: kind, map, visible: visible, level: level + [index], passages: passages)
            start += length
        }
    }

    private func isNothing(_ child: TimelineChild?) throws(MediaError) -> Bool {
        guard case .item(let item) = child, item.isEnabled else { return true }
        switch item.content {
        case .gap: return true
        case .clip(let reference) where allowsMissing: return try source(of: reference, item) == nil
        default: return false
        }
    }

    private mutating func check(
        _ dissolve: TimelineDissolve, at index: Int, among children: [TimelineChild]
    ) throws(MediaError) {
        counts.dissolves += 1
        var neighbours: [TimelineChild] = []
        if index > 0 { neighbours.append(children[index - 1]) }
        if index + 1 < children.count { neighbours.append(children[index + 1]) }
        for case .dissolve in neighbours {
            throw MediaError(.damaged, "\(dissolve.described): two transitions lie side by side")
        }
    }

    // MARK: Clips

    private func source(of reference: MediaReference, _ item: TimelineItem) throws(MediaError) -> TimelineSource? {
        do throws(MediaError) {
            guard let url = reference.url else {
                throw MediaError(
                    reference.kind == "MissingReference" ? .notFound : .unsupported,
                    reference.kind == "MissingReference"
                        ? "it has no media; link it, or let --allow-missing make it a gap"
                        : "media of the kind \(reference.kind) cannot be exported; only ExternalReference")
            }
            return try media.source(url, range: reference.availableRange)
        } catch {
            if allowsMissing, error.code == .notFound { return nil }
            let path = error.path.map { "\($0): " } ?? ""
            throw MediaError(error.code, "\(item.described): \(path)\(error.message)", cause: error.cause)
        }
    }

    private mutating func place(
        clip reference: MediaReference, _ item: TimelineItem, at start: MediaTime, in kind: MediaType,
        _ map: TimelineMap, visible: MediaTimeRange, _ level: [Int], _ passages: Passages
    ) throws(MediaError) {
        counts.clips += 1
        let duration = try length(of: item, in: kind)
        guard duration > .zero else { throw item.failure(.damaged, "it has no length; take it out of the timeline") }
        guard let source = try source(of: reference, item) else {
            warnings.append("\(item.described): its media is missing; it became a gap")
            return
        }
        guard let track = source.track(kind) else {
            throw item.failure(.noSuchTrack, "\(source.name) has no \(kind) track")
        }
        if kind == .audio, item.speed == .zero { return }
        guard let stretched = map.stretch.inverse, let speed = item.speed.multiplied(by: stretched) else {
            throw item.failure(.limitExceeded, "its speed cannot be worked out exactly")
        }
        let first = try mediaStart(of: item, reference, source)
        // The start of the track has nothing before it.
        let before = min(passages.leading?.before ?? .zero, start)
        let after = passages.trailing?.after ?? .zero
        let end = start + duration
        var piece = TimelinePiece(
            described: item.described, source: source, track: track, start: map.time(start - before),
            end: map.time(end + after), sourceStart: first - before.multiplied(by: item.speed), speed: speed,
            level: level)
        if let leading = passages.leading {
            piece.fadeIn = TimelineFade(map.range(start - before, start + leading.after), from: 0, to: 1)
        }
        // In a video dissolve, the outgoing piece stays opaque under the incoming one; audio pieces fade out and in
        // simultaneously.
        if let trailing = passages.trailing, kind == .audio || passages.endsInNothing {
            piece.fadeOut = TimelineFade(map.range(end - trailing.before, end + after), from: 1, to: 0)
        }
        try check(piece, item, passages)
        guard let shown = piece.clipped(to: visible) else { return }
        if kind == .video { video.append(shown) } else { audio.append(shown) }
    }

    /// Returns the time in the file at which a clip starts: its own time minus the declared time of the first sample.
    private func mediaStart(
        of item: TimelineItem, _ reference: MediaReference, _ source: TimelineSource
    ) throws(MediaError) -> MediaTime {
        let wanted = item.sourceRange?.start ?? reference.availableRange?.start ?? .zero
        if let zero = reference.availableRange?.start { return wanted - zero }
        // If the reference declares no range, a start time at or after the file's start timecode is relative to that
        // timecode.
        if item.sourceRange != nil, let zero = source.timecodeStart, zero > .zero, wanted >= zero {
            return wanted - zero
        }
        return wanted
    }

    /// Checks that the media contains the source range of a piece; warns if the media ends early.
    private mutating func check(
        _ piece: TimelinePiece, _ item: TimelineItem, _ passages: Passages
    ) throws(MediaError) {
        let frame = item.sourceRange?.rate.inverse.map { MediaTime($0) } ?? MediaTime(value: 1, timescale: 24)
        let room = min(max(frame, MediaTime(value: 1, timescale: 100)), MediaTime(value: 1, timescale: 20))
        guard piece.sourceStart > .zero - room else {
            let what = passages.leading == nil ? "it begins" : "with its dissolve it begins"
            throw item.failure(
                .outOfRange, "\(what) \(-piece.sourceStart.seconds) s before the first sample of \(piece.source.name)")
        }
        guard piece.track.timeRange.end.isNumeric else { return }
        let missing = piece.sourceEnd - piece.track.timeRange.end
        let all = piece.sourceEnd - piece.sourceStart
        guard piece.sourceStart < piece.track.timeRange.end else {
            throw item.failure(
                .outOfRange,
                "it begins at \(piece.sourceStart.seconds) s of \(piece.source.name), which ends at "
                    + "\(piece.track.timeRange.end.seconds) s")
        }
        guard missing > room, all > .zero else { return }
        guard passages.trailing == nil else {
            throw item.failure(
                .outOfRange, "with its dissolve it ends \(missing.seconds) s after the end of \(piece.source.name)")
        }
        warnings.append(
            "\(item.described): \(piece.source.name) ends \(missing.seconds) s before the clip; the rest is a gap")
    }
}

/// The numbers of elements in a timeline.
package struct TimelineCounts: Sendable {
    /// The number of clips, also those without media.
    package var clips = 0
    /// The number of dissolves.
    package var dissolves = 0
    /// The number of video tracks.
    package var videoTracks = 0
    /// The number of audio tracks.
    package var audioTracks = 0
}

extension TimelinePiece {
    /// Throws if any piece of a media type has to be rendered, so that stored samples cannot be copied.
    static func checkStorable(_ pieces: [TimelinePiece]) throws(MediaError) {
        var last: TimelinePiece?
        for piece in pieces.sorted(by: { $0.start < $1.start }) {
            var reason: String?
            if let last, piece.start < last.end { reason = "lies over \(last.described)" }
            if piece.fadeIn != nil || piece.fadeOut != nil { reason = "is part of a dissolve" }
            if piece.speed != .one { reason = "plays at another speed" }
            if let reason {
                throw MediaError(
                    .unsupported,
                    "\(piece.described): it \(reason), which has to be rendered; copy without it, or encode")
            }
            last = piece
        }
    }
}

extension TimelineItem {
    /// The rate of the item's range if it counts frames, rather than samples or clock ticks.
    fileprivate var frameRate: Rational? {
        var range = sourceRange
        if range == nil, case .clip(let reference) = content { range = reference.availableRange }
        return range.flatMap { $0.rate.isFrameRate ? $0.rate : nil }
    }
}
