import CSandbox
import Glibc
package import SystemPackage
import Threading

/// A child process that works in a ``Sandbox`` on what its supervisor sends it.
///
/// The supervisor's other threads only wait, so that it can start another worker at any time: fork(2) copies only the
/// calling thread, and locks held by others would stay locked. A worker that is released without ``end()`` is killed.
///
/// ```swift
/// let worker = try WorkerProcess.start(limits: ResourceLimits()) { channel in
///     while let message = try? channel.receive(atMost: 1 << 20) { … }
///     return 0
/// }
/// try worker.channel.send(request, descriptors: [input])
/// ```
package struct WorkerProcess: ~Copyable {
    /// The supervisor's end of the connection to the worker.
    package let channel: MessageChannel
    /// The process identifier.
    package let id: CInt
    private var hasEnded = false

    /// How a worker ended.
    package enum Ending: Sendable, Hashable {
        /// It returned, or called exit(3), with this status.
        case exited(CInt)
        /// A signal with this number ended it.
        case signalled(CInt)
    }

    private init(adopting id: CInt, channel: MessageChannel) {
        self.id = id
        self.channel = channel
    }

    deinit {
        guard !hasEnded else { return }
        kill(id, SIGKILL)
        _ = Self.wait(for: id)
    }

    /// Starts a worker: fork(2).
    ///
    /// Other threads of the calling process may only wait. The worker keeps the three standard descriptors and its end
    /// of the channel; all others are closed. It ends when its supervisor does.
    ///
    /// - Parameters:
    ///   - limits: The limits of the worker.
    ///   - isRestricted: False to leave out the sandbox, for debugging.
    ///   - readable: The files and folders that the worker may open itself.
    ///   - body: The work, called in the new process. Its result is the exit status.
    /// - Throws: `resourceTemporarilyUnavailable` or `noMemory` if no process can be started.
    package static func start(
        limits: ResourceLimits, isRestricted: Bool = true, readable: [FilePath] = Sandbox.systemFiles,
        _ body: (MessageChannel) -> CInt
    ) throws(Errno) -> WorkerProcess {
        forgetAbandoned()
        let (mine, theirs) = try MessageChannel.pair()
        let supervisor = getpid()
        let id = csb_fork()
        guard id >= 0 else { throw Errno(rawValue: errno) }
        guard id == 0 else { return WorkerProcess(adopting: id, channel: mine) }
        // The supervisor may have ended before the child asked to end with it.
        guard csb_end_with_parent() == 0, getppid() == supervisor else { _exit(1) }
        csb_close_all_but(theirs.descriptor.rawValue)
        guard limits.apply() else { _exit(1) }
        if isRestricted { _ = Sandbox.enter(readable: readable) }
        _exit(body(theirs))
    }

    /// The memory of the process that is in RAM, in bytes; `nil` once it has ended: `/proc/PID/statm` in proc(5).
    package var residentBytes: Int? {
        guard let file = try? FileDescriptor.open(FilePath("/proc/\(id)/statm"), .readOnly, options: .closeOnExec)
        else { return nil }
        let text = try? file.closeAfter {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return pages.flatMap { $0 > 0 ? $0 * sysconf(CInt(_SC_PAGESIZE)) : nil }
    }

    /// Kills the worker without waiting for its end, which takes milliseconds.
    ///
    /// The system keeps the worker's status until another worker is started or this process ends.
    package consuming func abandon() {
        hasEnded = true
        kill(id, SIGKILL)
        Self.abandoned.withLock { $0.append(id) }
    }

    /// The abandoned workers whose status the system keeps.
    private static let abandoned = Mutex<[CInt]>([])

    /// Lets the system forget the abandoned workers that have ended.
    private static func forgetAbandoned() {
        abandoned.withLock { ids in ids.removeAll { waitpid($0, nil, WNOHANG) != 0 } }
    }

    /// Kills the worker: SIGKILL of kill(2).
    ///
    /// Wait for its end with ``end()``.
    package func stop() { kill(id, SIGKILL) }

    /// Waits until the worker has ended: waitpid(2).
    package consuming func end() -> Ending {
        hasEnded = true
        return Self.wait(for: id)
    }

    private static func wait(for id: CInt) -> Ending {
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return .exited(0) }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}

/// Limits that the kernel enforces on a process: setrlimit(2).
package struct ResourceLimits: Sendable, Hashable {
    /// The maximum size of a file that the process writes, in bytes; writing beyond it fails with `EFBIG`.
    package var fileBytes: Int?
    /// The maximum processor time of all threads, in seconds; beyond it the process gets SIGXCPU, then SIGKILL.
    package var processorSeconds: Int?
    /// The maximum memory for data in bytes; beyond it allocations fail.
    ///
    /// Unlike the address space, this does not count reservations that are never used.
    package var dataBytes: Int?

    /// Creates limits; `nil` means that a resource is not limited further.
    package init(fileBytes: Int? = nil, processorSeconds: Int? = nil, dataBytes: Int? = nil) {
        self.fileBytes = fileBytes
        self.processorSeconds = processorSeconds
        self.dataBytes = dataBytes
    }

    /// Applies the limits to the calling process permanently, and forbids core files; returns false if that failed.
    fileprivate func apply() -> Bool {
        csb_limit(Int64(fileBytes ?? -1), Int64(processorSeconds ?? -1), Int64(dataBytes ?? -1)) == 0
    }
}
