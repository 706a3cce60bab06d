import CSystemCalls
import Glibc

/// Returns the number of processors available to this process, at least one: sched_getaffinity(2).
///
/// The result honours `taskset` and cpusets.
package func availableProcessors() -> Int {
    // Room for 8192 processors, the maximum that the kernel can be built for.
    var mask = [UInt8](repeating: 0, count: 1024)
    guard csc_get_affinity(&mask, mask.count) == 0 else { return 1 }
    return max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
}

/// Returns freed memory to the system: malloc_trim(3).
///
/// Otherwise the gaps left by growing tables would remain in addition to later, larger allocations.
package func returnFreeMemory() { csc_trim_heap() }

/// Ends the process immediately, without running the libraries' exit handlers: _exit(2).
package func exitImmediately(_ status: CInt) -> Never {
    _exit(status)
}

/// Ends the process after all outputs have been written and closed.
///
/// The exit handlers of 130 libraries take a millisecond and serve no purpose then, so a release build ends with
/// _exit(2). A debug build ends with exit(3), during which a sanitizer checks for leaks.
package func exitOrderly(_ status: CInt) -> Never {
    #if DEBUG
        exit(status)
    #else
        _exit(status)
    #endif
}

/// Ensures that descriptors 0 to 2 are open, so that no file opened later is mistaken for standard output.
///
/// A closed descriptor is opened on `/dev/null` in the opposite direction, so that using it still fails with `EBADF`.
package func reserveStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
        // open(2) returns the lowest free descriptor, which is this one.
        _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}

/// A set of signals that a thread waits for, instead of a signal handler, which may do very little.
///
/// Threads inherit blocked signals: block them in `main`, before any thread starts. Corresponds to sigset_t.
package struct SignalSet: @unchecked Sendable {
    private var signals = sigset_t()

    /// Creates a set of the signals in `numbers` that the process does not already ignore.
    ///
    /// Signals ignored by `nohup` or a shell's background job stay ignored. They must be left out because a blocked
    /// signal reaches sigwait(3) even if it is ignored.
    package init(notIgnoredOf numbers: [CInt]) {
        sigemptyset(&signals)
        for number in numbers {
            var action = sigaction()
            guard sigaction(number, nil, &action) == 0 else { continue }
            let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            if handler != unsafeBitCast(SIG_IGN, to: Int.self) { sigaddset(&signals, number) }
        }
    }

    /// Blocks the signals in the calling thread and in threads that it starts later: pthread_sigmask(3).
    package func block() {
        var signals = signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Unblocks the signals in the calling thread.
    package func unblock() {
        var signals = signals
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Waits until one of the signals, which must be blocked, arrives, and returns its number: sigwait(3).
    ///
    /// Returns `nil` if there is no signal to wait for.
    package func wait() -> CInt? {
        var signals = signals
        var number: CInt = 0
        return sigwait(&signals, &number) == 0 ? number : nil
    }
}

/// Makes writes to a closed pipe or past a file size limit fail with `EPIPE` or `EFBIG`, instead of ending the
/// process.
package func ignoreWriteSignals() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
}

/// The signals that ask a program to stop: ^C, the end of a session, and those sent by `kill`.
package let stopSignals: [CInt] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM, SIGUSR1, SIGUSR2,
]
