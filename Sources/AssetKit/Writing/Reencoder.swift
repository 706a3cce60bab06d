import LibAV
public import MediaBase
import SystemCalls
import Threading

/// Joins the outputs of a reader to the inputs of a writer: each pair on a thread of its own, one end for all of them.
///
/// ```swift
/// let reencoder = Reencoder(reader: reader, writer: writer)
/// try reencoder.add(videoOutput, to: videoInput)
/// try reencoder.add(audioOutput, to: audioInput)
/// try await reencoder.run()
/// ```
///
/// The reader's time range is what is written: its start is the new file's zero. ``cancel()`` ends it from any thread at
/// any moment, any number of times.
public final class Reencoder: Sendable {
    /// What is read.
    public let reader: AssetReader
    /// What is written.
    public let writer: AssetWriter

    private let state = Monitor(State())

    private struct State {
        var pairs: [Pair] = []
        /// Tracks that are read before all others.
        var sparse: [(track: AssetTrack, input: AssetWriterInput)] = []
        var observer: (@Sendable (AssetWriterInput, SampleBuffer) -> Void)?
        var passesOverUndecodableAudio = false
        var isStarted = false
        var isCancelled = false
        var running = 0
        var error: MediaError?
    }

    private struct Pair: Sendable {
        let output: any ReaderOutput
        let input: AssetWriterInput
        /// Up to where it has come on the source's time line; +∞ at its end.
        var position: MediaTime
    }

    /// How far a pair may be ahead of the slowest, so that packets of the other do not pile up in the reader.
    private static let lead = MediaTime(value: 1, timescale: 8)

    /// Joins a reader and a writer, neither of which was started.
    public init(reader: AssetReader, writer: AssetWriter) {
        self.reader = reader
        self.writer = writer
    }

    /// Adds an output to the reader and an input to the writer, and joins them.
    ///
    /// - Throws: what either refuses.
    public func add(_ output: any ReaderOutput, to input: AssetWriterInput) throws(MediaError) {
        try reader.add(output)
        try writer.add(input)
        let starts = output.trackOutputs.map(\.track.timeRange.start).filter(\.isNumeric)
        let position = max(starts.min() ?? .zero, .zero)
        state.updateQuietly { $0.pairs.append(Pair(output: output, input: input, position: position)) }
    }

    /// Has a track written that is read by itself, before all others.
    func addSparse(_ track: AssetTrack, to input: AssetWriterInput) {
        state.updateQuietly { $0.sparse.append((track, input)) }
    }

    /// Is shown every buffer that is read, on the thread of its pair, after it was handed to the writer; set before
    /// running.
    package var observer: (@Sendable (AssetWriterInput, SampleBuffer) -> Void)? {
        get { state.read { $0.observer } }
        set { state.updateQuietly { $0.observer = newValue } }
    }

    /// Whether tracks of sound of which nothing can be decoded are left out instead of being errors; set before adding.
    package var passesOverUndecodableAudio: Bool {
        get { state.read { $0.passesOverUndecodableAudio } }
        set { state.updateQuietly { $0.passesOverUndecodableAudio = newValue } }
    }

    /// Why tracks gave nothing that were left out therefore, by ``AssetTrack/index``.
    package var undecodable: [Int: MediaError] {
        let outputs = state.read { $0.pairs.flatMap(\.output.trackOutputs) }
        return Dictionary(
            outputs.compactMap { output in output.undecodable.map { (output.track.index, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Up to where the slowest pair has come on the source's time line.
    public var position: MediaTime {
        let slowest = state.read { $0.pairs.map(\.position).min() } ?? .zero
        return slowest.isNumeric ? slowest : .positiveInfinity
    }

    /// Reads, encodes and writes everything, and puts the file in its place; blocks until that is done.
    ///
    /// - Throws: the first thing that went wrong on any side; nothing remains of the file then.
    public func run() throws(MediaError) {
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
            try finish()
        } catch {
            reader.cancelReading()
            writer.cancelWriting()
            throw error
        }
    }

    /// Runs as ``run()-()`` does, on threads of its own; cancelling the task cancels it.
    public func run() async throws(MediaError) {
        try await offload(onCancel: { self.cancel() }) { () throws(MediaError) in
            let run: () throws(MediaError) -> Void = self.run
            try run()
        }
    }

    /// Ends reading and writing; nothing remains of a file that is not complete.
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
        let range = reader.timeRange
        if reader.threadsPerOutput == 0 { reader.threadsPerOutput = threadsForDecoding }
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

    /// Each thread of a decoder holds pictures, scaling and encoding keep processors busy too, and of a composition several
    /// sources may be open at once.
    private var threadsForDecoding: Int {
        // One more than there are, and no more than 16, as libavcodec counts them.
        let count = min(availableProcessors() + 1, 16)
        return reader.asset.composition == nil ? count : max(1, count / 2)
    }

    private func finish() throws(MediaError) {
        let finish: () throws(MediaError) -> Void = writer.finishWriting
        try finish()
    }

    private func work(_ index: Int, _ output: any ReaderOutput, _ input: AssetWriterInput) {
        do throws(MediaError) {
            let append: (SampleBuffer) throws(MediaError) -> Void = input.append
            let observer = observer
            while waitForOthers(index), let buffer = try output.nextSampleBuffer() {
                let place = buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime
                try append(buffer)
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

    /// An error that says which of several tracks cannot be used.
    private static func named(_ error: MediaError, _ output: any ReaderOutput) -> MediaError {
        guard error.code == .damaged, let track = output.trackOutputs.first?.track, output.trackOutputs.count == 1
        else {
            return error
        }
        var named = error
        named.message = "track \(track.index) (\(track.mediaType)): \(error.message)"
        return named
    }

    /// Waits until the others have come as far; `false` where all is over.
    private func waitForOthers(_ index: Int) -> Bool {
        state.wait { state in
            if state.isCancelled || state.error != nil { return false }
            let slowest = state.pairs.map(\.position).min() ?? .zero
            return state.pairs[index].position > slowest + Self.lead ? nil : true
        }
    }

    private func fail(_ error: MediaError) {
        state.update { state in
            // What others report after a cancellation is not the cause.
            state.error = state.error ?? (state.isCancelled ? MediaError(.cancelled, "cancelled") : error)
        }
        reader.cancelReading()
    }
}

/// A track of an asset that is not carried to a new file, and why.
public struct TrackLeftOut: Sendable, Hashable {
    /// The track.
    public let track: AssetTrack
    /// Why it is not there, in words that follow "because".
    public let reason: String
}

extension Reencoder {
    /// Adds a subtitle track as it is, with what it says of itself.
    ///
    /// Subtitles are few and far between, so that they are read before everything else: the file is read twice.
    /// - Returns: What writes it.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` where the file cannot hold it, and what the reader or the
    ///   writer refuses.
    @discardableResult public func add(subtitles track: AssetTrack) throws(MediaError) -> AssetWriterInput {
        if let reason = writer.fileType.reasonAgainstCopying(track, of: reader.asset) {
            throw MediaError(.unsupported, "track \(track.index) cannot be copied: \(reason)")
        }
        let input = AssetWriterInput(copying: track)
        try writer.add(input)
        addSparse(track, to: input)
        return input
    }

    /// Adds the subtitle tracks that the file can hold, as they are.
    ///
    /// - Returns: The asset's tracks that are neither video, audio nor timecode, and are not carried.
    /// - Throws: what ``add(subtitles:)`` throws.
    @discardableResult public func addFurtherTracks() throws(MediaError) -> [TrackLeftOut] {
        var leftOut: [TrackLeftOut] = []
        for track in try reader.asset.contents().tracks where ![.video, .audio, .timecode].contains(track.mediaType) {
            if let reason = writer.fileType.reasonAgainstCopying(track, of: reader.asset) {
                leftOut.append(TrackLeftOut(track: track, reason: reason))
            } else {
                try add(subtitles: track)
            }
        }
        return leftOut
    }

    /// Reads all of a sparse track and hands it to the writer.
    func writeSparse(_ track: AssetTrack, to input: AssetWriterInput) throws(MediaError) {
        let scout = try AssetReader(asset: reader.asset, cancellation: reader.cancellation)
        scout.timeRange = reader.timeRange
        let output = TrackOutput(track: track)
        try scout.add(output)
        try scout.startReading()
        let append: (SampleBuffer) throws(MediaError) -> Void = input.append
        while let buffer = try output.nextSampleBuffer() {
            try append(buffer)
            observer?(input, buffer)
        }
        input.markAsFinished()
    }
}

extension MediaFileType {
    /// Why a track that is neither video nor audio cannot be taken as it is, in words that follow "because"; `nil` where it
    /// can.
    package func reasonAgainstCopying(_ track: AssetTrack, of asset: Asset) -> String? {
        guard track.mediaType == .subtitle, asset.composition == nil, asset.rendering == nil else {
            return "\(track.mediaType.rawValue) tracks are not carried"
        }
        let isOfChapters =
            (try? asset.contents())?.tracks.contains { $0.associatedTracks["chap"]?.contains(track.id) == true }
            ?? false
        if isOfChapters { return "the chapters that it has are written as such" }
        let codec = track.formatDescriptions.first?.codec ?? "none"
        guard canHold(codec: codec, mediaType: .subtitle) else { return "\(self) files cannot hold \(codec)" }
        let isOfTransportStream = (try? asset.contents())?.container.format == .transportStream
        if codec == "hdmv_pgs_subtitle", isOfTransportStream {
            return "one subtitle is several samples of the transport stream, and one of other files"
        }
        return asset.canBeReadAgain ? nil : "subtitles are read by themselves, and the input can be read only once"
    }
}
