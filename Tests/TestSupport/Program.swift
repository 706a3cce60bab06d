import Foundation

/// Runs other programs, and the one this package builds.
public enum Program {
    /// What a finished program left behind.
    public struct Result: Sendable {
        /// The exit code; 128 and the signal's number when a signal ended it, as a shell says.
        public var status: Int32
        /// The number of the signal that ended the program, or `nil`.
        public var signal: Int32?
        /// What it wrote to standard output.
        public var bytes: [UInt8]
        /// What it wrote to standard error.
        public var errorBytes: [UInt8]

        /// Standard output as text; bytes that are not UTF-8 are repaired.
        public var output: String { String(decoding: bytes, as: UTF8.self) }
        /// Standard error as text; bytes that are not UTF-8 are repaired.
        public var error: String { String(decoding: errorBytes, as: UTF8.self) }
        /// The lines of standard error.
        public var errorLines: [Substring] { error.split(separator: "\n") }
    }

    /// The `mediatool` under test: what `MEDIATOOL_BINARY` names, else the one built beside the tests.
    public static let mediatool: String = {
        if let named = ProcessInfo.processInfo.environment["MEDIATOOL_BINARY"] { return named }
        return besideTests("mediatool")
    }()

    /// A program of this package that was built together with the tests.
    public static func besideTests(_ name: String) -> String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Runs a program and waits for its end.
    ///
    /// Both outputs go through files, so that no amount of them can block the program. For arguments that are not
    /// UTF-8, run `sh` with `printf`: `["-c", #"exec "$0" probe "$(printf 'a\377.wav')""#, Program.mediatool]`.
    ///
    /// - Parameters:
    ///   - name: A path, or a name looked up on `PATH`.
    ///   - arguments: The arguments, without the program's name.
    ///   - input: What the program reads from standard input.
    ///   - folder: The current folder of the program; the tests' own when `nil`.
    ///   - environment: Variables to set besides the tests' own.
    ///   - seconds: After so many seconds the program is killed and an error thrown.
    /// - Throws: ``TestSupportError`` where the program cannot be started or does not end.
    public static func run(
        _ name: String, _ arguments: [String] = [], input: [UInt8] = [], folder: String? = nil,
        environment: [String: String] = [:], seconds: Double = 120
    ) throws -> Result {
        let scratch = try TemporaryFolder()
        let files = try ["out", "err"].map { try handle(forWriting: scratch.write($0, [])) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: name.contains("/") ? name : "/usr/bin/env")
        process.arguments = name.contains("/") ? arguments : [name] + arguments
        let feed = FileHandle(forReadingAtPath: try scratch.write("in", input))
        // Foundation keeps a process that ended, and its handles with it.
        defer { for handle in files + [feed].compactMap({ $0 }) { try? handle.close() } }
        process.standardInput = feed
        process.standardOutput = files[0]
        process.standardError = files[1]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        do {
            try process.run()
        } catch {
            throw TestSupportError("cannot start \(name): \(error)")
        }
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            kill(process.processIdentifier, SIGKILL)
            throw TestSupportError("\(name) \(arguments.joined(separator: " ")) did not end within \(seconds) s")
        }
        let bySignal = process.terminationReason == .uncaughtSignal
        return Result(
            status: bySignal ? 128 + process.terminationStatus : process.terminationStatus,
            signal: bySignal ? process.terminationStatus : nil, bytes: try scratch.bytes("out"),
            errorBytes: try scratch.bytes("err"))
    }

    private static func handle(forWriting path: String) throws -> FileHandle {
        try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}
