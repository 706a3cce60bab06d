internal import SystemCalls
internal import SystemPackage
internal import Threading

/// A progress bar on standard error, with percentage, speed and time left.
///
/// ```swift
/// let progress = Progress(label: "a.mov", mode: .auto, isQuiet: false)
/// progress.update(fraction: 0.25, speed: "12x")
/// progress.finish()
/// ```
///
/// On a terminal it is one line that is drawn over at most ten times a second and that goes away at the end; elsewhere,
/// with `always`, it is a line at most once a second. Safe from any thread. A call that draws nothing costs a lock.
package final class Progress: Sendable {
    /// When progress is shown.
    package enum Mode: String, Sendable, CaseIterable {
        /// Where standard error is a terminal.
        case auto
        /// Also where it is none.
        case always
        /// Not at all.
        case never
    }

    private struct State: Sendable {
        var fractions: [Double]
        var lastDrawn: Duration?
        var isFinished = false
    }

    private let label: String
    private let output: Output?
    private let state: Mutex<State>

    /// Where progress is drawn and what time it is; tests put their own here.
    struct Output: Sendable {
        var isTerminal: Bool
        var columns: @Sendable () -> Int
        var elapsed: @Sendable () -> Duration
        var write: @Sendable (String) -> Void

        /// Standard error, or `nil` where the mode wants nothing there.
        static func standardError(mode: Mode) -> Output? {
            let isTerminal = SystemCalls.isTerminal(.standardError)
            guard mode == .always || (mode == .auto && isTerminal) else { return nil }
            let start = ContinuousClock.now
            return Output(
                isTerminal: isTerminal,
                columns: { terminalColumns(.standardError) ?? 80 },
                elapsed: { ContinuousClock.now - start },
                write: { StatusLine.show($0, isTerminal: isTerminal) })
        }
    }

    /// Starts the clock; nothing is drawn before the first update.
    ///
    /// - Parameters:
    ///   - label: What is being worked on; control characters in it are escaped.
    ///   - mode: When progress is shown.
    ///   - isQuiet: Whether it is never shown, whatever the mode.
    ///   - parts: How many equal parts, such as files, the whole has.
    package convenience init(label: String, mode: Mode, isQuiet: Bool, parts: Int = 1) {
        self.init(label: label, parts: parts, output: isQuiet ? nil : .standardError(mode: mode))
    }

    init(label: String, parts: Int, output: Output?) {
        self.label = VisibleText.line(label)
        self.output = output
        state = Mutex(State(fractions: Array(repeating: 0, count: max(1, parts))))
    }

    deinit { finish() }

    /// Whether anything is ever drawn, for those who would have to work out a fraction.
    package var isShown: Bool { output != nil }

    /// Tells how far a part has come, and draws if it is time to.
    ///
    /// - Parameters:
    ///   - part: Which part, from 0; one that there is not is passed over.
    ///   - fraction: From 0 to 1; what lies outside is moved to the nearer end, NaN to 0.
    ///   - speed: How fast it goes, in words such as `12.5x`; asked for only when something is drawn.
    package func update(part: Int = 0, fraction: Double, speed: @autoclosure () -> String = "") {
        guard let output else { return }
        state.withLock { state in
            guard !state.isFinished, state.fractions.indices.contains(part) else { return }
            state.fractions[part] = fraction > 0 ? min(fraction, 1) : 0
            let elapsed = output.elapsed()
            let pause: Duration = output.isTerminal ? .milliseconds(100) : .seconds(1)
            if let last = state.lastDrawn, elapsed - last < pause { return }
            state.lastDrawn = elapsed
            let whole = state.fractions.reduce(0, +) / Double(state.fractions.count)
            output.write(
                Self.line(
                    label: label, fraction: whole, speed: speed(), elapsed: elapsed, columns: output.columns() - 1))
        }
    }

    /// Takes the bar away; later updates draw nothing.
    package func finish() {
        guard let output else { return }
        state.withLock { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            if state.lastDrawn != nil, output.isTerminal { output.write("") }
        }
    }

    /// One line of at most `columns` characters: label, bar, percentage, speed, time left.
    static func line(label: String, fraction: Double, speed: String, elapsed: Duration, columns: Int) -> String {
        let percentage = String(Int(fraction * 100))
        var figures = String(repeating: " ", count: max(0, 3 - percentage.count)) + percentage + " %"
        if !speed.isEmpty { figures += "  " + speed }
        if let left = timeLeft(fraction: fraction, elapsed: elapsed) { figures += "  " + left + " left" }
        let width = 24
        let filled = Int(fraction * Double(width))
        let bar = "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled) + "]  "
        // What tells least goes first where there is little room: the bar, then the end of the label.
        let room = columns - figures.count - 2
        let shownBar = room - bar.count >= min(label.count, 12) ? bar : ""
        let shownLabel = label.prefix(max(0, room - shownBar.count))
        return String(((shownLabel.isEmpty ? "" : shownLabel + "  ") + shownBar + figures).prefix(max(0, columns)))
    }

    /// The time that the rest takes if it goes on as it went so far, as `M:SS` or `H:MM:SS`.
    private static func timeLeft(fraction: Double, elapsed: Duration) -> String? {
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        let left = seconds * (1 - fraction) / fraction
        guard seconds >= 1, left.isFinite, left < 360_000 else { return nil }
        let whole = Int(left.rounded(.up))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let end = two(whole % 60)
        return whole >= 3600 ? "\(whole / 3600):\(two(whole / 60 % 60)):\(end)" : "\(whole / 60):\(end)"
    }
}

/// How far a job that writes media has come.
package struct JobProgress: Sendable {
    /// From 0 to 1; 0 where the end is not known.
    package var fraction: Double
    /// Seconds of the source that were done.
    package var seconds: Double
}

/// The one line of a terminal that is drawn over and over, and what must happen before anything else is written there.
package enum StatusLine {
    private static let isShown = Mutex(false)

    /// Takes the line away, if one is shown, so that a message does not stand in the midst of it.
    ///
    /// Does nothing where another thread is just drawing, so that it never waits for a terminal that is stopped.
    package static func clear() {
        isShown.withLockIfAvailable { isShown in
            if isShown { write("\r\u{1B}[K") }
            isShown = false
        }
    }

    /// Draws the line over the one shown; on a terminal an empty one takes it away, elsewhere each has its own.
    static func show(_ line: String, isTerminal: Bool) {
        isShown.withLock { isShown in
            write(isTerminal ? "\r\u{1B}[K" + line : line + "\n")
            isShown = isTerminal && !line.isEmpty
        }
    }

    /// A bar that cannot be drawn is no reason to fail.
    private static func write(_ text: String) {
        try? writeAll(Array(text.utf8).span, to: .standardError)
    }
}
