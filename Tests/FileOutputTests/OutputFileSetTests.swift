import Foundation
import Glibc
import MediaBase
import SystemCalls
import SystemPackage
import Testing

@testable import FileOutput

@Suite struct OutputFileSetTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func expectCode(
        _ code: MediaError.Code, _ work: () throws -> Void, at location: SourceLocation = #_sourceLocation
    ) {
        #expect(sourceLocation: location) { try work() } throws: { ($0 as? MediaError)?.code == code }
    }

    @Test func appearsWholeAtTheCommit() throws {
        // As on a file system without unnamed files.
        let outputs = OutputFileSet(force: false, inputs: [], pending: PendingOutputs(usesUnnamed: false))
        let file = try outputs.begin(scratch("a.dat"))
        try file.write("half")
        #expect(try scratch.names().count == 1)
        let temporary = try #require(try scratch.names().first)
        #expect(temporary.hasPrefix(".a.dat.") && temporary.hasSuffix(".partial"))
        try file.write(contentsOf: Array(" whole".utf8))
        try outputs.commit()
        #expect(try scratch.names() == ["a.dat"])
        #expect(try scratch.text(of: "a.dat") == "half whole")
        expectCode(.invalidArgument) { try file.write("more") }
    }

    @Test func doesNotReplace() throws {
        try scratch.write("old", to: "a.dat")
        expectCode(.alreadyExists) { _ = try OutputFileSet(force: false, inputs: []).begin(scratch("a.dat")) }

        let file = try OutputFileSet(force: false, inputs: []).begin(scratch("b.dat"))
        try file.write("new")
        try scratch.write("came meanwhile", to: "b.dat")
        expectCode(.alreadyExists) { try file.commit() }
        #expect(try scratch.text(of: "b.dat") == "came meanwhile")
        #expect(try scratch.names() == ["a.dat", "b.dat"])
    }

    @Test func replacesWithForceAndKeepsThePermissions() throws {
        try scratch.write("old", to: "a.dat")
        #expect(chmod(scratch("a.dat").string, 0o640) == 0)
        let outputs = OutputFileSet(force: true, inputs: [])
        let file = try outputs.begin(scratch("a.dat"))
        try file.write("new")
        #expect(try scratch.text(of: "a.dat") == "old")
        try outputs.commit()
        #expect(try scratch.text(of: "a.dat") == "new")
        #expect(try Stat(scratch("a.dat")).permissions.rawValue == 0o640)
    }

    @Test func neverReplacesAnInput() throws {
        try scratch.write("input", to: "in.wav")
        #expect(link(scratch("in.wav").string, scratch("hard.wav").string) == 0)
        try scratch.link("soft.wav", to: "in.wav")
        let identity = try #require(FileIdentity(of: scratch("in.wav")))
        let outputs = OutputFileSet(force: true, inputs: [identity])
        for name in ["in.wav", "hard.wav", "soft.wav"] {
            expectCode(.invalidArgument) { _ = try outputs.begin(scratch(name)) }
        }
        let file = try outputs.begin(scratch("out.wav"))
        #expect(link(scratch("in.wav").string, scratch("out.wav").string) == 0)
        expectCode(.invalidArgument) { try file.commit() }
        #expect(try scratch.text(of: "out.wav") == "input")
        #expect(try scratch.names() == ["hard.wav", "in.wav", "out.wav", "soft.wav"])
    }

    @Test func aLinkStaysALink() throws {
        #expect(mkdir(scratch("far").string, 0o777) == 0)
        try scratch.link("near.dat", to: "far/real.dat")
        try scratch.link("nearer.dat", to: scratch("near.dat").string)
        let first = OutputFileSet(force: false, inputs: [])
        try first.begin(scratch("nearer.dat")).write("1")
        #expect(try scratch.names() == ["far", "near.dat", "nearer.dat"])
        try first.commit()
        #expect(try scratch.text(of: "far/real.dat") == "1")
        #expect(try Stat(scratch("near.dat"), followTargetSymlink: false).type == .symbolicLink)
        expectCode(.alreadyExists) { _ = try OutputFileSet(force: false, inputs: []).begin(scratch("near.dat")) }
        try scratch.link("round.dat", to: "round.dat")
        expectCode(.invalidArgument) { _ = try first.begin(scratch("round.dat")) }
    }

    @Test func nothingRemainsOfWhatIsDiscarded() throws {
        let outputs = OutputFileSet(force: false, inputs: [])
        let first = try outputs.begin(scratch("a"))
        try first.write("a")
        _ = try outputs.begin(scratch("b"))
        outputs.discard()
        #expect(try scratch.names().isEmpty)
        do {
            let forgotten = OutputFileSet(force: false, inputs: [])
            try forgotten.begin(scratch("c")).write("c")
        }
        #expect(try scratch.names().isEmpty)
    }

    @Test func aSignalRemovesWhatIsPending() throws {
        let pending = PendingOutputs()
        let outputs = OutputFileSet(force: false, inputs: [], pending: pending)
        let file = try outputs.begin(scratch("a"))
        let done = try outputs.begin(scratch("b"))
        try done.commit()
        #expect(pending.count == 1)
        var isLast = false
        pending.removeAll { isLast = true }
        #expect(isLast)
        #expect(pending.count == 0)
        #expect(try scratch.names() == ["b"])
        expectCode(.cancelled) { try file.commit() }
        #expect(try scratch.names() == ["b"])
    }

    @Test func theRestIsCommittedThoughOneCannotBe() throws {
        let outputs = OutputFileSet(force: false, inputs: [])
        for name in ["a", "b", "c"] { try outputs.begin(scratch(name)).write(name) }
        try scratch.write("taken", to: "b")
        expectCode(.alreadyExists) { try outputs.commit() }
        #expect(try scratch.names() == ["a", "b", "c"])
        #expect(try scratch.text(of: "b") == "taken")
        #expect(try scratch.text(of: "c") == "c")
    }

    @Test func twoOutputsOfARunMayNotHaveOneName() throws {
        let outputs = OutputFileSet(force: true, inputs: [])
        #expect(mkdir(scratch("d").string, 0o777) == 0)
        _ = try outputs.begin(scratch("a"))
        expectCode(.invalidArgument) { _ = try outputs.setForAnotherJob().begin(scratch("d/../a")) }
    }

    @Test func theLongestNameWorks() throws {
        // 255 bytes, the cut falling into the two-byte character é.
        let name = "a" + String(repeating: "é", count: 127)
        let outputs = OutputFileSet(force: false, inputs: [], pending: PendingOutputs(usesUnnamed: false))
        try outputs.begin(scratch(name)).write("x")
        let temporary = try #require(try scratch.names().first)
        #expect(temporary.utf8.count <= 255)
        #expect(temporary.hasSuffix(".partial") && !temporary.contains("\u{FFFD}"))
        try outputs.commit()
        #expect(try scratch.text(of: name) == "x")
        expectCode(.invalidArgument) { _ = try outputs.begin(scratch(name + "e")) }
        #expect(try scratch.names().count == 1)
    }

    @Test func aNameThatIsNotUTF8Works() throws {
        let path = FilePath(bytes: scratch.folder.bytes + Array("/caf".utf8) + [0xE9])
        let outputs = OutputFileSet(force: false, inputs: [])
        try outputs.begin(path).write("x")
        try outputs.commit()
        #expect(try Stat(path).size == 1)
    }

    @Test func aFIFOIsWrittenDirectly() throws {
        let path = scratch("pipe")
        #expect(mkfifo(path.string, 0o666) == 0)
        let reader = try FileDescriptor.open(path, .readOnly, options: .nonBlocking)
        let outputs = OutputFileSet(force: false, inputs: [])
        let file = try outputs.begin(path)
        #expect(!file.isReplaced)
        try file.write("through")
        var buffer = [UInt8](repeating: 0, count: 16)
        let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
        #expect(Array(buffer.prefix(count)) == Array("through".utf8))
        try outputs.commit()
        try reader.close()
        #expect(try Stat(path, followTargetSymlink: false).type == .fifo)
    }

    @Test func aClosedPipeIsAnError() throws {
        ignoreWriteSignals()
        let path = scratch("pipe")
        #expect(mkfifo(path.string, 0o666) == 0)
        let reader = try FileDescriptor.open(path, .readOnly, options: .nonBlocking)
        let file = try OutputFileSet(force: false, inputs: []).begin(path)
        try reader.close()
        expectCode(.brokenPipe) { try file.write("nobody") }
    }

    @Test func devicesAreWrittenDirectly() throws {
        let null = try #require(FileIdentity(of: "/dev/null"))
        let outputs = OutputFileSet(force: false, inputs: [null])
        try outputs.begin("/dev/null").write("x")
        let full = try outputs.begin("/dev/full")
        #expect { try full.write("x") } throws: { error in
            let error = error as? MediaError
            return error?.code == .inputOutput && error?.message.contains("disk is full") == true
                && error?.path == "/dev/full"
        }
        try outputs.commit()
        #expect(try Stat("/dev/null").type == .characterSpecial)
    }

    @Test func whatCannotBeWrittenIsRefusedAtOnce() throws {
        let outputs = OutputFileSet(force: true, inputs: [])
        try scratch.write("", to: "file")
        expectCode(.notFound) { _ = try outputs.begin(scratch("missing/a")) }
        expectCode(.notFound) { _ = try outputs.begin(scratch("file/a")) }
        expectCode(.notAFile) { _ = try outputs.begin(scratch.folder) }
        expectCode(.invalidArgument) { _ = try outputs.begin("") }
        #expect(try scratch.names() == ["file"])
    }

    @Test func oneOfTwoRacingWritersWins() async throws {
        for round in 0..<50 {
            let path = scratch("r\(round)")
            let files = try (0..<2).map { _ in try OutputFileSet(force: false, inputs: []).begin(path) }
            for (index, file) in files.enumerated() { try file.write("\(index)") }
            let won = await withTaskGroup(of: Int?.self) { group in
                for (index, file) in files.enumerated() {
                    group.addTask { (try? file.commit()) == nil ? nil : index }
                }
                return await group.reduce(into: [Int]()) { $0 += [$1].compactMap(\.self) }
            }
            #expect(won.count == 1)
            #expect(try scratch.text(of: "r\(round)") == won.first.map(String.init))
        }
        #expect(try scratch.names().count == 50)
    }

    /// Runs that write the same two names at once: both are of one run, whoever comes last.
    @Test(arguments: [true, false]) func bothOfTwoOutputsAreOfOneRun(force: Bool) async throws {
        for round in 0..<15 {
            let paths = ["a\(round)", "b\(round)"].map { scratch($0) }
            await withTaskGroup(of: Void.self) { group in
                for run in 0..<8 {
                    group.addTask {
                        let outputs = OutputFileSet(force: force, inputs: [], pending: PendingOutputs())
                        do {
                            // In whichever order they are named.
                            for path in run % 2 == 0 ? paths : paths.reversed() {
                                try outputs.begin(path).write("\(run)")
                            }
                            try outputs.commit()
                        } catch {
                            outputs.discard()
                        }
                    }
                }
            }
            let texts = try paths.map { try scratch.text(of: $0.lastComponent?.string ?? "") }
            #expect(texts[0] == texts[1], "round \(round)")
        }
    }

    @Test func aWholeSetIsNotPutInPlaceInPart() throws {
        let outputs = OutputFileSet(force: false, inputs: []).setForAnotherJob(isWhole: true)
        for name in ["a", "b", "c"] { try outputs.put([1], at: scratch(name)) }
        try scratch.write("came meanwhile", to: "b")
        expectCode(.alreadyExists) { try outputs.commit() }
        #expect(try scratch.names() == ["b"])
        #expect(try scratch.text(of: "b") == "came meanwhile")
    }

    @Test func outputsTogetherHaveNoMoreBytesThanAllowed() throws {
        let outputs = OutputFileSet(force: false, inputs: []).limited(to: OutputAllowance { 10 })
        let (first, second) = (try outputs.begin(scratch("a")), try outputs.setForAnotherJob().begin(scratch("b")))
        try first.write("123456")
        expectCode(.outputLimit) { try second.write("12345") }
        expectCode(.outputLimit) { try first.complete(with: [1, 2, 3, 4, 5]) }
        first.discard()
        second.discard()
        #expect(try scratch.names() == [])
    }

    /// What goes back in its output is written to a FIFO when it is complete.
    @Test func whatGoesBackReachesAFIFOInTheEnd() throws {
        let path = scratch("fifo")
        #expect(mkfifo(path.string, 0o600) == 0)
        let reader = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking])
        defer { try? reader.close() }
        let outputs = OutputFileSet(force: false, inputs: [])
        let file = try outputs.begin(path, goesBack: true)
        try file.write("-whole")
        try writeAll([UInt8(ascii: "a")].span, to: file.descriptor, at: 0)
        let readable = try #require(file.readablePath)
        #expect(try String(contentsOfFile: readable.string, encoding: .utf8) == "awhole")
        #expect(throws: Errno.self) { try readSome(from: reader, atMost: 10) }
        try outputs.commit()
        #expect(try readSome(from: reader, atMost: 10) == Array("awhole".utf8))
        #expect(try readSome(from: reader, atMost: 10) == [])
    }

    @Test func renamingByLinkDoesNotReplace() throws {
        try scratch.write("new", to: "a")
        try scratch.write("old", to: "b")
        #expect(throws: Errno.fileExists) { try renameByLinking(scratch("a"), to: scratch("b")) }
        try renameByLinking(scratch("a"), to: scratch("c"))
        #expect(try scratch.names() == ["b", "c"])
        #expect(try scratch.text(of: "c") == "new")
    }
}
