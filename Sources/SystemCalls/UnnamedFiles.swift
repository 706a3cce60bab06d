import CSystemCalls
import Glibc
package import SystemPackage

/// Creates an empty file that has no name in its folder yet, open for reading and writing: open(2) with `O_TMPFILE`.
///
/// ``giveName(_:to:)`` gives it one. If it gets none, it disappears when it is closed, however the process ends.
///
/// - Returns: `nil` where such files are not known to work as others do: on file systems other than the usual local ones,
///   without `/proc`, and for files that everybody may write, since Linux before 6.0 forgets the umask for unnamed files
///   on file systems without access control lists.
package func makeUnnamedFile(in folder: FilePath) -> FileDescriptor? {
    let number = (folder.isEmpty ? "." : folder).withPlatformString { folder in
        csc_has_unnamed_files(folder) == 1 ? csc_open_unnamed(folder, 0o666) : -1
    }
    guard number >= 0 else { return nil }
    let file = FileDescriptor(rawValue: number)
    guard let status = try? Stat(file.pathInProc), status.type == .regular, status.linkCount == 0,
        status.permissions.rawValue & 0o777 != 0o666
    else {
        try? file.close()
        return nil
    }
    return file
}

/// Gives an unnamed file a name that does not exist yet: linkat(2).
///
/// Throws `fileExists` if it does.
package func giveName(_ path: FilePath, to file: FileDescriptor) throws(Errno) {
    // By the descriptor itself (AT_EMPTY_PATH), only the administrator may.
    let result = file.pathInProc.withPlatformString { file in
        path.withPlatformString { linkat(AT_FDCWD, file, AT_FDCWD, $0, AT_SYMLINK_FOLLOW) }
    }
    if result != 0 { throw Errno(rawValue: errno) }
}

/// Tells programs that watch a folder that a file in it is complete, as closing it does: inotify(7), `IN_CLOSE_WRITE`.
///
/// Events of an unnamed file carry a number in place of its name, so nobody recognises them. A failure is ignored.
package func announceComplete(_ path: FilePath) {
    let file = try? FileDescriptor.open(path, .writeOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
    try? file?.close()
}

/// Returns another descriptor of an open file, which other programs do not inherit: fcntl(2) with `F_DUPFD_CLOEXEC`.
package func duplicate(_ file: FileDescriptor) throws(Errno) -> FileDescriptor {
    let number = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
    guard number >= 0 else { throw Errno(rawValue: errno) }
    return FileDescriptor(rawValue: number)
}

extension FileDescriptor {
    /// The path at which this process can open the file again, whatever its name: proc(5), `/proc/self/fd`.
    package var pathInProc: FilePath { FilePath("/proc/self/fd/\(rawValue)") }
}
