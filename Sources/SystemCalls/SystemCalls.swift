import CSystemCalls
import Glibc
package import SystemPackage

// Calls that SystemPackage 1.8 lacks, wrapped in functions with safe parameter and result types. Those of the file system
// throw only the `Errno` of the call.

/// Renames a file, replacing any file at the new path: rename(2).
package func renameReplacing(_ old: FilePath, to new: FilePath) throws(Errno) {
    try check(old.withPlatformString { old in new.withPlatformString { rename(old, $0) } })
}

/// Renames a file atomically, only if the new path does not exist: renameat2(2) with `RENAME_NOREPLACE`.
///
/// Throws `fileExists` if it does, and `invalidArgument` or `noFunction` if the file system or the kernel does not
/// support such a rename.
package func renameExclusively(_ old: FilePath, to new: FilePath) throws(Errno) {
    try check(old.withPlatformString { old in new.withPlatformString { csc_rename_exclusively(old, $0) } })
}

/// Creates a hard link to a file at a path that does not exist yet: link(2).
package func makeHardLink(to existing: FilePath, at new: FilePath) throws(Errno) {
    try check(existing.withPlatformString { existing in new.withPlatformString { link(existing, $0) } })
}

/// Removes a file's name: unlink(2).
package func removeFile(_ path: FilePath) throws(Errno) {
    try check(path.withPlatformString { unlink($0) })
}

/// Creates a folder, readable and writable subject to the process's umask: mkdir(2).
package func makeFolder(_ path: FilePath) throws(Errno) {
    try check(path.withPlatformString { mkdir($0, 0o777) })
}

/// Sets the permissions of an open file: fchmod(2).
package func setPermissions(_ permissions: FilePermissions, of file: FileDescriptor) throws(Errno) {
    try check(fchmod(file.rawValue, permissions.rawValue))
}

/// Returns the target of a symbolic link as stored in the link: readlink(2).
package func targetOfSymbolicLink(_ path: FilePath) throws(Errno) -> FilePath {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = path.withPlatformString { readlink($0, &target, target.count) }
    guard length >= 0 else { throw Errno(rawValue: errno) }
    return FilePath(bytes: target.prefix(length).map { UInt8(bitPattern: $0) })
}

/// Reads the available bytes, at most `count`; none at the end of the file: read(2).
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

/// Writes all of the bytes, in as many calls as needed: write(2).
///
/// Interrupted calls are repeated. If another process has made the descriptor non-blocking, as with a pipe shared with
/// an event loop, the function waits with poll(2).
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

/// Returns true if the descriptor is a terminal: isatty(3).
package func isTerminal(_ file: FileDescriptor) -> Bool {
    isatty(file.rawValue) == 1
}

/// Returns the width of a terminal in columns, or `nil` if the descriptor reports none: ioctl(2) `TIOCGWINSZ`.
package func terminalColumns(_ file: FileDescriptor) -> Int? {
    var size = winsize()
    guard ioctl(file.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

/// Takes an exclusive lock on a folder, until the returned descriptor is closed: flock(2).
///
/// The lock affects only processes that lock the folder too.
///
/// - Parameter deadline: The time until which to wait for other holders of the lock.
/// - Returns: `nil` if the folder cannot be locked, or not before the deadline.
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

/// Reads at most `count` bytes at an offset; fewer only at the end of the file: pread(2).
package func read(from file: FileDescriptor, at offset: Int64, atMost count: Int) throws(Errno) -> [UInt8] {
    try readNumbers(from: file, at: offset, atMost: count)
}

/// Reads at most `count` numbers written by ``writeAll(_:to:at:)``; fewer only at the end of the file: pread(2).
package func readNumbers<Number: BitwiseCopyable & FixedWidthInteger>(
    from file: FileDescriptor, at offset: Int64, atMost count: Int
) throws(Errno) -> [Number] {
    var failure: Errno?
    let numbers = [Number](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
        do throws(Errno) {
            let bytes = try read(from: file, at: offset, into: UnsafeMutableRawBufferPointer(buffer))
            initialized = bytes / MemoryLayout<Number>.stride
        } catch {
            failure = error
        }
    }
    if let failure { throw failure }
    return numbers
}

/// Fills memory with bytes at an offset, and returns how many there are before the end of the file: pread(2).
package func read(
    from file: FileDescriptor, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
) throws(Errno) -> Int {
    var done = 0
    while done < buffer.count, let start = buffer.baseAddress {
        let got = pread(file.rawValue, start + done, buffer.count - done, Int(offset) + done)
        if got < 0, errno == EINTR { continue }
        guard got >= 0 else { throw Errno(rawValue: errno) }
        guard got > 0 else { break }
        done += got
    }
    return done
}

/// Writes all of the bytes or numbers at an offset, in their memory representation: pwrite(2).
package func writeAll<Number: BitwiseCopyable>(
    _ numbers: Span<Number>, to file: FileDescriptor, at offset: Int64
) throws(Errno) {
    let failure: Errno? = numbers.withUnsafeBytes { buffer in
        var done = 0
        while done < buffer.count, let start = buffer.baseAddress {
            let written = pwrite(file.rawValue, start + done, buffer.count - done, Int(offset) + done)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { return Errno(rawValue: errno) }
            done += written
        }
        return nil
    }
    if let failure { throw failure }
}

/// Truncates a file, or extends it with zeros, to a length: ftruncate(2).
package func setLength(of file: FileDescriptor, to length: Int64) throws(Errno) {
    if ftruncate(file.rawValue, Int(length)) != 0 { throw Errno(rawValue: errno) }
}

/// Inserts zeros between two parts of a file without copying either: fallocate(2) with `FALLOC_FL_INSERT_RANGE`.
///
/// Both numbers must be multiples of the file system's block size. Throws `notSupported` if the file system does not
/// support the operation (tmpfs, btrfs), and `invalidArgument` if its blocks are larger.
package func insertZeros(into file: FileDescriptor, at offset: Int64, count: Int64) throws(Errno) {
    if csc_insert_range(file.rawValue, offset, count) != 0 { throw Errno(rawValue: errno) }
}

/// The identity and state of a file at one moment: the parts of stat(2) that change with the content.
package struct FileState: Sendable, Equatable {
    private let device: DeviceID
    private let inode: Inode
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the state of the file at a path, following symbolic links; `nil` if there is no such file.
    package init?(of path: FilePath) {
        guard let status = try? Stat(path) else { return nil }
        device = status.deviceID
        inode = status.inode
        size = status.size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}

/// Returns the content of a regular file from its start.
package func readAll(_ file: FileDescriptor) throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    while case let more = try read(from: file, at: Int64(bytes.count), atMost: 1 << 20), !more.isEmpty { bytes += more }
    return bytes
}

extension FilePath {
    /// The bytes of the path as passed to the system, without the final NUL.
    package var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    /// Creates a path from bytes in any encoding.
    ///
    /// A path cannot contain NUL, so the bytes end before the first one. As with every `FilePath`, trailing and
    /// repeated separators are removed.
    package init(bytes: some Sequence<UInt8>) {
        var platformString = bytes.prefix { $0 != 0 }.map { CInterop.PlatformChar(bitPattern: $0) }
        platformString.append(0)
        self.init(platformString: platformString)
    }
}

extension FilePath.Component {
    /// The bytes of the name as passed to the system, without the final NUL.
    package var bytes: [UInt8] {
        withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}

/// Returns the first bytes waiting in a pipe without consuming them; none if it is not a pipe, or has ended: tee(2).
///
/// Waits for data, and then up to two seconds for at least twenty bytes.
///
/// - Parameters:
///   - pipe: The read end.
///   - count: The maximum number of bytes.
///   - deadline: The time until which to wait; `nil` for no limit.
package func peekPipe(
    _ pipe: FileDescriptor, atMost count: Int, until deadline: ContinuousClock.Instant? = nil
) -> [UInt8] {
    // tee(2) itself waits without a limit.
    guard waitForInput(pipe, until: deadline), let copy = try? FileDescriptor.pipe() else { return [] }
    defer {
        try? copy.readEnd.close()
        try? copy.writeEnd.close()
    }
    var found: [UInt8] = []
    for _ in 0..<200 {
        let copied = csc_tee(pipe.rawValue, copy.writeEnd.rawValue, count)
        guard copied > 0 else { return found }
        found = (try? readSome(from: copy.readEnd, atMost: copied)) ?? []
        var state = pollfd(fd: pipe.rawValue, events: Int16(POLLIN), revents: 0)
        _ = poll(&state, 1, 0)
        if found.count >= 20 || state.revents & Int16(POLLHUP) != 0 { return found }
        usleep(10_000)
    }
    return found
}

/// Waits until data is available, the other end is closed or reading fails: poll(2).
///
/// - Parameter deadline: The time until which to wait; `nil` for no limit.
/// - Returns: True if reading does not block; false if the deadline has passed.
package func waitForInput(_ file: FileDescriptor, until deadline: ContinuousClock.Instant?) -> Bool {
    var request = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
    while true {
        if let deadline, ContinuousClock.now >= deadline { return false }
        let ready = poll(&request, 1, 100)
        if ready > 0 || ready < 0 && errno != EINTR { return true }
    }
}

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
