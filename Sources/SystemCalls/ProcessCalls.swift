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
