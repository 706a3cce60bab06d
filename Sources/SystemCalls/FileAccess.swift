import Glibc
package import SystemPackage

/// The opening of files on behalf of a process that may not open them itself.
///
/// A sandboxed process asks its supervisor. Once ``FileAccess/delegate(to:)`` was called, ``openForReading(_:)``,
/// ``OpenFolder`` and ``makeTemporaryFile()`` go that way.
package protocol FileOpener: Sendable {
    /// Opens a file as ``SystemCalls/openForReading(_:)`` does.
    func openForReading(_ path: FilePath) throws(Errno) -> FileDescriptor
    /// Opens a file below a folder as ``OpenFolder/open(_:asksKernel:)`` does.
    func open(_ relative: FilePath, beneath folder: FilePath) throws(Errno) -> FileDescriptor
    /// Returns the contents of a folder as ``OpenFolder/contents(of:atMost:)`` does.
    func contents(
        of relative: FilePath, beneath folder: FilePath, atMost most: Int
    ) throws(Errno) -> [OpenFolder.Entry]
    /// Creates a file as ``SystemCalls/makeTemporaryFile()`` does.
    func makeTemporaryFile() throws(Errno) -> FileDescriptor
}

/// The way in which this process opens files.
package enum FileAccess {
    nonisolated(unsafe) private static var opener: (any FileOpener)?

    /// The opener that opens files for this process; `nil` if it opens them itself.
    package static var current: (any FileOpener)? { opener }

    /// Leaves the opening of files to an opener from now on.
    ///
    /// Call this once, before the process starts threads.
    package static func delegate(to opener: any FileOpener) { self.opener = opener }
}

/// Opens a file for reading without waiting for the writer of a FIFO: open(2) with `O_NONBLOCK`.
///
/// Reading from the descriptor does not block either, until the flag is removed.
package func openForReading(_ path: FilePath) throws(Errno) -> FileDescriptor {
    if let opener = FileAccess.current { return try opener.openForReading(path) }
    do {
        return try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
    } catch {
        throw error as? Errno ?? .ioError
    }
}

/// Makes reading and writing wait, or fail with `resourceTemporarilyUnavailable` instead: fcntl(2) with `O_NONBLOCK`.
package func setWaits(_ waits: Bool, for file: FileDescriptor) {
    let flags = fcntl(file.rawValue, F_GETFL)
    if flags >= 0 { _ = fcntl(file.rawValue, F_SETFL, waits ? flags & ~O_NONBLOCK : flags | O_NONBLOCK) }
}
