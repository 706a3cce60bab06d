import FileOutput
import FoundationEssentials
import Isolation
public import MediaBase
import SystemCalls
public import SystemPackage

/// Helper processes that do jobs on media for a server, each in a sandbox.
///
/// A file that makes libav crash, hang or grow ends its own job alone: the job's caller gets an error, what it had
/// written is removed, and a fresh helper takes the place of the one that was lost.
///
/// ```swift
/// let pool = try MediaJobPool(helper: "/usr/libexec/media-helper")
/// let seconds = try await pool.run(.duration, upload, files: MediaJobFiles(inputs: [upload]))
/// ```
///
/// The pool starts its helpers at once, so that no job waits for a program to load. It ends them when it is released or
/// shut down. Thread-safe.
public final class MediaJobPool: Sendable {
    /// The settings of a pool.
    public struct Options: Sendable {
        /// The number of helpers, and so of jobs at once; the number of processors by default.
        public var helperCount = max(1, availableProcessors())
        /// The longest time that a job may take, from when a helper begins it; `nil` for no limit.
        public var timeout: Duration? = .seconds(60)
        /// The memory in RAM that a helper may use, in bytes; `Int.max` for no limit.
        ///
        /// With `nil`, the default, the helpers share half of the smaller of the machine's memory and the control group's.
        public var memoryBytes: Int?
        /// The maximum size of a file that a job writes, in bytes; `nil` for no limit.
        public var outputBytes: Int?
        /// The maximum size of a result's JSON in bytes.
        public var resultBytes = 64 << 20
        /// The number of jobs after which a helper is replaced by a fresh one.
        public var jobsPerHelper = 64
        /// The variables of the helpers' environment, such as `TZ=UTC`.
        ///
        /// By default those of the language, the time zone, the folder for temporary files and the library path: what
        /// else the server's environment holds, such as passwords, is not told.
        public var environment = Options.harmlessEnvironment
        /// True to refuse to work where the kernel lacks Landlock or seccomp, and only the rest of the sandbox holds.
        public var requiresWholeSandbox = false
        /// True to let helpers write to the server's standard error, for debugging.
        ///
        /// A helper that an attacker controls can cut off a file to which it leads.
        public var sharesStandardError = false

        /// Creates the default settings.
        public init() {}

        private static var harmlessEnvironment: [String] {
            ProcessInfo.processInfo.environment.compactMap { name, value in
                let isHarmless = ["LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH"].contains(name) || name.hasPrefix("LC_")
                return isHarmless ? "\(name)=\(value)" : nil
            }
        }
    }

    private let supervisor: PoolSupervisor

    /// Starts the helpers.
    ///
    /// - Parameters:
    ///   - helper: The path of the helper program; see ``program(besideThis:)``.
    ///   - options: The settings.
    /// - Throws: `outOfResources` if the thread that supervises the helpers cannot be started; `unsupported` for a sandbox
    ///   that is not whole. A helper that cannot be started is an error of the first job.
    public init(helper: FilePath, options: Options = Options()) throws(MediaError) {
        let sandbox = Sandbox.available
        if options.requiresWholeSandbox, sandbox.landlock == nil || !sandbox.filtersCalls {
            throw MediaError(.unsupported, "this kernel has no whole sandbox: it lacks Landlock or seccomp")
        }
        supervisor = try PoolSupervisor(helper: helper, options: options)
        try supervisor.start()
    }

    deinit { supervisor.stop() }

    /// Returns the path of a program in the folder of the running one, where SwiftPM builds both.
    public static func program(besideThis name: String) -> FilePath {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return FilePath(own).removingLastComponent().appending(name)
    }

    /// Runs a job in a helper, once one is free, and returns its result.
    ///
    /// If the calling task is cancelled, the job's helper is killed and the files that it had not completed are removed.
    ///
    /// - Parameters:
    ///   - job: The job, which the helper has registered.
    ///   - request: What the job is asked for.
    ///   - files: The files that it may use.
    ///   - timeout: The longest time that it may take; `nil` for that of ``Options/timeout``.
    /// - Throws: The error that the job has thrown; `crashed`, `timedOut` or `memoryLimit` if the helper was lost,
    ///   or its result is longer than ``Options/resultBytes``;
    ///   `cancelled` if the task was cancelled or the pool shut down; `invalidArgument` if the helper has no such job, or
    ///   its result is of another type; `outOfResources` if no helper can be started.
    public func run<Request, Result>(
        _ job: MediaJob<Request, Result>, _ request: Request, files: MediaJobFiles = MediaJobFiles(),
        timeout: Duration? = nil
    ) async throws(MediaError) -> Result {
        let message = JobCoding.Request(name: job.name, body: try JobCoding.encode(request)).message
        let order = PoolSupervisor.Order(name: job.name, message: message, files: files, timeout: timeout)
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                supervisor.add(order) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            supervisor.cancel(order)
        }
        return try JobCoding.decode(try answer.flatMap(JobCoding.result).get())
    }

    /// Ends all helpers and waits until they are gone; jobs that are not done fail with `cancelled`.
    ///
    /// Jobs that are run afterwards fail too.
    public func shutDown() async {
        await withCheckedContinuation { continuation in
            supervisor.stop { continuation.resume() }
        }
    }
}
