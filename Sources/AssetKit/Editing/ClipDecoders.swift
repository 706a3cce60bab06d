import LibAV
import MediaBase

/// Decoders that a composition's video track keeps where its segments ended, for later segments of the same sources.
///
/// The next segment of a source is often near, and even where it is not, a seek is cheaper than opening the file again.
/// Only one thread may use it at a time.
final class ClipDecoders {
    /// The decoders that no segment uses, the most recently used one last.
    private var idle: [FrameFinder] = []
    private let limit: Int

    /// The maximum number of idle decoders of one source: editors often cut back and forth between two places.
    private static let perSource = 2
    /// The maximum number of idle decoders of all tracks of a composition, but one for each track.
    private static let perComposition = 4

    /// - Parameter tracks: The number of tracks among which the number of decoders is divided.
    init(tracks: Int) { limit = max(1, Self.perComposition / max(1, tracks)) }

    /// Returns true if a source's frames can be found by seeks whose results are known to be right.
    static func canRead(_ source: Composition.Source) -> Bool {
        guard source.asset.backing.input != nil, let format = try? source.asset.contents().format else { return false }
        return format.hasIndex && format.hasTrueSyncSamples && source.track.storesOnePictureASample
            && !source.track.isAttachedPicture
    }

    /// Takes an idle decoder of a source, at best one that reaches a time by decoding on, or opens a new one.
    func take(
        for source: Composition.Source, near time: MediaTime, bySlices: Bool, _ start: CompositionStart
    ) throws(MediaError) -> FrameFinder {
        var places: [Int] = []
        for (place, finder) in idle.enumerated() where finder.asset === source.asset && finder.track == source.track {
            if try finder.reaches(time) { return idle.remove(at: place) }
            places.append(place)
        }
        let most = min(Self.perSource, source.asset.decoders(of: source.track, atMost: limit))
        if let oldest = places.first, places.count >= most { return idle.remove(at: oldest) }
        return try FrameFinder(
            source.asset, track: source.track, threads: start.threads, bySlices: bySlices, damage: DamageLog(),
            cancellation: start.cancellation)
    }

    /// Keeps a decoder whose segment has ended; the one that was not used for longest is closed if there are too many.
    func giveBack(_ finder: FrameFinder) {
        idle.append(finder)
        if idle.count > limit { idle.removeFirst() }
    }
}

/// The decoded frames of the part of a source that one segment shows.
protocol ClipFrames: AnyObject {
    /// Returns the next frame at the source's times; `nil` at the end.
    func next() throws(MediaError) -> SampleBuffer?
}

extension ClipReader: ClipFrames {}

/// Decodes the frames of a segment with a decoder that is kept for later segments.
final class SoughtClip: ClipFrames {
    private let decoders: ClipDecoders
    private let finder: FrameFinder
    private let conversion: PictureConversion
    private let damage = DamageLog()
    private let segment: Composition.Segment
    private let core: DemuxSession
    private let trackIndex: Int
    private let range: MediaTimeRange
    private var last: FrameFinder.Found?
    private var isOver = false
    private var hasFailed = false

    /// - Parameters:
    ///   - range: The part of the source to read.
    ///   - conversion: Converts the frames as the output's settings require.
    ///   - trackIndex: The index of the composition's track.
    init(
        _ source: Composition.Source, of segment: Composition.Segment, range: MediaTimeRange, settings: VideoSettings,
        conversion: PictureConversion, with decoders: ClipDecoders, for start: CompositionStart, trackIndex: Int
    ) throws(MediaError) {
        try source.checkUnchanged()
        let shown = MediaTimeRange(start: range.start, end: min(range.end, source.track.timeRange.end))
        if let error = source.asset.limits.error(reading: shown) { throw error }
        finder = try decoders.take(for: source, near: range.start, bySlices: settings.decodesBySlices, start)
        finder.damage = damage
        self.decoders = decoders
        self.conversion = conversion
        self.segment = segment
        core = start.core
        self.trackIndex = trackIndex
        self.range = range
    }

    func next() throws(MediaError) -> SampleBuffer? {
        guard !isOver else { return nil }
        do throws(MediaError) {
            let found = if let last { try finder.frame(following: last) } else { try first() }
            guard let found, found.frame.time < range.end else {
                isOver = true
                return nil
            }
            last = found
            return try buffer(found)
        } catch {
            hasFailed = true
            throw error.at(path: finder.asset.displayName)
        }
    }

    /// Returns the frame on screen at the start of the range, or the first one if the track starts later.
    private func first() throws(MediaError) -> FrameFinder.Found? {
        do throws(MediaError) {
            return try finder.frame(at: range.start)
        } catch {
            if error.code == .outOfRange {
                guard let first = finder.current, first.time > range.start else { return nil }
                return try finder.frame(at: first.time)
            }
            guard error.code == .damaged, finder.feed.isTruncated else { throw error }
            damage.noteTruncation()
            return nil
        }
    }

    private func buffer(_ found: FrameFinder.Found) throws(MediaError) -> SampleBuffer {
        let (track, frame) = (finder.track, found.frame)
        let picture = try conversion.convert(frame.picture)
        let format = track.formatDescriptions.first ?? FormatDescription(mediaType: .video, codec: "unknown")
        return SampleBuffer(
            track: track, presentationTime: frame.time, duration: found.end - frame.time, isSync: frame.isKey,
            formatDescription: format.describing(picture),
            attachments: frame.picture.frame.isCorrupt ? [.isDamaged] : [], content: .picture(picture))
    }

    deinit {
        let segment = segment
        core.add(damage.report, track: trackIndex) { segment.time(ofSource: $0) }
        if !hasFailed { decoders.giveBack(finder) }
    }
}
