import CSandbox
import Glibc
package import SystemPackage

/// The restrictions that keep a process to the descriptors it has open.
///
/// A kernel may lack some of them; the others then hold alone.
package struct Sandbox: Sendable, Hashable {
    /// The version of Landlock's interface that restricts files and the network; `nil` if the kernel has none.
    package var landlock: Int?
    /// True if only the system calls of a computing program are allowed.
    package var filtersCalls: Bool
    /// True if the process cannot gain privileges and has no capabilities.
    package var hasNoPrivileges: Bool

    /// The restrictions that this kernel offers.
    package static var available: Sandbox {
        let version = csb_landlock_version()
        return Sandbox(
            landlock: version > 0 ? Int(version) : nil, filtersCalls: csb_has_filters() == 1, hasNoPrivileges: true)
    }

    /// The files of the system that codecs, character sets and fonts need; each is read-only in the sandbox.
    ///
    /// Without them results change silently: iconv no longer knows legacy character sets, x265 counts the processors
    /// differently, and text has no glyphs. `/proc/self/task` is what the system tells of the process's own threads.
    package static let systemFiles: [FilePath] =
        [
            "/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/lib", "/usr/local/share", "/lib", "/lib64",
            "/etc/fonts",
            "/etc/ld.so.cache", "/etc/localtime", "/var/cache/fontconfig", "/sys/devices/system", "/sys/fs/cgroup",
            "/proc/cpuinfo",
            "/proc/meminfo", "/proc/stat", "/proc/self/task", "/dev/null", "/dev/urandom",
        ] + fontSettings

    /// The files and folders that the environment names in place of `/etc/fonts`: fonts-conf(5).
    private static var fontSettings: [FilePath] {
        let names = ["FONTCONFIG_FILE", "FONTCONFIG_PATH"]
        return names.compactMap { getenv($0).map { FilePath(platformString: $0) } }.filter(\.isAbsolute)
    }

    /// Restricts the calling process permanently, and returns the restrictions that hold.
    ///
    /// Call this while the process has a single thread; later threads inherit the restrictions. Open descriptors keep
    /// working. Afterwards the process can open only the given files, read-only, and can neither create sockets,
    /// start programs, signal or trace other processes, nor rename or remove files: such calls fail with `EPERM` or
    /// `EACCES`. See landlock(7), seccomp(2) and `PR_SET_NO_NEW_PRIVS` in prctl(2).
    ///
    /// - Parameter readable: The files and folders that stay readable. Missing ones are ignored.
    package static func enter(readable: [FilePath] = systemFiles) -> Sandbox {
        let hasNoPrivileges = csb_give_up_privileges() == 0
        let landlock = restrictFiles(to: readable)
        let filtersCalls = csb_restrict_calls() == 0
        return Sandbox(landlock: landlock, filtersCalls: filtersCalls, hasNoPrivileges: hasNoPrivileges)
    }

    private static func restrictFiles(to readable: [FilePath]) -> Int? {
        // The names one after the other, each with its NUL, and the places at which they start.
        var names: [CChar] = []
        var starts: [Int] = []
        for path in readable {
            starts.append(names.count)
            path.withPlatformString { names += UnsafeBufferPointer(start: $0, count: path.length + 1) }
        }
        let version = names.withUnsafeBufferPointer { names in
            let pointers = starts.map { names.baseAddress?.advanced(by: $0) }
            return pointers.withUnsafeBufferPointer { csb_restrict_files($0.baseAddress, $0.count) }
        }
        return version > 0 ? Int(version) : nil
    }
}
