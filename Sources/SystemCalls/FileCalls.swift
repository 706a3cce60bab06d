// The few calls on files that SystemPackage 1.8 does not have, behind functions that take and give safe values.
// Each throws the `Errno` of the call and nothing else.

import CSystemCalls
import Glibc
package import SystemPackage

/// Renames a file and replaces what stands at the new name: rename(2).
package func renameReplacing(_ old: FilePath, to new: FilePath) throws(Errno) {
    try check(old.withPlatformString { old in new.withPlatformString { rename(old, $0) } })
}

/// Renames a file only where nothing stands at the new name, in one step: renameat2(2) with `RENAME_NOREPLACE`.
///
/// Throws `fileExists` where something does, and `invalidArgument` or `noFunction` where the file system or the kernel
/// knows no such rename.
package func renameExclusively(_ old: FilePath, to new: FilePath) throws(Errno) {
    try check(old.withPlatformString { old in new.withPlatformString { csc_rename_exclusively(old, $0) } })
}

/// Gives a file a second name where nothing stands yet: link(2).
package func makeHardLink(to existing: FilePath, at new: FilePath) throws(Errno) {
    try check(existing.withPlatformString { existing in new.withPlatformString { link(existing, $0) } })
}

/// Removes a name of a file: unlink(2).
package func removeFile(_ path: FilePath) throws(Errno) {
    try check(path.withPlatformString { unlink($0) })
}

/// Makes a folder, readable and writable as the process's mask allows: mkdir(2).
package func makeFolder(_ path: FilePath) throws(Errno) {
    try check(path.withPlatformString { mkdir($0, 0o777) })
}

/// Sets the permissions of an open file: fchmod(2).
package func setPermissions(_ permissions: FilePermissions, of file: FileDescriptor) throws(Errno) {
    try check(fchmod(file.rawValue, permissions.rawValue))
}

/// Where a symbolic link points, as it is written in the link: readlink(2).
package func targetOfSymbolicLink(_ path: FilePath) throws(Errno) -> FilePath {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = path.withPlatformString { readlink($0, &target, target.count) }
    guard length >= 0 else { throw Errno(rawValue: errno) }
    return FilePath(bytes: target.prefix(length).map { UInt8(bitPattern: $0) })
}

/// Reads what there is, at most `count` bytes; none at the end of the file: read(2).
package func readSome(from file: FileDescriptor, atMost count: Int) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
        do {
            initialized = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        } catch {
            failure = error as? Errno ?? .ioError
        }
    }
    if let failure { throw failure }
    return bytes
}

/// Writes all of the bytes, however many calls that takes: write(2).
///
/// An interrupted call is made again, and a descriptor that another process has set to not block is waited for with
/// poll(2), as a pipe shared with an event loop may be.
package func writeAll(_ bytes: Span<UInt8>, to file: FileDescriptor) throws(Errno) {
    let failure: Errno? = bytes.withUnsafeBytes { buffer in
        var rest = buffer[...]
        while !rest.isEmpty {
            let written = write(file.rawValue, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written >= 0 {
                rest = rest.dropFirst(written)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var waiting = pollfd(fd: file.rawValue, events: Int16(POLLOUT), revents: 0)
                _ = poll(&waiting, 1, -1)
            default: return Errno(rawValue: errno)
            }
        }
        return nil
    }
    if let failure { throw failure }
}

/// Whether the descriptor is a terminal: isatty(3).
package func isTerminal(_ file: FileDescriptor) -> Bool {
    isatty(file.rawValue) == 1
}

/// The width of the terminal in columns, or `nil` where the descriptor is none or does not say: ioctl(2) `TIOCGWINSZ`.
package func terminalColumns(_ file: FileDescriptor) -> Int? {
    var size = winsize()
    guard ioctl(file.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

/// Locks a folder for those who lock it too, until what is given is closed: flock(2).
///
/// - Parameter deadline: Until when is waited for others.
/// - Returns: `nil` where the folder cannot be locked, or is not free in time.
package func lockFolder(_ folder: FilePath, until deadline: ContinuousClock.Instant) -> FileDescriptor? {
    guard let file = try? FileDescriptor.open(folder, .readOnly, options: [.directory, .closeOnExec]) else {
        return nil
    }
    while flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 {
        guard errno == EINTR || errno == EWOULDBLOCK, ContinuousClock.now < deadline else {
            try? file.close()
            return nil
        }
        usleep(2000)
    }
    return file
}

private func check(_ result: CInt) throws(Errno) {
    if result != 0 { throw Errno(rawValue: errno) }
}
