import LibAV
import MediaBase

/// The packets of one video track from wherever its file was moved to, with a look ahead, and what those that were handed
/// out say of times.
///
/// One thread uses it at a time.
final class PacketReader {
    /// The open file; moving it must be followed by ``restart()``.
    let file: InputFile
    private let track: AssetTrack
    private let origin: MediaTime
    /// Whether the file is moved by byte where it has no index, rather than by time.
    private let readsFromAnyByte: Bool
    /// Packets that were read and not handed out yet, in decode order.
    private var ahead: [CompressedSample] = []
    /// Whether the file's end was reached; nothing follows ``ahead`` then.
    private var isAtEnd = false
    /// Whether every packet so far says when it is decoded and shown, each with a time of its own, so that what is known of
    /// their times is all there is.
    private var areTimed = true
    /// Whether the times of packets are not those of their pictures: stored pictures are reordered, and times are not.
    private(set) var areMisplaced = false
    /// When the packets that were read last are shown, in the stream's time base, where times may be doubled.
    private var recentStamps: [Int64] = []
    private let mayDouble: Bool
    private let reorders: Bool
    /// Packets have decode times of the container's own: ``ContainerFormat/statesDecodeTimes``.
    private let statesDecodeTimes: Bool
    /// The container broke off before its end since the last move.
    private(set) var isTruncated = false
    /// When the packet that was read last is decoded; `nil` where it does not say.
    private var lastDecodeTime: MediaTime?
    /// How many packets are read at most to learn what follows a picture.
    private static let patience = 64
    /// How many pictures at most are decoded before another one and shown after it (H.264, A.3.1; HEVC, A.4.2).
    private static let maximumReordering = 16
    /// Whether no packet was read since the file was opened.
    private(set) var isUnread = true
    /// Where the last packet that was handed out lies in decode order, in the stream's time base.
    private(set) var ticks = Int64.min
    /// When the first packet since the last move is shown; `nil` where it does not say.
    private(set) var firstTime: MediaTime?
    /// Whether one was handed out since then.
    private var hasBegun = false
    /// The latest time at which one that was handed out since then is shown.
    private(set) var latestTime = MediaTime.negativeInfinity
    /// When those handed out since then are shown, apart from those that were passed.
    private(set) var times: [MediaTime] = []
    /// By how much a sync sample is shown later than it is decoded, in the stream's time base.
    private(set) var reorderDelay: Int64 = 0

    /// - Parameter damage: Where it is noted how many bytes before the media were passed over; `nil` for nowhere.
    init(_ file: InputFile, track: AssetTrack, _ contents: AssetContents, damage: DamageLog? = nil) {
        file.select(streams: [track.index])
        (self.file, self.track) = (file, track)
        origin = contents.origin(ofStream: track.index)
        mayDouble = !contents.format.startsAtZero
        reorders = track.formatDescriptions.first?.video?.reorders == true
        readsFromAnyByte = contents.format.readsFromAnyByte
        statesDecodeTimes = contents.format.statesDecodeTimes
        if file.passedOver > 0 { damage?.noteSkippedBytes(file.passedOver) }
    }

    /// Forgets what was read before the file was moved.
    func restart() {
        ahead = []
        (isAtEnd, isTruncated, lastDecodeTime) = (false, false, nil)
        recentStamps = []
        ticks = .min
        (firstTime, hasBegun) = (nil, false)
        latestTime = .negativeInfinity
        times = []
    }

    /// The next packet; `nil` at the file's end, and where the container breaks off.
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

    /// The packet that ``next()`` will give.
    func peek() throws(MediaError) -> CompressedSample? {
        if let sample = ahead.first { return sample }
        return try readAhead()
    }

    /// Reads one packet more than was read so far; `nil` at the end.
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

    /// The file's next packet; `nil` at its end, and where the container breaks off.
    private func read() throws(MediaError) -> Packet? {
        do {
            let packet = try file.readPacket()
            if packet == nil, file.isTruncated { isTruncated = true }
            return packet
        } catch {
            guard error.endsContainer else { throw error }
            isTruncated = true
            return nil
        }
    }

    /// Says that the pictures up to a time came out of the decoder.
    func pass(_ time: MediaTime) { times.removeAll { $0 <= time } }

    /// When a packet's picture is shown; `nil` where it does not say, or is not shown at all.
    func time(of sample: CompressedSample) -> MediaTime? {
        guard let pts = sample.packet.pts, !sample.packet.isDiscarded else { return nil }
        return MediaTime(ticks: pts, timeBase: track.timeBase) - origin
    }

    /// Whether a packet is known whose picture is shown after one time and not after another.
    func knowsPacket(after time: MediaTime, notAfter end: MediaTime) -> Bool {
        knowsPacket { $0 > time && $0 <= end }
    }

    /// Whether a packet is known whose picture is shown between two times.
    func knowsPacket(after time: MediaTime, before end: MediaTime) -> Bool { knowsPacket { $0 > time && $0 < end } }

    private func knowsPacket(_ isMeant: (MediaTime) -> Bool) -> Bool {
        times.contains(where: isMeant) || ahead.contains { time(of: $0).map(isMeant) ?? false }
    }

    /// What is shown after a picture that came out of the decoder and begins at `start`, if that is the one on screen at
    /// `time`; `nil` where another one is.
    ///
    /// Reads ahead as far as packets must be known for that.
    func follower(
        ofPictureAt start: MediaTime, onScreenAt time: MediaTime
    ) throws(MediaError) -> KeyframeIndex.Follower? {
        for _ in 0..<Self.patience {
            guard areTimed else { return .unknown }
            if knowsPacket(after: start, notAfter: time) { return nil }
            let end = (times + ahead.compactMap { self.time(of: $0) }).filter { $0 > time }.min()
            // What is decoded later is not shown earlier.
            if let end, let decoded = lastDecodeTime, decoded >= end { return .picture(end) }
            guard try readAhead() != nil else { return end.map { .picture($0) } ?? KeyframeIndex.Follower.none }
        }
        return .unknown
    }

    /// Moves the file to the sync sample of its index whose time stamp is `ticks`, or to one before it.
    ///
    /// libavformat's mov demuxer takes what it is asked for as a presentation time and looks earlier by the delay
    /// between the two; the delay is added, once it is known, where that does not lead too far.
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

    /// Moves the file to a sync sample that a scan of all packets found, so that it is the next packet.
    ///
    /// - Returns: Whether that very packet was read again; else the place is unknown.
    func move(to sample: PacketScan.SyncSample) throws(MediaError) -> Bool {
        if readsFromAnyByte {
            guard let position = sample.position, position >= 0, file.seek(toByte: position) else { return false }
        } else {
            guard let ticks = sample.ticks, file.seek(stream: track.index, to: ticks) else { return false }
        }
        restart()
        do throws(MediaError) {
            // Before it there may be the end of a packet that begins earlier, and all that lies between the places to which
            // the demuxer finds.
            for _ in 0..<Self.patience {
                guard let next = try peek() else { return false }
                if next.packet.fingerprint == sample.fingerprint { return true }
                ahead.removeFirst()
            }
        } catch {
            // What a demuxer makes of the middle of a file is no fault of the file.
            switch error.code {
            case .cancelled, .timedOut, .outOfResources: throw error
            default: return false
            }
        }
        return false
    }

    /// Moves the file to a sync sample, or to one before it.
    func move(to place: KeyframeIndex.Place) throws(MediaError) -> Bool {
        switch place {
        case .indexed(let ticks): try move(toIndexed: ticks)
        case .scanned(let sample): try move(to: sample)
        }
    }

    /// What is shown after the picture at `time`, whose packet was handed out last.
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
                // What is decoded later is not shown earlier.
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
    /// By how much a sync sample is shown later than it is decoded; `nil` for other packets.
    var reorderDelay: Int64? {
        guard isKey, let pts, let dts else { return nil }
        let (delay, overflow) = pts.subtractingReportingOverflow(dts)
        return overflow ? nil : min(max(delay, 0), Int64(Int32.max))
    }
}
