import Foundation
import TestSupport
import Testing

/// Names and metadata that want to be more than text: nothing of them reaches a terminal as it is.
@Suite struct ForeignTextTests {
    /// Clears the screen, sets the window's title, turns the text around, ends the line; C0, C1 and what Unicode has.
    private static let title =
        "T\u{1B}[2J\u{1B}]0;x\u{7}\u{9B}1m\u{202E}r\u{2066}l\u{200F}\na.mov: pass (policy forged)"
    private static let shown = #"T\x1b[2J\x1b]0;x\x07\x9b1m\u202er\u2066l\u200f\na.mov: pass (policy forged)"#

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("=1+1\u{1B}[2J\nok.mkv: pass (policy forged).mkv")
        _ = try FFmpeg.run([
            "-i", Fixtures.path("aac.mkv"), "-c", "copy", "-metadata", "title=\(Self.title)", "file:" + path,
        ])
    }

    private func run(_ arguments: [String]) throws -> Program.Result {
        let result = try Program.run(Program.mediatool, arguments, folder: folder.path)
        for bytes in [result.bytes, result.errorBytes] {
            let text = String(decoding: bytes, as: UTF8.self).unicodeScalars
            let isPlain = text.allSatisfy { $0 == "\n" || $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
            #expect(isPlain, "\(arguments)")
            #expect(!text.contains { (0x200E...0x200F).contains($0.value) || (0x202A...0x202E).contains($0.value) })
            #expect(!String(text).split(separator: "\n").contains { $0.hasPrefix("ok.mkv") || $0.hasPrefix("a.mov") })
        }
        return result
    }

    @Test func probe() throws {
        let text = try run(["probe", path]).output
        #expect(text.contains("title           \(Self.shown)\n"), "\(text)")
        #expect(try run(["probe", "--select", "metadata[0].value", path]).output == Self.shown + "\n")
        // JSON says the same, and keeps it.
        let json = try run(["probe", "--json", "--select", "metadata[0].value", path])
        let read = try JSONSerialization.jsonObject(with: Data(json.bytes), options: .fragmentsAllowed) as? String
        #expect(read == Self.title)
    }

    @Test(arguments: [
        ["qc"], ["waveform", "-o", "x.dat"], ["thumbs", "--at", "0"], ["proxy", "-o", "x.mov"],
        ["export", "-o", "x.mp4"],
    ])
    func everyCommand(command: [String]) throws {
        _ = try run(command + [path])
        _ = try run(command + ["--start", "9999\u{1B}[2J", path])
        _ = try run(command + ["missing\u{202E}\u{1B}.mov"])
        _ = try run(command + ["--nosuch\u{9B}2J", path])
    }

    @Test func aPolicyAndItsReports() throws {
        let rule = [
            #"  - id: "i\e[2J\nok.mkv: pass""#, "    field: metadata[0].value", #"    equals: "=x\e[1m""#,
        ]
        let policy = try folder.write("p.yml", Array((["rules:"] + rule).joined(separator: "\n").utf8))
        let text = try run(["qc", "--policy", policy, "--csv", "q.csv", "--html", "q.html", "--junit", "q.xml", path])
        #expect(text.status == 1, "\(text.error)")
        for name in ["q.csv", "q.html", "q.xml"] {
            let report = String(decoding: try folder.bytes(name), as: UTF8.self)
            #expect(!report.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" || $0 == "\u{9B}" }, "\(name)")
        }
        let lines = String(decoding: try folder.bytes("q.csv"), as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines.count == 3 && lines[1].contains("'=x"), "\(lines)")
        let cells = lines[1].split(separator: ",", omittingEmptySubsequences: false)
        #expect(cells.allSatisfy { cell in !["=", "+", "@", "\"="].contains { cell.hasPrefix($0) } }, "\(lines[1])")
    }
}
