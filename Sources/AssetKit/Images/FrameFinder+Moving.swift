import LibAV
import MediaBase
import Threading

extension FrameFinder {
    /// Brings the decoder to a picture not later than `time`, or to the first one.
    func goTo(_ time: MediaTime) throws(MediaError) {
        if let current, current.time <= time, try !isWorthSkipping(to: time) { return }
        // Nothing comes before the first picture.
        if isAtFirst, let current, current.time > time { return }
        if feed.isUnread, try !isWorthSkipping(to: time) {
            try begin(.beginning)
            return
        }
        guard feed.file.isSeekable else {
            if let current, current.time > time {
                throw MediaError(.invalidArgument, "a stream cannot go back: ask for times in rising order")
            }
            return
        }
        if hasIndex, try seekByIndex(to: time) { return }
        if !hasIndex, try seekByScan(to: time) { return }
        try rewind()
    }

    /// Whether a sync sample lies between what was read and `time`, so that a seek saves decoding.
    private func isWorthSkipping(to time: MediaTime) throws(MediaError) -> Bool {
        guard feed.file.isSeekable else { return false }
        guard hasIndex else { return try isWorthScanning(to: time) }
        guard let ticks = ticks(of: time),
            let position = feed.file.indexOfKeyframe(stream: track.index, notAfter: ticks),
            let entry = feed.file.indexEntry(stream: track.index, at: position)
        else { return false }
        return entry.ticks > (feed.ticks == .min ? firstIndexTicks : feed.ticks)
    }

    /// The same by a scan, where there is one already or the moment is so far ahead that one costs less than decoding.
    private func isWorthScanning(to time: MediaTime) throws(MediaError) -> Bool {
        guard !hasNoLandings, asset.hasPacketScan || time - max(feed.latestTime, .zero) > Self.worthScanning,
            let stream = try asset.packetScan(cancellation).streams[track.index],
            let number = stream.lastSyncSample(notAfter: time), number > 0
        else { return false }
        return stream.syncSamples[number].time > feed.latestTime
    }

    private var firstIndexTicks: Int64 { feed.file.indexEntry(stream: track.index, at: 0)?.ticks ?? .max }

    private func ticks(of time: MediaTime) -> Int64? { (time + origin).ticks(in: track.timeBase, rounding: .down) }

    private func seekByIndex(to time: MediaTime, from limit: Int64? = nil) throws(MediaError) -> Bool {
        guard var target = limit ?? ticks(of: time) else { return false }
        // Decode times run ahead of presentation times by a few pictures, so few steps back are ever needed.
        for _ in 0..<8 {
            guard let position = feed.file.indexOfKeyframe(stream: track.index, notAfter: target),
                let entry = feed.file.indexEntry(stream: track.index, at: position),
                try feed.move(toIndexed: entry.ticks)
            else { return false }
            try begin(.indexed(entry.ticks))
            if let current, current.time <= time, hasTrueSyncSamples || isSyncPicture(current) { return true }
            guard entry.ticks > firstIndexTicks else { return false }
            target = entry.ticks &- 1
        }
        return false
    }

    private func seekByScan(to time: MediaTime, from limit: Int? = nil) throws(MediaError) -> Bool {
        guard !hasNoLandings, let stream = try asset.packetScan(cancellation).streams[track.index] else { return false }
        let samples = stream.syncSamples
        var here = limit ?? stream.lastSyncSample(notAfter: time) ?? 0
        for _ in 0..<8 {
            guard here > 0 else { return false }
            if try feed.move(to: samples[here]) {
                try begin(.scanned(here))
                if let current, current.time == samples[here].time, isSyncPicture(current) { return true }
            }
            here -= 1
        }
        hasNoLandings = true
        return false
    }

    /// Whether the decoder, which knows nothing of what comes before, says of the first picture after a move that decoding
    /// can start with it.
    private func isSyncPicture(_ frame: TimedFrame) -> Bool {
        frame.isKey && frame.isPlaced && !frame.picture.frame.isCorrupt
    }

    /// Reads the file anew from its start.
    private func rewind() throws(MediaError) {
        (current, following) = (nil, nil)
        feed = PacketReader(try asset.takeFile(cancellation), track: track, contents, damage: damage)
        source = try openSource()
        try begin(.beginning)
    }

    func openSource() throws(MediaError) -> TimedFrameSource {
        try TimedFrameSource(feed.file, track: track, origin: origin, threads: threads)
    }

    /// Begins where it began the last time.
    func beginAgain() throws(MediaError) {
        switch start {
        case .beginning: break
        case .indexed(let ticks):
            if try feed.move(toIndexed: ticks) { return try begin(start) }
        case .scanned(let number):
            if let sample = try asset.packetScan(cancellation).streams[track.index]?.syncSamples[number],
                try feed.move(to: sample)
            {
                return try begin(start)
            }
        }
        try rewind()
    }

    /// Begins one sync sample earlier than the last time, for the same moment; `false` at the file's beginning.
    func goBackFurther() throws(MediaError) -> Bool {
        guard let time = current?.time else { return false }
        switch start {
        case .beginning: return false
        case .indexed(let ticks): if try seekByIndex(to: time, from: ticks &- 1) { return true }
        case .scanned(let index): if try seekByScan(to: time, from: index - 1) { return true }
        }
        try rewind()
        return true
    }

    /// Decodes the first two pictures from where the file is.
    ///
    /// Pictures that are shown before the sync sample and stored after it (an open group of pictures) may lack what
    /// they refer to, and are left out, except at the file's beginning.
    private func begin(_ start: Start) throws(MediaError) {
        self.start = start
        // Nothing is known of the new place until it was decoded, also if that fails.
        prepareToDecode()
        current = try source.next(from: packets)
        var isInside = true
        if case .beginning = start { isInside = false }
        var patience = 32
        while isInside, patience > 0, let early = current, feed.firstTime.map({ early.time < $0 }) ?? !early.isKey {
            current = try source.next(from: packets)
            patience -= 1
        }
        if case .beginning = start { isAtFirst = current.map { !hasLeftOutPicture(before: $0.time) } ?? false }
        noteDoubt(about: current)
    }

    /// Tells whether a picture before a time may have been left out since the last move.
    private func hasLeftOutPicture(before time: MediaTime) -> Bool {
        hasLeftOut && feed.times.contains { $0 < time }
    }

    /// Empties the decoder, as is due after a move; the finder is nowhere then.
    func prepareToDecode() {
        (current, following, isAtFirst) = (nil, nil, false)
        (hasLeftOut, isDoubtful) = (false, false)
        source.flush()
        complaintCount = source.complaintCount
    }

    /// Makes the picture that follows the one at the decoder's place.
    func advance() {
        guard let next = following else { return }
        (current, following, isAtFirst) = (next, nil, false)
        if let passed = current?.time { feed.pass(passed) }
    }

    /// The picture after the one at the decoder's place; `nil` where there is none.
    func decodeFollowing() throws(MediaError) -> TimedFrame? {
        if let following { return following }
        let next = try source.next(from: packets)
        noteDoubt(about: next)
        following = .some(next)
        return next
    }

    private func noteDoubt(about frame: TimedFrame?) {
        // Several threads patch damage up in another way than one, and do not mark all of it.
        if threads != 1, source.complaintCount > complaintCount { isDoubtful = true }
        guard let frame, frame.picture.frame.isCorrupt else { return }
        noteDamage(at: MediaTimeRange(start: frame.time, duration: frame.statedDuration ?? .zero))
    }

    /// Counts what is damaged, which with several threads is only a sign that one has to look.
    private func noteDamage(at range: MediaTimeRange?) {
        isDoubtful = true
        if threads == 1 { damage.add(track: track.index, at: range) }
    }

    private var packets: PacketQueue {
        var queue = queue { () throws(MediaError) in
            let sample = try self.feed.next()
            if let damage = sample?.damage {
                self.noteDamage(at: damage.range(in: self.track.timeBase, from: self.origin))
            }
            return sample
        }
        guard leavesOut else { return queue }
        queue.isDispensable = { sample in
            guard !self.feed.areMisplaced, let time = self.feed.time(of: sample), self.isDispensable(time) else {
                return false
            }
            self.hasLeftOut = true
            return true
        }
        return queue
    }

    /// Whether a picture is neither one looked for nor the one that ends its interval, by what is known of packets.
    private func isDispensable(_ time: MediaTime) -> Bool {
        _ = try? feed.peek()
        // It is not the one looked for if another one follows it that is not too late.
        if time < target { return feed.knowsPacket(after: time, notAfter: target) }
        guard time > target, let upcoming, time < upcoming else { return false }
        // Where none comes before it, the first one is the answer.
        guard current.map({ $0.time <= target }) ?? feed.knowsPacket(after: .negativeInfinity, notAfter: target) else {
            return false
        }
        return (trustsPackets || feed.knowsPacket(after: target, before: time))
            && feed.knowsPacket(after: time, notAfter: upcoming)
    }

    /// A queue whose damage is counted.
    func queue(_ next: @escaping () throws(MediaError) -> CompressedSample?) -> PacketQueue {
        PacketQueue(
            next: next,
            reportDamage: { self.noteDamage(at: $0.range(in: self.track.timeBase, from: self.origin)) })
    }
}

/// Which codecs let pictures be left out on the way to another one without changing it.
///
/// A decoder knows from a packet alone that no other picture refers to its own. Which ones say so reliably differs: MPEG-1
/// and MPEG-2 never refer to B pictures, H.264 marks slices (`nal_ref_idc`), HEVC marks pictures that none of the same
/// temporal sub-layer refers to, which is enough where there is one layer. Elsewhere nothing is gained: VP8, VP9 and AV1
/// rarely store such pictures as packets of their own, and the others have none.
struct DisposableFrames {
    /// Whether a decoder may be told to leave out what nothing refers to.
    let areKnown: Bool

    init(_ format: FormatDescription?) {
        switch format?.codec {
        case "h264", "mpeg1video", "mpeg2video": areKnown = true
        case "hevc": areKnown = Self.hasOneTemporalLayer(format?.extradata ?? [])
        default: areKnown = false
        }
    }

    /// The number of temporal layers of an HEVC decoder configuration record (ISO/IEC 14496-15, 8.3.3.1), where that is
    /// what the container has.
    private static func hasOneTemporalLayer(_ configuration: [UInt8]) -> Bool {
        guard configuration.count > 22, configuration[0] == 1 else { return false }
        return configuration[21] >> 3 & 7 == 1
    }
}

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
