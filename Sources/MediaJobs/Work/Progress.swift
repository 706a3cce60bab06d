internal import JSONText
internal import SystemCalls
internal import SystemPackage
internal import Threading

/// A progress bar on standard error, with percentage, speed and remaining time.
///
/// ```swift
/// let progress = Progress(label: "a.mov", mode: .auto, isQuiet: false)
/// progress.update(fraction: 0.25, speed: "12x")
/// progress.finish()
/// ```
///
/// On a terminal, the bar is one line that is redrawn at most ten times a second and removed at the end. Elsewhere,
/// with `always`, a line is written at most once a second; with `json`, a line of JSON (``ProgressReport``), and one at the
/// end. Safe to use from any thread. A call that draws nothing costs only a lock.
package final class Progress: Sendable {
    /// The conditions for showing progress.
    package enum Mode: String, Sendable, CaseIterable {
        /// Only if standard error is a terminal.
        case auto
        /// Even if standard error is not a terminal.
        case always
        /// Never.
        case never
        /// As lines of JSON, whatever standard error is.
        case json
    }

    private struct State: Sendable {
        var fractions: [Double]
        var lastDrawn: Duration?
        var isFinished = false
        /// The parts that are over, how many of them failed, and the seconds of their media.
        var over = (count: 0, failed: 0, seconds: 0.0)
        var forward: (@Sendable (Double, String) -> Void)?
    }

    private let label: String
    private let output: Output?
    private let state: Mutex<State>

    /// The destination and the clock of the bar; tests replace them.
    struct Output: Sendable {
        var isTerminal: Bool
        var columns: @Sendable () -> Int
        var elapsed: @Sendable () -> Duration
        var write: @Sendable (String) -> Void
        /// Indicates whether lines are JSON.
        var isJSON = false

        /// Returns an output to standard error; `nil` if the mode does not allow it.
        static func standardError(mode: Mode) -> Output? {
            let isTerminal = mode != .json && SystemCalls.isTerminal(.standardError)
            guard mode == .always || mode == .json || (mode == .auto && isTerminal) else { return nil }
            let start = ContinuousClock.now
            return Output(
                isTerminal: isTerminal,
                columns: { terminalColumns(.standardError) ?? 80 },
                elapsed: { ContinuousClock.now - start },
                write: { StatusLine.show($0, isTerminal: isTerminal) }, isJSON: mode == .json)
        }
    }

    /// Starts the clock; nothing is drawn before the first update.
    ///
    /// - Parameters:
    ///   - label: The name of the work; control characters in it are escaped.
    ///   - mode: The conditions for showing progress.
    ///   - isQuiet: True to never show progress, regardless of the mode.
    ///   - parts: The number of equal parts, such as files.
    package convenience init(label: String, mode: Mode, isQuiet: Bool, parts: Int = 1) {
        self.init(label: label, parts: parts, output: isQuiet ? nil : .standardError(mode: mode))
    }

    init(label: String, parts: Int, output: Output?) {
        self.label = VisibleText.line(label)
        self.output = output
        state = Mutex(State(fractions: Array(repeating: 0, count: max(1, parts))))
    }

    deinit { finish() }

    /// Indicates whether anything is drawn, so that callers can avoid computing a fraction.
    package var isShown: Bool { output != nil }

    /// Updates the progress of a part, and redraws the bar if it is due.
    ///
    /// - Parameters:
    ///   - part: The index of the part, from 0; an invalid index is ignored.
    ///   - fraction: The progress from 0 to 1; other values are clamped, and NaN becomes 0.
    ///   - speed: The speed as text such as `12.5x`; evaluated only if something is drawn.
    package func update(part: Int = 0, fraction: Double, speed: @autoclosure () -> String = "") {
        guard let output else { return }
        state.withLock { state in
            guard !state.isFinished, state.fractions.indices.contains(part) else { return }
            state.fractions[part] = fraction > 0 ? min(fraction, 1) : 0
            let elapsed = output.elapsed()
            let pause: Duration = output.isTerminal ? .milliseconds(100) : .seconds(1)
            if let last = state.lastDrawn, elapsed - last < pause { return }
            state.lastDrawn = elapsed
            if let forward = state.forward { return forward(state.fractions[part], speed()) }
            draw(state, elapsed, speed(), output)
        }
    }

    /// Notes that a part is over, and redraws the bar if it is due.
    ///
    /// Of several parts, the bar then also tells how many are over and how many of these failed, and how much media they had.
    ///
    /// - Parameters:
    ///   - part: The index of the part, from 0.
    ///   - isFailed: True if something of it was not delivered.
    ///   - seconds: The length of its media; 0 if it is not known.
    package func finishPart(_ part: Int, isFailed: Bool, seconds: Double) {
        guard output != nil else { return }
        state.withLock { state in
            state.over.count += 1
            state.over.failed += isFailed ? 1 : 0
            state.over.seconds += max(0, seconds)
        }
        update(part: part, fraction: 1)
    }

    private func draw(_ state: State, _ elapsed: Duration, _ speed: String, _ output: Output) {
        let parts = state.fractions.count
        let whole = state.fractions.reduce(0, +) / Double(parts)
        if output.isJSON {
            let report = ProgressReport(
                fraction: whole, elapsedSeconds: elapsed.seconds,
                secondsLeft: Self.secondsLeft(fraction: whole, elapsed: elapsed), files: parts,
                filesDone: state.over.count, filesFailed: state.over.failed, mediaSeconds: state.over.seconds)
            return output.write(report.jsonLine)
        }
        let columns = output.columns() - 1
        guard parts > 1, state.over.count > 0 else {
            let line = Self.line(label: label, fraction: whole, speed: speed, elapsed: elapsed, columns: columns)
            return output.write(line)
        }
        let figures = Self.figures(failed: state.over.failed, seconds: state.over.seconds, elapsed: elapsed)
        let label = "\(label), \(state.over.count) done"
        output.write(Self.line(label: label, fraction: whole, speed: figures, elapsed: elapsed, columns: columns))
    }

    /// Returns how much media was worked on and how fast, and how many files failed: `3.2 h  41x  2 failed`.
    static func figures(failed: Int, seconds: Double, elapsed: Duration) -> String {
        var parts: [String] = []
        if seconds > 0 {
            let tenths = Int(min(seconds / 360, 1e9))
            parts.append("\(tenths / 10).\(tenths % 10) h")
            parts.append(QuantityText.speed(seconds, in: elapsed))
        }
        if failed > 0 { parts.append("\(failed) failed") }
        return parts.filter { !$0.isEmpty }.joined(separator: "  ")
    }

    /// Passes on the fraction and the speed of a part from now on, when a redraw is due, and draws nothing.
    package func forward(_ update: @escaping @Sendable (Double, String) -> Void) {
        state.withLock {
            $0.forward = update
            $0.lastDrawn = nil
        }
    }

    /// Removes the bar, or writes the last line of JSON; later updates draw nothing.
    package func finish() {
        guard let output else { return }
        state.withLock { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            guard state.lastDrawn != nil, state.forward == nil else { return }
            if output.isJSON { draw(state, output.elapsed(), "", output) }
            if output.isTerminal { output.write("") }
        }
    }

    /// Returns a line of at most `columns` characters: label, bar, percentage, speed, remaining time.
    static func line(label: String, fraction: Double, speed: String, elapsed: Duration, columns: Int) -> String {
        let percentage = String(Int(fraction * 100))
        var figures = String(repeating: " ", count: max(0, 3 - percentage.count)) + percentage + " %"
        if !speed.isEmpty { figures += "  " + speed }
        if let left = timeLeft(fraction: fraction, elapsed: elapsed) { figures += "  " + left + " left" }
        let width = 24
        let filled = Int(fraction * Double(width))
        let bar = "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled) + "]  "
        // In a narrow terminal, leave out the bar first, then the end of the label.
        let room = columns - figures.count - 2
        let shownBar = room - bar.count >= min(label.count, 12) ? bar : ""
        let shownLabel = label.prefix(max(0, room - shownBar.count))
        return String(((shownLabel.isEmpty ? "" : shownLabel + "  ") + shownBar + figures).prefix(max(0, columns)))
    }

    /// Returns the estimated remaining time as `M:SS` or `H:MM:SS`, based on the average speed so far.
    private static func timeLeft(fraction: Double, elapsed: Duration) -> String? {
        guard let left = secondsLeft(fraction: fraction, elapsed: elapsed), left < 360_000 else { return nil }
        let whole = Int(left.rounded(.up))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let end = two(whole % 60)
        return whole >= 3600 ? "\(whole / 3600):\(two(whole / 60 % 60)):\(end)" : "\(whole / 60):\(end)"
    }
}

extension Progress {
    /// Returns the estimated remaining seconds; `nil` in the first second, and if nothing is done.
    fileprivate static func secondsLeft(fraction: Double, elapsed: Duration) -> Double? {
        let left = elapsed.seconds * (1 - fraction) / fraction
        return elapsed.seconds >= 1 && left.isFinite ? left : nil
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// How far the work on the files of a run is, for a program that shows it.
struct ProgressReport: Sendable, Encodable {
    /// The completed fraction of all files, from 0 to 1, each file counting the same.
    var fraction: Double
    /// The seconds since the run began.
    var elapsedSeconds: Double
    /// The seconds that are left at the speed so far; `nil` in the first second, and while nothing is done.
    var secondsLeft: Double?
    /// The number of files.
    var files: Int
    /// The number of files that are over, with those that failed.
    var filesDone: Int
    /// The number of files that failed.
    var filesFailed: Int
    /// The seconds of media of the files that are over.
    var mediaSeconds: Double

    /// The report as a line of JSON without a line break: `{"progress":{"fraction":0.25,…}}`.
    ///
    /// Empty if it cannot be encoded, which no report is.
    var jsonLine: String { (try? OrderedJSONEncoder().string(["progress": self])) ?? "" }
}

/// The progress of a job that writes media.
package struct JobProgress: Sendable {
    /// The completed fraction from 0 to 1; 0 if the end is not known.
    package var fraction: Double
    /// The processed seconds of the source.
    package var seconds: Double
}

/// The status line of a terminal, which has to be removed before anything else is written there.
package enum StatusLine {
    private static let isShown = Mutex(false)

    /// Removes the line if one is shown, so that a message does not appear in the middle of it.
    ///
    /// Does nothing while another thread is drawing, so that the call never waits for a stopped terminal.
    package static func clear() {
        isShown.withLockIfAvailable { isShown in
            if isShown { write("\r\u{1B}[K") }
            isShown = false
        }
    }

    /// Draws the line over the previous one; on a terminal, an empty line removes it, elsewhere each line is written
    /// separately.
    static func show(_ line: String, isTerminal: Bool) {
        isShown.withLock { isShown in
            write(isTerminal ? "\r\u{1B}[K" + line : line + "\n")
            isShown = isTerminal && !line.isEmpty
        }
    }

    /// Writes text, ignoring errors because a bar that cannot be drawn is no reason to fail.
    private static func write(_ text: String) {
        try? writeAll(Array(text.utf8).span, to: .standardError)
    }
}
