import Foundation
import TestSupport
import Testing

/// Text in contact sheets and waveforms through the program, in the sandbox and without it.
@Suite struct TextInPicturesTests {
    private struct Manifest: Decodable {
        var missingCharacters: [String]?
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func thumbs(
        _ name: String, _ options: [String] = [], environment: [String: String] = [:]
    ) throws -> Program.Result {
        try Program.run(
            Program.mediatool,
            ["thumbs", "--contact-sheet", "--count", "2", "--width", "200", "-o", "{stem}.png", "--force"] + options
                + [name], folder: folder.path, environment: environment)
    }

    private func movie(_ name: String) throws -> String {
        try FileManager.default.copyItem(atPath: Repository.sampleMovie, toPath: folder.path(name))
        return name
    }

    /// The header of a sheet, in grey: the first line of text.
    private func header(_ sheet: String) throws -> [UInt8] {
        try FFmpeg.run(["-i", folder.path(sheet), "-vf", "crop=iw:24:0:0", "-pix_fmt", "gray", "-f", "rawvideo", "-"])
    }

    /// A configuration without fonts.
    private func noFonts() throws -> [String: String] {
        let settings = "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig></fontconfig>"
        return ["FONTCONFIG_FILE": try folder.write("fonts.conf", Array(settings.utf8))]
    }

    @Test(arguments: ["会議", "مقابلة", "🎬 😀", "Cafe\u{301} Z\u{335}a\u{30A}\u{323}", "plain"])
    func namesOfAnyScript(name: String) throws {
        let file = try movie(name + ".mkv")
        let inside = try thumbs(file)
        #expect(inside.status == 0 && inside.error.isEmpty, "\(inside.error)")
        let sheet = try folder.bytes(name + ".png")
        #expect(try header(name + ".png").contains { $0 > 200 })
        let free = try thumbs(file, ["--no-sandbox"])
        #expect(free.status == 0 && free.error.isEmpty, "\(free.error)")
        #expect(try folder.bytes(name + ".png") == sheet)
    }

    @Test func missingCharactersAreOneWarningOfARun() throws {
        let first = try movie("a\u{E123}.mkv")
        let second = try movie("b\u{E123}\u{E124}.mkv")
        let result = try thumbs(first, [second, "--jsonl"])
        #expect(result.status == 0)
        try #require(result.errorLines.count == 1, "\(result.error)")
        #expect(result.errorLines[0].hasPrefix("mediatool: warning: no installed font has U+E123, U+E124; boxes"))
        let manifests = try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Manifest.self, from: Data($0.utf8))
        }
        #expect(manifests.map(\.missingCharacters) == [["\u{E123}", "\u{E124}"], ["\u{E123}"]])
        #expect(try thumbs(first, ["--quiet"]).error.isEmpty)
        #expect(try thumbs(movie("c.mkv"), ["--jsonl"]).output.contains("missingCharacters") == false)
    }

    @Test func namesCannotChangeOtherText() throws {
        // An override of the direction, a line break and a byte that is not UTF-8.
        let file = try movie("a\u{202E}b\nc.mkv")
        #expect(try thumbs(file).status == 0)
        let shown = try header("a\u{202E}b\nc.png")
        _ = try movie("a\\u202eb\\nc.mkv")
        #expect(try thumbs("a\\u202eb\\nc.mkv").status == 0)
        #expect(try header("a\\u202eb\\nc.png") == shown)
    }

    @Test(arguments: [[], ["--no-sandbox"]])
    func withoutFontsTextIsAnErrorThatNamesThem(options: [String]) throws {
        let environment = try noFonts()
        let sheet = try thumbs(movie("a.mkv"), options + ["--json"], environment: environment)
        #expect(sheet.status == 2)
        #expect(
            sheet.error == """
                mediatool: a.mkv: text cannot be drawn, because no font is installed: install one, such as Debian's \
                fonts-dejavu-core

                """)
        #expect(sheet.output.contains("\"code\": \"unsupported\""))
        #expect(try folder.names() == ["a.mkv", "fonts.conf"])
        let plain = try thumbs("a.mkv", options + ["--no-header", "--no-timestamps"], environment: environment)
        #expect(plain.status == 0 && plain.error.isEmpty)
        func waveform(_ arguments: [String]) throws -> Program.Result {
            try Program.run(
                Program.mediatool, ["waveform", Repository.sampleMovie] + arguments + options, folder: folder.path,
                environment: environment)
        }
        let picture = try waveform(["-o", "a.dat", "-o", "w.png"])
        #expect(picture.status == 2 && picture.errorLines.count == 1)
        #expect(picture.error.contains("w.png: text cannot be drawn"))
        #expect(try folder.names() == ["a.dat", "a.mkv", "a.png", "fonts.conf"])
        // The file names its font; a picture without an axis has no text.
        let others = try waveform(["-o", "b.svg"])
        #expect(others.status == 0 && others.error.isEmpty)
        #expect(try String(decoding: folder.bytes("b.svg"), as: UTF8.self).contains("</text>"))
        #expect(try waveform(["-o", "c.png", "--no-axis"]).status == 0)
    }

    /// fontconfig cannot write its caches from the sandbox, and says so of each folder; nobody is to read that.
    @Test func fontsWithoutCachesAreNoMessage() throws {
        let settings = """
            <?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
            <fontconfig><dir>/usr/share/fonts</dir><cachedir>/nowhere</cachedir></fontconfig>
            """
        let environment = ["FONTCONFIG_FILE": try folder.write("fonts.conf", Array(settings.utf8))]
        let result = try thumbs(movie("会議.mkv"), environment: environment)
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
    }
}
