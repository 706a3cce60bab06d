import Foundation
import TestSupport
import Testing

/// Where outputs and messages go: not to other folders than named, not into inputs, and into pipes too.
@Suite struct FoldersAndPipesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, arguments, folder: folder.path, seconds: 60)
    }

    private func shell(_ script: String) throws -> Program.Result {
        try Program.run("sh", ["-c", script, Program.mediatool], folder: folder.path, seconds: 60)
    }

    /// The stems of these are `..` and `.`, which are folders.
    @Test(arguments: ["...mp4", "..mp4"]) func aStemIsNotAFolder(name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path("in"), withIntermediateDirectories: false)
        try folder.copy(fixture: "av.mp4", as: "in/" + name)
        for command in [
            ["thumbs", "--at", "0", "-o", "out/{stem}/{index}.png"], ["thumbs", "--at", "0", "-o", "out/{stem}/"],
            ["waveform", "-o", "out/{stem}/a.dat"], ["export", "-o", "out/{stem}/a.mov"],
            ["proxy", "-o", "out/{stem}/a.mov"],
            ["thumbs", "--sprite", "--count", "2", "-o", "a.png", "--vtt", "{stem}/a.vtt"],
        ] {
            let result = try run(command + ["in/" + name])
            #expect(result.status == 64, "\(command): \(result.error)")
            #expect(result.error.contains("{stem}"), "\(command): \(result.error)")
        }
        #expect(try folder.names() == ["in"])
        // As a part of a name they are names.
        let taken = try run(["thumbs", "--at", "0", "-o", "{stem}-{index}.png", "in/" + name])
        #expect(taken.status == 0, "\(taken.error)")
        #expect(try folder.names() == ["..-001.png", "in"] || folder.names() == [".-001.png", "in"])
    }

    @Test(arguments: [
        #"probe in.mp4 2>>in.mp4"#, #"probe --no-such-option in.mp4 2>>in.mp4"#, #"probe ./in.mp4 2>>link.mp4"#,
        #"waveform in.mp4 -o out.dat --strict 2>>in.mp4"#, #"probe - <in.mp4 2>>in.mp4"#,
        #"qc clean.mp4 --reference=in.mp4 2>>in.mp4"#, #"qc clean.mp4 --reference in.mp4 2>>in.mp4"#,
    ])
    func messagesDoNotGoIntoAnInput(command: String) throws {
        let bytes = Array(try Fixtures.bytes("av.mp4").prefix(40_000))
        try folder.write("in.mp4", bytes)
        try folder.copy(fixture: "av.mp4", as: "clean.mp4")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.mp4"), withDestinationPath: "in.mp4")
        #expect(try shell("\"$0\" " + command).status == 64)
        #expect(try folder.bytes("in.mp4") == bytes)
        #expect(try folder.names() == ["clean.mp4", "in.mp4", "link.mp4"])
        // Any other file takes messages.
        let other = try shell(#""$0" probe missing.mp4 2>>messages; cat messages"#)
        #expect(other.output.contains("no such file"))
    }

    /// A file through a pipe is the file that is written otherwise.
    @Test(arguments: ["export --copy in.mp4 -o X.mov", "export in.mp4 -o X.mkv", "proxy in.mp4 -o X.mp4"])
    func mediaGoesThroughPipes(command: String) throws {
        try folder.copy(fixture: "av.mp4", as: "in.mp4")
        let ending = command.suffix(4)
        let through = command.replacingOccurrences(of: "X", with: "pipe")
        let plain = command.replacingOccurrences(of: "X", with: "plain")
        let result = try shell(
            "mkfifo pipe\(ending); cat pipe\(ending) >got & \"$0\" \(through); s=$?; wait; exit $s")
        #expect(result.status == 0, "\(result.error)")
        #expect(try run(plain.split(separator: " ").map(String.init)).status == 0)
        let file = try folder.bytes("plain\(ending)")
        #expect(try folder.bytes("got") == file && !file.isEmpty)
        #expect(try folder.names() == ["got", "in.mp4", "pipe\(ending)", "plain\(ending)"])
    }

    @Test func aReaderOfAPipeMayLeave() throws {
        try folder.copy(fixture: "av.mp4", as: "in.mp4")
        let result = try shell(
            #"mkfifo p.mov; head -c 10 p.mov >/dev/null & "$0" export in.mp4 -o p.mov; s=$?; wait; exit $s"#)
        #expect([0, 2].contains(result.status) && result.errorLines.count <= 1, "\(result.error)")
    }

    /// A file on standard input is read from its beginning, whoever has read of it; of a pipe the rest is no timeline.
    @Test func aTimelineThatWasPartlyRead() throws {
        try folder.copy(fixture: "av.mp4", as: "in.mp4")
        let clip =
            #"{"OTIO_SCHEMA":"Clip.1","source_range":{"OTIO_SCHEMA":"TimeRange.1","start_time":"#
            + #"{"OTIO_SCHEMA":"RationalTime.1","rate":25,"value":0},"duration":"#
            + #"{"OTIO_SCHEMA":"RationalTime.1","rate":25,"value":10}},"media_reference":"#
            + #"{"OTIO_SCHEMA":"ExternalReference.1","target_url":"in.mp4"}}"#
        let track = #"{"OTIO_SCHEMA":"Track.1","kind":"Video","children":["# + clip + "]}"
        let text = #"{"OTIO_SCHEMA":"Timeline.1","tracks":{"OTIO_SCHEMA":"Stack.1","children":["# + track + "]}}"
        try folder.write("t.otio", text.utf8)
        let file = try shell(#"(dd bs=10 count=1 of=skipped 2>skipped; "$0" export - -o a.mov) <t.otio"#)
        #expect(file.status == 0, "\(file.error)")
        let pipe = try shell(#"cat t.otio | (dd bs=10 count=1 of=skipped 2>skipped; "$0" export - -o b.mov)"#)
        #expect(pipe.status == 2 && pipe.errorLines.count == 1, "\(pipe.error)")
        #expect(try folder.names() == ["a.mov", "in.mp4", "skipped", "t.otio"])
    }
}
