import CSandbox
import Glibc
import SystemCalls
package import SystemPackage
import Threading

/// A child process that works in a ``Sandbox`` on what its supervisor sends it.
///
/// A supervisor whose other threads only wait forks its workers: fork(2) copies only the calling thread, and locks held
/// by others would stay locked. Any other one starts a program by `spawn`. A worker that is released without ``end()`` is
/// killed.
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

        fileprivate init(_ status: CInt) {
            let signal = status & 0x7F
            self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
        }
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
        csb_close_all_but(theirs.descriptor.rawValue)
        csb_silence_libraries()
        restrict(supervisor: supervisor, limits, isRestricted: isRestricted, readable)
        _exit(body(theirs))
    }

    /// Starts a program as a worker, which calls ``enter()``: posix_spawn(3).
    ///
    /// Unlike ``start(limits:isRestricted:readable:_:)`` it may be called by a process with busy threads. The worker ends
    /// when the calling thread does. It keeps its end of the channel; standard input and output lead nowhere.
    ///
    /// - Parameters:
    ///   - program: The path of the program.
    ///   - environment: The program's variables, such as `TZ=UTC`.
    ///   - limits: The limits of the worker.
    ///   - readable: The files and folders that the worker may open itself.
    ///   - memoryBytes: The memory in RAM that the worker is to use at most; `nil` if it finds that out itself.
    ///   - keepsStandardError: True to leave the worker standard error; it can then cut off a file to which that leads.
    /// - Throws: The error of the system if the program cannot be started.
    package static func spawn(
        _ program: FilePath, environment: [String], limits: ResourceLimits,
        readable: [FilePath] = Sandbox.systemFiles, memoryBytes: Int?, keepsStandardError: Bool
    ) throws(Errno) -> WorkerProcess {
        forgetAbandoned()
        let (mine, theirs) = try MessageChannel.pair()
        var variables: [UInt8] = []
        for variable in environment { variables += variable.utf8.filter { $0 != 0 } + [0] }
        variables.append(0)
        let id = program.withPlatformString { path in
            variables.withUnsafeBytes {
                csb_spawn(
                    path, $0.bindMemory(to: CChar.self).baseAddress, environment.count,
                    theirs.descriptor.rawValue, keepsStandardError ? 1 : 0)
            }
        }
        guard id >= 0 else { throw Errno(rawValue: errno) }
        let process = WorkerProcess(adopting: id, channel: mine)
        var writer = MessageWriter()
        writer.write(Int(getpid()))
        for limit in [limits.fileBytes, limits.processorSeconds, limits.dataBytes, memoryBytes] {
            writer.write(limit) { $0.write($1) }
        }
        writer.write(readable) { $0.write($1) }
        try mine.send(writer.bytes, waits: false)
        return process
    }

    /// Makes this process the worker that `spawn` has started, and returns its end of the channel; `nil` if the process
    /// was not started so.
    ///
    /// Call this while the process has a single thread. The limits and the sandbox hold when it returns.
    package static func enter() -> MessageChannel? {
        let descriptor = FileDescriptor(rawValue: 3)
        guard (try? descriptor.stat())?.type == .socket else { return nil }
        let channel = MessageChannel(descriptor)
        guard let message = try? channel.receive(atMost: 1 << 20) else { return nil }
        do {
            var reader = MessageReader(message.bytes)
            let supervisor = try reader.number()
            var limits = ResourceLimits()
            limits.fileBytes = try reader.optionalNumber()
            limits.processorSeconds = try reader.optionalNumber()
            limits.dataBytes = try reader.optionalNumber()
            WorkMemory.limit = try reader.optionalNumber()
            let readable = try reader.list { reader throws(MessageReader.Invalid) in try reader.path() }
            restrict(supervisor: CInt(truncatingIfNeeded: supervisor), limits, isRestricted: true, readable)
            return channel
        } catch {
            return nil
        }
    }

    /// Applies what holds for every worker to this process, which ends if that fails.
    private static func restrict(
        supervisor: CInt, _ limits: ResourceLimits, isRestricted: Bool, _ readable: [FilePath]
    ) {
        // The supervisor may have ended before the worker asked to end with it.
        guard csb_end_with_parent() == 0, getppid() == supervisor, limits.apply() else { _exit(1) }
        if isRestricted { _ = Sandbox.enter(readable: readable) }
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

    /// Waits until the abandoned workers have ended.
    package static func waitForAbandoned() {
        abandoned.withLock { ids in
            for id in ids { _ = wait(for: id) }
            ids = []
        }
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

    /// Kills the worker, which has closed its end of the channel, and returns how it ended; `nil` if that takes long.
    ///
    /// A process that dies closes its descriptors after its ending is settled, so killing it changes nothing.
    package consuming func endNow() -> Ending? {
        hasEnded = true
        kill(id, SIGKILL)
        for _ in 0..<100 {
            var status: CInt = 0
            let found = waitpid(id, &status, WNOHANG)
            if found != 0 { return found == id ? Ending(status) : nil }
            usleep(500)
        }
        Self.abandoned.withLock { $0.append(id) }
        return nil
    }

    private static func wait(for id: CInt) -> Ending {
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return .exited(0) }
        }
        return Ending(status)
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
