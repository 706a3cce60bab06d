import Glibc
import Isolation
import MediaBase
import SystemPackage
import Threading

/// The program that does a ``MediaJobPool``'s jobs, in a sandbox: its only work is to register them and to serve.
///
/// ```swift
/// // main.swift of the helper
/// var helper = MediaJobHelper()
/// helper.register(.duration) { path in
///     try await Asset(path: path).load(.duration).seconds
/// }
/// helper.serve()
/// ```
///
/// The process can open the files of the job alone, and the system's fonts and tables; it has no network and starts no
/// programs. It does one job after the other, each on Swift's cooperative threads.
public struct MediaJobHelper {
    private typealias Work = @Sendable ([UInt8]) async throws -> [UInt8]

    private var jobs: [String: Work] = [:]

    /// Creates a helper without jobs.
    public init() {}

    /// Registers what a job does; it replaces a job of the same name.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - work: Returns the result of a request. An error that it throws is thrown by
    ///     ``MediaJobPool/run(_:_:files:timeout:)``: a `MediaError` as it is, any other as `libraryFailure` with its
    ///     description as the cause.
    public mutating func register<Request, Result>(
        _ job: MediaJob<Request, Result>, _ work: @escaping @Sendable (Request) async throws -> Result
    ) {
        jobs[job.name] = { body in try JobCoding.encode(try await work(try JobCoding.decode(body))) }
    }

    /// Enters the sandbox and does jobs until the pool ends the process.
    ///
    /// Call it before anything starts a thread. If the program was not started by a pool, it says so and ends with
    /// exit code 64.
    public func serve() -> Never {
        guard let channel = WorkerProcess.enter() else {
            let text = "This program is started by a server, which sends it jobs; it does nothing by itself.\n"
            _ = try? FileDescriptor.standardError.writeAll(text.utf8)
            exit(64)
        }
        signal(SIGXFSZ, SIG_IGN)
        exit(
            WorkerLink.serve(channel, greeting: JobCoding.greeting(Array(jobs.keys))) { _, request, _ in
                JobCoding.message(answer(request))
            })
    }

    /// Does a job and waits for its end.
    private func answer(_ message: [UInt8]) -> Result<[UInt8], MediaError> {
        guard let request = try? JobCoding.Request(message), let work = jobs[request.name] else {
            return .failure(MediaError(.invalidArgument, "the helper has no such job"))
        }
        let result = Monitor<Result<[UInt8], MediaError>?>(nil)
        Task.detached {
            let outcome: Result<[UInt8], MediaError>
            do {
                outcome = .success(try await work(request.body))
            } catch let error as MediaError {
                outcome = .failure(error)
            } catch {
                outcome = .failure(
                    MediaError(.libraryFailure, "the job \(request.name) failed", cause: String(describing: error)))
            }
            result.update { $0 = outcome }
        }
        return result.wait { $0 }
    }
}
