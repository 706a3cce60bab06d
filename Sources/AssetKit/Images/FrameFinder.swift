import LibAV
import MediaBase

/// Finds the frame that is on screen at a given time, by decoding from the preceding sync sample.
///
/// The decoder keeps its position, so that times in ascending order require a single pass through the file. To go back
/// or skip ahead, it seeks by the container's index if this is reliable. Without an index it seeks by a scan of all
/// packets. If even that is not possible, it reads from the start. One thread may use it at a time.
///
/// The result of a seek is accepted only under these conditions:
/// - The first frame after the seek is not later than the requested time.
/// - In containers whose sync samples are unreliable (``ContainerFormat``), this frame is the expected one, and the
///   decoder itself marks it as that of a sync sample.
/// - No packet that was read lies between the frame found and the next one. After a seek, libavcodec may drop frames
///   until it has learnt their presentation order.
///
/// Otherwise decoding starts again from an earlier sync sample, and the result is taken from there.
///
/// Packets determine the end of the frame if each is known to be one frame; otherwise the next frame is decoded.
///
/// Frames to which no other frame refers are skipped on the way. The result is accepted only if it matches the packets
/// and nothing on the way was damaged; otherwise all frames are decoded. Likewise, the result of several codec threads
/// is accepted only if nothing is damaged. They conceal damage differently from a single thread, which then takes over.
final class FrameFinder {
    /// A frame and the interval in which it is on screen.
    struct Found {
        let frame: TimedFrame
        /// The start of the next frame, or the end of the track.
        let end: MediaTime
        /// True if no frame follows.
        let isLast: Bool
    }

    /// The place at which decoding started.
    enum Start {
        /// The start of the file, after which nothing is missing.
        case beginning
        /// A sync sample of the index, by its timestamp there.
        case indexed(Int64)
        /// A sync sample of the scan, by its number.
        case scanned(Int)
    }

    let asset: Asset
    let contents: AssetContents
    let track: AssetTrack
    let origin: MediaTime
    var threads: Int
    let hasIndex: Bool
    /// True if the result of a seek by the index needs no verification.
    let hasTrueSyncSamples: Bool
    /// True if seeks by the scan were tried and none could be verified, so that no more are tried.
    var hasNoLandings = false
    /// True if the times of frames are those of packets.
    let trustsPackets: Bool
    private let dispensable: DisposableFrames
    /// Counts what cannot be decoded.
    var damage: DamageLog
    /// Indicates whether the codec's threads work on one frame: ``VideoSettings/decodesBySlices``.
    let bySlices: Bool
    /// Cancels the request in progress, and permanently the reading of the file.
    var cancellation: Cancellation { didSet { cancellation.bind(feed.file) } }
    var feed: PacketReader
    var source: TimedFrameSource
    /// The frame at the decoder's position; `nil` before the first one was decoded.
    var current: TimedFrame?
    /// The frame after ``current`` if it was already decoded; the inner value is `nil` if there is no such frame.
    var following: TimedFrame??
    /// True if ``current`` is the first frame of all.
    var isAtFirst = false
    /// The place to which the last seek led.
    var start = Start.beginning
    /// The frame of a sync sample that was last decoded alone.
    var lastSyncPicture: Found?

    /// The time that is being looked up, and the next one if it is known.
    var target = MediaTime.negativeInfinity
    var upcoming: MediaTime?
    /// True to skip frames that nothing refers to on the way to ``target``.
    var leavesOut = false
    /// True if a frame was skipped since the last seek.
    var hasLeftOut = false
    /// True if damage was found since the last seek.
    var isDoubtful = false
    /// The number of errors that the decoder had logged by the last seek.
    var complaintCount = 0

    /// The maximum number of sync samples to step back if frames seem to be missing.
    private static let stepsBack = 4
    /// The distance to a time ahead beyond which a file without an index is scanned rather than decoded up to there.
    static let worthScanning = MediaTime(value: 20, timescale: 1)

    /// Opens a track for random access.
    ///
    /// - Parameters:
    ///   - bySlices: True to let several threads work on one frame, if the codec allows it.
    ///   - damage: Counts what cannot be decoded.
    ///   - cancellation: Cancels the request in progress, and all later ones.
    init(
        _ asset: Asset, track: AssetTrack, threads: Int, bySlices: Bool = false, damage: DamageLog,
        cancellation: Cancellation
    ) throws(MediaError) {
        self.cancellation = cancellation
        self.bySlices = bySlices
        self.damage = damage
        let contents = try asset.contents()
        self.asset = asset
        self.contents = contents
        self.track = track
        // With several threads, libavcodec's VP8 decoder decodes damaged frames differently from one thread, and does
        // not report it.
        self.threads = track.formatDescriptions.first?.codec == "vp8" ? 1 : threads
        origin = contents.origin(ofStream: track.index)
        hasIndex = contents.format.hasIndex
        hasTrueSyncSamples = contents.format.hasTrueSyncSamples
        trustsPackets = track.storesOnePictureASample && !track.isAttachedPicture
        dispensable = DisposableFrames(track.formatDescriptions.first)
        leavesOut = dispensable.areKnown
        var file = try asset.takeFile(cancellation)
        if contents.format.readsIndexLate, file.isSeekable, !file.seek(stream: track.index, to: 0) {
            file = try asset.takeFile(cancellation)
        }
        feed = PacketReader(file, track: track, contents, damage: damage, count: asset.countPacket)
        source = try TimedFrameSource(
            file, track: track, origin: origin, threads: self.threads, bySlices: bySlices)
    }

    /// Discards the decoder's position, so that the next result does not depend on earlier requests.
    func forgetPlace() {
        (current, following, lastSyncPicture, upcoming, isAtFirst) = (nil, nil, nil, nil, false)
        leavesOut = dispensable.areKnown
    }

    /// Returns the frame on screen at `time`.
    ///
    /// A time outside the track by less than the duration of the first or last frame returns that frame. The exact end
    /// of the track returns the last frame.
    /// - Throws: ``MediaError/Code-swift.struct/outOfRange`` for a time further outside;
    ///   ``MediaError/Code-swift.struct/damaged`` for one after the last frame of a file that breaks off.
    func frame(at time: MediaTime) throws(MediaError) -> Found { try frame(at: time, isNext: false) }

    /// Returns the frame that follows the one that was found last, decoding on without a seek; `nil` at the end.
    func frame(following found: Found) throws(MediaError) -> Found? {
        guard !found.isLast else { return nil }
        return try frame(at: found.end, isNext: current?.time == found.frame.time)
    }

    private func frame(at time: MediaTime, isNext: Bool) throws(MediaError) -> Found {
        guard time.isNumeric else { throw MediaError(.outOfRange, "\(time) is not a moment") }
        if let end = track.editedEnd, time > end {
            let last = try frame(at: end)
            guard time - end < min(last.end, end) - last.frame.time else { throw Self.afterEnd(time, end) }
            return last
        }
        // Several threads read further ahead than one, and may reach the end of a truncated file sooner.
        defer { if threads == 1, feed.isTruncated { damage.noteTruncation() } }
        do throws(MediaError) {
            let found = try look(for: time, isNext: isNext)
            if !needsOneThread { return found }
        } catch {
            guard needsOneThread, error.code != .cancelled, error.code != .timedOut else { throw error }
        }
        threads = 1
        source = try openSource()
        try beginAgain()
        return try look(for: time)
    }

    /// True if a single thread has to look again, because its result might differ from that of several.
    private var needsOneThread: Bool { threads != 1 && (isDoubtful || feed.isTruncated) }

    private func look(for time: MediaTime, isNext: Bool = false) throws(MediaError) -> Found {
        target = time
        if !isNext { try goTo(time) }
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
            // A result that does not depend on the place where decoding started is not an artefact of the seek.
            if again.frame.time == found.frame.time, again.end == found.end { break }
        }
        guard time >= found.end else { return found }
        guard found.isLast else { throw Self.afterEnd(time, found.end) }
        if feed.isTruncated, time > found.end {
            throw Self.brokenOff(before: time, found.frame.time)
        }
        guard time - found.end < found.end - found.frame.time || time == found.end else {
            throw Self.afterEnd(time, found.end)
        }
        return found
    }

    /// Decodes from the current position to the frame on screen at `time`, or to the last frame.
    private func settle(on time: MediaTime) throws(MediaError) -> Found {
        guard let current else {
            throw Self.noPicture
        }
        guard current.time <= time else {
            target = current.time
            let first = try settle(on: current.time)
            guard track.showsFirstPicture(at: time, from: current.time, to: first.end) else {
                throw Self.beforeStart(time, current.time)
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
        // A cover is on screen for the duration of the asset.
        if track.isAttachedPicture, track.timeRange.end.isNumeric { end = max(end, track.timeRange.end) }
        return Found(frame: shown, end: end, isLast: next == nil)
    }

    /// Returns a frame with its end if packets alone show that it is on screen at `time`.
    ///
    /// The next frame then need not be decoded.
    private func endByPackets(of shown: TimedFrame, onScreenAt time: MediaTime) throws(MediaError) -> Found? {
        guard following == nil, trustsPackets, !isDoubtful else { return nil }
        guard let follower = try feed.follower(ofPictureAt: shown.time, onScreenAt: time) else { return nil }
        switch follower {
        case .picture(let end): return Found(frame: shown, end: end, isLast: false)
        case .none: return Found(frame: shown, end: end(ofLast: shown), isLast: true)
        case .unknown: return nil
        }
    }

    /// Returns the time until which the last frame is on screen.
    ///
    /// If the file breaks off, this is at most the end of the frame's own duration.
    private func end(ofLast shown: TimedFrame) -> MediaTime {
        let end = source.end(ofLast: shown)
        guard feed.isTruncated else { return end }
        return min(end, shown.time + source.duration(of: shown))
    }

    static var noPicture: MediaError { MediaError(.outOfRange, "the track has no picture that can be decoded") }

    static func beforeStart(_ time: MediaTime, _ start: MediaTime) -> MediaError {
        MediaError(.outOfRange, "\(time.clockText()) is before the first picture at \(start.clockText())")
    }

    static func brokenOff(before time: MediaTime, _ last: MediaTime) -> MediaError {
        MediaError(
            .damaged,
            "the file breaks off before \(time.clockText()): its last picture is that of \(last.clockText())")
    }

    static func afterEnd(_ time: MediaTime, _ end: MediaTime) -> MediaError {
        // Use as many decimals as it takes to show the difference.
        let decimals = time.clockText() == end.clockText() ? 9 : 3
        return MediaError(
            .outOfRange,
            "\(time.clockText(decimals: decimals)) is after the end at \(end.clockText(decimals: decimals))")
    }

    /// Returns true if a packet was read whose frame should have been output after the given frame and before the next
    /// one.
    private func isMissingPicture(after found: Found) -> Bool {
        feed.times.contains { $0 > found.frame.time && (found.isLast || $0 < found.end) }
    }
}
