import LibAV
import MediaBase

/// The pipeline of a track that cannot be decoded.
final class NothingPipeline: SamplePipeline {
    func next(from packets: PacketQueue) -> SampleBuffer? { nil }
}

/// Creates the pipelines of outputs when reading starts, for an open file or a composition.
protocol PipelineMaker: Sendable {
    /// Returns the container time of the presentation's zero for a track.
    func origin(of track: AssetTrack) -> MediaTime
    /// The requested part of the presentation.
    var timeRange: MediaTimeRange { get }
    /// The duration of the whole presentation.
    var duration: MediaTime { get }
    /// Returns the pipeline that makes the samples of an output.
    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ reduction: (any AudioReduction)?
    ) throws(MediaError) -> any SamplePipeline
}

/// A backing whose samples are made from those of other assets.
protocol ComposedBacking: AssetBacking {
    /// Returns what creates the pipelines of a reader's outputs.
    ///
    /// - Parameters:
    ///   - core: Receives the damage that is found in the sources.
    ///   - threads: The number of codec threads for each output.
    ///   - cancellation: Cancels the readers of the sources.
    func pipelines(
        for core: DemuxSession, in timeRange: MediaTimeRange, threads: Int, cancellation: Cancellation
    ) -> any PipelineMaker
}

/// Creates the pipelines for outputs of a file.
struct PipelineStart: PipelineMaker, Sendable {
    let file: InputFile
    let contents: AssetContents
    var duration: MediaTime { contents.duration }
    let timeRange: MediaTimeRange
    let isFromStart: Bool
    let threads: Int
    /// The settings for decoding audio in chunks; `nil` for one decoder from start to end.
    let chunks: ChunkSettings?

    func origin(of track: AssetTrack) -> MediaTime { contents.origin(ofStream: track.index) }

    func pipeline(
        for track: AssetTrack, _ settings: TrackOutput.Settings, _ reduction: (any AudioReduction)?
    ) throws(MediaError) -> any SamplePipeline {
        let range = OutputRange(timeRange, trackEnd: track.editedEnd, grid: track.trimGrid)
        guard let format = track.formatDescriptions.first else {
            throw MediaError(.unsupported, "track \(track.index) has no format description")
        }
        switch settings {
        case .stored:
            // Edits define which samples are shown, not which samples exist.
            let range = OutputRange(timeRange, trackEnd: nil, grid: track.trimGrid)
            return PassthroughPipeline(
                track: track, format: format, origin: origin(of: track), range: range, limits: file.limits)
        case .audio(let settings):
            let setup = AudioPipelineSetup(
                file: file, track: track, format: format, origin: origin(of: track), range: range, settings: settings,
                isFromStart: isFromStart, threads: threads, chunks: chunks)
            return try AudioPipeline(setup, reduction)
        case .video(let settings):
            return try VideoPipeline(
                file, track: track, format: format, origin: origin(of: track), range: range, settings: settings,
                threads: threads)
        }
    }
}
