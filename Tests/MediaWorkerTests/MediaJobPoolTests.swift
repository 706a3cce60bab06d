import Foundation
import MediaWorker
import SystemPackage
import TestSupport
import Testing

/// Runs the jobs of `mediaworkercheck`, a helper whose jobs behave well and badly.
@Suite struct MediaJobPoolTests {
    private static let sum = MediaJob<[Int], Int>("sum")
    private static let duration = MediaJob<FilePath, Double>("duration")
    private static let process = MediaJob<Int, Int32>("process")
    private static let read = MediaJob<String, String>("read")
    private static let export = MediaJob<[String], String>("export")
    private static let fail = MediaJob<String, String>("fail")

    private func pool(
        _ program: String = "mediaworkercheck", _ change: (inout MediaJobPool.Options) -> Void = { _ in }
    ) throws -> MediaJobPool {
        var options = MediaJobPool.Options()
        options.helperCount = 2
        change(&options)
        return try MediaJobPool(helper: FilePath(Program.besideTests(program)), options: options)
    }

    /// Returns the error of a job, with the seconds it took.
    ///
    /// Its time limit is far away unless a test says otherwise: beside a thousand other tests a second can take a minute.
    private func failure(
        _ pool: MediaJobPool, _ kind: String, timeout: Duration = .seconds(600)
    ) async -> (error: MediaError?, seconds: Double) {
        let begun = ContinuousClock.now
        do {
            _ = try await pool.run(Self.fail, kind, timeout: timeout)
            return (nil, 0)
        } catch {
            return (error, (ContinuousClock.now - begun) / .seconds(1))
        }
    }

    @Test func requestsAndResultsComeThrough() async throws {
        let pool = try pool()
        let sums = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for number in 0..<200 {
                group.addTask { (number, try await pool.run(Self.sum, Array(0...number))) }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(sums.count == 200)
        for (number, sum) in sums { #expect(sum == number * (number + 1) / 2) }
        let long = Array(repeating: 1, count: 300_000)
        #expect(try await pool.run(Self.sum, long) == 300_000)
        await pool.shutDown()
        await #expect(throws: MediaError.self) { try await pool.run(Self.sum, [1]) }
    }

    /// libdispatch reads what the system says of its threads, and ends the process where it cannot.
    @Test func jobsMayUseTasks() async throws {
        let pool = try pool { $0.helperCount = 1 }
        #expect(try await pool.run(MediaJob<Int, Int>("tasks"), 8) == 28)
    }

    @Test func aJobReadsItsFilesAlone() async throws {
        let pool = try pool()
        let film = FilePath(try Fixtures.path("av.mp4"))
        let seconds = try await pool.run(Self.duration, film, files: MediaJobFiles(inputs: [film]))
        #expect(seconds > 1)
        var error = await #expect(throws: MediaError.self) { try await pool.run(Self.duration, film) }
        #expect(error?.code == .permissionDenied)
        // Around AssetKit there is no way either.
        error = await #expect(throws: MediaError.self) { try await pool.run(Self.read, "/etc/passwd") }
        #expect(error?.cause?.contains("ermi") == true)
        let folder = film.removingLastComponent()
        let below = MediaJobFiles(inputFolders: [folder])
        #expect(try await pool.run(Self.duration, film, files: below) > 1)
        let outside = folder.appending("../Package.swift")
        error = await #expect(throws: MediaError.self) { try await pool.run(Self.duration, outside, files: below) }
        #expect(error?.code == .permissionDenied || error?.code == .notFound)
    }

    @Test func anOutputIsWholeOrAbsent() async throws {
        let pool = try pool()
        let folder = try TemporaryFolder()
        let input = try Fixtures.path("av.mp4")
        let output = folder.path("a{x}.mov")
        let files = MediaJobFiles(inputs: [FilePath(input)], outputs: [FilePath(output)])
        _ = try await pool.run(Self.export, [input, output], files: files)
        let bytes = try folder.bytes("a{x}.mov")
        #expect(bytes.count > 1000)
        // Neither another name, nor the same one again.
        for (target, code) in [(folder.path("b.mov"), MediaError.Code.permissionDenied), (output, .alreadyExists)] {
            let error = await #expect(throws: MediaError.self) {
                try await pool.run(Self.export, [input, target], files: files)
            }
            #expect(error?.code == code)
        }
        var replacing = files
        replacing.replacesOutputs = true
        _ = try await pool.run(Self.export, [input, output, "again"], files: replacing)
        #expect(try folder.bytes("a{x}.mov").count == bytes.count)
        #expect(try folder.names() == ["a{x}.mov"])
    }

    @Test func errorsOfJobsAreThrown() async throws {
        let pool = try pool()
        let expected = MediaError(.damaged, "is not what it seems", path: "film.mov", cause: "a cause")
        #expect(await failure(pool, "error").error == expected)
        let other = await failure(pool, "refusal").error
        #expect(other?.code == .libraryFailure && other?.cause == "Refusal()")
        let error = await #expect(throws: MediaError.self) {
            try await pool.run(MediaJob<Int, Int>("no such job"), 1)
        }
        #expect(error?.code == .invalidArgument)
    }

    /// Each job that goes wrong ends alone, and at its time limit; the others do not notice.
    @Test func aHelperThatFailsIsReplaced() async throws {
        let pool = try pool { $0.memoryBytes = 200 << 20 }
        async let good = withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<50 { group.addTask { try await pool.run(Self.sum, [number]) } }
            return try await group.reduce(0, +)
        }
        let abort = await failure(pool, "abort").error
        #expect(abort?.code == .crashed && abort?.message.contains("SIGABRT") == true)
        #expect(await failure(pool, "exit").error?.code == .crashed)
        for kind in ["sleep", "loop"] {
            let (error, seconds) = await failure(pool, kind, timeout: .milliseconds(300))
            #expect(error?.code == .timedOut)
            #expect(seconds >= 0.3)
        }
        #expect(await failure(pool, "memory").error?.code == .memoryLimit)
        #expect(try await good == 49 * 50 / 2)
    }

    /// A helper that does not keep to the rules is killed, whatever it does, and the pool goes on.
    @Test(arguments: ["hang up", "hang up calls", "empty packet", "nonsense", "two results", "descriptors"])
    func aHostileHelperIsKilled(kind: String) async throws {
        let pool = try pool { $0.helperCount = 1 }
        _ = try await pool.run(Self.sum, [1])
        let error = await failure(pool, kind).error
        #expect(error != nil && error?.code != .timedOut)
        for _ in 0..<3 { #expect(try await pool.run(Self.sum, [1, 2]) == 3) }
        await pool.shutDown()
    }

    @Test func aResultThatIsTooLongIsRefused() async throws {
        let pool = try pool { $0.resultBytes = 1 << 20 }
        let error = await failure(pool, "long").error
        #expect(error?.code == .crashed && error?.message.contains("too much") == true)
        #expect(try await pool.run(Self.sum, [1, 2]) == 3)
    }

    @Test func aCancelledJobEndsAtOnce() async throws {
        let pool = try pool { $0.helperCount = 1 }
        let running = Task { await failure(pool, "loop") }
        let waiting = Task { await failure(pool, "loop") }
        // The first may still wait for the helper; both ways must end.
        try await Task.sleep(for: .milliseconds(200))
        waiting.cancel()
        #expect(await waiting.value.error?.code == .cancelled)
        running.cancel()
        #expect(await running.value.error?.code == .cancelled)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(pool, "loop")
        }
        #expect(await late.value.error?.code == .cancelled)
        #expect(try await pool.run(Self.sum, [4]) == 4)
    }

    @Test func helpersAreReplacedAndEndWithThePool() async throws {
        var processes: [Int32] = []
        do {
            let pool = try pool {
                $0.helperCount = 1
                $0.jobsPerHelper = 2
            }
            for _ in 0..<4 { processes.append(try await pool.run(Self.process, 0)) }
            let shutDown = Task { await failure(pool, "loop") }
            try await Task.sleep(for: .milliseconds(100))
            await pool.shutDown()
            #expect(await shutDown.value.error?.code == .cancelled)
        }
        #expect(processes[0] == processes[1] && processes[2] == processes[3] && processes[1] != processes[2])
        for process in processes { #expect(kill(process, 0) != 0) }
    }

    @Test(arguments: ["no such program", "isolationcheck"])
    func aHelperThatIsNoneIsAnError(_ program: String) async throws {
        let pool = try pool(program)
        for _ in 0..<2 {
            let error = await #expect(throws: MediaError.self) { try await pool.run(Self.sum, [1]) }
            #expect(error?.code == .outOfResources)
            #expect(error?.path?.hasSuffix(program) == true)
        }
    }

    @Test func aHelperThatIsStartedByHandSaysSo() throws {
        let result = try Program.run(Program.besideTests("mediaworkercheck"))
        #expect(result.status == 64)
        #expect(result.errorLines.count == 1)
    }
}
