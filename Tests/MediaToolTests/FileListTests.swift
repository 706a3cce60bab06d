import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import mediatool

/// Lists of files and their parts.
@Suite struct FileListTests {
    private static func names(
        _ text: [UInt8], separator: Character = "\n", shard: Shard? = nil, chunk: Int = .max
    ) throws -> [FilePath] {
        var list = FileList(separator: separator.asciiValue ?? 0, shard: shard)
        var place = 0
        while place < text.count {
            let count = min(chunk, text.count - place)
            try list.add(Array(text[place..<place + count]))
            place += count
        }
        try list.finish()
        return list.files.map(\.path)
    }

    @Test(arguments: [1, 2, 3, 7, 1000]) func linesAreNames(chunk: Int) throws {
        let text = "a.mov\n\n# no comment.mov\n two words .mov\r\n\n-\n--jobs\nlast"
        let wanted: [FilePath] = ["a.mov", "# no comment.mov", " two words .mov\r", "./-", "--jobs", "last"]
        #expect(try Self.names(Array(text.utf8), chunk: chunk) == wanted)
    }

    @Test func namesAreBytes() throws {
        var list = FileList(separator: 10, shard: nil)
        try list.add([0x61, 0xFF, 0xC3, 0x2E, 10])
        // In base64.
        #expect(list.files.map(\.nameBytes) == ["Yf/DLg=="])
        #expect(try Self.names(Array("two\nlines\0b\0".utf8), separator: "\0") == ["two\nlines", "b"])
        #expect(try Self.names([]) == [] && Self.names([10, 10]) == [])
    }

    @Test func addressesAreAddresses() throws {
        var list = FileList(separator: 10, shard: nil)
        try list.add(Array("https://a.example/x.mov?sig=1\n./https:x\n".utf8))
        #expect(list.files.map(\.isRemote) == [true, false])
    }

    @Test func whatIsNoListIsRefused() {
        for text in ["a\0b\n", String(repeating: "x", count: 70_000), String(repeating: "x", count: 70_000) + "\n"] {
            let error = #expect(throws: MediaError.self) { try Self.names(Array(text.utf8), chunk: 4096) }
            #expect(error?.code == .invalidArgument)
        }
    }

    /// The vectors of Fowler, Noll and Vo's own test suite for FNV-1a with 64 bits.
    @Test(
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("b", 0xAF63_DF4C_8601_F1A5),
            ("foobar", 0x8594_4171_F739_67E8), ("chongo was here!\n", 0x4681_0940_EFF5_F915),
        ] as [(String, UInt64)])
    func hashesAreFNVs(_ text: String, _ wanted: UInt64) {
        #expect(Shard.hash(text.utf8) == wanted)
    }

    @Test(arguments: [1, 2, 7, 1000]) func partsMakeUpTheList(count: Int) throws {
        let lines = (0..<2000).map { "folder \($0 % 17)/film \($0).mov" }
        let text = Array(lines.joined(separator: "\n").utf8)
        let parts = try (0..<count).map { try Self.names(text, shard: Shard(index: $0, count: count)) }
        #expect(Set(parts.joined()) == Set(lines.map { FilePath($0) }) && parts.map(\.count).reduce(0, +) == 2000)
        // One more line moves no other, wherever it stands.
        let more = Array(("new.mov\n" + lines.joined(separator: "\n")).utf8)
        for index in 0..<min(count, 10) {
            let with = try Self.names(more, shard: Shard(index: index, count: count))
            #expect(with.filter { $0 != "new.mov" } == parts[index])
        }
        // Even enough to be of use.
        if count == 7 { #expect(parts.allSatisfy { (200...400).contains($0.count) }) }
    }

    @Test func tasksTakeTheirParts() throws {
        func part(_ text: String, base: Int = 0, _ variables: [String: String]) throws -> Int {
            try ShardArgument(parsing: text).shard(base: base) { variables[$0] }.index
        }
        #expect(try part("3/16", ["SLURM_ARRAY_TASK_ID": "5"]) == 3)
        #expect(try part("auto/16", ["SLURM_ARRAY_TASK_ID": "5"]) == 5)
        #expect(try part("auto/16", ["JOB_COMPLETION_INDEX": "0"]) == 0)
        #expect(try part("auto/16", ["AWS_BATCH_JOB_ARRAY_INDEX": "15", "JOB_COMPLETION_INDEX": ""]) == 15)
        #expect(try part("auto/16", base: 1, ["SLURM_ARRAY_TASK_ID": "16"]) == 15)
        let wrong: [(Int, [String: String])] = [
            (0, [:]), (0, ["SLURM_ARRAY_TASK_ID": "16"]), (1, ["SLURM_ARRAY_TASK_ID": "0"]),
            (0, ["SLURM_ARRAY_TASK_ID": "x"]), (0, ["JOB_COMPLETION_INDEX": "-1"]),
            (0, ["JOB_COMPLETION_INDEX": "99999999999999999999"]), (Int.min, ["JOB_COMPLETION_INDEX": "1"]),
        ]
        for (base, variables) in wrong {
            let error = #expect(throws: MediaError.self) { try part("auto/16", base: base, variables) }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test(arguments: [
        "", "/", "1", "1/", "/2", "2/2", "-1/2", "+1/2", "0/0", "0/-1", "x/2", "1/2/3", "auto", "auto/0", "1 /2",
    ])
    func otherPartsAreUsageErrors(text: String) {
        let error = #expect(throws: MediaError.self) { try ShardArgument(parsing: text) }
        #expect(error?.code == .invalidArgument)
    }
}
