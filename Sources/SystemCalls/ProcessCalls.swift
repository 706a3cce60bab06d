import CSystemCalls
import Glibc

/// How many processors this process may run on, at least one: sched_getaffinity(2), which honours `taskset` and cpusets.
package func availableProcessors() -> Int {
    // Room for 8192 processors, which is as many as the kernel can be built for.
    var mask = [UInt8](repeating: 0, count: 1024)
    guard csc_get_affinity(&mask, mask.count) == 0 else { return 1 }
    return max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
}

/// Gives memory that was freed back to the system: malloc_trim(3).
///
/// Holes that growing tables have left would otherwise stay beside what is needed later and is larger.
package func returnFreeMemory() { csc_trim_heap() }

/// Ends the process at once, without running what libraries have left for the end: _exit(2).
package func exitImmediately(_ status: CInt) -> Never {
    _exit(status)
}

/// Ends the process when all outputs are written and closed.
///
/// What 130 libraries have left for the end takes a millisecond and is of no use then, so a release ends by _exit(2).
/// A debug build ends by exit(3), at which a sanitizer looks for leaks.
package func exitOrderly(_ status: CInt) -> Never {
    #if DEBUG
        exit(status)
    #else
        _exit(status)
    #endif
}

/// Makes sure that descriptors 0 to 2 are open, so that no file that is opened later passes for standard output.
///
/// A closed one is given `/dev/null`, opened the wrong way round, so that using it still fails with `EBADF`.
package func reserveStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
        // open(2) gives the lowest free number, which is this one.
        _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}

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
