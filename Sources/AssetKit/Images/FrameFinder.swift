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
final class FrameFinder {
    /// A picture and the interval during which it is on screen.
    struct Found {
        let frame: TimedFrame
        /// When the next picture follows, or the track ends.
        let end: MediaTime
        /// Whether no picture follows.
        let isLast: Bool
    }

    private let asset: Asset
    private let track: AssetTrack
    private let origin: MediaTime
    private let threads: Int
    private let hasIndex: Bool
    private let syncSamples: SyncSamples
    /// Ends the request that is under way, and with it the reading of the file for good.
    var cancellation: Cancellation { didSet { cancellation.bind(file) } }
    /// What could not be decoded so far.
    private(set) var damage = DamageReport()
    /// The time stamps of what is counted in ``damage``.
    private var damagedTicks: Set<Int64> = []
    private var file: InputFile
    private var source: TimedFrameSource
    /// The picture at the decoder's place, and the one after it; both `nil` before the first was decoded.
    private var current: TimedFrame?
    private var following: TimedFrame?
    /// Where the last packet that was read lies in decode order, in the stream's time base.
    private var readUpTo = Int64.min
    /// When the first packet since the last move is shown.
    private var firstPacketTime: MediaTime?
    /// When it is decoded, in the stream's time base.
    private var firstPacketTicks: Int64?
    /// By how much a sync sample is shown later than it is decoded, in the stream's time base.
    private var reorderDelay: Int64 = 0
    /// When the packets read since then are shown, apart from those that were passed.
    private var sentTimes: [MediaTime] = []
    /// Where the last move led.
    private var start = Start.beginning

    private enum Start {
        /// The file's beginning, after which nothing is missing.
        case beginning
        /// A sync sample of the index, by its decode time.
        case indexed(Int64)
        /// A sync sample of the scan, by its number.
        case scanned(Int)
    }

    /// How many sync samples earlier decoding begins at most when pictures seem to be missing.
    private static let stepsBack = 4

    /// Opens a track for random access.
    ///
    /// - Parameter cancellation: Ends what is under way, and all later requests.
    init(_ asset: Asset, track: AssetTrack, threads: Int, cancellation: Cancellation) throws(MediaError) {
        self.cancellation = cancellation
        let contents = try asset.contents()
        self.asset = asset
        self.track = track
        self.threads = threads
        origin = contents.origin
        hasIndex = contents.seeking.hasIndex
        syncSamples = SyncSamples(asset, track: track, contents)
        file = try asset.takeFile(cancellation)
        if contents.seeking.readsIndexLate, file.isSeekable, !file.seek(stream: track.index, to: 0) {
            file = try asset.takeFile(cancellation)
        }
        file.select(streams: [track.index])
        source = try TimedFrameSource(file, track: track, origin: origin, threads: threads)
    }

    /// The picture on screen at `time`.
    ///
    /// A time that is the track's very end gives the last picture.
    /// - Throws: ``MediaError/Code-swift.struct/outOfRange`` for a time before the first picture, or after the end.
    func frame(at time: MediaTime) throws(MediaError) -> Found {
        guard time.isNumeric else { throw MediaError(.outOfRange, "\(time) is not a moment") }
        if track.editedEnd.map({ time > $0 }) ?? false { throw afterEnd(time) }
        try goTo(time)
        var found = try settle(on: time)
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

    private func afterEnd(_ time: MediaTime) -> MediaError {
        MediaError(.outOfRange, "\(time.clockText()) is after the last picture")
    }

    // MARK: - Moving

    /// Brings the decoder to a picture that is not later than `time`, or to the first one.
    private func goTo(_ time: MediaTime) throws(MediaError) {
        if let current, current.time <= time, !isWorthSkipping(to: time) { return }
        if current == nil, !isWorthSkipping(to: time) {
            try begin(.beginning)
            if let current, current.time <= time { return }
        }
        guard file.isSeekable else {
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
    private func isWorthSkipping(to time: MediaTime) -> Bool {
        guard hasIndex, file.isSeekable, let ticks = ticks(of: time),
            let position = file.indexOfKeyframe(stream: track.index, notAfter: ticks),
            let entry = file.indexEntry(stream: track.index, at: position)
        else { return false }
        return entry.ticks > (readUpTo == .min ? firstIndexTicks : readUpTo)
    }

    private var firstIndexTicks: Int64 { file.indexEntry(stream: track.index, at: 0)?.ticks ?? .max }

    private func ticks(of time: MediaTime) -> Int64? { (time + origin).ticks(in: track.timeBase, rounding: .down) }

    private func seekByIndex(to time: MediaTime, from limit: Int64? = nil) throws(MediaError) -> Bool {
        guard var target = limit ?? ticks(of: time) else { return false }
        // Decode times run ahead of presentation times by a few pictures, so few steps back are ever needed.
        for _ in 0..<8 {
            guard let position = file.indexOfKeyframe(stream: track.index, notAfter: target),
                let entry = file.indexEntry(stream: track.index, at: position),
                try beginAtIndexed(entry.ticks)
            else { return false }
            if let current, current.time <= time { return true }
            guard entry.ticks > firstIndexTicks else { return false }
            target = entry.ticks &- 1
        }
        return false
    }

    /// Begins at the sync sample of the index whose decode time is `ticks`, or at one before it.
    ///
    /// libavformat's mov demuxer takes what it is asked for as a presentation time and looks earlier by the delay
    /// between the two; the delay is added, where that does not lead too far.
    private func beginAtIndexed(_ ticks: Int64) throws(MediaError) -> Bool {
        for delay in reorderDelay > 0 ? [reorderDelay, 0] : [0] {
            guard file.seek(stream: track.index, to: ticks &+ delay) else { return false }
            try begin(.indexed(ticks))
            if firstPacketTicks.map({ $0 <= ticks }) ?? true { return true }
        }
        return true
    }

    private func seekByScan(to time: MediaTime, from limit: Int? = nil) throws(MediaError) -> Bool {
        guard let stream = try asset.packetScan(cancellation).streams[track.index] else { return false }
        let samples = stream.syncSamples
        var index = limit ?? stream.lastSyncSample(notAfter: time)
        for _ in 0..<8 {
            guard let here = index, here > 0, let position = samples[here].position, file.seek(toByte: position) else {
                return false
            }
            try begin(.scanned(here))
            if let current, current.time <= time, current.time >= samples[here].time { return true }
            index = here - 1
        }
        return false
    }

    /// Reads the file anew from its start.
    private func rewind() throws(MediaError) {
        (current, following) = (nil, nil)
        file = try asset.takeFile(cancellation)
        file.select(streams: [track.index])
        source = try TimedFrameSource(file, track: track, origin: origin, threads: threads)
        try begin(.beginning)
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

    /// Whether a packet was read whose picture should have come out after a picture and before the next one.
    private func isMissingPicture(after found: Found) -> Bool {
        sentTimes.contains { $0 > found.frame.time && (found.isLast || $0 < found.end) }
    }

    /// Decodes the first two pictures from where the file is.
    ///
    /// Pictures that are shown before the sync sample and stored after it (an open group of pictures) may lack what
    /// they refer to, and are left out, except at the file's beginning.
    private func begin(_ start: Start) throws(MediaError) {
        self.start = start
        // Nothing is known of the new place until it was decoded, also if that fails.
        (current, following) = (nil, nil)
        readUpTo = .min
        firstPacketTime = nil
        firstPacketTicks = nil
        sentTimes = []
        source.flush()
        current = try source.next(from: packets)
        var isInside = true
        if case .beginning = start { isInside = false }
        while isInside, let early = current, let sync = firstPacketTime, early.time < sync {
            current = try source.next(from: packets)
        }
        following = current == nil ? nil : try source.next(from: packets)
    }

    private func advance() throws(MediaError) {
        current = following
        following = try source.next(from: packets)
        if let passed = current?.time { sentTimes.removeAll { $0 <= passed } }
    }

    private var packets: PacketQueue {
        PacketQueue(
            next: { () throws(MediaError) in try self.nextPacket() },
            reportDamage: { ticks in
                // What is decoded again on the way to another time is damaged once.
                if let ticks, !self.damagedTicks.insert(ticks).inserted { return }
                let time = ticks.map { MediaTime(ticks: $0, timeBase: self.track.timeBase) - self.origin }
                self.damage.add(track: self.track.index, at: time)
            })
    }

    private func nextPacket() throws(MediaError) -> StoredSample? {
        while let packet = try readOn(file) {
            guard packet.streamIndex == track.index else { continue }
            readUpTo = max(readUpTo, packet.dts ?? packet.pts ?? readUpTo)
            if let pts = packet.pts, !packet.isDiscarded {
                let time = MediaTime(ticks: pts, timeBase: track.timeBase) - origin
                if firstPacketTime == nil { firstPacketTime = time }
                sentTimes.append(time)
            }
            if firstPacketTicks == nil { firstPacketTicks = packet.dts ?? packet.pts }
            reorderDelay = packet.reorderDelay ?? reorderDelay
            return StoredSample(packet)
        }
        return nil
    }
}

// MARK: - Sync samples

extension FrameFinder {
    /// The picture for `time` where others near enough will do.
    ///
    /// A picture is allowed if its interval meets [time − before, time + after]. Among those the sync sample nearest to
    /// `time` is given, and where there is none the picture at `time` itself.
    func frame(at time: MediaTime, before: MediaTime, after: MediaTime) throws(MediaError) -> Found {
        guard time.isNumeric, file.isSeekable, before > .zero || after > .zero else { return try frame(at: time) }
        for candidate in try syncSamples.around(time) where candidate <= time + after {
            do throws(MediaError) {
                let found = try frame(at: candidate)
                if found.frame.time == candidate, found.end > time - before { return found }
            } catch {
                // A sync sample that cannot be decoded is none; what ends the work is another matter.
                guard error.code == .outOfRange || error.code == .damaged else { throw error }
            }
        }
        return try frame(at: time)
    }
}
