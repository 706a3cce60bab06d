import CFFmpeg
import Glibc
import Synchronization

/// libav's log, kept silent and its last line a thread remembered: the best words for an error are often only there.
///
/// libav logs on the thread that calls it, or on a codec's own threads. Lines of the latter belong to no call; nobody
/// asks for them.
package enum LibraryLog {
    private static let lines = Mutex<[UInt: String]>([:])

    /// Threads remembered at most; beyond that the table starts anew, so that codec threads cannot make it grow.
    private static let limit = 64

    /// What libav logs where something is over a limit that it was told; it has no status of its own for that.
    static let limitWords = ["exceeds max_streams", "exceeds specified max pixel count"]

    /// Takes libav's messages from standard error into memory; called once before libav is first used.
    package static func install() { _ = installed }

    private static let installed: Void = {
        shim_set_log_sink { _, line in
            guard let line else { return }
            LibraryLog.record(String(cString: line))
        }
    }()

    private static func record(_ line: String) {
        let text = String(line.drop { $0.isWhitespace }.prefix { !$0.isNewline })
        guard !text.isEmpty else { return }
        let thread = UInt(pthread_self())
        lines.withLock { lines in
            if lines.count >= limit { lines.removeAll(keepingCapacity: true) }
            // What is logged behind it are its consequences.
            if let kept = lines[thread], limitWords.contains(where: { kept.contains($0) }) { return }
            lines[thread] = withoutAddresses(text)
        }
    }

    /// The last line that libav logged on this thread, or the one about a limit, at most once.
    package static func takeLastLine() -> String? {
        let thread = UInt(pthread_self())
        return lines.withLock { $0.removeValue(forKey: thread) }
    }

    /// Drops the addresses from `[h264 @ 0x55…] text`, so that the same failure reads the same every run.
    private static func withoutAddresses(_ line: String) -> String {
        guard let at = line.firstRange(of: " @ 0x"), let close = line[at.upperBound...].firstIndex(of: "]") else {
            return line
        }
        return String(line[..<at.lowerBound] + line[close...])
    }
}
