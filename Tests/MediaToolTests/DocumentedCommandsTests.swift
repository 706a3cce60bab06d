import Foundation
import TestSupport
import Testing

/// Every command that the documents and `--help` show is run as it stands there, on media of the names that it uses.
@Suite struct DocumentedCommandsTests {
    /// The commands of the `sh` and `console` blocks of README.md and of all documents.
    private static let documented: [String] = {
        let documents = (try? FileManager.default.contentsOfDirectory(atPath: Repository.path("docs"))) ?? []
        return (["README.md"] + documents.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }).flatMap {
            name in
            commands(inMarkdown: (try? String(contentsOfFile: Repository.path(name), encoding: .utf8)) ?? "")
        }
    }()

    /// The examples of each command's help, as the program itself gives them.
    private static let examples: [String] = {
        struct Dump: Decodable {
            struct Command: Decodable {
                var discussion: String?
                var subcommands: [Command]?
            }
            var command: Command
        }
        guard let result = try? Program.run(Program.mediatool, ["--experimental-dump-help"]),
            let dump = try? JSONDecoder().decode(Dump.self, from: Data(result.bytes))
        else { return [] }
        return (dump.command.subcommands ?? []).flatMap { commands(inHelp: $0.discussion ?? "") }
    }()

    private static func commands(inMarkdown text: String) -> [String] {
        var found: [String] = []
        var block: String?
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                block = block == nil ? String(line.dropFirst(3)) : nil
            } else if block == "sh", line.contains("mediatool") {
                found.append(String(line))
            } else if block == "console", line.hasPrefix("$ ") {
                found.append(String(line.dropFirst(2)))
            }
        }
        return found
    }

    private static func commands(inHelp text: String) -> [String] {
        guard let examples = text.range(of: "Examples:\n") else { return [] }
        var found: [String] = []
        var goesOn = false
        for line in text[examples.upperBound...].split(separator: "\n") {
            let words = line.drop { $0 == " " }
            if goesOn, let last = found.popLast() {
                found.append(last + "\n" + words)
            } else if line.count - words.count <= 2 {
                found.append(String(words))
            } else {
                // What stands further in says what the command above it does.
                continue
            }
            goesOn = words.hasSuffix("\\") || words.hasSuffix("|")
        }
        return found
    }

    /// Media of all names that the commands use, made once.
    private static let media: Result<TemporaryFolder, any Error> = Result {
        let folder = try TemporaryFolder()
        func film(_ name: String, seconds: Int, rate: Int = 5, _ options: String...) throws {
            let inputs = [
                "-f", "lavfi", "-i", "testsrc2=s=256x144:r=\(rate):d=\(seconds)", "-f", "lavfi", "-i",
                "sine=d=\(seconds):r=8000",
            ]
            let coding = [
                "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "25",
            ]
            _ = try FFmpeg.run(inputs + coding + options + [folder.path(name)])
        }
        // Each as long as the times in the commands want it.
        try film("interview.mov", seconds: 132)
        try film("film.mov", seconds: 121, "-map", "0:v", "-map", "1:a", "-map", "1:a")
        try film("clip.mov", seconds: 25, rate: 25, "-timecode", "01:00:00:00", "-c:a", "aac")
        try FileManager.default.copyItem(atPath: folder.path("clip.mov"), toPath: folder.path("clip.mxf"))
        try folder.copy(fixture: "av.mp4", as: "trailer.mp4")
        try folder.copy(fixture: "mpegts-10s.ts", as: "stream.ts")
        try folder.copy(fixture: "mp3-lame.mp3", as: "talk.mp3")
        try folder.copy(fixture: "flac-s16-stereo.flac", as: "song.flac")
        try folder.copy(fixture: "pcm-s16-stereo.wav", as: "in.wav")
        try folder.copy(fixture: "av.mp4", as: "encoded.mp4")
        try folder.copy(fixture: "av.mp4", as: "master.mov")
        try folder.copy(fixture: "picture.png", as: "draft.png")
        try folder.write("cut.otio", timeline.utf8)
        let policies = try String(contentsOfFile: Repository.path("docs/qc.md"), encoding: .utf8)
        let policy = policies.components(separatedBy: "```yaml\n").dropFirst().first?.components(separatedBy: "```")
            .first
        try folder.write("delivery.yml", (policy ?? "").utf8)
        for arguments in [
            ["waveform", "film.mov", "-o", "film.dat", "--samples-per-pixel", "256"],
            ["proxy", "interview.mov", "-o", "interview-proxy.mov", "--height", "36"],
            ["ingest", "encoded.mp4", "trailer.mp4", "-o", "library", "--recipe", "analyse"],
        ] {
            let result = try Program.run(Program.mediatool, arguments + ["--quiet"], folder: folder.path)
            guard result.status == 0 else { throw TestSupportError("\(arguments): \(result.error)") }
        }
        let recipe = try Program.run(Program.mediatool, ["ingest", "--show-recipe"])
        try folder.write("house.yml", recipe.output.utf8)
        return folder
    }

    /// Twelve seconds of the film, which begin at 01:00:00:00.
    private static let timeline: String = {
        func time(_ frames: Int) -> String { #"{"OTIO_SCHEMA": "RationalTime.1", "value": \#(frames), "rate": 25}"# }
        let tracks = ["Video", "Audio"].map { kind in
            #"""
            {"OTIO_SCHEMA": "Track.1", "kind": "\#(kind)", "children": [{
              "OTIO_SCHEMA": "Clip.1",
              "source_range": {
                "OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(50)), "duration": \#(time(300))
              },
              "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": "film.mov"}
            }]}
            """#
        }
        return #"""
            {"OTIO_SCHEMA": "Timeline.1", "global_start_time": \#(time(90_000)), "tracks": {
              "OTIO_SCHEMA": "Stack.1", "children": [\#(tracks.joined(separator: ", "))]
            }}
            """#
    }()

    private func run(_ command: String) throws {
        let media = try Self.media.get()
        let folder = try TemporaryFolder()
        // What a command makes must not be there; what it reads must.
        let made = ["film.dat", "interview-proxy.mov", "house.yml"].filter {
            command.hasSuffix("-o " + $0) || command.contains("-o \($0) ") || command.hasSuffix("> " + $0)
        }
        for name in try media.names() where !made.contains(name) {
            try FileManager.default.linkItem(atPath: media.path(name), toPath: folder.path(name))
        }
        if command.contains("-o clip.mov") { try FileManager.default.removeItem(atPath: folder.path("clip.mov")) }
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("docs"), withDestinationPath: Repository.path("docs"))
        for program in ["scripts", "bin"] {
            try FileManager.default.createDirectory(atPath: folder.path(program), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(program + "/mediatool"), withDestinationPath: Program.mediatool)
        }
        // The servers of the documents are one that has these files, whatever the folder in the address.
        let server = TestServer { request in
            let name = request.target.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
            let file = ["take.wav": "in.wav", "A%20roll.mov": "clip.mov"][name] ?? name
            return (try? media.bytes(file)).map { .part(of: $0, for: request) } ?? .init(404)
        }
        defer { server.stop() }
        let command = ["media.example", "bucket.example"].reduce(command) {
            $0.replacing("https://\($1)/", with: server.address("/"))
        }
        let path = folder.path("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let result = try Program.run(
            "bash", ["-c", "set -o pipefail; " + command], folder: folder.path,
            environment: ["PATH": path, "AWS_ENDPOINT_URL": server.address("")])
        // A file that breaks a policy's rules has been checked as it should be.
        let allowed: Set<Int32> = command.contains("mediatool qc") ? [0, 1] : [0]
        #expect(allowed.contains(result.status), "\(command): \(result.error)")
        #expect(!result.error.contains("error"), "\(command): \(result.error)")
        let outputs = try folder.names().filter {
            try (made.contains($0) || !media.names().contains($0)) && !["docs", "scripts", "bin"].contains($0)
        }
        #expect(result.output != "" || !outputs.isEmpty, "\(command) does nothing")
    }

    @Test func thereAreCommands() {
        #expect(Self.documented.count > 10 && Self.examples.count > 30)
        #expect(Self.examples.contains("mediatool probe interview.mov"))
        #expect(Self.examples.contains { $0.hasPrefix("sox") && $0.contains("\nmediatool waveform - --raw") })
    }

    /// A line that is broken to fit the screen is another command when it is pasted.
    @Test(arguments: ["probe", "waveform", "thumbs", "proxy", "export", "qc", "ingest"])
    func helpBreaksNoExample(command: String) throws {
        let help = try Program.run(Program.mediatool, [command, "--help"], environment: ["COLUMNS": "80"]).output
        let shown = Set(help.split(separator: "\n").map { $0.drop { $0 == " " } })
        let examples = Self.examples.filter { $0.contains("mediatool \(command) ") }
        #expect(!examples.isEmpty)
        for line in examples.flatMap({ $0.split(separator: "\n") }) { #expect(shown.contains(line), "\(line)") }
    }

    @Test(arguments: documented) func ofTheDocuments(command: String) throws { try run(command) }

    @Test(arguments: examples) func ofTheHelp(command: String) throws { try run(command) }
}
