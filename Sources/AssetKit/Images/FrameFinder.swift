import LibAV
import MediaBase

/// Finds the picture that is on screen at a moment, by decoding from the sync sample before it.
///
/// Keeps its decoder where it is, so that moments asked for in order cost one sweep over the file; goes back, or skips
/// ahead, by a seek where the container has an index that holds, by a scan of all packets where it has none, and by
/// reading from the start where even that is not possible. One thread uses it at a time.
///
/// A seek is believed only if the first picture that it leads to is not later than the moment asked for, and if no
/// packet that was read lies between the picture found and the next one: after a seek libavcodec may drop pictures
/// until it has learnt in which order they are shown. Then decoding begins at an earlier sync sample, and what is found
/// there is the answer.
///
/// On the way pictures are left out to which no other refers. What is found so is believed only if it is what the
/// packets say, and nothing on the way was damaged; else all are decoded.
final class FrameFinder {
    /// A picture and the interval during which it is on screen.
    struct Found {
        let frame: TimedFrame
        /// When the next picture follows, or the track ends.
        let end: MediaTime
        /// Whether no picture follows.
        let isLast: Bool
    }

    /// Where decoding began.
    enum Start {
        /// The file's beginning, after which nothing is missing.
        case beginning
        /// A sync sample of the index, by its time stamp there.
        case indexed(Int64)
        /// A sync sample of the scan, by its number.
        case scanned(Int)
    }

    let asset: Asset
    let track: AssetTrack
    let syncSamples: SyncSamples
    private let origin: MediaTime
    private let threads: Int
    private let hasIndex: Bool
    private let dispensable: DispensablePictures
    private let damage: DamageLog
    /// Ends the request that is under way, and with it the reading of the file for good.
    var cancellation: Cancellation { didSet { cancellation.bind(feed.file) } }
    private(set) var feed: PacketFeed
    private(set) var source: TimedFrameSource
    /// The picture at the decoder's place, and the one after it; both `nil` before the first was decoded.
    private var current: TimedFrame?
    private var following: TimedFrame?
    /// Where the last move led.
    private var start = Start.beginning
    /// The picture of a sync sample that was decoded last, alone.
    var lastSyncPicture: Found?

    /// The moment that is being looked for, and the one that will be looked for next, where that is known.
    private var target = MediaTime.negativeInfinity
    var upcoming: MediaTime?
    /// Whether pictures that nothing refers to are left out on the way to it.
    private var leavesOut = false
    /// Whether one was since the last move.
    private var hasLeftOut = false
    /// Whether damage was met since then.
    private(set) var isDoubtful = false

    /// How many sync samples earlier decoding begins at most when pictures seem to be missing.
    private static let stepsBack = 4
    /// How far ahead a moment lies for which a file without an index is scanned rather than decoded up to there.
    static let worthScanning = MediaTime(value: 20, timescale: 1)

    /// Opens a track for random access.
    ///
    /// - Parameters:
    ///   - syncSamples: The track's.
    ///   - damage: Where what cannot be decoded is counted.
    ///   - cancellation: Ends what is under way, and all later requests.
    init(
        _ asset: Asset, track: AssetTrack, syncSamples: SyncSamples, threads: Int, damage: DamageLog,
        cancellation: Cancellation
    ) throws(MediaError) {
        self.cancellation = cancellation
        self.damage = damage
        let contents = try asset.contents()
        self.asset = asset
        self.track = track
        self.threads = threads
        origin = contents.origin
        hasIndex = contents.seeking.hasIndex
        dispensable = DispensablePictures(track.formatDescriptions.first)
        leavesOut = dispensable.areKnown
        self.syncSamples = syncSamples
        var file = try asset.takeFile(cancellation)
        if contents.seeking.readsIndexLate, file.isSeekable, !file.seek(stream: track.index, to: 0) {
            file = try asset.takeFile(cancellation)
        }
        feed = PacketFeed(file, track: track, origin: origin)
        source = try TimedFrameSource(file, track: track, origin: origin, threads: threads)
    }

    /// Leaves the decoder's place, so that what is found next does not depend on what was asked for before.
    func forgetPlace() {
        (current, following, lastSyncPicture, upcoming) = (nil, nil, nil, nil)
        leavesOut = dispensable.areKnown
    }

    /// The picture on screen at `time`.
    ///
    /// A time that is the track's very end gives the last picture.
    /// - Throws: ``MediaError/Code-swift.struct/outOfRange`` for a time before the first picture, or after the end.
    func frame(at time: MediaTime) throws(MediaError) -> Found {
        guard time.isNumeric else { throw MediaError(.outOfRange, "\(time) is not a moment") }
        if track.editedEnd.map({ time > $0 }) ?? false { throw afterEnd(time) }
        target = time
        try goTo(time)
        var found = try settle(on: time)
        if hasLeftOut, isDoubtful || isMissingPicture(after: found) {
            leavesOut = false
            try beginAgain()
            found = try settle(on: time)
        }
        for _ in 0..<Self.stepsBack {
            guard isMissingPicture(after: found), try goBackFurther() else { break }
            let again = try settle(on: time)
            defer { found = again }
            // What does not depend on where decoding began is no artefact of the seek.
            if again.frame.time == found.frame.time, again.end == found.end { break }
        }
        guard time < found.end || (found.isLast && time == found.end) else { throw afterEnd(time) }
        return found
    }

    /// Decodes on from the decoder's place to the picture on screen at `time`, or to the last one.
    private func settle(on time: MediaTime) throws(MediaError) -> Found {
        guard let current else {
            throw MediaError(.outOfRange, "the track has no picture that can be decoded")
        }
        guard current.time <= time else {
            throw MediaError(
                .outOfRange, "\(time.clockText()) is before the first picture at \(current.time.clockText())")
        }
        while let next = following, next.time <= time { try advance() }
        guard let shown = self.current else { throw afterEnd(time) }
        var end = following?.time ?? source.end(ofLast: shown)
        // A cover is on screen as long as the asset lasts.
        if track.isAttachedPicture, track.timeRange.end.isNumeric { end = max(end, track.timeRange.end) }
        return Found(frame: shown, end: end, isLast: following == nil)
    }

    func afterEnd(_ time: MediaTime) -> MediaError {
        MediaError(.outOfRange, "\(time.clockText()) is after the last picture")
    }

    /// Whether a packet was read whose picture should have come out after a picture and before the next one.
    private func isMissingPicture(after found: Found) -> Bool {
        feed.times.contains { $0 > found.frame.time && (found.isLast || $0 < found.end) }
    }
}

// MARK: - Moving

extension FrameFinder {
    /// Brings the decoder to a picture that is not later than `time`, or to the first one.
    private func goTo(_ time: MediaTime) throws(MediaError) {
        if let current, current.time <= time, try !isWorthSkipping(to: time) { return }
        if feed.isUnread, try !isWorthSkipping(to: time) {
            try begin(.beginning)
            if let current, current.time <= time { return }
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
        guard asset.hasPacketScan || time - max(feed.latestTime, .zero) > Self.worthScanning,
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
            if let current, current.time <= time { return true }
            guard entry.ticks > firstIndexTicks else { return false }
            target = entry.ticks &- 1
        }
        return false
    }

    private func seekByScan(to time: MediaTime, from limit: Int? = nil) throws(MediaError) -> Bool {
        guard let stream = try asset.packetScan(cancellation).streams[track.index] else { return false }
        let samples = stream.syncSamples
        var index = limit ?? stream.lastSyncSample(notAfter: time)
        for _ in 0..<8 {
            guard let here = index, here > 0, let position = samples[here].position, feed.move(toByte: position)
            else { return false }
            try begin(.scanned(here))
            if let current, current.time <= time, current.time >= samples[here].time { return true }
            index = here - 1
        }
        return false
    }

    /// Reads the file anew from its start.
    private func rewind() throws(MediaError) {
        (current, following) = (nil, nil)
        feed = PacketFeed(try asset.takeFile(cancellation), track: track, origin: origin)
        source = try TimedFrameSource(feed.file, track: track, origin: origin, threads: threads)
        try begin(.beginning)
    }

    /// Begins where it began the last time.
    private func beginAgain() throws(MediaError) {
        switch start {
        case .beginning: break
        case .indexed(let ticks):
            if try feed.move(toIndexed: ticks) { return try begin(start) }
        case .scanned(let number):
            if let position = try asset.packetScan(cancellation).streams[track.index]?.syncSamples[number].position,
                feed.move(toByte: position)
            {
                return try begin(start)
            }
        }
        try rewind()
    }

    /// Begins one sync sample earlier than the last time, for the same moment; `false` at the file's beginning.
    private func goBackFurther() throws(MediaError) -> Bool {
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
        while isInside, let early = current, let sync = feed.firstTime, early.time < sync {
            current = try source.next(from: packets)
        }
        noteDoubt(about: current)
        following = current == nil ? nil : try source.next(from: packets)
        noteDoubt(about: following)
    }

    /// Empties the decoder, as is due after a move; the finder is nowhere then.
    func prepareToDecode() {
        (current, following) = (nil, nil)
        (hasLeftOut, isDoubtful) = (false, false)
        source.flush()
    }

    private func advance() throws(MediaError) {
        current = following
        following = try source.next(from: packets)
        noteDoubt(about: following)
        if let passed = current?.time { feed.pass(passed) }
    }

    private func noteDoubt(about frame: TimedFrame?) {
        if let frame, frame.picture.frame.isCorrupt { isDoubtful = true }
    }

    private var packets: PacketQueue {
        var queue = queue { () throws(MediaError) in try self.feed.next() }
        guard leavesOut else { return queue }
        queue.isDispensable = { sample in
            guard let time = self.feed.time(of: sample), self.isDispensable(time) else { return false }
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
        return feed.knowsPacket(after: target, before: time) && feed.knowsPacket(after: time, notAfter: upcoming)
    }

    /// A queue whose damage is counted.
    func queue(_ next: @escaping () throws(MediaError) -> StoredSample?) -> PacketQueue {
        PacketQueue(
            next: next,
            reportDamage: { ticks in
                self.isDoubtful = true
                let time = ticks.map { MediaTime(ticks: $0, timeBase: self.track.timeBase) - self.origin }
                self.damage.add(track: self.track.index, at: time)
            })
    }
}
