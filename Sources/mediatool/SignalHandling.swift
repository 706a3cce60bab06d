import ArgumentParser
import MediaJobs
import SystemCalls
import Threading

/// How the program ends when it is asked to: with no half-written file left, and with 128 + the signal's number.
///
/// The signals are blocked and one thread waits for them, because hardly anything may be done inside a handler. A signal
/// that the caller has set to be ignored (nohup) stays ignored.
enum SignalHandling {
    /// Sets it up; to be called first of all in `main`, as threads inherit what is blocked.
    static func install() {
        ignoreWriteSignals()
        let signals = SignalSet(notIgnoredOf: stopSignals)
        signals.block()
        do throws(WorkerThread.CannotStart) {
            let thread = try WorkerThread {
                guard let signal = signals.wait() else { return }
                StatusLine.clear()
                PendingOutputs.shared.removeAll { exitImmediately(ExitCode.interrupted(by: signal).rawValue) }
            }
            thread.detach()
        } catch {
            // Without the thread the signals must end the program by themselves.
            signals.unblock()
        }
    }
}
