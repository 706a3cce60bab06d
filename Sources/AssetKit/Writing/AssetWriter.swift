package import FileOutput
import LibAV
public import MediaBase
public import SystemPackage
import Threading

/// Writes a new media file from samples that are encoded or passed through: `AVAssetWriter`.
/// ```swift
/// let writer = try AssetWriter(path: "out.mov", fileType: .mov)
/// let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264))
/// try writer.add(input)
/// try writer.startWriting()
/// try writer.startSession(atSourceTime: .zero)
/// while let buffer = try output.nextSampleBuffer() { try input.appendNow(buffer) }
/// input.markAsFinished()
/// try writer.finishWritingNow()
/// ```
///
/// The file gets its name once it is complete, so a partial file never appears there, unless ``movieFragmentInterval`` is
/// set. Other initialisers write to a ``ByteSink`` or hand out segments for streaming. A
/// writer may be used from any thread. ``cancelWriting()`` may be called from any thread at any time.
public final class AssetWriter: Sendable {
    /// The state of a writer.
    public enum Status: Sendable, Hashable {
        /// Writing has not started.
        case unknown
        /// Writing has started; samples may be appended.
        case writing
        /// The file is complete and has its final name.
        case completed
        /// Writing failed with ``AssetWriter/error``; the partial file was removed.
        case failed
        /// ``AssetWriter/cancelWriting()`` was called; the partial file was removed.
        case cancelled
    }

    /// The type of the file to write.
    public let fileType: MediaFileType

    private let destination: Destination
    let state = Mutex(State())

    /// The place to which the writer was asked to write.
    enum Destination {
        case file(OutputFile)
        case sink(any ByteSink, name: String)
        case segments(@Sendable (AssetSegment) throws(MediaError) -> Void)
    }

    struct State {
        var inputs: [AssetWriterInput] = []
        var header = MuxSession.FileHeader()
        var fragments = FragmentSettings()
        var core: MuxSession?
        var links: [InputSession] = []
        var sessionStart: MediaTime?
        var leftOut: [TrackLeftOut] = []
        let sessionLimit = SessionLimit()
        var isFinishing = false
        var isCompleted = false
        var isCancelled = false
        var error: MediaError?
        /// The error for a property that was set too late; the next throwing call throws it.
        var misuse: MediaError?
    }

    /// Creates a writer for a new file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Its directory must exist.
    ///   - fileType: The type of the file.
    ///   - overwrite: True to replace an existing file once the new one is complete.
    /// - Throws: ``MediaError/Code-swift.struct/alreadyExists`` if the file exists and `overwrite` is false, and errors
    ///   reported by the system.
    public convenience init(path: FilePath, fileType: MediaFileType, overwrite: Bool = false) throws(MediaError) {
        let outputs = OutputFileSet(force: overwrite, inputs: [], toReplace: "pass overwrite: true to replace it")
        try self.init(output: outputs.begin(path, goesBack: true), fileType: fileType)
    }

    /// Creates a writer for an output file of a job.
    package convenience init(output: OutputFile, fileType: MediaFileType) throws(MediaError) {
        try self.init(.file(output), fileType: fileType)
    }

    init(_ destination: Destination, fileType: MediaFileType) throws(MediaError) {
        self.destination = destination
        self.fileType = fileType
        guard MediaFileType.all.contains(fileType) else {
            throw MediaError(.unsupported, "\(fileType) is not a file type that can be written", path: destination.name)
        }
    }

    deinit { cancelWriting() }
}

// MARK: - Before writing

extension AssetWriter {
    /// Changes a property of the file; after writing has started, the next throwing call reports the misuse.
    private func change(_ property: String, _ body: (inout MuxSession.FileHeader) -> Void) {
        changeState(property) { body(&$0.header) }
    }

    func changeState(_ property: String, _ body: (inout State) -> Void) {
        state.withLock { state in
            if state.core == nil {
                body(&state)
            } else {
                state.misuse = state.misuse ?? .setTooLate(property, before: "writing starts")
            }
        }
    }

    /// The metadata of the file as a whole; set it before writing starts.
    ///
    /// ``startWriting()`` fixes the values of this and the other properties. Setting a property later changes nothing,
    /// and the next throwing call reports it.
    public var metadata: [MetadataItem] {
        get { state.withLock { $0.header.metadata } }
        set { change("metadata") { $0.metadata = newValue } }
    }

    /// The chapters, for containers that support them; set them before writing starts.
    public var chapters: [Chapter] {
        get { state.withLock { $0.header.chapters } }
        set { change("chapters") { $0.chapters = newValue } }
    }

    /// Indicates whether the index of a QuickTime or MPEG-4 file precedes the media, so that playback can start during
    /// download.
    ///
    /// True by default. Set it before writing starts.
    public var shouldOptimizeForNetworkUse: Bool {
        get { state.withLock { $0.header.isIndexFirst } }
        set { change("shouldOptimizeForNetworkUse") { $0.isIndexFirst = newValue } }
    }

    /// Verifies the complete file before it gets its final name; an error fails the writer and removes the file.
    ///
    /// Set it before writing starts.
    package var verification: (@Sendable (FilePath?) throws(MediaError) -> Void)? {
        get { state.withLock { $0.header.verification } }
        set { change("verification") { $0.verification = newValue } }
    }

    /// The inputs, in the order of their tracks.
    public var inputs: [AssetWriterInput] { state.withLock { $0.inputs } }

    /// Returns true if ``add(_:)`` would accept the input.
    public func canAdd(_ input: AssetWriterInput) -> Bool { state.withLock { refusal(of: input, $0) == nil } }

    /// Adds an input; call it before writing starts.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if files of this type cannot hold the codec.
    ///   ``MediaError/Code-swift.struct/invalidArgument`` if the input was already added, if a value of its settings is
    ///   not available in the codec, or if writing has started.
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
        if let reason = input.reasonAgainst(fileType) {
            return MediaError(.unsupported, "\(fileType) files cannot hold the \(input.mediaType) track: \(reason)")
        }
        do throws(MediaError) {
            switch input.settings {
            case .stored: break
            case .audio(let settings):
                try settings.check(in: fileType)
                try input.sourceFormatHint.map { (hint) throws(MediaError) in try settings.check(hint, in: fileType) }
            case .video(let settings):
                try settings.check(in: fileType)
                try input.sourceFormatHint.map { (hint) throws(MediaError) in try settings.check(hint, in: fileType) }
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
    /// The current state of writing.
    public var status: Status {
        state.withLock { state in
            if state.isCompleted { return .completed }
            if state.isCancelled { return .cancelled }
            if state.error != nil || state.core?.error != nil { return .failed }
            return state.core == nil ? .unknown : .writing
        }
    }

    /// The error that made writing fail; `nil` unless ``status`` is failed.
    public var error: MediaError? { state.withLock { $0.error ?? $0.core?.error } }

    /// The tracks of the source that a ``Reencoder`` or an ``ExportSession`` does not write, with the reasons.
    ///
    /// Empty if inputs are added by other means.
    public var leftOut: [TrackLeftOut] { state.withLock { $0.leftOut } }

    /// Notes a track of the source that is not written.
    func leaveOut(_ track: TrackLeftOut) { state.withLock { $0.leftOut.append(track) } }

    /// The items of ``metadata`` and of the inputs' metadata that the file could not store; empty before it is
    /// complete.
    ///
    /// The writer reads the finished file again to find them.
    public var metadataLeftOut: [MetadataLeftOut] { state.withLock { $0.core }?.leftOut ?? [] }

    /// Prepares to write the inputs that were added.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if there are no inputs or writing was already
    ///   started.
    public func startWriting() throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            try check(&state)
            guard state.core == nil else { throw MediaError(.invalidArgument, "writing was started already") }
            guard !state.inputs.isEmpty else { throw MediaError(.invalidArgument, "the writer has no inputs") }
            let target = try destination.target(state.fragments)
            let tracks = state.inputs.map { $0.start(among: state.inputs) }
            do throws(MediaError) {
                state.core = try MuxSession(
                    target: target, fileType: fileType, header: state.header, tracks: tracks)
            } catch {
                state.error = error
                target.discard()
                for input in state.inputs { input.end(error) }
                throw error
            }
        }
    }

    /// Starts the session at the source time that becomes the file's zero; earlier samples are cut off exactly.
    ///
    /// Audio starts with the first sample at or after that time. The video frame on screen at that time is shown from
    /// zero. Any time is accepted. If the times of video frames could not be counted from it exactly, they are counted
    /// from the nearest time that allows it, less than a hundred-thousandth of a second away. Earlier stored samples
    /// that later ones depend on stay in the file and an edit list hides them. In containers without edit lists, the
    /// track starts with its first whole sample.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` before ``startWriting()``, if the session was already
    ///   started, and if the time is not numeric.
    public func startSession(atSourceTime start: MediaTime) throws(MediaError) {
        let inputs = try state.withLock { state throws(MediaError) in
            try check(&state)
            guard let core = state.core else { throw MediaError(.invalidArgument, "writing was not started") }
            guard state.sessionStart == nil else {
                throw MediaError(.invalidArgument, "the session was started already")
            }
            guard start.isNumeric else { throw MediaError(.invalidArgument, "the session's start is no number") }
            state.sessionStart = start
            var facts = SessionFacts(
                start: start, limit: state.sessionLimit, fileType: fileType, usesGlobalHeader: core.usesGlobalHeaders)
            if case .segments = destination { facts.segments = state.fragments.segmentRules }
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

    /// Ends the session at a source time; media at or after it is not shown.
    ///
    /// Samples that are appended after this call are cut at that time. For samples that were already encoded, QuickTime
    /// and MPEG-4 files hide the rest with an edit list; other files keep it.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the time is not numeric or precedes the session's
    ///   start.
    public func endSession(atSourceTime end: MediaTime) throws(MediaError) {
        try state.withLock { state throws(MediaError) in
            try check(&state)
            guard end.isNumeric, end >= state.sessionStart ?? .negativeInfinity else {
                throw MediaError(.invalidArgument, "the session's end is no time after its start")
            }
            state.sessionLimit.end.withLock { $0 = end }
        }
    }

    /// Throws if the output would replace a file that the asset is read from, even under a different path.
    func refuseToReplace(_ asset: Asset) throws(MediaError) {
        guard case .file(let output) = destination else { return }
        try output.refuse(asset.files.compactMap { FileIdentity(of: $0) })
    }

    /// Sets the deadline after which writing fails, as reading does; call it after ``startWriting()``.
    func setDeadline(_ deadline: ContinuousClock.Instant?) {
        state.withLock { $0.core }?.deadline.withLock { $0 = deadline }
    }

    private func check(_ state: inout State) throws(MediaError) {
        if state.isCancelled { throw MediaError(.cancelled, "cancelled", path: destination.name) }
        if let error = state.error ?? state.core?.error { throw error }
        if state.isFinishing { throw MediaError(.invalidArgument, "writing was finished already") }
        if let misuse = state.misuse.take() { throw misuse }
        for input in state.inputs { if let misuse = input.takeMisuse() { throw misuse } }
    }

    /// Finishes all inputs, encodes and writes the remaining samples, and moves the file to its final name.
    ///
    /// Blocks until the file is complete.
    /// - Throws: The current or an earlier error of the writer; the partial file is then removed.
    public func finishWritingNow() throws(MediaError) {
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
            throw isCancelled ? MediaError(.cancelled, "cancelled", path: destination.name) : error
        }
    }

    /// Finishes as ``finishWritingNow()`` does, on a thread of the library; cancelling the task cancels writing.
    public func finishWriting() async throws(MediaError) {
        try await offload(onCancel: { self.cancelWriting() }) { () throws(MediaError) in try self.finishWritingNow() }
    }

    /// Cancels writing and removes the partial file; a complete file is kept.
    ///
    /// May be called from any thread, any number of times, before, during and after writing.
    public func cancelWriting() {
        let (core, inputs, links) = state.withLock { state in
            if !state.isCompleted, state.error == nil, state.core?.error == nil { state.isCancelled = true }
            return (state.core, state.inputs, state.links)
        }
        // Stopping the inputs wakes them, which ends their waiting.
        core?.cancel()
        for link in links { link.stop() }
        if let core { core.discard() } else { destination.discard() }
        for input in inputs { input.end(MediaError(.cancelled, "cancelled", path: destination.name)) }
    }
}
