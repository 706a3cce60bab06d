import Synchronization
import Testing

@testable import MediaJobs

@Suite struct ProgressTests {
    /// A clock set by hand and a record of what was drawn.
    private final class Recorder: Sendable {
        let lines = Mutex<[String]>([])
        let time = Mutex(Duration.zero)

        func output(isTerminal: Bool) -> Progress.Output {
            Progress.Output(
                isTerminal: isTerminal, columns: { 80 }, elapsed: { self.time.withLock { $0 } },
                write: { line in self.lines.withLock { $0.append(line) } })
        }
    }

    @Test func drawsTenTimesASecondAtMostAndClears() {
        let recorder = Recorder()
        let progress = Progress(label: "a.mov", parts: 1, output: recorder.output(isTerminal: true))
        for step in 0...1000 {
            recorder.time.withLock { $0 = .milliseconds(step) }
            progress.update(fraction: Double(step) / 1000)
        }
        progress.finish()
        progress.finish()
        progress.update(fraction: 1)
        let lines = recorder.lines.withLock { $0 }
        #expect(lines.count == 12)
        #expect(lines.last == "")
    }

    @Test func showsPercentageSpeedAndTimeLeft() {
        // A quarter took 30 s, so the rest takes 90 s.
        let line = Progress.line(label: "a.mov", fraction: 0.25, speed: "12x", elapsed: .seconds(30), columns: 79)
        #expect(line == "a.mov  [######------------------]   25 %  12x  1:30 left")
        let long = Progress.line(label: "a.mov", fraction: 0.5, speed: "", elapsed: .seconds(3725), columns: 79)
        #expect(long.hasSuffix(" 50 %  1:02:05 left"))
    }

    @Test(arguments: [0, 5, 20, 40, 60, 200])
    func staysWithinTheColumns(columns: Int) {
        let label = String(repeating: "name", count: 30)
        let line = Progress.line(label: label, fraction: 0.5, speed: "2x", elapsed: .seconds(9), columns: columns)
        #expect(line.count <= columns)
    }

    @Test func partsMakeUpTheWholeAndNonsenseIsHarmless() {
        let recorder = Recorder()
        let progress = Progress(label: "4\u{1B}[2J files\n", parts: 4, output: recorder.output(isTerminal: false))
        for (index, fraction) in [1, .nan, .infinity, -1].enumerated() {
            recorder.time.withLock { $0 += .seconds(1) }
            progress.update(part: index, fraction: fraction)
        }
        progress.update(part: 9, fraction: 1)
        progress.finish()
        let lines = recorder.lines.withLock { $0 }
        #expect(lines.count == 4)
        #expect(lines.last?.contains(" 50 %") == true)
        #expect(lines.allSatisfy { $0.hasPrefix(#"4\x1b[2J files\n  ["#) })
    }

    @Test func severalFilesAreCounted() {
        let recorder = Recorder()
        let progress = Progress(label: "4 files", parts: 4, output: recorder.output(isTerminal: false))
        recorder.time.withLock { $0 = .seconds(60) }
        progress.finishPart(1, isFailed: false, seconds: 5400)
        recorder.time.withLock { $0 = .seconds(100) }
        progress.finishPart(0, isFailed: true, seconds: 0)
        let lines = recorder.lines.withLock { $0 }
        // A quarter after 60 s, so that 180 s are left, and 5400 s of media; a half after 100 s, without room for a bar.
        #expect(
            lines == [
                "4 files, 1 done  [######------------------]   25 %  1.5 h  90x  3:00 left",
                "4 files, 2 done   50 %  1.5 h  54x  1 failed  1:40 left",
            ])
        let one = Progress(label: "a.mov", parts: 1, output: recorder.output(isTerminal: false))
        one.finishPart(0, isFailed: false, seconds: 10)
        #expect(recorder.lines.withLock { $0.last } == "a.mov  [########################]  100 %  0:00 left")
    }

    @Test func linesOfJSON() {
        let recorder = Recorder()
        var output = recorder.output(isTerminal: false)
        output.isJSON = true
        let progress = Progress(label: "4 files", parts: 4, output: output)
        progress.update(fraction: 0.5)
        recorder.time.withLock { $0 = .milliseconds(100_250) }
        progress.finishPart(1, isFailed: true, seconds: 5400)
        progress.finishPart(0, isFailed: false, seconds: 0)
        progress.finish()
        progress.finish()
        func line(_ fraction: String, _ times: String, done: Int, failed: Int, media: String) -> String {
            #"{"progress":{"fraction":\#(fraction),"elapsedSeconds":\#(times),"files":4,"filesDone":\#(done),"#
                + #""filesFailed":\#(failed),"mediaSeconds":\#(media)}}"#
        }
        // A quarter of a half before the first second; then half a file and one of four, with as much again to go.
        let lines = recorder.lines.withLock { $0 }
        #expect(
            lines == [
                line("0.125", "0.0", done: 0, failed: 0, media: "0.0"),
                line("0.375", #"100.25,"secondsLeft":167.08333333333334"#, done: 1, failed: 1, media: "5400.0"),
                line("0.5", #"100.25,"secondsLeft":100.25"#, done: 2, failed: 1, media: "5400.0"),
            ])
    }

    @Test func quietAndNeverShowNothing() {
        #expect(Progress(label: "", mode: .json, isQuiet: false).isShown)
        #expect(!Progress(label: "", mode: .never, isQuiet: false).isShown)
        #expect(!Progress(label: "", mode: .always, isQuiet: true).isShown)
    }
}
