import MediaBase
import Threading

/// What is damaged, counted once however often it was met, by any number of finders on any thread.
///
/// A packet that cannot be decoded, one that the demuxer marks, and a picture that the decoder patched up are all the same:
/// each is known by when it is shown.
final class DamageLog: Sendable {
    private struct State {
        /// How long what is damaged is shown, by when.
        var durations: [MediaTime: MediaTime] = [:]
        var untimed = 0
        var track = 0
        var isTruncated = false
        var skippedBytes: Int64 = 0
    }

    private let state = Mutex(State())

    /// Counts a packet of a track; `nil` for one that does not say when it is shown.
    func add(track: Int, at range: MediaTimeRange?) {
        state.withLock { state in
            state.track = track
            guard let range else {
                state.untimed += 1
                return
            }
            state.durations[range.start] = max(state.durations[range.start] ?? .zero, range.duration)
        }
    }

    /// Notes that the container broke off before its end.
    ///
    /// How much of it there is does not show where places are sought out and not read one after the other.
    func noteTruncation() { state.withLock { $0.isTruncated = true } }

    /// Notes how many bytes before the media were passed over.
    func noteSkippedBytes(_ count: Int64) { state.withLock { $0.skippedBytes = count } }

    /// All that was counted, in order of time.
    var report: DamageReport {
        state.withLock { state in
            var report = DamageReport()
            report.isTruncated = state.isTruncated
            report.skippedBytes = state.skippedBytes
            for (start, duration) in state.durations.sorted(by: { $0.key < $1.key }) {
                report.add(track: state.track, at: MediaTimeRange(start: start, duration: duration))
            }
            for _ in 0..<state.untimed { report.add(track: state.track, at: nil) }
            return report
        }
    }
}
