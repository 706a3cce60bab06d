import LibAV
public import MediaBase
import SystemCalls
import Threading

/// Connects the outputs of a reader to the inputs of a writer, with one thread per pair.
///
/// ```swift
/// let reencoder = Reencoder(reader: reader, writer: writer)
/// try reencoder.add(videoOutput, to: videoInput)
/// try reencoder.add(audioOutput, to: audioInput)
/// try await reencoder.run()
/// ```
///
/// The reader's time range is written, and its start becomes the new file's zero. ``cancel()`` may be called from any
/// thread, at any time and any number of times.
public final class Reencoder: Sendable {
    /// The reader of the source.
    public let reader: AssetReader
    /// The writer of the new file.
    public let writer: AssetWriter
    /// The metadata for which the file has no place; empty before the file is complete.
    public var metadataLeftOut: [MetadataLeftOut] { writer.metadataLeftOut }

    private let state = Monitor(State())

    private struct State {
        var pairs: [Pair] = []
        /// Tracks that are read completely before all others.
        var sparse: [(track: AssetTrack, input: AssetWriterInput)] = []
        var observer: (@Sendable (AssetWriterInput, SampleBuffer) -> Void)?
        var passesOverUndecodableAudio = false
        var timePitchAlgorithm = AudioTimePitchAlgorithm.spectral
        var isStarted = false
        var isCancelled = false
        var running = 0
        var error: MediaError?
    }

    private struct Pair: Sendable {
        let output: ReaderOutput
        let input: AssetWriterInput
        /// The source time up to which the pair has read; +∞ at its end.
        var position: MediaTime
    }

    /// The maximum lead of a pair over the slowest one, so that the latter's packets do not pile up in the reader.
    private static let lead = MediaTime(value: 1, timescale: 8)

    /// Creates a re-encoder from a reader and a writer that have not been started.
    public init(reader: AssetReader, writer: AssetWriter) {
        self.reader = reader
        self.writer = writer
    }

    /// Adds an output to the reader and an input to the writer, and connects them.
    ///
    /// - Throws: Errors of the reader or the writer.
    public func add(_ output: ReaderOutput, to input: AssetWriterInput) throws(MediaError) {
        try reader.add(output)
        // A copy begins as its source does.
        if input.settings == .stored { input.beginsWithSyncSample = false }
        try writer.add(input)
        let starts = output.trackOutputs.map(\.track.timeRange.start).filter(\.isNumeric)
        let position = max(starts.min() ?? .zero, .zero)
        state.updateQuietly { $0.pairs.append(Pair(output: output, input: input, position: position)) }
    }

    /// The tracks of the asset that are not carried over, with the reasons.
    ///
    /// Tracks that are known to be left out are listed before writing; those of which nothing could be decoded or that
    /// have nothing in the time range, after it.
    public var leftOut: [TrackLeftOut] {
        let outputs = state.read { $0.pairs.flatMap(\.output.trackOutputs) }
        return writer.leftOut
            + outputs.compactMap { output in
                output.undecodable.map { TrackLeftOut(track: output.track, reason: $0.message) }
            }
    }

    /// The tracks of the source that were added.
    var addedTracks: [AssetTrack] {
        state.read { $0.sparse.map(\.track) + $0.pairs.flatMap(\.output.trackOutputs).map(\.track) }
    }

    /// Makes the new tracks refer to each other as those of the source do.
    private func associateTracks() {
        let inputs = state.read { state in
            state.sparse
                + state.pairs.compactMap { pair in
                    let tracks = pair.output.trackOutputs.map(\.track)
                    return tracks.count == 1 ? tracks.first.map { ($0, pair.input) } : nil
                }
        }
        for (track, input) in inputs {
            for (type, others) in track.associatedTracks.sorted(by: { $0.key < $1.key }) {
                for (other, target) in inputs where others.contains(other.id) && other.id != track.id {
                    input.addTrackAssociation(withTrackOf: target, type: type)
                }
            }
        }
    }

    /// Adds a track that is read separately, before all others.
    func addSparse(_ track: AssetTrack, to input: AssetWriterInput) {
        state.updateQuietly { $0.sparse.append((track, input)) }
    }

    /// Observes every buffer after it was appended to the writer, on the thread of its pair; set it before running.
    package var observer: (@Sendable (AssetWriterInput, SampleBuffer) -> Void)? {
        get { state.read { $0.observer } }
        set { state.updateQuietly { $0.observer = newValue } }
    }

    /// Indicates whether audio tracks without any decodable audio are omitted instead of being errors; set it before
    /// adding.
    package var passesOverUndecodableAudio: Bool {
        get { state.read { $0.passesOverUndecodableAudio } }
        set { state.updateQuietly { $0.passesOverUndecodableAudio = newValue } }
    }

    /// The algorithm for segments of a composition whose audio plays faster or slower; set it before adding.
    var audioTimePitchAlgorithm: AudioTimePitchAlgorithm {
        get { state.read { $0.timePitchAlgorithm } }
        set { state.updateQuietly { $0.timePitchAlgorithm = newValue } }
    }

    /// The reasons why tracks were omitted as undecodable, by ``AssetTrack/index``.
    package var undecodable: [Int: MediaError] {
        let outputs = state.read { $0.pairs.flatMap(\.output.trackOutputs) }
        return Dictionary(
            outputs.compactMap { output in output.undecodable.map { (output.track.index, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The source time up to which the slowest pair has read.
    public var position: MediaTime {
        let slowest = state.read { $0.pairs.map(\.position).min() } ?? .zero
        return slowest.isNumeric ? slowest : .positiveInfinity
    }

    /// Reads, encodes and writes everything, and moves the file to its final name; blocks until that is done.
    ///
    /// - Throws: The first error of the reader, the encoders or the writer; the partial file is then removed.
    public func runNow() throws(MediaError) {
        do throws(MediaError) {
            try start()
            let failure = state.wait { $0.running == 0 ? .some($0.error) : nil }
            if let failure { throw failure }
            let undecodable = undecodable
            if let first = undecodable.min(by: { $0.key < $1.key }),
                undecodable.count == state.read({ $0.pairs.count })
            {
                throw first.value
            }
            try writer.finishWritingNow()
        } catch {
            reader.cancelReading()
            writer.cancelWriting()
            throw error
        }
    }

    /// Runs as ``runNow()`` does, on separate threads; cancelling the task cancels the re-encoding.
    public func run() async throws(MediaError) {
        try await offload(onCancel: { self.cancel() }) { () throws(MediaError) in try self.runNow() }
    }

    /// Cancels reading and writing; an incomplete file is removed.
    public func cancel() {
        state.update { $0.isCancelled = true }
        reader.cancelReading()
        writer.cancelWriting()
    }

    private func start() throws(MediaError) {
        let pairs = try state.update { state throws(MediaError) in
            if state.isCancelled { throw MediaError(.cancelled, "cancelled") }
            guard !state.isStarted else { throw MediaError(.invalidArgument, "it was run already") }
            guard !state.pairs.isEmpty else { throw MediaError(.invalidArgument, "there is nothing to read") }
            state.isStarted = true
            return state.pairs
        }
        try writer.refuseToReplace(reader.asset)
        associateTracks()
        let range = reader.timeRange
        if reader.threadsPerOutput == 0 { reader.threadsPerOutput = threadsForDecoding }
        // The samples are those that a waveform or a check of the same track gets.
        reader.decodesAudioInChunks = true
        reader.joinsSharedReading = true
        try reader.startReading()
        try writer.startWriting()
        writer.setDeadline(reader.asset.deadline)
        try writer.startSession(atSourceTime: range.start.isNumeric ? max(range.start, .zero) : .zero)
        if range.end.isNumeric { try writer.endSession(atSourceTime: range.end) }
        for (track, input) in state.read({ $0.sparse }) { try writeSparse(track, to: input) }
        state.update { $0.running = pairs.count }
        for (index, pair) in pairs.enumerated() {
            do throws(WorkerThread.CannotStart) {
                try WorkerThread { [self] in work(index, pair.output, pair.input) }.detach()
            } catch {
                state.update { $0.running -= 1 }
                fail(MediaError(.outOfResources, "no more threads can be started"))
            }
        }
    }

    /// The number of decoding threads per output.
    ///
    /// Each thread of a decoder holds frames, scaling and encoding use processors too, and a composition may have
    /// several sources open at once.
    private var threadsForDecoding: Int {
        // Like libavcodec, uses one thread more than there are processors, but at most 16.
        let count = min(availableProcessors() + 1, 16)
        return reader.asset.composition == nil ? count : max(1, count / 2)
    }

    private func work(_ index: Int, _ output: ReaderOutput, _ input: AssetWriterInput) {
        do throws(MediaError) {
            let observer = observer
            while waitForOthers(index), let buffer = try output.nextSampleBuffer() {
                let place = buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime
                try input.appendNow(buffer)
                observer?(input, buffer)
                state.update { state in
                    if let place { state.pairs[index].position = max(state.pairs[index].position, place) }
                }
            }
            input.markAsFinished()
        } catch {
            fail(Self.named(error, output))
        }
        state.update { state in
            state.pairs[index].position = .positiveInfinity
            state.running -= 1
        }
    }

    /// Returns a decoding error with the track that it concerns.
    private static func named(_ error: MediaError, _ output: ReaderOutput) -> MediaError {
        guard error.code == .damaged, let track = output.trackOutputs.first?.track, output.trackOutputs.count == 1
        else {
            return error
        }
        var named = error
        named.message = "track \(track.index) (\(track.mediaType)): \(error.message)"
        return named
    }

    /// Waits until the other pairs have caught up; returns false if the run has failed or was cancelled.
    private func waitForOthers(_ index: Int) -> Bool {
        state.wait { state in
            if state.isCancelled || state.error != nil { return false }
            let slowest = state.pairs.map(\.position).min() ?? .zero
            return state.pairs[index].position > slowest + Self.lead ? nil : true
        }
    }

    private func fail(_ error: MediaError) {
        state.update { state in
            // Errors that follow a cancellation are not its cause.
            state.error = state.error ?? (state.isCancelled ? MediaError(.cancelled, "cancelled") : error)
        }
        reader.cancelReading()
    }
}
