import MediaBase
import Threading

/// The threads of the asynchronous faces.
private let blockingWork = WorkerPool(maximumIdleThreads: 8)

/// Runs work that may block for long on a thread outside Swift's cooperative pool, which must never block.
///
/// - Parameters:
///   - onCancel: Called when the calling task is cancelled; must make `work` end soon.
///   - work: What to run.
func offload<Value: Sendable>(
    onCancel: @escaping @Sendable () -> Void, _ work: @escaping @Sendable () throws(MediaError) -> Value
) async throws(MediaError) -> Value {
    let result: Result<Value, MediaError> = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            blockingWork.run { continuation.resume(returning: Result { () throws(MediaError) in try work() }) }
        }
    } onCancel: {
        onCancel()
    }
    return try result.get()
}
