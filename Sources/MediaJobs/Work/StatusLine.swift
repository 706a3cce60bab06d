internal import SystemCalls
internal import SystemPackage
internal import Threading

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
