package import FileOutput
import LibAV
public import MediaBase
public import SystemPackage
import Threading

/// Writes media into a new file, from samples that are encoded or taken as they are: `AVAssetWriter`.
///
/// ```swift
/// let writer = try AssetWriter(path: "out.mov", fileType: .mov)
/// let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264))
/// try writer.add(input)
/// try writer.startWriting()
/// try writer.startSession(atSourceTime: .zero)
/// while let buffer = try output.nextSampleBuffer() { try input.append(buffer) }
/// input.markAsFinished()
/// try writer.finishWriting()
/// ```
///
/// The file comes into being whole or not at all: it is written beside its final name and renamed at the end. A writer
/// may be used from any thread; ``cancelWriting()`` ends it from any thread at any moment.
public final class AssetWriter: Sendable {
    /// How far a writer has come.
    public enum Status: Sendable, Hashable {
        /// Not started.
        case unknown
        /// Started; samples may be appended.
        case writing
        /// The file is in its place.
        case completed
        /// Something went wrong: ``AssetWriter/error``. Nothing remains of the file.
        case failed
        /// ``AssetWriter/cancelWriting()`` was called. Nothing remains of the file.
        case cancelled
    }

    /// What kind of file is written.
    public let fileType: MediaFileType

    private let output: OutputFile
    private let state = Mutex(State())

    private struct State {
        var inputs: [AssetWriterInput] = []
        var header = MuxSession.FileHeader()
        var core: MuxSession?
        var links: [InputSession] = []
        var sessionStart: MediaTime?
        let sessionLimit = SessionLimit()
        var isFinishing = false
        var isCompleted = false
        var isCancelled = false
        var error: MediaError?
        /// A property that was set too late, for the next call that can throw.
        var misuse: MediaError?
    }

    /// A writer to a file that does not exist yet.
    ///
    /// - Parameters:
    ///   - path: Where the file will be; its folder has to exist.
    ///   - fileType: Which kind of file.
    ///   - overwrite: Whether a file that exists already is replaced, at the end.
    /// - Throws: ``MediaError/Code-swift.struct/alreadyExists`` for an existing file unless `overwrite`, and what the
    ///   system refuses.
    public convenience init(path: FilePath, fileType: MediaFileType, overwrite: Bool = false) throws(MediaError) {
        let outputs = OutputFileSet(force: overwrite, inputs: [], toReplace: "pass overwrite: true to replace it")
        do {
            try self.init(output: outputs.begin(path, goesBack: true), fileType: fileType)
        } catch let error as MediaError {
            throw error
        } catch {
            throw MediaError(.inputOutput, "cannot write the file", path: path.string, cause: "\(error)")
        }
    }

    /// A writer to an output of a job.
    package init(output: OutputFile, fileType: MediaFileType) throws(MediaError) {
        guard MediaFileType.all.contains(fileType) else {
            throw MediaError(.unsupported, "\(fileType) is no file type that can be written", path: output.path.string)
        }
        self.output = output
        self.fileType = fileType
    }

    deinit { cancelWriting() }
}

// MARK: - Before writing

extension AssetWriter {
    /// Changes what is said of the file; once writing has started the next call that can throw says that it was too late.
    private func change(_ property: String, _ body: (inout MuxSession.FileHeader) -> Void) {
        state.withLock { state in
            if state.core == nil {
                body(&state.header)
            } else {
                state.misuse = state.misuse ?? .setTooLate(property, before: "writing starts")
            }
        }
    }

    /// What is said of the file as a whole; set before starting.
    ///
    /// This and the other properties hold as they are when ``startWriting()`` is called; one that is set later is not
    /// changed, and the next call that can throw says so.
    public var metadata: [MetadataItem] {
        get { state.withLock { $0.header.metadata } }
        set { change("metadata") { $0.metadata = newValue } }
    }

    /// The chapters, where the container has such; set before starting.
    public var chapters: [Chapter] {
        get { state.withLock { $0.header.chapters } }
        set { change("chapters") { $0.chapters = newValue } }
    }

    /// Whether the index of a QuickTime or MPEG-4 file comes before the media, so that it can be played while it is
    /// fetched; so by default, set before starting.
    public var shouldOptimizeForNetworkUse: Bool {
        get { state.withLock { $0.header.isIndexFirst } }
        set { change("shouldOptimizeForNetworkUse") { $0.isIndexFirst = newValue } }
    }

    /// Looks at the complete file before it is put in place; what it throws fails the writer, and nothing remains.
    ///
    /// Set before starting.
    package var verification: (@Sendable (FilePath) throws(MediaError) -> Void)? {
        get { state.withLock { $0.header.verification } }
        set { change("verification") { $0.verification = newValue } }
    }

    /// The inputs, in the order of their tracks.
    public var inputs: [AssetWriterInput] { state.withLock { $0.inputs } }

    /// Whether ``add(_:)`` would take an input.
    public func canAdd(_ input: AssetWriterInput) -> Bool { state.withLock { refusal(of: input, $0) == nil } }

    /// Adds an input; before starting.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` where files of this type cannot hold the codec,
    ///   ``MediaError/Code-swift.struct/invalidArgument`` for an input that was added already, for a value of its settings
    ///   that the codec does not have, and after starting.
    public func add(_ input: AssetWriterInput) throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            if let refusal = refusal(of: input, state) { throw refusal }
            guard input.take() else {
                throw MediaError(.invalidArgument, "the input was added already, to this writer or another")
            }
            state.inputs.append(input)
        }
    }

    private func refusal(of input: AssetWriterInput, _ state: State) -> MediaError? {
        if state.core != nil { return MediaError(.invalidArgument, "inputs are added before writing starts") }
        if input.state.withLock({ $0.isTaken }) {
            return MediaError(.invalidArgument, "the input was added already, to this writer or another")
        }
        guard fileType.holds(input.mediaType), state.inputs.count < fileType.maximumTracks else {
            return MediaError(.unsupported, "\(fileType) files have no room for this \(input.mediaType) track")
        }
        do throws(MediaError) {
            switch input.settings {
            case .stored: break
            case .audio(let settings): try settings.check(in: fileType)
            case .video(let settings): try settings.check(in: fileType)
            }
        } catch {
            return error
        }
        let codec: String? =
            switch input.settings {
            case .stored: input.sourceFormatHint?.codec
            case .audio(let settings): settings.nominalCodecName(in: fileType)
            case .video(let settings): settings.codec.codecName
            }
        if let codec, !fileType.canHold(codec: codec, mediaType: input.mediaType) {
            return MediaError(
                .unsupported, "\(fileType) files cannot hold \(codec); encode it, or choose another file type")
        }
        return nil
    }
}

// MARK: - Writing

extension AssetWriter {
    /// How far writing has come.
    public var status: Status {
        state.withLock { state in
            if state.isCompleted { return .completed }
            if state.isCancelled { return .cancelled }
            if state.error != nil || state.core?.error != nil { return .failed }
            return state.core == nil ? .unknown : .writing
        }
    }

    /// What went wrong; `nil` unless ``status`` is failed.
    public var error: MediaError? { state.withLock { $0.error ?? $0.core?.error } }

    /// Tells which of ``metadata``, and of that of the inputs, the file has no place for; empty before it is complete.
    ///
    /// The file is read again for this, so that it tells what is there.
    public var metadataLeftOut: [MetadataLeftOut] { state.withLock { $0.core }?.leftOut ?? [] }

    /// Gets ready to write the inputs that were added.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` without inputs and the second time.
    public func startWriting() throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            try check(&state)
            guard state.core == nil else { throw MediaError(.invalidArgument, "writing was started already") }
            guard !state.inputs.isEmpty else { throw MediaError(.invalidArgument, "the writer has no inputs") }
            let tracks = state.inputs.map { $0.start() }
            do throws(MediaError) {
                state.core = try MuxSession(
                    output: output, fileType: fileType, header: state.header, tracks: tracks)
            } catch {
                state.error = error
                output.discard()
                for input in state.inputs { input.end(error) }
                throw error
            }
        }
    }

    /// Begins the session: the samples' time that is the file's zero; earlier samples are cut off exactly.
    ///
    /// Audio begins with the first sample that is not before that time. The picture that is on screen then is shown from
    /// zero on. Any time will do: where pictures' times could not be counted from it exactly, they are counted from the
    /// nearest time from which they can, less than a hundred-thousandth of a second away. Stored samples that
    /// others need stay in the file and an edit list hides them; where the container has none, the track begins with
    /// its first whole sample.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` before ``startWriting()``, the second time, and for a
    ///   time that is no number.
    public func startSession(atSourceTime start: MediaTime) throws(MediaError) {
        let inputs = try state.withLock { state throws(MediaError) in
            try check(&state)
            guard let core = state.core else { throw MediaError(.invalidArgument, "writing was not started") }
            guard state.sessionStart == nil else {
                throw MediaError(.invalidArgument, "the session was started already")
            }
            guard start.isNumeric else { throw MediaError(.invalidArgument, "the session's start is no number") }
            state.sessionStart = start
            let facts = SessionFacts(
                start: start, limit: state.sessionLimit, fileType: fileType, usesGlobalHeader: core.usesGlobalHeaders)
            do throws(MediaError) {
                for (lane, input) in state.inputs.enumerated() {
                    state.links.append(try input.join(core, lane: lane, session: facts))
                }
            } catch {
                state.error = core.fail(error)
                core.discard()
                for link in state.links { link.stop() }
                for input in state.inputs { input.end(error) }
                throw error
            }
            return state.inputs
        }
        for input in inputs { input.begin() }
    }

    /// Ends the session at a time of the samples: what lies at or after it is not shown.
    ///
    /// Samples that are appended after this call are cut there. Of those that were encoded before, QuickTime and MPEG-4
    /// files hide what lies after it by an edit list; other files keep it.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for what is no time, or lies before the session's start.
    public func endSession(atSourceTime end: MediaTime) throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            try check(&state)
            guard end.isNumeric, end >= state.sessionStart ?? .negativeInfinity else {
                throw MediaError(.invalidArgument, "the session's end is no time after its start")
            }
            state.sessionLimit.end.withLock { $0 = end }
        }
    }

    /// Throws where the file would take the place of one that an asset is read from, whatever the paths are called.
    func refuseToReplace(_ asset: Asset) throws(MediaError) {
        do {
            try output.refuse(asset.files.compactMap { FileIdentity(of: $0) })
        } catch let error as MediaError {
            throw error
        } catch {
            throw MediaError(.inputOutput, "cannot write the file", path: output.path.string, cause: "\(error)")
        }
    }

    /// Has writing end at a moment as reading does; after ``startWriting()``.
    func setDeadline(_ deadline: ContinuousClock.Instant?) {
        state.withLock { $0.core }?.deadline.withLock { $0 = deadline }
    }

    private func check(_ state: inout State) throws(MediaError) {
        if state.isCancelled { throw MediaError(.cancelled, "cancelled", path: output.path.string) }
        if let error = state.error ?? state.core?.error { throw error }
        if state.isFinishing { throw MediaError(.invalidArgument, "writing was finished already") }
        if let misuse = state.misuse.take() { throw misuse }
        for input in state.inputs { if let misuse = input.takeMisuse() { throw misuse } }
    }

    /// Finishes all inputs, encodes and writes what is left, and puts the file in its place.
    ///
    /// Blocks until all of that is done.
    /// - Throws: what went wrong, now or earlier; nothing remains of the file then.
    public func finishWriting() throws(MediaError) {
        let (core, inputs, links) = try state.withLock { state throws(MediaError) in
            try check(&state)
            guard let core = state.core, state.sessionStart != nil else {
                throw MediaError(.invalidArgument, "no session was started")
            }
            state.isFinishing = true
            return (core, state.inputs, state.links)
        }
        do throws(MediaError) {
            for input in inputs { input.markAsFinished() }
            for link in links { link.waitUntilDone() }
            try core.complete()
            state.withLock { $0.isCompleted = true }
        } catch {
            let isCancelled = state.withLock { $0.isCancelled }
            if !isCancelled, error.code != .cancelled { state.withLock { $0.error = $0.error ?? error } }
            core.discard()
            for link in links { link.stop() }
            throw isCancelled ? MediaError(.cancelled, "cancelled", path: output.path.string) : error
        }
    }

    /// Finishes as ``finishWriting()-()`` does, on a thread of Dispatch; cancelling the task cancels writing.
    public func finishWriting() async throws(MediaError) {
        try await offload(onCancel: { self.cancelWriting() }) { () throws(MediaError) in
            let finish: () throws(MediaError) -> Void = self.finishWriting
            try finish()
        }
    }

    /// Ends writing and removes what there is of the file; a file that is complete stays.
    ///
    /// From any thread, any number of times, before, during and after writing.
    public func cancelWriting() {
        let (core, inputs, links) = state.withLock { state in
            if !state.isCompleted, state.error == nil, state.core?.error == nil { state.isCancelled = true }
            return (state.core, state.inputs, state.links)
        }
        // What the inputs wait for ends when they are woken.
        core?.cancel()
        for link in links { link.stop() }
        if let core { core.discard() } else { output.discard() }
        for input in inputs { input.end(MediaError(.cancelled, "cancelled", path: output.path.string)) }
    }
}
