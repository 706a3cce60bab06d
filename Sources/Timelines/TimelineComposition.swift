internal import AssetKit
internal import MediaBase

/// A part of one source, at its position in the finished timeline.
struct TimelinePiece {
    /// The description of its clip, for messages.
    let described: String
    /// The source file.
    let source: TimelineSource
    /// The source track that is shown.
    let track: AssetTrack
    /// The start time in the timeline.
    var start: MediaTime
    /// The end time in the timeline.
    var end: MediaTime
    /// The time in the source that is shown at ``start``.
    var sourceStart: MediaTime
    /// The seconds of the source per second of the timeline; 0 for a freeze frame.
    let speed: Rational
    /// The fade from nothing to full; `nil` if the piece starts at full.
    var fadeIn: TimelineFade?
    /// The fade from full to nothing; `nil` if the piece ends at full.
    var fadeOut: TimelineFade?
    /// The stacking order: a piece with a lexicographically greater list lies above.
    let level: [Int]

    /// The time in the source at which the piece ends.
    var sourceEnd: MediaTime { sourceStart + (end - start).multiplied(by: speed) }

    /// Returns the part within a range of the timeline; `nil` if it is empty.
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

/// A linear change of a piece's opacity or volume.
struct TimelineFade: Sendable, Hashable {
    /// The time range of the change.
    let range: MediaTimeRange
    /// The level at the start, from 0 for nothing to 1 for full.
    let from: Float
    /// The level at the end.
    let to: Float

    /// Creates a fade; `nil` if the range is empty.
    init?(_ range: MediaTimeRange, from: Float, to: Float) {
        guard range.start < range.end else { return nil }
        (self.range, self.from, self.to) = (range, from, to)
    }

    /// Returns the part within a range, with the same slope; `nil` if it is empty.
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

/// A linear map from an item's own times to times on the timeline.
struct TimelineMap {
    /// A time on the item's own clock.
    var inner: MediaTime
    /// The corresponding time on the timeline.
    var outer: MediaTime
    /// The seconds of the timeline per second of the item.
    var stretch: Rational

    /// Returns the timeline time for an item's time.
    func time(_ time: MediaTime) -> MediaTime { outer + (time - inner).multiplied(by: stretch) }

    /// Returns the timeline range for an item's range.
    func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }
}

/// A timeline as a composition, with instructions for compositing its video and mixing its audio.
struct TimelineComposition {
    /// The media, in the minimum number of tracks that its overlapping pieces need.
    private(set) var composition = Composition()
    /// The instructions for compositing the video; `nil` if there is none.
    private(set) var videoComposition: VideoComposition?
    /// The instructions for mixing the audio; `nil` if there is none.
    private(set) var audioMix: AudioMix?
    /// The duration of the timeline, extended to the end of its last whole frame.
    private(set) var duration = MediaTime.zero
    /// The end of the last frame; zero if there are none.
    private var framesEnd = MediaTime.zero

    /// The maximum number of pieces that may overlap at one time; each requires a decoder.
    private static let maximumLanes = 64

    /// - Parameters:
    ///   - size: The frame size; `nil` for that of the largest source.
    ///   - frameRate: The frames per second; `nil` for the timeline's own rate, or the first source's.
    /// - Throws: `limitExceeded` if too many pieces overlap, `noSuchTrack` if the timeline has no media.
    init(_ pieces: TimelinePieces, size: Dimensions?, frameRate: Rational?) throws(MediaError) {
        guard !pieces.video.isEmpty || !pieces.audio.isEmpty else {
            throw MediaError(.noSuchTrack, "the timeline shows no media")
        }
        duration = pieces.duration
        var frame: Rational?
        if let first = pieces.video.first {
            let rate = frameRate ?? pieces.frameRate ?? first.track.pictureRate ?? Rational(25)
            // Coded audio rarely ends on a frame boundary; an excess of less than one frame adds no video frame.
            let end = pieces.video.map(\.end).max() ?? duration
            let shown = duration - end < MediaTime(rate.inverse ?? .one) ? min(end, duration) : duration
            guard let length = rate.inverse, let count = Rational(shown)?.divided(by: length)?.rounded(.up) else {
                throw MediaError(.invalidArgument, "there are no \(rate) frames a second")
            }
            // Round up to whole frames.
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

    /// Inserts each piece into the first track that is free at its time.
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
        // Extend the first track, because a gap at the end is part of the timeline.
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
        // A freeze frame needs a source range that contains only that frame.
        if piece.speed == .zero { length = MediaTime(value: 1, timescale: 1_000_000) }
        try composition.insertTimeRange(
            MediaTimeRange(start: start, duration: length), of: piece.track, in: piece.source.asset, at: piece.start,
            into: id)
        guard length != duration else { return }
        try composition.scaleTimeRange(
            MediaTimeRange(start: piece.start, duration: length), toDuration: duration, inTrack: id)
    }

    /// Returns the offset that is added to a source's start time: half a tick if frame times are rounded, else zero.
    ///
    /// Frame times are rounded if the track's time scale cannot represent them exactly.
    private static func guardTime(of track: AssetTrack) -> MediaTime {
        guard let rate = track.pictureRate, let frame = rate.inverse, track.naturalTimeScale > 0,
            let ticks = frame.multiplied(by: Rational(Int64(track.naturalTimeScale))), ticks.den != 1,
            ticks > Rational(2), track.naturalTimeScale < Int32.max / 2
        else { return .zero }
        return MediaTime(value: 1, timescale: track.naturalTimeScale * 2)
    }

    // MARK: Video

    /// Returns one instruction for each interval between consecutive start or end times of pieces.
    ///
    /// - Parameters:
    ///   - end: The end of the last frame.
    ///   - last: The end of the audio, which may be later.
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

    // MARK: Audio

    private static func audioMix(_ placed: [PlacedPiece]) throws(MediaError) -> AudioMix {
        var parameters: [Int: AudioMix.InputParameters] = [:]
        for (piece, track) in placed.map({ ($0.piece, $0.track) }) {
            var volume = parameters[track] ?? AudioMix.InputParameters(trackID: track)
            do throws(MediaError) {
                if let fade = piece.fadeIn {
                    try volume.volume.setRamp(from: fade.from, to: fade.to, timeRange: fade.range)
                } else if volume.volume.value(at: piece.start) != 1 {
                    try volume.volume.set(1, at: piece.start)
                }
                if let fade = piece.fadeOut {
                    try volume.volume.setRamp(from: fade.from, to: fade.to, timeRange: fade.range)
                }
            } catch {
                throw MediaError(error.code, "\(piece.described): \(error.message)")
            }
            parameters[track] = volume
        }
        return AudioMix(parameters.values.sorted { $0.trackID < $1.trackID })
    }
}

/// A piece of a timeline, and the ID of the composition track that contains it.
struct PlacedPiece {
    let piece: TimelinePiece
    let track: Int
}

/// Creates the layers for an interval of a timeline in which the same pieces are shown throughout.
struct TimelineLayers {
    /// The frame size.
    let size: Dimensions

    /// Returns the layers of the pieces, from front to back.
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
        try layer.transform.set(transform, at: .zero)
        if let part, let back = transform.inverted { try layer.cropRectangle.set(part.moved(by: back), at: .zero) }
        for fade in [placed.piece.fadeIn, placed.piece.fadeOut].compactMap(\.self) {
            try layer.opacity.setRamp(from: fade.from, to: fade.to, timeRange: fade.range)
        }
        return layer
    }

    /// Returns the layers of a piece that dissolves into another one.
    ///
    /// The part that the next piece covers stays opaque; the parts beside it fade out evenly.
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
        try going.opacity.setRamp(from: 1 - fade.from, to: 1 - fade.to, timeRange: fade.range)
        return going
    }

    /// Returns the rectangle in the frame that a track's video occupies.
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
    /// Returns whether the piece dissolves into another one, which is the next clip of its track after the transition.
    fileprivate func dissolves(into next: TimelinePiece) -> Bool {
        guard next.fadeIn != nil, level.count == next.level.count, level.dropLast() == next.level.dropLast(),
            let place = level.last
        else { return false }
        return next.level.last == place + 2
    }
}

extension PictureRectangle {
    /// The whole pixels inside the rectangle, so that parts cut along their edges meet without a seam.
    fileprivate var wholePixelsInside: PictureRectangle {
        // Coordinates this close to a whole number differ from it only by rounding errors.
        let tolerance = 1e-6
        let (left, top) = ((x - tolerance).rounded(.up), (y - tolerance).rounded(.up))
        return PictureRectangle(
            x: left, y: top, width: (x + width + tolerance).rounded(.down) - left,
            height: (y + height + tolerance).rounded(.down) - top)
    }

    /// Returns the rectangle transformed by a map that rotates only by multiples of 90°.
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
