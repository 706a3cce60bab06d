import FileOutput
import Glibc
import Isolation
import MediaBase
import SystemCalls
import SystemPackage
import Threading

/// The thread that starts a pool's helpers, hands out jobs, and opens the files that the helpers ask for.
///
/// Helpers end with the thread that started them, so it runs as long as the pool. Callers leave their requests in
/// ``State`` and wake it.
final class PoolSupervisor: Sendable {
    /// A job that is to be done.
    final class Order: Sendable {
        let name: String
        let message: [UInt8]
        let files: MediaJobFiles
        let timeout: Duration?
        private let cancelled = Mutex(false)

        init(name: String, message: [UInt8], files: MediaJobFiles, timeout: Duration?) {
            self.name = name
            self.message = message
            self.files = files
            self.timeout = timeout
        }

        /// True if nobody wants the result any more.
        var isCancelled: Bool { cancelled.withLock(\.self) }

        fileprivate func cancel() { cancelled.withLock { $0 = true } }
    }

    /// A job and the caller that waits for it.
    struct Waiting: Sendable {
        let order: Order
        let answer: @Sendable (Result<[UInt8], MediaError>) -> Void
    }

    /// Requests of callers that the thread has not seen yet.
    struct Requests: Sendable {
        var added: [Waiting] = []
        var hasCancelled = false
        var isStopped = false
    }

    private struct State: Sendable {
        var requests = Requests()
        var hasEnded = false
        /// Called when the thread has ended.
        var whenEnded: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    /// The two ends of a channel whose messages wake the thread up.
    private let bell: MessageChannel
    private let ear: MessageChannel
    private let helper: FilePath
    private let options: MediaJobPool.Options

    init(helper: FilePath, options: MediaJobPool.Options) throws(MediaError) {
        self.helper = helper
        self.options = options
        do throws(Errno) {
            (bell, ear) = try MessageChannel.pair()
        } catch {
            throw MediaError(.outOfResources, "no pool can be started", cause: error.description)
        }
    }

    /// Starts the thread.
    func start() throws(MediaError) {
        do throws(WorkerThread.CannotStart) {
            try WorkerThread { self.run() }.detach()
        } catch {
            throw MediaError(
                .outOfResources, "no pool can be started", cause: Errno(rawValue: error.errorNumber).description)
        }
    }

    // MARK: Requests of callers

    /// Adds a job, whose result goes to `answer`.
    func add(_ order: Order, answer: @escaping @Sendable (Result<[UInt8], MediaError>) -> Void) {
        let isLate = state.withLock { state in
            guard !state.requests.isStopped else { return true }
            state.requests.added.append(Waiting(order: order, answer: answer))
            return false
        }
        if isLate { answer(.failure(Self.shutDown)) } else { wake() }
    }

    /// Gives up a job.
    func cancel(_ order: Order) {
        // It may not have been added yet.
        order.cancel()
        state.withLock { $0.requests.hasCancelled = true }
        wake()
    }

    /// Ends the helpers and the thread.
    func stop(whenEnded: (@Sendable () -> Void)? = nil) {
        let isOver = state.withLock { state in
            state.requests.isStopped = true
            if let whenEnded, !state.hasEnded { state.whenEnded.append(whenEnded) }
            return state.hasEnded
        }
        if isOver { whenEnded?() } else { wake() }
    }

    // If the socket is full, the thread wakes up anyway.
    private func wake() { _ = try? bell.send([], waits: false) }

    static let shutDown = MediaError(.cancelled, "the pool was shut down")

    // MARK: The thread

    private func run() {
        var helpers = HelperSeats(helper: helper, options: options)
        while true {
            let requests = state.withLock { state in
                defer { state.requests = Requests(isStopped: state.requests.isStopped) }
                return state.requests
            }
            helpers.take(requests)
            if requests.isStopped { break }
            helpers.handOut()
            helpers.wait(orFor: ear.descriptor)
            while case .message? = try? ear.receiveAvailable(atMost: 0) {}
            helpers.serve()
        }
        helpers.end()
        let whenEnded = state.withLock { state in
            state.hasEnded = true
            return state.whenEnded
        }
        for call in whenEnded { call() }
    }
}
