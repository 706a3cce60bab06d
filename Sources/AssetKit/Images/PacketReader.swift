import ContainerFacts
import LibAV
import MediaBase

/// Reads the packets of one video track from any position, with look-ahead, and keeps the times of the packets
/// returned.
///
/// One thread may use it at a time.
final class PacketReader {
    /// The open file; call ``restart()`` after a seek in it.
    let file: InputFile
    private let track: AssetTrack
    private let origin: MediaTime
    /// True if a file without an index is positioned by byte rather than by time.
    private let readsFromAnyByte: Bool
    /// The packets that were read but not returned yet, in decode order.
    private var ahead: [CompressedSample] = []
    /// True if the end of the file was reached; nothing follows ``ahead`` then.
    private var isAtEnd = false
    /// True if every packet so far has a decode time and a unique presentation time, so that the known times are
    /// complete.
    private var areTimed = true
    /// True if packet times are not those of their frames: stored frames are reordered, but the times are not.
    private(set) var areMisplaced = false
    /// The presentation times of the most recent packets, in the stream's time base, if times may be duplicated.
    private var recentStamps: [Int64] = []
    private let mayDouble: Bool
    private let reorders: Bool
    /// True if packets have decode times from the container: ``ContainerFormat/statesDecodeTimes``.
    private let statesDecodeTimes: Bool
    /// True if the container ended prematurely since the last seek.
    private(set) var isTruncated = false
    /// The decode time of the packet that was read last; `nil` if it does not state one.
    private var lastDecodeTime: MediaTime?
    /// The maximum number of packets to read to find what follows a frame.
    private static let patience = 64
    /// The maximum number of frames that are decoded before another one and shown after it (H.264, A.3.1; HEVC, A.4.2).
    private static let maximumReordering = 16
    /// True if no packet has been read since the file was opened.
    private(set) var isUnread = true
    /// The position of the last returned packet in decode order, in the stream's time base.
    private(set) var ticks = Int64.min
    /// The presentation time of the first packet since the last seek; `nil` if it does not state one.
    private(set) var firstTime: MediaTime?
    /// True if a packet to be shown was returned since the last seek.
    private var hasBegun = false
    /// The latest presentation time of the packets returned since the last seek.
    private(set) var latestTime = MediaTime.negativeInfinity
    /// The presentation times of the packets returned since the last seek, except for those that were passed.
    private(set) var times: [MediaTime] = []
    private let count: (() -> Void)?
    /// The delay from decoding to presentation of a sync sample, in the stream's time base.
    private(set) var reorderDelay: Int64 = 0

    /// Creates a reader for the packets of a track.
    ///
    /// - Parameters:
    ///   - damage: Receives the number of bytes skipped before the media; `nil` to ignore it.
    ///   - count: Called for each packet that was read; `nil` if nobody counts them.
    init(
        _ file: InputFile, track: AssetTrack, _ contents: AssetContents, damage: DamageLog? = nil,
        count: (() -> Void)? = nil
    ) {
        self.count = count
        file.select(streams: [track.index])
        (self.file, self.track) = (file, track)
        origin = contents.origin(ofStream: track.index)
        mayDouble = !contents.format.startsAtZero
        reorders = track.formatDescriptions.first?.video?.reorders == true
        readsFromAnyByte = contents.format.readsFromAnyByte
        statesDecodeTimes = contents.format.statesDecodeTimes
        if file.passedOver > 0 { damage?.noteSkippedBytes(file.passedOver) }
    }

    /// Discards everything that was read before a seek.
    func restart() {
        ahead = []
        (isAtEnd, isTruncated, lastDecodeTime) = (false, false, nil)
        recentStamps = []
        ticks = .min
        (firstTime, hasBegun) = (nil, false)
        latestTime = .negativeInfinity
        times = []
    }

    /// Returns the next packet; `nil` at the end of the file, or if the container breaks off.
    func next() throws(MediaError) -> CompressedSample? {
        guard let sample = try peek() else { return nil }
        ahead.removeFirst()
        ticks = max(ticks, sample.packet.dts ?? sample.packet.pts ?? ticks)
        defer { if !sample.packet.isDiscarded { hasBegun = true } }
        if let time = time(of: sample) {
            if !hasBegun { firstTime = time }
            latestTime = max(latestTime, time)
            times.append(time)
        }
        return sample
    }

    /// Returns the packet that ``next()`` will return.
    func peek() throws(MediaError) -> CompressedSample? {
        if let sample = ahead.first { return sample }
        return try readAhead()
    }

    /// Reads one more packet ahead; `nil` at the end.
    private func readAhead() throws(MediaError) -> CompressedSample? {
        isUnread = false
        while !isAtEnd, let packet = try read() {
            guard packet.streamIndex == track.index else { continue }
            reorderDelay = packet.reorderDelay ?? reorderDelay
            if !packet.isDiscarded, packet.pts == nil || packet.dts == nil { areTimed = false }
            if mayDouble, packet.isKey, packet.pts == packet.dts, packet.pts != nil, reorders {
                (areTimed, areMisplaced) = (false, true)
            }
            if mayDouble, areTimed, let pts = packet.pts {
                if recentStamps.contains(pts) { areTimed = false }
                recentStamps = recentStamps.suffix(16) + [pts]
            }
            lastDecodeTime = packet.dts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
            let sample = CompressedSample(packet)
            ahead.append(sample)
            return sample
        }
        isAtEnd = true
        return nil
    }

    /// Reads the next packet of the file; `nil` at its end, or if the container breaks off.
    private func read() throws(MediaError) -> Packet? {
        do {
            let packet = try file.readPacket()
            if packet != nil { count?() }
            if packet == nil, file.isTruncated { isTruncated = true }
            return packet
        } catch {
            guard error.endsContainer else { throw error }
            isTruncated = true
            return nil
        }
    }

    /// Records that the decoder has output all frames up to a time.
    func pass(_ time: MediaTime) { times.removeAll { $0 <= time } }

    /// Returns the presentation time of a packet; `nil` if it states none or is not shown.
    func time(of sample: CompressedSample) -> MediaTime? {
        guard let pts = sample.packet.pts, !sample.packet.isDiscarded else { return nil }
        return MediaTime(ticks: pts, timeBase: track.timeBase) - origin
    }

    /// Returns true if a known packet is shown after `time` and not after `end`.
    func knowsPacket(after time: MediaTime, notAfter end: MediaTime) -> Bool {
        knowsPacket { $0 > time && $0 <= end }
    }

    /// Returns true if a known packet is shown after `time` and before `end`.
    func knowsPacket(after time: MediaTime, before end: MediaTime) -> Bool { knowsPacket { $0 > time && $0 < end } }

    private func knowsPacket(_ isMeant: (MediaTime) -> Bool) -> Bool {
        times.contains(where: isMeant) || ahead.contains { time(of: $0).map(isMeant) ?? false }
    }

    /// Returns what follows the decoded frame that starts at `start`, if it is on screen at `time`; `nil` if another
    /// one is.
    ///
    /// Reads ahead as many packets as this requires.
    func follower(
        ofPictureAt start: MediaTime, onScreenAt time: MediaTime
    ) throws(MediaError) -> KeyframeIndex.Follower? {
        for _ in 0..<Self.patience {
            guard areTimed else { return .unknown }
            if knowsPacket(after: start, notAfter: time) { return nil }
            let end = (times + ahead.compactMap { self.time(of: $0) }).filter { $0 > time }.min()
            // A frame that is decoded later is not shown earlier.
            if let end, let decoded = lastDecodeTime, decoded >= end { return .picture(end) }
            guard try readAhead() != nil else { return end.map { .picture($0) } ?? KeyframeIndex.Follower.none }
        }
        return .unknown
    }

    /// Seeks to the sync sample whose timestamp in the index is `ticks`, or to an earlier one.
    ///
    /// libavformat's mov demuxer treats the target as a presentation time, and searches earlier by the delay from
    /// decoding to presentation. The delay is added once it is known, unless this leads too far.
    func move(toIndexed ticks: Int64) throws(MediaError) -> Bool {
        var tried: [Int64] = []
        var delay = reorderDelay
        while true {
            guard file.seek(stream: track.index, to: ticks &+ delay) else { return false }
            restart()
            tried.append(delay)
            guard let first = try peek(), let place = first.packet.dts ?? first.packet.pts else { return delay == 0 }
            if place == ticks || first.packet.pts == ticks { return true }
            if place < ticks, tried.count < 3, !tried.contains(reorderDelay) {
                delay = reorderDelay
            } else if delay > 0 {
                delay = 0
            } else {
                return true
            }
        }
    }

    /// Seeks to a sync sample that a scan of all packets found, so that it is the next packet.
    ///
    /// - Returns: True if that very packet was read again; otherwise the position is unknown.
    func move(to sample: PacketScan.SyncSample) throws(MediaError) -> Bool {
        if readsFromAnyByte {
            guard let position = sample.position, position >= 0, file.seek(toByte: position) else { return false }
        } else {
            guard let ticks = sample.ticks, file.seek(stream: track.index, to: ticks) else { return false }
        }
        restart()
        do throws(MediaError) {
            // It may be preceded by the end of an earlier packet, and by everything between the positions that the
            // demuxer can find.
            for _ in 0..<Self.patience {
                guard let next = try peek() else { return false }
                if next.packet.fingerprint == sample.fingerprint { return true }
                ahead.removeFirst()
            }
        } catch {
            // An error from starting in the middle of a file does not mean that the file is faulty.
            switch error.code {
            case .cancelled, .timedOut, .outOfResources: throw error
            default: return false
            }
        }
        return false
    }

    /// Seeks to a sync sample, or to an earlier one.
    func move(to place: KeyframeIndex.Place) throws(MediaError) -> Bool {
        switch place {
        case .indexed(let ticks): try move(toIndexed: ticks)
        case .scanned(let sample): try move(to: sample)
        }
    }

    /// Returns what is shown after the frame at `time`, whose packet was returned last.
    func follower(of time: MediaTime) throws(MediaError) -> KeyframeIndex.Follower {
        var earliest: MediaTime?
        var count = 0
        for _ in 0..<Self.patience {
            guard let sample = try next() else { return earliest.map { .picture($0) } ?? .none }
            guard !sample.packet.isDiscarded else { continue }
            guard let shown = self.time(of: sample) else { return .unknown }
            guard shown > time else { continue }
            let next = min(earliest ?? shown, shown)
            (earliest, count) = (next, count + 1)
            if statesDecodeTimes {
                // A frame that is decoded later is not shown earlier.
                let decoded = sample.packet.dts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
                if let decoded, decoded >= next { return .picture(next) }
            } else if !reorders || count > Self.maximumReordering {
                return .picture(next)
            }
        }
        return .unknown
    }
}

extension Packet {
    /// The delay from decoding to presentation of a sync sample; `nil` for other packets.
    var reorderDelay: Int64? {
        guard isKey, let pts, let dts else { return nil }
        let (delay, overflow) = pts.subtractingReportingOverflow(dts)
        return overflow ? nil : min(max(delay, 0), Int64(Int32.max))
    }
}
