import LibAV
public import MediaBase
import SystemCalls

extension Composition {
    /// A segment of a composition's track: a time range of a source, or a gap: `AVCompositionTrackSegment`.
    ///
    /// All times are exact. A gap is black and silent; as a layer of a video composition it is transparent.
    public struct Segment: Sendable {
        /// The source of the media; `nil` for a gap.
        let source: Source?
        /// The time range on the source's presentation time line; for a gap, it starts at zero.
        var sourceStart: MediaTime
        var sourceEnd: MediaTime
        /// The time range in the composition.
        ///
        /// Adjacent segments share exactly the same times, so there is never space between them.
        var start: MediaTime
        var end: MediaTime
        /// The duration of a second of the source; `nil` for normal speed.
        ///
        /// Stored separately from the times, so that repeated cuts never change a segment's speed.
        var stretch: Rational?

        /// The source asset; `nil` for a gap.
        public var asset: Asset? { source?.asset }
        /// The source track; `nil` for a gap.
        public var sourceTrack: AssetTrack? { source?.track }
        /// Indicates whether the segment is a gap.
        public var isEmpty: Bool { source == nil }
        /// The time range on the source's presentation time line.
        public var sourceRange: MediaTimeRange { MediaTimeRange(start: sourceStart, end: sourceEnd) }
        /// The time range in the composition.
        public var timeRange: MediaTimeRange { MediaTimeRange(start: start, end: end) }
        /// The playback speed relative to the source; 1 is normal.
        public var speed: Rational { stretch?.inverse ?? .one }
    }

    /// A source track of segments, and the state of its file at insertion.
    final class Source: Sendable {
        let asset: Asset
        let track: AssetTrack
        let identity: FileState?

        init(_ asset: Asset, _ track: AssetTrack) {
            self.asset = asset
            self.track = track.owned(by: asset)
            identity = asset.fileState
        }

        /// - Throws: An error if the file has changed since its insertion.
        func checkUnchanged() throws(MediaError) {
            guard let identity, let now = asset.fileState, now != identity else { return }
            throw MediaError(
                .inputOutput, "has changed since it was put into the composition; put the composition together anew",
                path: asset.displayName)
        }
    }
}

extension Composition.Segment {
    /// Creates a gap.
    init(gapFrom start: MediaTime, to end: MediaTime) {
        self.init(source: nil, sourceStart: .zero, sourceEnd: end - start, start: start, end: end, stretch: nil)
    }

    /// Creates a segment from a time range of a source, at normal speed and a start time in the composition.
    init(_ source: Composition.Source, _ range: MediaTimeRange, at start: MediaTime) {
        self.init(
            source: source, sourceStart: range.start, sourceEnd: range.end, start: start, end: start + range.duration,
            stretch: nil)
    }

    /// Returns the source time that is shown at a time of the composition.
    func sourceTime(at time: MediaTime) -> MediaTime {
        let passed = time - start
        guard let stretch else { return sourceStart + passed }
        return sourceStart + passed.multiplied(by: stretch.den, dividedBy: stretch.num)
    }

    /// Returns the time of the composition at which a source time is shown.
    func time(ofSource moment: MediaTime) -> MediaTime {
        let passed = moment - sourceStart
        guard let stretch else { return start + passed }
        return start + passed.multiplied(by: stretch)
    }

    /// Splits the segment in two at a time within it.
    func split(at time: MediaTime) -> (Self, Self) {
        let moment = sourceTime(at: time)
        var (first, second) = (self, self)
        first.end = time
        first.sourceEnd = moment
        second.start = time
        second.sourceStart = moment
        return (first, second)
    }

    /// Returns the segment shifted by a time.
    func moved(by distance: MediaTime) -> Self {
        var moved = self
        moved.start += distance
        moved.end += distance
        return moved
    }

    /// Returns true if another segment continues this one, as if they had never been split.
    func continues(in next: Self) -> Bool {
        guard let source, let other = next.source else { return source == nil && next.source == nil }
        return source.asset === other.asset && source.track == other.track && stretch == next.stretch
            && sourceEnd == next.sourceStart && end == next.start
    }
}

/// Creates the pipelines for outputs of a composition.
struct CompositionStart: PipelineMaker {
    let composition: Composition
    let core: DemuxSession
    let timeRange: MediaTimeRange
    let threads: Int
    let cancellation: Cancellation

    func origin(of track: AssetTrack) -> MediaTime { .zero }
    var duration: MediaTime { composition.duration }

    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ reduction: (any AudioReduction)?
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
            return try CompositionPictures(self, edited, index: track.index, range: range, settings: settings)
        }
    }
}

extension Composition.Track {
    /// Returns the segments within a range; segments that continue each other are joined, also beyond the range.
    ///
    /// So a cut that changes nothing has no effect, even if a read starts at it.
    func clips(in range: OutputRange) -> [Composition.Segment] {
        var clips: [Composition.Segment] = []
        for segment in segments {
            if let last = clips.last, last.continues(in: segment) {
                clips[clips.count - 1].end = segment.end
                clips[clips.count - 1].sourceEnd = segment.sourceEnd
            } else {
                clips.append(segment)
            }
        }
        return clips.filter { clip in clip.end > range.start && range.end.map { clip.start < $0 } != false }
    }
}

/// Reads the part of a source that one segment of a composition shows.
///
/// The source's file stays open for the lifetime of the reader.
final class ClipReader {
    private let output: TrackOutput
    private let segment: Composition.Segment
    private let core: DemuxSession
    private let trackIndex: Int

    /// Opens the source for reading.
    ///
    /// - Parameters:
    ///   - range: The part of the source to read.
    ///   - trackIndex: The index of the composition's track.
    init(
        _ source: Composition.Source, of segment: Composition.Segment, range: MediaTimeRange,
        settings: TrackOutput.Settings, for start: CompositionStart, trackIndex: Int
    ) throws(MediaError) {
        try source.checkUnchanged()
        output = try source.asset.samplesNow(
            of: source.track, as: settings, in: range, threads: start.threads, cancellation: start.cancellation)
        self.segment = segment
        core = start.core
        self.trackIndex = trackIndex
    }

    /// Returns the next samples at the source's times; `nil` at the end.
    func next() throws(MediaError) -> SampleBuffer? { try output.nextSampleBuffer() }

    deinit {
        let segment = segment
        core.add(output.damage, track: trackIndex) { segment.time(ofSource: $0) }
    }
}
