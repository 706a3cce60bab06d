import CCurl
import MediaBase
import Threading

/// The thread that moves the bytes of all transfers of this process: libcurl's multi interface.
///
/// Connections are kept and reused, and with HTTP/2 one connection carries several transfers at once.
final class TransferLoop: @unchecked Sendable {
    private static let shared = Mutex<TransferLoop?>(nil)

    private let multi: OpaquePointer
    /// The transfers that wait for the thread, and whether it runs.
    private let state = Monitor(State())

    private struct State: Sendable {
        var waiting: [Transfer] = []
        var isRunning = false
    }

    /// The time that the thread waits for another transfer before it ends, in milliseconds.
    private static let patience: CInt = 2000

    private init(_ multi: OpaquePointer) { self.multi = multi }

    /// Returns the loop of this process.
    ///
    /// - Throws: `unsupported` if libcurl is missing.
    static func current() throws(MediaError) -> TransferLoop {
        try shared.withLock { loop throws(MediaError) in
            if let loop { return loop }
            guard ccurl_load() == 1, let multi = ccurl_multi_make() else {
                throw MediaError(
                    .unsupported,
                    "the network cannot be read: libcurl.so.4 is missing; install libcurl4 (7.85 or later)")
            }
            let made = TransferLoop(multi)
            loop = made
            return made
        }
    }

    /// Runs a transfer and returns its answer; waits for its end.
    func answer(to request: Transfer.Request) -> Transfer.Answer {
        let transfer = Transfer(request)
        begin(transfer)
        return transfer.wait()
    }

    /// Starts a transfer without waiting for its end; it fails at once if the thread cannot be started.
    func begin(_ transfer: Transfer) {
        let isRunning = state.update { state in
            state.waiting.append(transfer)
            defer { state.isRunning = true }
            return state.isRunning
        }
        guard !isRunning else {
            ccurl_wake(multi)
            return
        }
        do throws(WorkerThread.CannotStart) {
            let thread = try WorkerThread { self.run() }
            thread.detach()
        } catch {
            let stranded = state.update { state in
                state.isRunning = false
                defer { state.waiting = [] }
                return state.waiting
            }
            for transfer in stranded { transfer.end(nil, code: CCURL_COULDNT_CONNECT) }
        }
    }

    private func run() {
        var running: [OpaquePointer: Transfer] = [:]
        var isIdle = false
        while true {
            let wasIdle = isIdle && running.isEmpty
            let added: [Transfer]? = state.update { state in
                if state.waiting.isEmpty, wasIdle {
                    state.isRunning = false
                    return nil
                }
                defer { state.waiting = [] }
                return state.waiting
            }
            guard let added else { return }
            for transfer in added {
                guard let easy = transfer.makeHandle(), ccurl_add(multi, easy) == 0 else {
                    transfer.end(nil, code: CCURL_COULDNT_CONNECT)
                    continue
                }
                running[easy] = transfer
            }
            ccurl_perform(multi)
            var code = 0
            while let easy = ccurl_next_done(multi, &code) {
                ccurl_remove(multi, easy)
                running.removeValue(forKey: easy)?.end(easy, code: code)
            }
            isIdle = running.isEmpty
            ccurl_wait(multi, Self.patience)
        }
    }
}
