import LibAV
public import MediaBase
import SystemCalls
import Threading

/// The video of several tracks composited into one: `AVAssetReaderVideoCompositionOutput`.
///
/// Frame n starts at n frame durations of the video composition and combines the tracks' frames at that time. The
/// output ends with the last of the tracks, including a gap at its end; audio that lasts longer adds no frames. An
/// instruction that starts only after that end is still shown. Frames are made in parallel on all cores, and their
/// content does not depend on the number of cores. What changes is confined to one thread at a time.
public final class VideoCompositionOutput: ReaderOutput, @unchecked Sendable {
    private let outputs: [TrackOutput]
    /// The video composition that describes the frames.
    public let videoComposition: VideoComposition
    private let settings: VideoSettings
    private let state = Confined(State())

    private struct State {
        var compositor: (any VideoCompositing)?
        /// The images that are shown as if they were tracks.
        var images: [Int: SourceFrame] = [:]
        var tracks: [Track] = []
        /// The number of the next frame.
        var next: Int64 = 0
        var start = MediaTime.zero
        var end = MediaTime.zero
        /// True if no header states the end of the tracks, so that only reading finds it.
        var endsByReading = false
        var made: [SampleBuffer] = []
        var isStarted = false
        var ranges = JoinedRanges()
    }

    /// The reading state of one track, with its latest frame.
    private struct Track {
        var current: SampleBuffer?
        var isOver = false
    }

    /// Creates an output for video tracks of one asset.
    ///
    /// - Parameters:
    ///   - tracks: The video tracks.
    ///   - videoSettings: The pixel format and size of the output; values that are `nil` default to RGBA in the size of
    ///     the composition.
    ///   - videoComposition: The description of the frames. The first read checks that it covers the asset's duration.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` without tracks, for tracks of another kind, and for
    ///   impossible settings.
    public init(
        tracks: [AssetTrack], videoSettings: VideoSettings? = nil, videoComposition: VideoComposition
    ) throws(MediaError) {
        guard !tracks.isEmpty, tracks.allSatisfy({ $0.mediaType == .video }) else {
            throw MediaError(.invalidArgument, "a video composition is made of video tracks, at least one")
        }
        if let impossibility = videoSettings?.impossibility { throw MediaError(.invalidArgument, impossibility) }
        self.videoComposition = videoComposition
        settings = videoSettings ?? VideoSettings()
        var stored = VideoSettings()
        stored.decodesBySlices = true
        stored.leavesGaps = true
        outputs = tracks.map { TrackOutput(track: $0, videoSettings: stored) }
    }

    /// The outputs of the single tracks, in the order of the tracks.
    public override var trackOutputs: [TrackOutput] { outputs }

    /// Returns the next frame; `nil` at the end.
    ///
    /// - Throws: The error of any of the tracks; ``MediaError/Code-swift.struct/invalidArgument`` for a video
    ///   composition that is not valid for the asset's whole duration.
    public override func nextSampleBuffer() throws(MediaError) -> SampleBuffer? {
        try state.use { state throws(MediaError) in
            repeat {
                if !state.isStarted { try start(&state) }
                if state.made.isEmpty { state.made = try makeFrames(&state).reversed() }
                if let frame = state.made.popLast() { return frame }
                // The remaining samples are not shown, but the reader is completed only when all of its outputs are.
                for output in outputs { while try output.nextSampleBuffer() != nil {} }
                state.isStarted = false
            } while try state.ranges.next(of: outputs)
            // Nothing is left of the last range.
            state.isStarted = true
            return nil
        }
    }

    // MARK: Several time ranges

    /// Indicates whether further time ranges may be read, as ``TrackOutput/supportsRandomAccess``.
    public var supportsRandomAccess: Bool {
        get { outputs.supportRandomAccess }
        set { outputs.supportRandomAccess = newValue }
    }

    /// Makes the output deliver further time ranges, once it has returned `nil`: the frames that are on screen in each.
    ///
    /// The parameters and errors are those of ``TrackOutput/reset(forReadingTimeRanges:)``; each track's file is opened
    /// again for every range.
    public func reset(forReadingTimeRanges ranges: [MediaTimeRange]) throws(MediaError) {
        try state.use { state throws(MediaError) in try state.ranges.reset(ranges, of: outputs) }
    }

    /// Declares that no further time ranges follow, as ``TrackOutput/markConfigurationAsFinal()``.
    public func markConfigurationAsFinal() {
        try? state.use { state in state.ranges.markAsFinal(outputs) }
    }

    private func start(_ state: inout State) throws(MediaError) {
        let duration = trackOutputs.first?.assetDuration ?? .indefinite
        let longest = trackOutputs.map(\.track.timeRange.end).filter(\.isNumeric).max()
        let end = duration.isNumeric ? duration : longest ?? .indefinite
        guard end.isNumeric else {
            throw MediaError(.unsupported, "how long the asset lasts is not known; load it with precise timing")
        }
        try videoComposition.validate(duration: end)
        let known = videoComposition.end(of: trackOutputs.map(\.track), until: end)
        let framesEnd = known ?? end
        let frame = videoComposition.frameDuration
        let range =
            state.ranges.current ?? outputs.first?.timeRange
            ?? MediaTimeRange(start: .zero, duration: .positiveInfinity)
        state.start = max(range.start.isNumeric ? range.start : .zero, .zero)
        state.end = range.end.isNumeric ? min(range.end, framesEnd) : framesEnd
        state.endsByReading = known == nil
        // The number of the frame on screen at the start; both times are fractions, so it is exact.
        let number = Rational(state.start)?.divided(by: Rational(frame) ?? .one)?.rounded(.down)
        guard let number else { throw MediaError(.limitExceeded, "there are too many frames of \(frame)") }
        state.next = number
        state.tracks = trackOutputs.map { _ in Track() }
        state.images = try videoComposition.imageSources()
        if let own = videoComposition.compositor {
            state.compositor = own
        } else {
            state.compositor = try LayerCompositor(videoComposition, format: settings.pixelFormat)
        }
        state.isStarted = true
    }

    /// Makes several frames in parallel; returns none at the end.
    private func makeFrames(_ state: inout State) throws(MediaError) -> [SampleBuffer] {
        guard let compositor = state.compositor else { return [] }
        var requests: [VideoCompositionRequest] = []
        var isOver = false
        let atOnce = framesAtOnce
        while requests.count < atOnce, !isOver {
            let time = videoComposition.frameDuration.multiplied(by: state.next)
            guard time < state.end, let instruction = videoComposition.instruction(at: time) else {
                isOver = true
                continue
            }
            var sources = state.images.filter { videoComposition.needs($0.key, for: instruction) }
            for (index, output) in trackOutputs.enumerated() {
                let isNeeded = videoComposition.needs(output.track.id, for: instruction)
                guard isNeeded || state.endsByReading else { continue }
                let shown = try Self.picture(of: output, &state.tracks[index], at: max(time, state.start))
                guard isNeeded, let shown, let picture = shown.pixelBuffer else { continue }
                sources[output.track.id] = SourceFrame(picture: picture, format: shown.formatDescription.video)
            }
            if state.endsByReading, state.tracks.allSatisfy(\.isOver) {
                let last = state.tracks.compactMap(\.current?.timeRange.end).max() ?? .zero
                isOver = time >= last && instruction.timeRange.start < last
                if isOver { continue }
            }
            requests.append(
                VideoCompositionRequest(
                    time: time, instruction: instruction, videoComposition: videoComposition, sources: sources))
            state.next += 1
        }
        let (settings, size) = (settings, videoComposition.outputSize)
        var pictures: [PixelBuffer] = []
        let lead = trackOutputs.first
        try concurrentForEach(requests, workers: requests.count) { request throws(MediaError) in
            let made: PixelBuffer
            do throws(MediaError) {
                made = try compositor.made(request) { () throws(MediaError) in try lead?.checkReading() }
            } catch {
                throw lead?.failed(error) ?? error
            }
            return try Self.tagged(made, for: settings).converted(
                to: settings.pixelFormat, dimensions: settings.dimensions ?? size)
        } deliver: { _, picture throws(MediaError) in
            pictures.append(picture)
        }
        let duration = videoComposition.frameDuration
        let end = state.end
        return zip(requests, pictures).map { request, picture in
            SampleBuffer(
                picture: picture, presentationTime: request.time, duration: min(duration, end - request.time))
        }
    }

    /// Converts a frame to the colours of composited frames, BT.709 in limited range, if luma and chroma are requested.
    ///
    /// A user's compositor may return frames in any colours.
    private static func tagged(_ frame: PixelBuffer, for settings: VideoSettings) throws(MediaError) -> PixelBuffer {
        guard let format = settings.pixelFormat, !format.isRGB, !frame.isRGB else { return frame }
        let color = frame.assumedColor
        let isSo = color.matrix == "bt709" && color.primaries == "bt709" && color.transfer == "bt709"
        return isSo && color.range == "tv" ? frame : try frame.inSRGB()
    }

    /// The number of frames to make at once: one per core, limited by the memory for them and their sources.
    ///
    /// A custom compositor, which may work elsewhere, gets at least four.
    private var framesAtOnce: Int {
        let size = videoComposition.outputSize
        let bytes = max(1, size.width * size.height) * 16
        let wanted = videoComposition.compositor == nil ? availableProcessors() : max(availableProcessors(), 4)
        return min(wanted, max(1, (192 << 20) / bytes))
    }

    /// Returns the frame that a track shows at a time; `nil` in a gap.
    private static func picture(
        of output: TrackOutput, _ track: inout Track, at time: MediaTime
    ) throws(MediaError) -> SampleBuffer? {
        while !track.isOver {
            if let current = track.current, time < current.timeRange.end { break }
            if let next = try output.nextSampleBuffer() {
                track.current = next
            } else {
                track.isOver = true
            }
        }
        guard let current = track.current else { return nil }
        return current.timeRange.contains(time) ? current : nil
    }
}
