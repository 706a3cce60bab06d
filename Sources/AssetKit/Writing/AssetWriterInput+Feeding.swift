public import Dispatch
public import MediaBase
import Threading

extension AssetWriterInput {
    /// True while `append` returns or throws at once, without waiting for the encoder.
    ///
    /// Always false before the session starts and after the input is finished. True once writing has failed or was
    /// cancelled, so that loops that append while it is true reach an `append` that throws the error.
    public var isReadyForMoreMediaData: Bool {
        let phase = state.withLock { $0.isMarkedFinished ? nil : $0.phase }
        return switch phase {
        case .writing(let link): link.isReady
        case .over: true
        case .open, .started, nil: false
        }
    }

    /// Appends samples; blocks while the encoder's queue is full.
    ///
    /// Samples of an input have a fixed order. Audio follows the audio before it; an overlap of up to 10 ms, but no
    /// more than half of it, counts as rounding of times. Video frames are appended in rising presentation order,
    /// stored samples in decode order.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` before the session starts, after the input is
    ///   finished, and for samples of another kind, in another coding than the previous ones, or out of order.
    ///   ``MediaError/Code-swift.struct/unsupported`` for samples that the file cannot hold. Refused samples are not
    ///   written, and others may follow. Later calls throw errors from encoding earlier samples.
    public func appendNow(_ buffer: SampleBuffer) throws(MediaError) {
        let link = try open()
        do throws(MediaError) { try link.appendNow(buffer) } catch { throw told(error) }
    }

    /// Appends samples; waits without blocking a thread while the encoder's queue is full.
    ///
    /// - Throws: The errors of ``appendNow(_:)``, and ``MediaError/Code-swift.struct/cancelled`` if the task is
    ///   cancelled while it waits; the samples are then not appended.
    public func append(_ buffer: SampleBuffer) async throws(MediaError) {
        let link = try open()
        do throws(MediaError) { try await link.append(buffer) } catch { throw told(error) }
    }

    /// Returns the session to append to; throws if no more samples may be appended.
    private func open() throws(MediaError) -> InputSession {
        try state.withLock { state throws(MediaError) in
            if let misuse = state.misuse.take() { throw misuse }
            guard !state.isMarkedFinished else {
                throw MediaError(.invalidArgument, "the input was marked as finished")
            }
            switch state.phase {
            case .writing(let link): return link
            case .over(let error):
                state.request = nil
                throw error
            case .open, .started:
                throw MediaError(.invalidArgument, "samples are appended after the writer's session was started")
            }
        }
    }

    /// Removes the sample callback once a caller has received the error that ended writing, and returns the error.
    private func told(_ error: MediaError) -> MediaError {
        state.withLock { state in
            if case .writing(let link) = state.phase, link.isOver { state.request = nil }
        }
        return error
    }

    /// Calls `body` on a queue whenever the input is ready for more samples, until the input is finished.
    ///
    /// `body` should append while ``isReadyForMoreMediaData`` is true, and call ``markAsFinished()`` when no samples
    /// remain.
    ///
    /// The request may be made before the session starts; the first call follows the start. Once writing has failed or
    /// was cancelled, `body` is called one more time unless an `append` has already thrown the error. That way `body`
    /// always reaches an `append` that throws, and code that waits for its end does not wait for ever. A later request
    /// replaces this one.
    public func requestMediaDataWhenReady(on queue: DispatchQueue, using body: @escaping @Sendable () -> Void) {
        state.withLock { $0.request = MediaRequest(queue: queue, body: body) }
        ask()
    }

    /// Invokes the sample callback when there is room; every step that may make room calls this method.
    func ask() {
        let (request, phase) = state.withLock { ($0.isMarkedFinished ? nil : $0.request, $0.phase) }
        guard let request else { return }
        switch phase {
        case .open, .started: break
        case .writing(let link): link.whenReady { [self] in request.queue.async { self.serve(request) } }
        case .over: request.queue.async { self.serve(request) }
        }
    }

    private func serve(_ request: MediaRequest) {
        let (isWanted, phase) = state.withLock { ($0.request === request && !$0.isMarkedFinished, $0.phase) }
        guard isWanted else { return }
        guard isReadyForMoreMediaData else { return ask() }
        let isLast =
            switch phase {
            case .writing(let link): link.isOver
            default: true
            }
        if isLast { state.withLock { $0.request = nil } }
        request.body()
        if !isLast { ask() }
    }

    /// The source time from which on stored samples, including hidden ones, were written so far.
    ///
    /// `nil` for inputs that encode, and before the first sample.
    package var storedFrom: MediaTime? {
        guard case .writing(let link) = state.withLock({ $0.phase }) else { return nil }
        return link.storedFrom
    }

    /// Marks the input as finished, so that no more samples follow; may be called any number of times.
    public func markAsFinished() {
        let link = state.withLock { state in
            guard !state.isMarkedFinished else { return InputSession?.none }
            state.isMarkedFinished = true
            state.request = nil
            guard case .writing(let link) = state.phase else { return nil }
            return link
        }
        link?.finish()
    }
}

extension AssetWriterInput {
    /// Claims the input for an adaptor.
    ///
    /// - Throws: `invalidArgument` if it has one already.
    func takeAdaptor() throws(MediaError) {
        let isFree = state.withLock { state in
            defer { state.hasAdaptor = true }
            return !state.hasAdaptor
        }
        guard isFree else { throw MediaError(.invalidArgument, "the input has an adaptor already") }
    }
}

/// Feeds a video input with pixel buffers from its own pool: `AVAssetWriterInputPixelBufferAdaptor`.
public final class PixelBufferAdaptor: Sendable {
    /// The input to which pixel buffers are appended.
    public let input: AssetWriterInput
    /// The pool that provides pixel buffers for the input.
    public let pixelBufferPool: PixelBufferPool

    /// Creates an adaptor for an input that has none yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the input does not encode video, if it already has
    ///   an adaptor, or if the pixel format is unknown.
    public init(input: AssetWriterInput, dimensions: Dimensions, pixelFormat: PixelFormat) throws(MediaError) {
        guard case .video = input.settings else {
            throw MediaError(.invalidArgument, "only an input that encodes pictures takes pixel buffers")
        }
        pixelBufferPool = try PixelBufferPool(dimensions: dimensions, pixelFormat: pixelFormat)
        self.input = input
        try input.takeAdaptor()
    }

    /// Appends a video frame that is shown from the given time until the next frame.
    ///
    /// Throws and blocks as the synchronous `append` of ``AssetWriterInput`` does.
    public func append(_ picture: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
        try input.appendNow(SampleBuffer(picture: picture, presentationTime: time))
    }
}
