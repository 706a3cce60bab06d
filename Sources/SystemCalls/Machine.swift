import CSystemCalls
import Glibc
import SystemPackage

/// Returns the number of processors available to this process, at least one: sched_getaffinity(2).
///
/// The result honours `taskset` and cpusets.
package func availableProcessors() -> Int {
    // Room for 8192 processors, the maximum that the kernel can be built for.
    var mask = [UInt8](repeating: 0, count: 1024)
    guard csc_get_affinity(&mask, mask.count) == 0 else { return 1 }
    return max(1, mask.reduce(0) { $0 + $1.nonzeroBitCount })
}

/// Returns the number of files that this process may have open: sysconf(3) `_SC_OPEN_MAX`.
package func maximumOpenFiles() -> Int {
    let count = sysconf(CInt(_SC_OPEN_MAX))
    return count > 0 ? count : .max
}

/// Returns the machine's memory in bytes; `nil` if it is unknown: sysconf(3) `_SC_PHYS_PAGES`.
package func physicalMemory() -> Int? {
    let (pages, pageBytes) = (sysconf(CInt(_SC_PHYS_PAGES)), sysconf(CInt(_SC_PAGESIZE)))
    return pages > 0 && pageBytes > 0 ? pages * pageBytes : nil
}

/// Returns the memory that this process may use at most, in bytes; `nil` if it is unknown.
///
/// It is the smaller of the machine's and that of the control group: cgroups(7).
package func availableMemory() -> Int? {
    func contents(_ path: FilePath) -> String? {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else { return nil }
        return try? file.closeAfter { String(decoding: try readSome(from: file, atMost: 4096), as: UTF8.self) }
    }
    var found = [physicalMemory()].compactMap(\.self)
    // Lines such as `0::/user.slice`, or with version 1 `4:memory:/docker/…`.
    for line in contents("/proc/thread-self/cgroup")?.split(separator: "\n") ?? [] {
        let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "0" || parts[1].split(separator: ",").contains("memory") else { continue }
        let (root, name): (FilePath, String) =
            parts[0] == "0"
            ? ("/sys/fs/cgroup", "memory.max") : ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        // A limit of any group above holds as well.
        var group = FilePath(String(parts[2]))
        while true {
            let file = root.pushing(FilePath(root: nil, group.components)).appending(name)
            if let text = contents(file), let limit = Int(text.filter(\.isNumber)), limit > 0 { found.append(limit) }
            guard !group.components.isEmpty else { break }
            group.removeLastComponent()
        }
    }
    return found.min()
}

/// The memory that this process is to work with.
package enum WorkMemory {
    /// The limit that a supervisor has set; set it before the process starts threads.
    nonisolated(unsafe) package static var limit: Int?

    nonisolated(unsafe) private static var sharers = 1

    /// Says how many files are worked on at once; call it before the process starts threads.
    package static func share(by files: Int) { sharers = files }

    /// The memory in RAM for the work on a file, in bytes; `nil` if it is unknown.
    ///
    /// It is a quarter of ``availableMemory()``, shared by the files, unless a supervisor has set a limit.
    package static var bytes: Int? { limit ?? availableMemory().map { $0 / 4 / max(1, sharers) } }
}

/// Returns freed memory to the system: malloc_trim(3).
///
/// Otherwise the gaps left by growing tables would remain in addition to later, larger allocations.
package func returnFreeMemory() { csc_trim_heap() }

/// Returns the value of a variable of the environment, with invalid UTF-8 repaired; `nil` if it is missing: getenv(3).
package func environmentVariable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}
