import LibAV
import MediaBase
import Threading

extension FrameFinder {
    /// Moves the decoder to a frame that is not later than `time`, or to the first frame.
    func goTo(_ time: MediaTime) throws(MediaError) {
        if try reaches(time) { return }
        // Nothing precedes the first frame.
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

    /// Returns true if the decoder reaches a time by decoding on, so that a seek would save nothing.
    func reaches(_ time: MediaTime) throws(MediaError) -> Bool {
        guard let current, current.time <= time else { return false }
        return try !isWorthSkipping(to: time)
    }

    /// Returns true if a sync sample lies between the current position and `time`, so that a seek saves decoding.
    private func isWorthSkipping(to time: MediaTime) throws(MediaError) -> Bool {
        guard feed.file.isSeekable else { return false }
        guard hasIndex else { return try isWorthScanning(to: time) }
        guard let ticks = ticks(of: time),
            let position = feed.file.indexOfKeyframe(stream: track.index, notAfter: ticks),
            let entry = feed.file.indexEntry(stream: track.index, at: position)
        else { return false }
        return entry.ticks > (feed.ticks == .min ? firstIndexTicks : feed.ticks)
    }

    /// Returns true if a seek by the scan saves decoding.
    ///
    /// The scan is made if it does not exist yet and the time is so far ahead that a scan takes less time than
    /// decoding.
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
        // Decode times precede presentation times by a few frames, so few steps back are ever needed.
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

    /// Returns true if the decoder, without knowledge of earlier data, reports the first frame after a seek as one at
    /// which decoding can start.
    private func isSyncPicture(_ frame: TimedFrame) -> Bool {
        frame.isKey && frame.isPlaced && !frame.picture.frame.isCorrupt
    }

    /// Reopens the file and decodes from its start.
    private func rewind() throws(MediaError) {
        (current, following) = (nil, nil)
        feed = PacketReader(
            try asset.takeFile(cancellation), track: track, contents, damage: damage, count: asset.countPacket)
        source = try openSource()
        try begin(.beginning)
    }

    func openSource() throws(MediaError) -> TimedFrameSource {
        try TimedFrameSource(feed.file, track: track, origin: origin, threads: threads, bySlices: bySlices)
    }

    /// Restarts decoding at the place where it last started.
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

    /// Restarts decoding one sync sample earlier, for the same time; returns `false` at the beginning of the file.
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

    /// Decodes the first frame from the current position of the file.
    ///
    /// Frames that are shown before the sync sample and stored after it (an open group of pictures) may lack their
    /// reference frames. They are skipped, except at the beginning of the file.
    private func begin(_ start: Start) throws(MediaError) {
        self.start = start
        // Nothing is known about the new position until it was decoded, even if decoding fails.
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

    /// Returns true if a frame before a time may have been skipped since the last seek.
    private func hasLeftOutPicture(before time: MediaTime) -> Bool {
        hasLeftOut && feed.times.contains { $0 < time }
    }

    /// Flushes the decoder, as required after a seek; the finder then has no position.
    func prepareToDecode() {
        (current, following, isAtFirst) = (nil, nil, false)
        (hasLeftOut, isDoubtful) = (false, false)
        source.flush()
        complaintCount = source.complaintCount
    }

    /// Advances to the frame that follows the current one.
    func advance() {
        guard let next = following else { return }
        (current, following, isAtFirst) = (next, nil, false)
        if let passed = current?.time { feed.pass(passed) }
    }

    /// Returns the frame after the current one; `nil` if there is none.
    func decodeFollowing() throws(MediaError) -> TimedFrame? {
        if let following { return following }
        let next = try source.next(from: packets)
        noteDoubt(about: next)
        following = .some(next)
        return next
    }

    private func noteDoubt(about frame: TimedFrame?) {
        // Several threads conceal damage differently from one, and do not mark all of it.
        if threads != 1, source.complaintCount > complaintCount { isDoubtful = true }
        guard let frame, frame.picture.frame.isCorrupt else { return }
        noteDamage(at: MediaTimeRange(start: frame.time, duration: frame.statedDuration ?? .zero))
    }

    /// Counts damage; with several threads, it is only a sign that a single thread has to look.
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

    /// Returns true if the known packets show that a frame is neither the target nor the end of its interval.
    private func isDispensable(_ time: MediaTime) -> Bool {
        _ = try? feed.peek()
        // A frame is not the target if it is followed by another one that is not too late.
        if time < target { return feed.knowsPacket(after: time, notAfter: target) }
        guard time > target, let upcoming, time < upcoming else { return false }
        // If no frame precedes the target time, the first one is the answer.
        guard current.map({ $0.time <= target }) ?? feed.knowsPacket(after: .negativeInfinity, notAfter: target) else {
            return false
        }
        return (trustsPackets || feed.knowsPacket(after: target, before: time))
            && feed.knowsPacket(after: time, notAfter: upcoming)
    }

    /// Creates a packet queue that counts damage.
    func queue(_ next: @escaping () throws(MediaError) -> CompressedSample?) -> PacketQueue {
        PacketQueue(
            next: next,
            reportDamage: { self.noteDamage(at: $0.range(in: self.track.timeBase, from: self.origin)) })
    }
}

/// A codec's support for skipping frames on the way to another one without changing that one.
///
/// A decoder can tell from a packet alone that no other frame refers to its frame. Codecs differ in how reliably they
/// signal this. MPEG-1 and MPEG-2 never refer to B pictures. H.264 marks slices (`nal_ref_idc`). HEVC marks pictures to
/// which no other picture of the same temporal sub-layer refers, which is sufficient if there is one layer. Other
/// codecs gain nothing: VP8, VP9 and AV1 rarely store such pictures as packets of their own, and the rest have none.
struct DisposableFrames {
    /// True if a decoder may skip frames to which nothing refers.
    let areKnown: Bool

    init(_ format: FormatDescription?) {
        switch format?.codec {
        case "h264", "mpeg1video", "mpeg2video": areKnown = true
        case "hevc": areKnown = Self.hasOneTemporalLayer(format?.extradata ?? [])
        default: areKnown = false
        }
    }

    /// Returns true if an HEVC decoder configuration record (ISO/IEC 14496-15, 8.3.3.1) states one temporal layer.
    ///
    /// Other forms of configuration return `false`.
    private static func hasOneTemporalLayer(_ configuration: [UInt8]) -> Bool {
        guard configuration.count > 22, configuration[0] == 1 else { return false }
        return configuration[21] >> 3 & 7 == 1
    }
}

/// A log of damage that counts each damaged frame once, even if several finders on any threads find it.
///
/// A packet that cannot be decoded, one that the demuxer marks, and a frame that the decoder concealed are treated
/// alike. Each is identified by its presentation time.
final class DamageLog: Sendable {
    private struct State {
        /// The presentation durations of damaged frames, by presentation time.
        var durations: [MediaTime: MediaTime] = [:]
        var untimed = 0
        var track = 0
        var isTruncated = false
        var skippedBytes: Int64 = 0
    }

    private let state = Mutex(State())

    /// Counts damage in a track; `range` is `nil` if the presentation time is unknown.
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

    /// Records that the container ended prematurely.
    ///
    /// The amount that is missing is unknown, because positions are accessed individually rather than sequentially.
    func noteTruncation() { state.withLock { $0.isTruncated = true } }

    /// Records the number of bytes skipped before the media.
    func noteSkippedBytes(_ count: Int64) { state.withLock { $0.skippedBytes = count } }

    /// The report of all damage, in order of time.
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

extension AssetTrack {
    /// True if every stored sample is known to be one frame, so that the times of frames are those of samples.
    ///
    /// It is false if fields may be stored separately, or if there may be frames that are never shown, as in VP8 and
    /// VP9.
    package var storesOnePictureASample: Bool {
        guard let format = formatDescriptions.first, Self.onePictureASample.contains(format.codec) else { return false }
        return format.video?.fieldOrder ?? .progressive == .progressive
    }

    private static let onePictureASample: Set<String> = [
        "h264", "hevc", "av1", "mpeg4", "prores", "dnxhd", "mjpeg", "dvvideo", "qtrle", "png", "rawvideo",
    ]
}
