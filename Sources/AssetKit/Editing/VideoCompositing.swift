import LibAV
public import MediaBase
import Threading

/// Makes the frames of a video composition from the frames of its tracks: `AVVideoCompositing`.
///
/// ```swift
/// final class Renderer: VideoCompositing {
///     func startRequest(_ request: AsynchronousVideoCompositionRequest) {
///         Task { request.finish(with: await self.render(request)) }
///     }
/// }
/// ```
///
/// Requests arrive concurrently on several threads and in no particular order, several of them before the first one is
/// finished; frames are delivered in order. A compositor may use generators and readers meanwhile, even the generator that
/// requested the frame. What an instruction says to it is in ``VideoComposition/Instruction/userData``. A compositor that
/// makes its frames at once conforms to ``VideoCompositor``.
public protocol VideoCompositing: Sendable {
    /// Starts to make a frame; finish the request now or later, from any thread, exactly once.
    ///
    /// - Parameter request: The request, with the source frames.
    func startRequest(_ request: AsynchronousVideoCompositionRequest)

    /// Called when unfinished requests are no longer needed, because reading was cancelled or has failed.
    ///
    /// Their results are ignored; finishing them early saves work.
    func cancelAllPendingVideoCompositionRequests()
}

extension VideoCompositing {
    /// Does nothing: the requests are finished in vain.
    public func cancelAllPendingVideoCompositionRequests() {}
}

/// A compositor that makes each frame on the thread on which it is requested.
///
/// A compositor that is set as ``VideoComposition/compositor`` receives each frame to make. Requests arrive
/// concurrently on several threads and in no particular order.
public protocol VideoCompositor: VideoCompositing {
    /// Returns a frame of the request's ``VideoCompositionRequest/renderSize``, in any pixel format.
    func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer
}

extension VideoCompositor {
    /// Makes the frame and finishes the request.
    public func startRequest(_ request: AsynchronousVideoCompositionRequest) {
        do throws(MediaError) {
            request.finish(with: try frame(for: request.request))
        } catch {
            request.finish(with: error)
        }
    }
}

/// The content of a request for one composited frame.
public struct VideoCompositionRequest: Sendable {
    /// The time of the frame.
    public let time: MediaTime
    /// The instruction that applies at that time.
    public let instruction: VideoComposition.Instruction
    /// The composition that contains the frame.
    public let videoComposition: VideoComposition
    /// The source frames, by track ID.
    let sources: [Int: SourceFrame]

    /// The size of the frame.
    public var renderSize: Dimensions { videoComposition.outputSize }
    /// The IDs of the tracks that have a frame at this time, in ascending order.
    ///
    /// Only the tracks that the instruction needs are included: ``VideoComposition/Instruction/requiredSourceTrackIDs``.
    public var sourceTrackIDs: [Int] { sources.keys.sorted() }
    /// Returns the decoded frame that a track shows at this time; `nil` if it has none.
    public func sourcePicture(ofTrack id: Int) -> PixelBuffer? { sources[id]?.picture }
}

/// A request for one composited frame, to be finished later: `AVAsynchronousVideoCompositionRequest`.
///
/// Any thread may use it. A request that is never finished holds up the frames after it until reading is cancelled.
public final class AsynchronousVideoCompositionRequest: Sendable {
    /// The content of the request.
    public let request: VideoCompositionRequest
    private let state = Monitor(State())

    private struct State {
        var result: Result<PixelBuffer, MediaError>?
        var isCancelled = false
    }

    /// The time between two looks at whether the frame is still needed.
    private static let patience = Duration.milliseconds(20)

    init(_ request: VideoCompositionRequest) { self.request = request }

    /// The time of the frame.
    public var time: MediaTime { request.time }
    /// The instruction that applies at that time.
    public var instruction: VideoComposition.Instruction { request.instruction }
    /// The size of the frame.
    public var renderSize: Dimensions { request.renderSize }
    /// The IDs of the tracks that have a frame at this time, in ascending order.
    public var sourceTrackIDs: [Int] { request.sourceTrackIDs }
    /// Returns the decoded frame that a track shows at this time; `nil` if it has none.
    public func sourceFrame(byTrackID id: Int) -> PixelBuffer? { request.sourcePicture(ofTrack: id) }

    /// Indicates whether the frame is no longer needed.
    public var isCancelled: Bool { state.read { $0.isCancelled } }

    /// Finishes the request with a frame of ``renderSize``, in any pixel format; only the first call has an effect.
    public func finish(with picture: PixelBuffer) { finish(.success(picture)) }

    /// Finishes the request with an error, which ends reading; only the first call has an effect.
    public func finish(with error: MediaError) { finish(.failure(error)) }

    /// Finishes a request that was cancelled; the same as finishing it with an error whose code is `cancelled`.
    public func finishCancelledRequest() { finish(with: MediaError(.cancelled, "cancelled")) }

    private func finish(_ result: Result<PixelBuffer, MediaError>) {
        state.update { $0.result = $0.result ?? result }
    }

    /// Waits until the request is finished and returns the frame.
    ///
    /// - Parameter check: Called again and again; throws when the frame is no longer needed.
    func wait(_ check: () throws(MediaError) -> Void) throws(MediaError) -> PixelBuffer {
        while true {
            if let result = state.wait(atMost: Self.patience, { $0.result }) { return try result.get() }
            do throws(MediaError) {
                try check()
            } catch {
                state.updateQuietly { $0.isCancelled = true }
                throw error
            }
        }
    }
}

extension VideoCompositing {
    /// Has a frame made and waits for it.
    ///
    /// - Parameters:
    ///   - request: The request; a frame that is passed through is returned as it is.
    ///   - check: Throws when the frame is no longer needed.
    func made(
        _ request: VideoCompositionRequest, unless check: () throws(MediaError) -> Void
    ) throws(MediaError) -> PixelBuffer {
        if let id = request.instruction.passthroughTrackID, let picture = request.sourcePicture(ofTrack: id) {
            return picture
        }
        let pending = AsynchronousVideoCompositionRequest(request)
        startRequest(pending)
        do throws(MediaError) {
            return try pending.wait(check)
        } catch {
            if pending.isCancelled { cancelAllPendingVideoCompositionRequests() }
            throw error
        }
    }
}
