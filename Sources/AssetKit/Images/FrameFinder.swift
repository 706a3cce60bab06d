import LibAV
import MediaBase

/// Finds the picture that is on screen at a moment, by decoding from the sync sample before it.
///
/// Keeps its decoder where it is, so that moments asked for in order cost one sweep over the file; goes back, or skips
/// ahead, by a seek where the container has an index that holds, by a scan of all packets where it has none, and by
/// reading from the start where even that is not possible. One thread uses it at a time.
///
/// A seek is believed only if the first picture that it leads to is not later than the moment asked for; if, outside of
/// containers whose sync samples hold (``ContainerFormat``), that is the picture that must be there and the decoder itself calls
/// it a sync sample's; and if no packet that was read lies between the picture found and the next one: after a seek libavcodec may drop pictures
/// until it has learnt in which order they are shown. Then decoding begins at an earlier sync sample, and what is found
/// there is the answer.
///
/// When the picture that is found ends is told by packets where each is known to be one picture; else the next one is
/// decoded.
///
/// On the way pictures are left out to which no other refers. What is found so is believed only if it is what the
/// packets say, and nothing on the way was damaged; else all are decoded. Likewise several codec threads are believed only
/// where nothing is damaged, as they patch damage up in another way than one, which then takes over.
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
    let contents: AssetContents
    let track: AssetTrack
    let syncSamples: KeyframeIndex
    let origin: MediaTime
    var threads: Int
    let hasIndex: Bool
    /// Whether a landing by the index needs no proof.
    let hasTrueSyncSamples: Bool
    /// Whether landings by the scan were tried and none was proven, so that no more are tried.
    var hasNoLandings = false
    /// Whether pictures' times are those of packets.
    let trustsPackets: Bool
    private let dispensable: DisposableFrames
    let damage: DamageLog
    /// Ends the request that is under way, and with it the reading of the file for good.
    var cancellation: Cancellation { didSet { cancellation.bind(feed.file) } }
    var feed: PacketReader
    var source: TimedFrameSource
    /// The picture at the decoder's place; `nil` before the first was decoded.
    var current: TimedFrame?
    /// The picture after it where it was decoded already, which may be that there is none.
    var following: TimedFrame??
    /// Whether that is the first one of all.
    var isAtFirst = false
    /// Where the last move led.
    var start = Start.beginning
    /// The picture of a sync sample that was decoded last, alone.
    var lastSyncPicture: Found?

    /// The moment that is being looked for, and the one that will be looked for next, where that is known.
    var target = MediaTime.negativeInfinity
    var upcoming: MediaTime?
    /// Whether pictures that nothing refers to are left out on the way to it.
    var leavesOut = false
    /// Whether one was since the last move.
    var hasLeftOut = false
    /// Whether damage was met since then.
    var isDoubtful = false
    /// How many errors the decoder had logged by then.
    var complaintCount = 0

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
        _ asset: Asset, track: AssetTrack, syncSamples: KeyframeIndex, threads: Int, damage: DamageLog,
        cancellation: Cancellation
    ) throws(MediaError) {
        self.cancellation = cancellation
        self.damage = damage
        let contents = try asset.contents()
        self.asset = asset
        self.contents = contents
        self.track = track
        // Several threads of libavcodec's VP8 decoder make other pictures of damaged ones than one, and say nothing.
        self.threads = track.formatDescriptions.first?.codec == "vp8" ? 1 : threads
        origin = contents.origin(ofStream: track.index)
        hasIndex = contents.format.hasIndex
        hasTrueSyncSamples = contents.format.hasTrueSyncSamples
        trustsPackets = track.storesOnePictureASample && !track.isAttachedPicture
        dispensable = DisposableFrames(track.formatDescriptions.first)
        leavesOut = dispensable.areKnown
        self.syncSamples = syncSamples
        var file = try asset.takeFile(cancellation)
        if contents.format.readsIndexLate, file.isSeekable, !file.seek(stream: track.index, to: 0) {
            file = try asset.takeFile(cancellation)
        }
        feed = PacketReader(file, track: track, contents, damage: damage)
        source = try TimedFrameSource(file, track: track, origin: origin, threads: self.threads)
    }

    /// Leaves the decoder's place, so that what is found next does not depend on what was asked for before.
    func forgetPlace() {
        (current, following, lastSyncPicture, upcoming, isAtFirst) = (nil, nil, nil, nil, false)
        leavesOut = dispensable.areKnown
    }

    /// The picture on screen at `time`.
    ///
    /// A time outside by less than the first or last picture's duration gives that picture, as the track's very end does.
    /// - Throws: ``MediaError/Code-swift.struct/outOfRange`` for a time farther outside;
    ///   ``MediaError/Code-swift.struct/damaged`` for one after the last picture of a file that breaks off.
    func frame(at time: MediaTime) throws(MediaError) -> Found {
        guard time.isNumeric else { throw MediaError(.outOfRange, "\(time) is not a moment") }
        if let end = track.editedEnd, time > end {
            let last = try frame(at: end)
            guard time - end < min(last.end, end) - last.frame.time else { throw Self.afterEnd(time, end) }
            return last
        }
        // Several threads read further ahead than one, to where a file breaks off.
        defer { if threads == 1, feed.isTruncated { damage.noteTruncation() } }
        do throws(MediaError) {
            let found = try look(for: time)
            if !needsOneThread { return found }
        } catch {
            guard needsOneThread, error.code != .cancelled, error.code != .timedOut else { throw error }
        }
        threads = 1
        source = try openSource()
        try beginAgain()
        return try look(for: time)
    }

    /// One thread has to look again, because it might find something else than several did.
    private var needsOneThread: Bool { threads != 1 && (isDoubtful || feed.isTruncated) }

    private func look(for time: MediaTime) throws(MediaError) -> Found {
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
        guard time >= found.end else { return found }
        guard found.isLast else { throw Self.afterEnd(time, found.end) }
        if feed.isTruncated, time > found.end {
            throw MediaError(
                .damaged,
                "the file breaks off before \(time.clockText()): its last picture is that of \(found.frame.time.clockText())"
            )
        }
        guard time - found.end < found.end - found.frame.time || time == found.end else {
            throw Self.afterEnd(time, found.end)
        }
        return found
    }

    /// Decodes on from the decoder's place to the picture on screen at `time`, or to the last one.
    private func settle(on time: MediaTime) throws(MediaError) -> Found {
        guard let current else {
            throw MediaError(.outOfRange, "the track has no picture that can be decoded")
        }
        guard current.time <= time else {
            target = current.time
            let first = try settle(on: current.time)
            guard current.time - time < first.end - current.time else {
                throw MediaError(
                    .outOfRange, "\(time.clockText()) is before the first picture at \(current.time.clockText())")
            }
            return first
        }
        var shown = current
        while true {
            if let end = try endByPackets(of: shown, onScreenAt: time) { return end }
            guard let next = try decodeFollowing(), next.time <= time else { break }
            shown = next
            advance()
        }
        let next = try decodeFollowing()
        var end = next?.time ?? self.end(ofLast: shown)
        // A cover is on screen as long as the asset lasts.
        if track.isAttachedPicture, track.timeRange.end.isNumeric { end = max(end, track.timeRange.end) }
        return Found(frame: shown, end: end, isLast: next == nil)
    }

    /// A picture with its end, if it is known from packets alone that it is the one on screen at a time, so that the next
    /// one need not be decoded.
    private func endByPackets(of shown: TimedFrame, onScreenAt time: MediaTime) throws(MediaError) -> Found? {
        guard following == nil, trustsPackets, !isDoubtful else { return nil }
        guard let follower = try feed.follower(ofPictureAt: shown.time, onScreenAt: time) else { return nil }
        switch follower {
        case .picture(let end): return Found(frame: shown, end: end, isLast: false)
        case .none: return Found(frame: shown, end: end(ofLast: shown), isLast: true)
        case .unknown: return nil
        }
    }

    /// Until when the last picture is on screen; by its own duration where more should follow that is not there.
    private func end(ofLast shown: TimedFrame) -> MediaTime {
        let end = source.end(ofLast: shown)
        guard feed.isTruncated else { return end }
        return min(end, shown.time + source.duration(of: shown))
    }

    static func afterEnd(_ time: MediaTime, _ end: MediaTime) -> MediaError {
        // As many decimals as it takes to see the difference.
        let decimals = time.clockText() == end.clockText() ? 9 : 3
        return MediaError(
            .outOfRange,
            "\(time.clockText(decimals: decimals)) is after the end at \(end.clockText(decimals: decimals))")
    }

    /// Whether a packet was read whose picture should have come out after a picture and before the next one.
    private func isMissingPicture(after found: Found) -> Bool {
        feed.times.contains { $0 > found.frame.time && (found.isLast || $0 < found.end) }
    }
}
