import Glibc

/// A set of signals that a thread waits for, instead of a handler that may do next to nothing.
///
/// Blocked signals are inherited by threads: block them in `main`, before any thread starts. It stands for sigset_t.
package struct SignalSet: @unchecked Sendable {
    private var signals = sigset_t()

    /// The signals of `numbers` that the process does not already ignore.
    ///
    /// What `nohup` or a shell's background job has set to be ignored stays ignored. The ignored ones must be left out
    /// because a blocked signal reaches sigwait(3) even if it is ignored.
    package init(notIgnoredOf numbers: [CInt]) {
        sigemptyset(&signals)
        for number in numbers {
            var action = sigaction()
            guard sigaction(number, nil, &action) == 0 else { continue }
            let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            if handler != unsafeBitCast(SIG_IGN, to: Int.self) { sigaddset(&signals, number) }
        }
    }

    /// Blocks the signals in the calling thread and those that it starts later: pthread_sigmask(3).
    package func block() {
        var signals = signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Lets the signals through to the calling thread again.
    package func unblock() {
        var signals = signals
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Waits until one of the signals, which must be blocked, arrives, and gives its number: sigwait(3).
    ///
    /// Gives `nil` where there is no signal to wait for.
    package func wait() -> CInt? {
        var signals = signals
        var number: CInt = 0
        return sigwait(&signals, &number) == 0 ? number : nil
    }
}

/// Has writes to a closed pipe and past a file size limit fail with `EPIPE` and `EFBIG`, instead of ending the process.
package func ignoreWriteSignals() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
}

/// The numbers of the signals that ask a program to stop: ^C, the end of a session, and what `kill` sends.
package let stopSignals: [CInt] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2,
]
