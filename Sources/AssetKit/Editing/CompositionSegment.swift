import LibAV
public import MediaBase
import SystemCalls

extension Composition {
    /// A stretch of a composition's track: some time of a source, or a gap: `AVCompositionTrackSegment`.
    ///
    /// Its times are exact. A gap shows no pictures and sounds silent.
    public struct Segment: Sendable {
        /// Where its media comes from; `nil` for a gap.
        let source: Source?
        /// What of the source it shows, on the source's presentation time line; from zero on for a gap.
        var sourceStart: MediaTime
        var sourceEnd: MediaTime
        /// Where it lies in the composition.
        ///
        /// Neighbours share the very same times, so that nothing can come between.
        var start: MediaTime
        var end: MediaTime
        /// How long a second of the source lasts; `nil` where it plays as it is.
        ///
        /// Kept apart from the times, so that cutting a segment many times never changes its speed.
        var stretch: Rational?

        /// The asset that it is taken from; `nil` for a gap.
        public var asset: Asset? { source?.asset }
        /// The track that it is taken from; `nil` for a gap.
        public var sourceTrack: AssetTrack? { source?.track }
        /// Whether it shows nothing.
        public var isEmpty: Bool { source == nil }
        /// What of the source it shows, on the source's presentation time line.
        public var sourceRange: MediaTimeRange { MediaTimeRange(start: sourceStart, end: sourceEnd) }
        /// Where it lies in the composition.
        public var timeRange: MediaTimeRange { MediaTimeRange(start: start, end: end) }
        /// How much faster than the source it plays; 1 for as it is.
        public var speed: Rational { stretch?.inverse ?? .one }
    }

    /// A track of an asset that segments are taken from, and what its file was when it was put in.
    final class Source: Sendable {
        let asset: Asset
        let track: AssetTrack
        let identity: FileState?

        init(_ asset: Asset, _ track: AssetTrack) {
            self.asset = asset
            self.track = track
            identity = asset.fileState
        }

        /// - Throws: where the file is another one than when it was put in.
        func checkUnchanged() throws(MediaError) {
            guard let identity, let now = asset.fileState, now != identity else { return }
            throw MediaError(
                .inputOutput, "has changed since it was put into the composition; put the composition together anew",
                path: asset.displayName)
        }
    }
}

extension Composition.Segment {
    /// A gap.
    init(gapFrom start: MediaTime, to end: MediaTime) {
        self.init(source: nil, sourceStart: .zero, sourceEnd: end - start, start: start, end: end, stretch: nil)
    }

    /// Some time of a source, played as it is from a moment of the composition on.
    init(_ source: Composition.Source, _ range: MediaTimeRange, at start: MediaTime) {
        self.init(
            source: source, sourceStart: range.start, sourceEnd: range.end, start: start, end: start + range.duration,
            stretch: nil)
    }

    /// The source's moment that a moment of the composition shows.
    func sourceTime(at time: MediaTime) -> MediaTime {
        let passed = time - start
        guard let stretch else { return sourceStart + passed }
        return sourceStart + passed.multiplied(by: stretch.den, dividedBy: stretch.num)
    }

    /// The moment of the composition that shows a moment of the source.
    func time(ofSource moment: MediaTime) -> MediaTime {
        let passed = moment - sourceStart
        guard let stretch else { return start + passed }
        return start + passed.multiplied(by: stretch)
    }

    /// Cuts it in two at a moment inside.
    func split(at time: MediaTime) -> (Self, Self) {
        let moment = sourceTime(at: time)
        var (first, second) = (self, self)
        first.end = time
        first.sourceEnd = moment
        second.start = time
        second.sourceStart = moment
        return (first, second)
    }

    /// The same, so much later.
    func moved(by distance: MediaTime) -> Self {
        var moved = self
        moved.start += distance
        moved.end += distance
        return moved
    }

    /// Whether another one goes on where this ends, as if they had never been cut.
    func continues(in next: Self) -> Bool {
        guard let source, let other = next.source else { return source == nil && next.source == nil }
        return source.asset === other.asset && source.track == other.track && stretch == next.stretch
            && sourceEnd == next.sourceStart && end == next.start
    }
}

/// What an output of a composition needs to know to begin.
struct CompositionStart: PipelineMaker {
    let composition: Composition
    let core: DemuxSession
    let timeRange: MediaTimeRange
    let threads: Int
    let cancellation: Cancellation

    func origin(of track: AssetTrack) -> MediaTime { .zero }
    var duration: MediaTime { composition.duration }

    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ digester: SoundDigester?
    ) throws(MediaError) -> any SamplePipeline {
        guard let edited = composition.track(withID: track.id) else {
            throw MediaError(.noSuchTrack, "the composition has no track \(track.id)")
        }
        let range = OutputRange(timeRange, trackEnd: edited.end, grid: track.trimGrid)
        switch settings {
        case .stored:
            return try CompositionStored(
                self, edited, index: track.index, timescale: track.naturalTimeScale, range: range)
        case .audio(let settings):
            return try CompositionSound(self, edited, index: track.index, range: range, settings: settings)
        case .video(let settings):
            return CompositionPictures(self, edited, index: track.index, range: range, settings: settings)
        }
    }
}

extension Composition.Track {
    /// The segments that are shown within a range, those joined that go on where another ends.
    func clips(in range: OutputRange) -> [Composition.Segment] {
        var clips: [Composition.Segment] = []
        for segment in segments where segment.end > range.start && range.end.map({ segment.start < $0 }) != false {
            if let last = clips.last, last.continues(in: segment) {
                clips[clips.count - 1].end = segment.end
                clips[clips.count - 1].sourceEnd = segment.sourceEnd
            } else {
                clips.append(segment)
            }
        }
        return clips
    }
}

/// What one segment of a composition shows of its source, read as any asset is.
///
/// Its file is open as long as it lives.
final class ClipReader {
    private let reader: AssetReader
    private let output: TrackOutput
    private let segment: Composition.Segment
    private let core: DemuxSession
    private let trackIndex: Int

    /// Opens the source.
    ///
    /// - Parameters:
    ///   - range: What of the source is read.
    ///   - trackIndex: The composition's track.
    init(
        _ source: Composition.Source, of segment: Composition.Segment, range: MediaTimeRange,
        settings: TrackOutput.Settings, for start: CompositionStart, trackIndex: Int
    ) throws(MediaError) {
        try source.checkUnchanged()
        reader = try AssetReader(asset: source.asset, cancellation: start.cancellation)
        switch settings {
        case .stored: output = TrackOutput(track: source.track)
        case .audio(let settings): output = TrackOutput(track: source.track, audioSettings: settings)
        case .video(let settings): output = TrackOutput(track: source.track, videoSettings: settings)
        }
        self.segment = segment
        core = start.core
        self.trackIndex = trackIndex
        reader.timeRange = range
        reader.threadsPerOutput = start.threads
        try reader.add(output)
        try reader.startReading()
    }

    /// The next samples at the source's times; `nil` at the end.
    func next() throws(MediaError) -> SampleBuffer? { try output.nextSampleBuffer() }

    deinit {
        let segment = segment
        core.add(reader.damage, track: trackIndex) { segment.time(ofSource: $0) }
    }
}

/// The pictures of a composition's track: those of its segments one after the other, each cut to its segment.
///
/// One source is open at a time. In gaps there is no picture.
final class CompositionPictures: SamplePipeline {
    private let start: CompositionStart
    private let index: Int
    private let range: OutputRange
    private let settings: VideoSettings
    private var clips: ArraySlice<Composition.Segment>
    private var reader: ClipReader?
    /// The picture that is delivered next: what comes after it says until when it is shown.
    private var waiting: Placed?

    private struct Placed {
        let buffer: SampleBuffer
        let time: MediaTime
        let end: MediaTime
    }

    init(
        _ start: CompositionStart, _ track: Composition.Track, index: Int, range: OutputRange, settings: VideoSettings
    ) {
        self.start = start
        self.index = index
        self.range = range
        self.settings = settings
        clips = range.isEmpty ? [] : track.clips(in: range)[...]
    }

    /// The next picture that is on screen at some moment of the range.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while let clip = clips.first {
            let next = try nextPlaced(in: clip)
            if next == nil {
                reader = nil
                clips.removeFirst()
            }
            guard let shown = waiting else {
                waiting = next
                continue
            }
            waiting = next
            // A segment's last picture stays until the segment's end, as far as that was read.
            let end = next == nil ? max(shown.end, min(range.end ?? clip.end, clip.end)) : shown.end
            return SampleBuffer(
                shown.buffer, ofTrack: index, presentationTime: shown.time, duration: end - shown.time)
        }
        return nil
    }

    private func nextPlaced(in clip: Composition.Segment) throws(MediaError) -> Placed? {
        guard let source = clip.source else { return nil }
        if reader == nil {
            let from = clip.sourceTime(at: max(range.start, clip.start))
            let to = clip.sourceTime(at: min(range.end ?? clip.end, clip.end))
            reader = try ClipReader(
                source, of: clip, range: MediaTimeRange(start: from, end: to), settings: .video(settings), for: start,
                trackIndex: index)
        }
        while let buffer = try reader?.next() {
            let begins = max(buffer.presentationTime, clip.sourceStart)
            let ends = min(buffer.timeRange.end, clip.sourceEnd)
            guard begins < ends else { continue }
            return Placed(
                buffer: buffer, time: begins == clip.sourceStart ? clip.start : clip.time(ofSource: begins),
                end: ends == clip.sourceEnd ? clip.end : clip.time(ofSource: ends))
        }
        return nil
    }
}
