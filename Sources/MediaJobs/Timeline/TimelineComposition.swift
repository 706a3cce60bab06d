internal import AssetKit
internal import MediaBase

/// One stretch of one source at its place in the finished timeline.
struct TimelinePiece {
    /// The clip that it is of, for messages.
    let described: String
    /// Where its media is.
    let source: TimelineSource
    /// What of it is shown.
    let track: AssetTrack
    /// Where it begins in the timeline.
    var start: MediaTime
    /// Where it ends.
    var end: MediaTime
    /// The source's moment that is shown at ``start``.
    var sourceStart: MediaTime
    /// Seconds of the source in a second of the timeline; 0 where one picture stands still.
    let speed: Rational
    /// When it comes in, from nothing to all; `nil` where it is there at once.
    var fadeIn: TimelineFade?
    /// When it goes out, from all to nothing.
    var fadeOut: TimelineFade?
    /// What it lies over: a higher piece has a greater list of numbers, place by place.
    let level: [Int]

    /// The source's moment behind the last that is shown.
    var sourceEnd: MediaTime { sourceStart + (end - start).multiplied(by: speed) }

    /// The part of it within a range of the timeline; `nil` where there is none.
    func clipped(to range: MediaTimeRange) -> TimelinePiece? {
        var piece = self
        piece.start = max(start, range.start)
        piece.end = min(end, range.end)
        guard piece.start < piece.end else { return nil }
        piece.sourceStart = sourceStart + (piece.start - start).multiplied(by: speed)
        let kept = MediaTimeRange(start: piece.start, end: piece.end)
        piece.fadeIn = fadeIn?.clipped(to: kept)
        piece.fadeOut = fadeOut?.clipped(to: kept)
        return piece
    }
}

/// How much of a piece is there while that changes evenly.
struct TimelineFade: Sendable, Hashable {
    /// When it changes.
    let range: MediaTimeRange
    /// How much is there at the start: 0 is nothing, 1 is all.
    let from: Float
    /// How much is there at the end.
    let to: Float

    /// `nil` where the range is empty.
    init?(_ range: MediaTimeRange, from: Float, to: Float) {
        guard range.start < range.end else { return nil }
        (self.range, self.from, self.to) = (range, from, to)
    }

    /// The part of it within a range, which goes on at the same pace; `nil` where there is none.
    func clipped(to limits: MediaTimeRange) -> TimelineFade? {
        let kept = MediaTimeRange(
            start: max(range.start, limits.start), end: max(limits.start, min(range.end, limits.end)))
        return TimelineFade(kept, from: value(at: kept.start), to: value(at: kept.end))
    }

    private func value(at time: MediaTime) -> Float {
        let part = (time - range.start).seconds / (range.end - range.start).seconds
        return Float(Double(from) + (Double(to) - Double(from)) * min(max(part, 0), 1))
    }
}

/// The times of an item's own clock on the timeline: a line.
struct TimelineMap {
    /// A moment of the item's own clock.
    var inner: MediaTime
    /// When that is on the timeline.
    var outer: MediaTime
    /// Seconds of the timeline for a second of the item.
    var stretch: Rational

    /// The timeline's own clock.
    static let identity = TimelineMap(inner: .zero, outer: .zero, stretch: .one)

    /// A moment on the timeline.
    func time(_ time: MediaTime) -> MediaTime { outer + (time - inner).multiplied(by: stretch) }

    /// A range on the timeline.
    func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }
}

/// A timeline as a composition, with how its pictures become one and how its sound is mixed.
struct TimelineComposition {
    /// The media in as few tracks as pieces lie over each other.
    private(set) var composition = Composition()
    /// How the pictures become one; `nil` where there are none.
    private(set) var videoComposition: VideoComposition?
    /// How the sound is mixed; `nil` where there is none.
    private(set) var audioMix: AudioMix?
    /// How long it is: the timeline, and its last frame, which is a whole one.
    private(set) var duration = MediaTime.zero
    /// Where the frames end; zero where there are none.
    private var framesEnd = MediaTime.zero

    /// Pieces that may lie over each other at one time: each costs a decoder.
    private static let maximumLanes = 64

    /// - Parameters:
    ///   - size: The frames' size; `nil` for that of the largest source.
    ///   - frameRate: Frames a second; `nil` for the timeline's own, or the first source's.
    /// - Throws: `limitExceeded` where too much lies over each other, `noSuchTrack` where there is nothing at all.
    init(_ pieces: TimelinePieces, size: Dimensions?, frameRate: Rational?) throws(MediaError) {
        guard !pieces.video.isEmpty || !pieces.audio.isEmpty else {
            throw MediaError(.noSuchTrack, "the timeline shows no media")
        }
        duration = pieces.duration
        var frame: Rational?
        if let first = pieces.video.first {
            let rate = frameRate ?? pieces.frameRate ?? first.track.pictureRate ?? Rational(25)
            // Coded sound seldom ends with a frame: what of it hangs over by less than one shows nothing.
            let end = pieces.video.map(\.end).max() ?? duration
            let shown = duration - end < MediaTime(rate.inverse ?? .one) ? min(end, duration) : duration
            guard let length = rate.inverse, let count = Rational(shown)?.divided(by: length)?.rounded(.up) else {
                throw MediaError(.invalidArgument, "there are no \(rate) frames a second")
            }
            // A frame that is begun is a whole one.
            framesEnd = MediaTime(length).multiplied(by: count)
            duration = max(duration, framesEnd)
            frame = length
        }
        let pictures = try insert(pieces.video, .video)
        let sounds = try insert(pieces.audio, .audio)
        if let frame {
            var shape = size ?? Dimensions(width: 0, height: 0)
            if size == nil {
                shape = try VideoComposition.renderSize(for: pictures.map(\.piece.track), mixesOrientations: true)
            }
            videoComposition = VideoComposition(
                renderSize: shape, frameDuration: MediaTime(frame),
                instructions: try Self.instructions(pictures, framesUntil: framesEnd, until: duration, size: shape))
        }
        if !sounds.isEmpty { audioMix = try Self.audioMix(sounds) }
    }

    // MARK: Tracks

    /// Puts pieces into tracks, each into the first that has room for it.
    private mutating func insert(
        _ pieces: [TimelinePiece], _ type: MediaType
    ) throws(MediaError) -> [PlacedPiece] {
        var lanes: [(id: Int, end: MediaTime)] = []
        var placed: [PlacedPiece] = []
        let ordered = pieces.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
        for (_, piece) in ordered {
            let lane: Int
            if let free = lanes.firstIndex(where: { $0.end <= piece.start }) {
                lane = free
            } else {
                guard lanes.count < Self.maximumLanes else {
                    throw MediaError(
                        .limitExceeded, "\(piece.described): more than \(Self.maximumLanes) clips lie over each other")
                }
                lane = lanes.count
                lanes.append((try composition.addTrack(mediaType: type), .zero))
            }
            do throws(MediaError) {
                try insert(piece, intoTrack: lanes[lane].id)
            } catch {
                throw MediaError(error.code, "\(piece.described): \(error.message)", path: error.path)
            }
            lanes[lane].end = piece.end
            placed.append(PlacedPiece(piece: piece, track: lanes[lane].id))
        }
        // A gap at the end belongs to the timeline.
        let end = type == .video ? framesEnd : duration
        if let first = lanes.first, let last = composition.track(withID: first.id)?.end, last < end {
            try composition.insertEmptyTimeRange(MediaTimeRange(start: last, end: end), intoTrack: first.id)
        }
        return placed
    }

    private mutating func insert(_ piece: TimelinePiece, intoTrack id: Int) throws(MediaError) {
        var start = max(piece.sourceStart, .zero)
        if piece.track.mediaType == .video { start += Self.guardTime(of: piece.track) }
        let duration = piece.end - piece.start
        var length = duration.multiplied(by: piece.speed)
        // One picture stands still: as much of the source as has no other one.
        if piece.speed == .zero { length = MediaTime(value: 1, timescale: 1_000_000) }
        try composition.insertTimeRange(
            MediaTimeRange(start: start, duration: length), of: piece.track, in: piece.source.asset, at: piece.start,
            into: id)
        guard length != duration else { return }
        try composition.scaleTimeRange(
            MediaTimeRange(start: piece.start, duration: length), toDuration: duration, inTrack: id)
    }

    /// By how much later a source is looked at than its frame numbers say: half a tick where its clock cannot hold the
    /// frames' times, which then are rounded up or down.
    private static func guardTime(of track: AssetTrack) -> MediaTime {
        guard let rate = track.pictureRate, let frame = rate.inverse, track.naturalTimeScale > 0,
            let ticks = frame.multiplied(by: Rational(Int64(track.naturalTimeScale))), ticks.den != 1,
            ticks > Rational(2), track.naturalTimeScale < Int32.max / 2
        else { return .zero }
        return MediaTime(value: 1, timescale: track.naturalTimeScale * 2)
    }

    // MARK: Pictures

    /// One instruction for each stretch between two moments at which something begins or ends.
    ///
    /// - Parameters:
    ///   - end: Where the frames end.
    ///   - last: Where the sound does, which may be later.
    private static func instructions(
        _ placed: [PlacedPiece], framesUntil end: MediaTime, until last: MediaTime, size: Dimensions
    ) throws(MediaError) -> [VideoComposition.Instruction] {
        let borders = Set(placed.flatMap { [$0.piece.start, $0.piece.end] } + [.zero, end]).sorted()
        var instructions: [VideoComposition.Instruction] = []
        var waiting = placed[...]
        var shown: [PlacedPiece] = []
        for (start, next) in zip(borders, borders.dropFirst()) {
            shown.removeAll { $0.piece.end <= start }
            while let first = waiting.first, first.piece.start <= start {
                shown.append(first)
                waiting.removeFirst()
            }
            let layers = try TimelineLayers(size: size).layers(of: shown)
            let until = next == end ? max(end, last) : next
            instructions.append(.init(timeRange: MediaTimeRange(start: start, end: until), layers: layers))
        }
        return instructions
    }

    // MARK: Sound

    private static func audioMix(_ placed: [PlacedPiece]) throws(MediaError) -> AudioMix {
        var parameters: [Int: AudioMix.InputParameters] = [:]
        for (piece, track) in placed.map({ ($0.piece, $0.track) }) {
            var volume = parameters[track] ?? AudioMix.InputParameters(trackID: track)
            do throws(MediaError) {
                if let fade = piece.fadeIn {
                    try volume.setVolumeRamp(from: fade.from, to: fade.to, timeRange: fade.range)
                } else if volume.volume(at: piece.start) != 1 {
                    try volume.setVolume(1, at: piece.start)
                }
                if let fade = piece.fadeOut {
                    try volume.setVolumeRamp(from: fade.from, to: fade.to, timeRange: fade.range)
                }
            } catch {
                throw MediaError(error.code, "\(piece.described): \(error.message)")
            }
            parameters[track] = volume
        }
        return AudioMix(parameters.values.sorted { $0.trackID < $1.trackID })
    }
}

/// A piece of a timeline and the composition's track that it is in.
struct PlacedPiece {
    let piece: TimelinePiece
    let track: Int
}

/// Makes the layers of a stretch of a timeline in which the same pieces are shown throughout.
struct TimelineLayers {
    /// The frames' size.
    let size: Dimensions

    /// The layers of pieces, from the front to the back.
    func layers(of shown: [PlacedPiece]) throws(MediaError) -> [VideoComposition.Layer] {
        let ordered = shown.sorted { $1.piece.level.lexicographicallyPrecedes($0.piece.level) }
        var layers: [VideoComposition.Layer] = []
        for placed in ordered {
            let next = ordered.first { placed.piece.dissolves(into: $0.piece) }
            if let next, let fade = next.piece.fadeIn {
                layers += try parts(of: placed, under: next, fade)
            } else {
                layers.append(try layer(placed))
            }
        }
        return layers
    }

    private func layer(
        _ placed: PlacedPiece, showing part: PictureRectangle? = nil
    ) throws(MediaError) -> VideoComposition.Layer {
        let transform = PictureTransform.upright(placed.piece.track, in: size)
        var layer = VideoComposition.Layer(trackID: placed.track)
        try layer.setTransform(transform, at: .zero)
        if let part, let back = transform.inverted { try layer.setCropRectangle(part.moved(by: back), at: .zero) }
        for fade in [placed.piece.fadeIn, placed.piece.fadeOut].compactMap(\.self) {
            try layer.setOpacityRamp(from: fade.from, to: fade.to, timeRange: fade.range)
        }
        return layer
    }

    /// A piece over which another one comes: it stays as it is where that will cover it, and goes evenly beside.
    private func parts(
        of placed: PlacedPiece, under next: PlacedPiece, _ fade: TimelineFade
    ) throws(MediaError) -> [VideoComposition.Layer] {
        let (own, cover) = (place(of: placed.piece.track), place(of: next.piece.track).wholePixelsInside)
        let (left, right) = (max(own.x, cover.x), min(own.x + own.width, cover.x + cover.width))
        let (top, bottom) = (max(own.y, cover.y), min(own.y + own.height, cover.y + cover.height))
        guard left < right, top < bottom else { return [try going(placed, showing: own, fade)] }
        let covered = PictureRectangle(x: left, y: top, width: right - left, height: bottom - top)
        let beside = [
            PictureRectangle(x: own.x, y: own.y, width: own.width, height: top - own.y),
            PictureRectangle(x: own.x, y: bottom, width: own.width, height: own.y + own.height - bottom),
            PictureRectangle(x: own.x, y: top, width: left - own.x, height: bottom - top),
            PictureRectangle(x: right, y: top, width: own.x + own.width - right, height: bottom - top),
        ].filter { $0.width > 0 && $0.height > 0 }
        guard !beside.isEmpty else { return [try layer(placed)] }
        var parts = [try layer(placed, showing: covered)]
        for part in beside { parts.append(try going(placed, showing: part, fade)) }
        return parts
    }

    private func going(
        _ placed: PlacedPiece, showing part: PictureRectangle, _ fade: TimelineFade
    ) throws(MediaError) -> VideoComposition.Layer {
        var going = try layer(placed, showing: part)
        try going.setOpacityRamp(from: 1 - fade.from, to: 1 - fade.to, timeRange: fade.range)
        return going
    }

    /// Where a track's pictures lie in the frames.
    private func place(of track: AssetTrack) -> PictureRectangle {
        let shown = track.formatDescriptions.first?.video?
            .presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
        let turned = track.preferredTransform.apply(to: shown ?? size)
        let fit = PictureTransform.fitting(turned, into: size)
        return PictureRectangle(
            x: fit.tx, y: fit.ty, width: Double(turned.width) * fit.a, height: Double(turned.height) * fit.d)
    }
}

extension TimelinePiece {
    /// Whether another one comes over it by a dissolve: the next clip but the transition in the same track.
    fileprivate func dissolves(into next: TimelinePiece) -> Bool {
        guard next.fadeIn != nil, level.count == next.level.count, level.dropLast() == next.level.dropLast(),
            let place = level.last
        else { return false }
        return next.level.last == place + 2
    }
}

extension PictureRectangle {
    /// The pixels that lie in it whole, so that what is cut along their edges meets without a seam.
    fileprivate var wholePixelsInside: PictureRectangle {
        // What misses a whole number by less than this is one that arithmetic has bent.
        let tolerance = 1e-6
        let (left, top) = ((x - tolerance).rounded(.up), (y - tolerance).rounded(.up))
        return PictureRectangle(
            x: left, y: top, width: (x + width + tolerance).rounded(.down) - left,
            height: (y + height + tolerance).rounded(.down) - top)
    }

    /// Where it comes to lie by a map that turns by quarters at most.
    fileprivate func moved(by map: PictureTransform) -> PictureRectangle {
        let corners = [(x, y), (x + width, y + height)].map { x, y in
            (map.a * x + map.c * y + map.tx, map.b * x + map.d * y + map.ty)
        }
        let (left, top) = (min(corners[0].0, corners[1].0), min(corners[0].1, corners[1].1))
        return PictureRectangle(
            x: left, y: top, width: max(corners[0].0, corners[1].0) - left,
            height: max(corners[0].1, corners[1].1) - top)
    }
}
