import ArgumentParser
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage
import Testing

@testable import mediatool

/// Expected texts are written by hand from the common rules of the commands.
@Suite struct ResultPrinterTests {
    private struct Report: Encodable {
        var zebra = 1
        var path = "also/here"
        var apple = 2
    }

    private final class Sink {
        var text = ""
        var errors: [String] = []
    }

    /// Prints two results, a success and a failure, or as many of them as there are files.
    private func output(
        _ options: [String], files: Int, isComplete: Bool = true
    ) throws -> (sink: Sink, code: ExitCode) {
        let sink = Sink()
        let form = try OutputFormatOptions.parse(options).form(fileCount: files)
        var printer = ResultPrinter(
            form: form, write: { sink.text += $0 }, report: { sink.errors.append($0.description) })
        if files > 0 {
            try printer.print(.success(Report()), of: InputArgument(path: "a.mov"), isComplete: isComplete) {
                ["zebra \($0.zebra)"]
            }
        }
        if files > 1 {
            let failure = Result<Report, any Error>.failure(MediaError(.notFound, "no such file"))
            try printer.print(failure, of: InputArgument(path: "b/c.mov")) { _ in ["never"] }
        }
        return (sink, try printer.finish())
    }

    private static let success = #"{"schemaVersion":1,"path":"also/here","zebra":1,"apple":2}"#
    private static let failure =
        #"{"schemaVersion":1,"path":"b/c.mov","error":{"code":"notFound","message":"no such file"}}"#

    @Test func text() throws {
        let (sink, code) = try output([], files: 2)
        #expect(sink.text == "zebra 1\n")
        #expect(sink.errors == ["b/c.mov: no such file"])
        #expect(code == .notDelivered)
    }

    @Test func jsonLines() throws {
        let (sink, code) = try output(["--jsonl"], files: 2)
        #expect(sink.text == Self.success + "\n" + Self.failure + "\n")
        #expect(code == .notDelivered)
        #expect(try output(["--jsonl"], files: 1).sink.text == Self.success + "\n")
    }

    @Test func oneFileGivesOneObject() throws {
        let (sink, code) = try output(["--json"], files: 1)
        #expect(
            sink.text == "{\n  \"schemaVersion\": 1,\n  \"path\": \"also/here\",\n  \"zebra\": 1,\n  \"apple\": 2\n}\n")
        #expect(code == .success)
    }

    @Test(arguments: [["--json"], ["--array"], ["--json", "--array"]])
    func severalFilesGiveAnArray(options: [String]) throws {
        let text = try output(options, files: 2).sink.text
        #expect(text.hasPrefix("[\n  {\n    \"schemaVersion\": 1,"))
        #expect(text.hasSuffix("    }\n  }\n]\n"))
        #expect(text.filter { !$0.isWhitespace } == "[" + Self.success + "," + Self.failure.filter { $0 != " " } + "]")
    }

    @Test func arraysOfOneAndNone() throws {
        let one = try output(["--array"], files: 1).sink.text
        #expect(one.filter { !$0.isWhitespace } == "[" + Self.success + "]")
        #expect(try output(["--array"], files: 0).sink.text == "[]\n")
    }

    @Test func anIncompleteResultIsExitCode2() throws {
        #expect(try output(["--json"], files: 1, isComplete: false).code == .notDelivered)
    }

    @Test func aNameThatIsNotUTF8HasItsBytes() throws {
        var text = ""
        var printer = ResultPrinter(form: .lines, write: { text += $0 }, report: { _ in })
        let failure = Result<Report, any Error>.failure(MediaError(.damaged, "x"))
        try printer.print(failure, of: InputArgument(path: FilePath(bytes: [0xFF, 0x0A]))) { _ in [] }
        #expect(
            text == "{\"schemaVersion\":1,\"path\":\"\u{FFFD}\\n\",\"pathBytes\":\"/wo=\","
                + "\"error\":{\"code\":\"damaged\",\"message\":\"x\"}}\n")
    }

    @Test func aClosedStandardOutputEndsTheRun() throws {
        var printer = ResultPrinter(form: .text, write: { _ in }, report: { _ in Issue.record("reported") })
        let closed = MediaError(Errno.brokenPipe, "write", path: "-")
        #expect(throws: closed) {
            try printer.print(Result<Report, any Error>.failure(closed), of: InputArgument(path: "a.mov")) { _ in [] }
        }
    }
}
