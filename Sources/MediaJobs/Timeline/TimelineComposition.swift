internal import AssetKit
internal import MediaBase

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
    private static let mostLanes = 64

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
                guard lanes.count < Self.mostLanes else {
                    throw MediaError(
                        .limitExceeded, "\(piece.described): more than \(Self.mostLanes) clips lie over each other")
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
