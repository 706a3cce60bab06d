import Foundation
import TestSupport
import Testing

/// Lists of files, through the program.
@Suite struct FilesFromTests {
    private static func run(
        _ arguments: [String], input: String = "", folder: TemporaryFolder, environment: [String: String] = [:]
    ) throws -> Program.Result {
        try Program.run(
            Program.mediatool, arguments, input: Array(input.utf8), folder: folder.path, environment: environment)
    }

    private static func folder(_ names: [String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in names { try folder.copy(fixture: "pcm-u8-mono.wav", as: name) }
        return folder
    }

    /// The paths of lines of JSON, in order of their names.
    private static func paths(_ output: String) throws -> [String] {
        try output.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["path"] as? String ?? ""
        }.sorted()
    }

    @Test func everyCommandTakesLists() throws {
        let names = ["a.wav", "# b.wav"]
        let folder = try Self.folder(names)
        try folder.write("list", (names.joined(separator: "\n") + "\n").utf8)
        for arguments in [
            ["probe"], ["waveform", "-o", "{stem}.dat"], ["export", "-o", "out-{stem}.wav"], ["qc"],
            ["ingest", "-o", "library"],
        ] {
            let result = try Self.run(arguments + ["--files-from", "list", "--jsonl"], folder: folder)
            #expect([0, 1].contains(result.status), "\(arguments): \(result.error)")
            #expect(try Self.paths(result.output) == names.sorted())
        }
        #expect(try folder.names().filter { $0.hasPrefix("out-") || $0.hasSuffix(".dat") }.count == 4)
        #expect(
            names.allSatisfy { FileManager.default.fileExists(atPath: folder.path("library/\($0)/manifest.json")) })
    }

    @Test func listsComeThroughPipesAndBesideFiles() throws {
        let folder = try Self.folder(["a.wav", "b.wav", "c.wav"])
        let result = try Self.run(
            ["probe", "--jsonl", "--files-from", "-", "-0", "c.wav"], input: "a.wav\0b.wav\0", folder: folder)
        #expect(result.status == 0)
        #expect(try Self.paths(result.output) == ["a.wav", "b.wav", "c.wav"])
        #expect(try Self.run(["probe", "--files-from=-", "-"], folder: folder).status == 64)
    }

    /// A list of one file, or of none, is printed as other lists are.
    @Test func theFormDoesNotDependOnTheNumber() throws {
        let folder = try Self.folder(["a.wav"])
        for (input, count) in [("", 0), ("a.wav", 1)] {
            let result = try Self.run(["probe", "--json", "--files-from", "-"], input: input, folder: folder)
            let array = try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [Any]
            #expect(result.status == 0 && array?.count == count)
        }
        let nothing = try Self.run(["proxy", "-o", "{stem}.mov", "--files-from", "-"], folder: folder)
        #expect(nothing.status == 0 && nothing.bytes.isEmpty && nothing.error.isEmpty)
    }

    @Test func partsAreTheTasks() throws {
        let names = (0..<20).map { "\($0).wav" }
        let folder = try Self.folder(names)
        try folder.write("list", names.joined(separator: "\n").utf8)
        var found: [String] = []
        for task in 1...3 {
            let result = try Self.run(
                ["probe", "--jsonl", "--files-from", "list", "--shard", "auto/3", "--shard-base", "1"], folder: folder,
                environment: ["SLURM_ARRAY_TASK_ID": "\(task)"])
            let other = try Self.run(
                ["probe", "--jsonl", "--files-from", "list", "--shard", "\(task - 1)/3"], folder: folder,
                environment: ["SLURM_ARRAY_TASK_ID": "77"])
            #expect(result.status == 0 && result.bytes.count == other.bytes.count)
            found += try Self.paths(result.output)
        }
        #expect(found.sorted() == names.sorted())
    }

    @Test(arguments: [
        ["--files-from", "missing"], ["--shard", "0/2", "a.wav"], ["--null", "a.wav"], ["--shard-base", "1", "a.wav"],
        ["--files-from", "list", "--shard", "2/2"], ["--files-from", "list", "--shard", "auto/2"],
        ["--files-from", "list", "--shard", "0/2", "--shard-base", "1"],
        ["--files-from", "list", "--shard", "0/2", "a.wav"],
        ["--files-from", "list", "--retries", "101"], ["--files-from", "twice"],
    ])
    func errors(arguments: [String]) throws {
        let folder = try Self.folder(["a.wav"])
        try folder.write("list", "a.wav\n".utf8)
        try folder.write("twice", "a.wav\n./a.wav\n".utf8)
        let result = try Self.run(["waveform", "-o", "{stem}.dat"] + arguments, folder: folder)
        #expect(result.status == (arguments.contains("missing") ? 2 : 64) && result.errorLines.count == 1)
        #expect(try folder.names() == ["a.wav", "list", "twice"])
    }

    @Test func progressTellsOfAllFiles() throws {
        let names = (0..<5).map { "\($0).wav" }
        let folder = try Self.folder(names)
        try folder.write("broken.wav", "RIFF".utf8)
        let list = (["broken.wav"] + names).joined(separator: "\n")
        let result = try Self.run(
            ["waveform", "-o", "{stem}.dat", "--progress", "always", "--files-from", "-"], input: list, folder: folder)
        #expect(result.status == 2)
        #expect(result.error.contains("6 files, 1 done  ["))
    }

    @Test func progressForPrograms() throws {
        let folder = try Self.folder(["0.wav", "1.wav"])
        try folder.write("broken.wav", "RIFF".utf8)
        let result = try Self.run(
            ["waveform", "-o", "{stem}.dat", "--progress", "json", "--files-from", "-"],
            input: "broken.wav\n0.wav\n1.wav", folder: folder)
        #expect(result.status == 2)
        let lines = result.errorLines.filter { $0.hasPrefix(#"{"progress":"#) }
        #expect(lines.count == result.errorLines.count - 1)
        struct Line: Decodable {
            struct Progress: Decodable {
                let fraction, elapsedSeconds: Double
                let files, filesDone, filesFailed: Int
                let mediaSeconds: Double
            }
            let progress: Progress
        }
        let reports = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)).progress }
        let last = try #require(reports.last)
        #expect(reports.count >= 2 && last.fraction == 1 && last.mediaSeconds > 0)
        #expect(last.files == 3 && last.filesDone == 3 && last.filesFailed == 1)
    }
}
