import Foundation
import Isolation
import TestSupport
import Testing

/// Tests what a worker cannot do, and what becomes of one that fails.
///
/// The program `isolationcheck` starts the workers, because a
/// process with several threads, such as these tests, must not fork.
@Suite struct WorkerProcessTests {
    private func run(_ arguments: String...) throws -> [String] {
        let result = try Program.run(Program.besideTests("isolationcheck"), arguments)
        #expect(result.status == 0, "\(result.error)")
        return result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test(.enabled(if: Sandbox.available.filtersCalls))
    func whatIsForbiddenFails() throws {
        let folder = try TemporaryFolder()
        let lines = try run("tries", folder.write("input", [1, 2, 3]))
        let outcomes = Dictionary(
            uniqueKeysWithValues: lines.filter { $0.contains(": ") }.map { line in
                let parts = line.components(separatedBy: ": ")
                return (parts[0], parts[1])
            })
        #expect(outcomes.count == 22)
        let allowed = ["read its input", "read a font", "start a thread"]
        for (attempt, outcome) in outcomes {
            let isFile = attempt.hasPrefix("open") || attempt.hasPrefix("create") || attempt.hasPrefix("list")
            // Landlock alone restricts opening.
            if isFile, Sandbox.available.landlock == nil { continue }
            #expect((outcome == "allowed") == allowed.contains(attempt), "\(attempt): \(outcome)")
            if attempt == "start a program" { #expect(outcome == "Operation not permitted") }
        }
        #expect(lines.suffix(2) == ["exited(0)", ""])
        if Sandbox.available.landlock != nil { #expect(try folder.names() == ["first", "input", "second"]) }
    }

    /// The attempts are real: without the sandbox, those that the system itself allows succeed.
    @Test func theSameIsPossibleWithoutTheSandbox() throws {
        let folder = try TemporaryFolder()
        let lines = try run("tries", folder.write("input", [1, 2, 3]), "free")
        let possible = [
            "open a file", "create a file", "list a folder", "make a folder", "rename a file", "remove a file",
            "make a socket", "make a local socket", "signal its parent",
        ]
        for attempt in possible { #expect(lines.contains("\(attempt): allowed")) }
        #expect(lines.contains("start a program: Not a directory"))
        #expect(try folder.names() == ["folder", "input", "new", "renamed"])
    }

    @Test(arguments: [("abort", "signalled(6)"), ("sleep", "signalled(9)")])
    func aWorkerThatFailsEndsAlone(_ kind: String, _ ending: String) throws {
        #expect(try run(kind) == ["", ending, ""])
    }

    @Test func aTrapEndsTheWorkerAlone() throws {
        #expect(try run("trap")[1].hasPrefix("signalled("))
    }

    /// SIGXCPU, or SIGKILL where both limits are the same.
    @Test func aLoopEndsWithItsProcessorTime() throws {
        let ending = try run("loop")[1]
        #expect(["signalled(24)", "signalled(9)"].contains(ending))
    }

    @Test func filesAndMemoryAreLimited() throws {
        let folder = try TemporaryFolder()
        let disk = try run("disk", folder.path("output"))
        #expect(disk == ["EFBIG (File too large)", "exited(0)", ""] || disk == ["File too large", "exited(0)", ""])
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("output"))).count <= 100_000)
        #expect(try run("memory") == ["no memory", "exited(0)", ""])
    }

    @Test func theMemoryOfAWorkerIsKnown() throws {
        let megabytes = try #require(Int(try run("resident")[0]))
        #expect((64..<256).contains(megabytes))
    }

    @Test func messagesAreWholeAndLimited() throws {
        #expect(try run("long") == ["3000000 characters", "exited(0)", ""])
        #expect(try run("endless") == ["isInvalid", "signalled(9)", ""])
    }

    @Test func noOtherDescriptorIsOpen() throws {
        #expect(try run("descriptors") == ["", "exited(0)", ""])
    }
}

/// Jobs of a pool that are done again, and the order in which results are delivered.
@Suite struct WorkerPoolTests {
    private static func run(_ order: String) throws -> [Substring] {
        try Program.run(Program.besideTests("isolationcheck"), ["again", order]).output.split(separator: "\n")
    }

    @Test func jobsAreDoneAgain() throws {
        #expect(try Self.run("ordered") == ["2 again 0", "2 again 1", "0 1 2 3 4"])
    }

    @Test func resultsMayComeAsTheyAreReady() throws {
        let lines = try Self.run("unordered")
        #expect(lines.dropLast() == ["2 again 0", "2 again 1"])
        let delivered = try #require(lines.last?.split(separator: " "))
        #expect(delivered.sorted() == ["0", "1", "2", "3", "4"] && delivered.last == "0")
    }
}
