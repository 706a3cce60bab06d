import LibAV
import MediaBase

/// What an output of a composition needs to know to begin.
struct CompositionStart: PipelineMaker {
    let composition: Composition
    let core: ReaderCore
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
    private let core: ReaderCore
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
