internal import AssetKit
internal import MediaBase
internal import Threading

/// Notes what goes into each track of an export, so that the finished file can be compared with it.
///
/// Pairs report from threads of their own.
final class ExportWitness: Sendable {
    private let state = Mutex<[ObjectIdentifier: Seen]>([:])
    private let range: MediaTimeRange

    /// What went into one track.
    struct Seen: Sendable {
        /// Buffers that are shown within the range.
        var shown = 0
        /// When the first of all buffers begins that are shown, on the source's time line.
        var start = MediaTime.positiveInfinity
        /// When the first of all begins, also of those that are not shown.
        var earliest = MediaTime.positiveInfinity
        /// When the first of them begins that begins in the range.
        var firstInside = MediaTime.positiveInfinity
        /// When that one ends.
        var firstInsideEnd = MediaTime.positiveInfinity
    }

    /// - Parameter range: What is shown of the source.
    init(range: MediaTimeRange) { self.range = range }

    /// Notes a buffer.
    func see(_ buffer: SampleBuffer, in input: AssetWriterInput) {
        let time = buffer.presentationTime
        guard time.isNumeric else { return }
        guard !buffer.attachments.contains(.isNotShown) else {
            return state.withLock { state in
                let known = state[ObjectIdentifier(input)]?.earliest ?? .positiveInfinity
                state[ObjectIdentifier(input), default: Seen()].earliest = min(known, time)
            }
        }
        let end = buffer.duration.isNumeric ? time + buffer.duration : time
        let isShown = time < range.end && (time >= range.start || end > range.start)
        state.withLock { state in
            var seen = state[ObjectIdentifier(input)] ?? Seen()
            if isShown { seen.shown += 1 }
            seen.start = min(seen.start, time)
            seen.earliest = min(seen.earliest, time)
            if isShown, time >= range.start, time < seen.firstInside {
                (seen.firstInside, seen.firstInsideEnd) = (time, end)
            }
            state[ObjectIdentifier(input)] = seen
        }
    }

    /// What went into a track; `nil` where nothing did.
    func seen(in input: AssetWriterInput) -> Seen? { state.withLock { $0[ObjectIdentifier(input)] } }
}
