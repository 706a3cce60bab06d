import Bitstreams
import LibAV
public import MediaBase

/// What reading all packets of a file shows, without decoding: exact extents, and where decoding can start.
///
/// Needed where a container has no index and its header only estimates (TS, PS, raw streams).
struct PacketScan: Sendable {
    /// What was found of each stream, by its index.
    private(set) var streams: [Int: Stream] = [:]
    /// Whether the container broke off before its end.
    private(set) var isTruncated = false

    /// One stream's packets.
    struct Stream: Sendable {
        /// How many there are.
        fileprivate(set) var packetCount = 0
        /// From the first sample's presentation to the end of the last one's.
        fileprivate(set) var range: MediaTimeRange
        /// Whether the last packet says how long it lasts, so that the range's end is known.
        fileprivate(set) var isEndKnown = false
        /// What the packets add up to.
        fileprivate(set) var statistics = PacketStatistics()
        /// The sync samples of pictures, by presentation time; none for other tracks.
        fileprivate(set) var syncSamples: [SyncSample] = []
        /// One of them at least does not say when it is shown, so that only decoding tells.
        fileprivate(set) var hasUntimedSyncSamples = false
    }

    /// A place from which decoding can start, by the demuxer's word.
    struct SyncSample: Sendable, Hashable {
        /// When it is shown.
        let time: MediaTime
        /// Where it lies in the file; `nil` where the demuxer does not say.
        let position: Int64?
        /// When it is decoded, in the stream's time base; `nil` where the demuxer does not say.
        let ticks: Int64?
        /// By which it is known again: ``LibAV/Packet/fingerprint``.
        let fingerprint: UInt64
    }

    /// Reads the file to its end.
    ///
    /// Every packet counts once, whether an edit list shows it or not.
    ///
    /// - Parameters:
    ///   - file: A file from which no packet was read yet; it is at its end afterwards.
    ///   - origin: Tells what is subtracted from a stream's time stamps.
    init(_ file: InputFile, origin: (_ stream: Int) -> MediaTime) throws(MediaError) {
        var facts: [Int: (timeBase: Rational, isVideo: Bool, origin: MediaTime)] = [:]
        // A block of Matroska lasts as long as it would without padding (RFC 9559, 5.1.3.5.7), and so does a frame of MP3.
        let countsPadding = file.format.countsPadding
        var sampleRates: [Int: Int32] = [:]
        var fields: [Int: H264FieldPairs] = [:]
        var hidingCodecs: [Int: String] = [:]
        let isISO = file.format == .isoMedia
        var builders: [Int: PacketStatisticsBuilder] = [:]
        while let packet = try readOn(file, &isTruncated) {
            let index = packet.streamIndex
            if facts[index] == nil {
                let stream = file.stream(index)
                facts[index] = stream.map { ($0.timeBase, $0.format.mediaType == .video, origin(index)) }
                sampleRates[index] = stream?.format.audio.flatMap { Int32(exactly: $0.sampleRate) }
                if let format = stream?.format {
                    if format.codec == "h264" { fields[index] = H264FieldPairs(header: format.extradata) }
                    if ShownPictures.canHide(codec: format.codec) { hidingCodecs[index] = format.codec }
                }
            }
            guard let (timeBase, isVideo, origin) = facts[index] else { continue }
            let stamped = (packet.pts ?? packet.dts).map { MediaTime(ticks: $0, timeBase: timeBase) - origin }
            let duration = MediaTime(ticks: packet.duration, timeBase: timeBase)
            let isHidden = hidingCodecs[index].map { !packet.showsPicture(of: $0) } ?? false
            let isSecondField = fields[index]?.isSecondField(packet.prefix(H264FieldPairs.headLength)) ?? false
            let empty = PacketStatisticsBuilder(isVideo: isVideo, timeBase: timeBase, isISO: isISO)
            builders[index, default: empty].add(
                time: stamped, duration: duration, size: packet.size, isKey: packet.isKey, isCorrupt: packet.isCorrupt,
                isSecondField: isSecondField, isHidden: isHidden)
            // A packet without a time stamp follows the one before it.
            let time = stamped ?? streams[index]?.range.end ?? .zero
            var end = time + duration
            if countsPadding, let rate = sampleRates[index], rate > 0 {
                end = end - MediaTime(value: Int64(packet.paddingSamples), timescale: rate)
            }
            let range = MediaTimeRange(start: time, end: max(time, end))
            // Of some pictures MPEG program streams tell neither when they are shown nor where they begin.
            let isPlaced = packet.pts != nil || packet.position != nil
            let sync =
                isVideo && packet.isKey && isPlaced
                ? SyncSample(
                    time: time, position: packet.position, ticks: packet.dts ?? packet.pts,
                    fingerprint: packet.fingerprint) : nil
            streams[index, default: Stream(range: range)].add(range, sync: sync)
            if isVideo, packet.isKey, packet.pts == nil { streams[index]?.hasUntimedSyncSamples = true }
        }
        if file.isTruncated { isTruncated = true }
        for index in streams.keys { streams[index]?.syncSamples.sort { $0.time < $1.time } }
        for (index, builder) in builders { streams[index]?.statistics = builder.finish() }
    }
}

extension PacketScan.Stream {
    /// Takes in one more packet.
    fileprivate mutating func add(_ range: MediaTimeRange, sync: PacketScan.SyncSample?) {
        packetCount += 1
        if range.end >= self.range.end { isEndKnown = !range.isEmpty }
        self.range = MediaTimeRange(start: min(self.range.start, range.start), end: max(self.range.end, range.end))
        if let sync { syncSamples.append(sync) }
    }

    /// The number of the last sync sample that is not after `time`; `nil` where all are.
    func lastSyncSample(notAfter time: MediaTime) -> Int? {
        var (low, high) = (0, syncSamples.count)
        while low < high {
            let middle = low + (high - low) / 2
            if syncSamples[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}

extension Packet {
    /// Whether it gives a picture to show; `true` where its headers do not tell.
    func showsPicture(of codec: String) -> Bool {
        ShownPictures.holdsOne(codec: codec, size: size) { byte(at: $0) }
    }
}

/// The next packet, taking damage in the container for its end.
func readOn(_ file: InputFile) throws(MediaError) -> Packet? {
    var isTruncated = false
    return try readOn(file, &isTruncated)
}

/// The same, and whether it was damage that ended it.
private func readOn(_ file: InputFile, _ isTruncated: inout Bool) throws(MediaError) -> Packet? {
    do {
        return try file.readPacket()
    } catch {
        guard error.endsContainer else { throw error }
        isTruncated = true
        return nil
    }
}

extension MediaError {
    /// Whether a demuxer gives up: a container that breaks off is used as far as it goes.
    var endsContainer: Bool { code == .damaged || code == .libraryFailure }
}

/// What reading all packets of one track shows: how many there are, how evenly they come, and how large they are.
///
/// Times are on the presentation's time line. Memory does not grow with the file.
public struct PacketStatistics: Sendable, Hashable {
    /// How many packets there are, those included that an edit list hides.
    public internal(set) var packetCount = 0
    /// How many frames they make: the packets but those that are the second field of a frame, and those whose frame is
    /// never shown.
    public internal(set) var frameCount = 0
    /// Their bytes.
    public internal(set) var byteCount: Int64 = 0
    /// How many the demuxer found damaged.
    public internal(set) var corruptCount = 0
    /// How many have no time stamp of their own.
    public internal(set) var untimedCount = 0
    /// From the first presentation to the end of the last; `nil` where no packet has a time stamp.
    public internal(set) var range: MediaTimeRange?
    /// How long frames are on screen: from one presentation time to the next, the last for its own duration.
    ///
    /// Without a time of its own the last one is left out.
    public internal(set) var frameDuration = Spread()
    /// Whether all times from one presentation to the next are the same but for the rounding to the container's
    /// clock; `nil` where there are not two.
    public internal(set) var isEven: Bool?
    /// How many packets decoding can start at; of video.
    public internal(set) var keyframeCount = 0
    /// From one such packet to the next.
    public internal(set) var keyframeSpacing = Spread()
    /// The fewest and most packets from one such packet to the next; `nil` where there are not two.
    public internal(set) var keyframeDistance: ClosedRange<Int>?
    /// The first stretches in which nothing is presented.
    public internal(set) var gaps: [MediaTimeRange] = []
    /// How many such stretches there are.
    public internal(set) var gapCount = 0
    /// The bits a second over time.
    public internal(set) var rates = RateCurve()

    /// How many gaps are kept.
    static let keptGaps = 100

    /// The smallest, the largest and the mean of some lengths of time.
    public struct Spread: Sendable, Hashable {
        /// The shortest; `nil` where there are none.
        public private(set) var minimum: MediaTime?
        /// The longest; `nil` where there are none.
        public private(set) var maximum: MediaTime?
        private var sum = MediaTime.zero
        fileprivate private(set) var count: Int64 = 0

        /// The mean, exact where 64 bits over 32 hold it; `nil` where there are none.
        public var average: MediaTime? {
            count == 0 ? nil : sum.multiplied(by: Rational(1, count))
        }

        mutating func add(_ length: MediaTime) {
            minimum = Swift.min(minimum ?? length, length)
            maximum = Swift.max(maximum ?? length, length)
            sum = sum + length
            count += 1
        }
    }

    /// Bytes by the stretch of time in which their packets are presented, in at most 1000 stretches of whole seconds.
    public struct RateCurve: Sendable, Hashable {
        /// How many seconds a stretch lasts: a power of two.
        public private(set) var interval = 1
        /// The bytes of each stretch from time 0; packets before it count into the first.
        public private(set) var bytes: [Int64] = []

        private static let maximumStretches = 1000

        mutating func add(_ size: Int, at time: MediaTime) {
            guard let second = Rational(time)?.rounded(.down), second < Int64(Int32.max) else { return }
            while Int(max(0, second)) / interval >= Self.maximumStretches {
                bytes = stride(from: 0, to: bytes.count, by: 2).map { bytes[$0...].prefix(2).reduce(0, &+) }
                interval *= 2
            }
            let place = Int(max(0, second)) / interval
            while bytes.count <= place { bytes.append(0) }
            bytes[place] &+= Int64(size)
        }
    }
}

/// Gathers statistics from packets in the order in which they are stored.
///
/// Presentation times are brought into order in a window of packets, as wide as no codec reorders them.
struct PacketStatisticsBuilder: Sendable {
    private var result = PacketStatistics()
    private let isVideo: Bool
    /// Whether a packet's duration says how long its picture is shown, not when the next is decoded.
    private let tellsGaps: Bool
    /// Two ticks, within which times are the same.
    private let slack: MediaTime
    /// The presentation times not settled yet, latest first, with each packet's own duration.
    private var window: [(time: MediaTime, duration: MediaTime)] = []
    /// The last one that is settled.
    private var settled: (time: MediaTime, duration: MediaTime)?
    private var lastKeyframe: (time: MediaTime, number: Int)?

    /// Wider than the 16 pictures that H.264 and HEVC may hold back, in fields.
    private static let windowSize = 64

    init(isVideo: Bool, timeBase: Rational, isISO: Bool) {
        self.isVideo = isVideo
        // The tables of ISO files count from one decoding to the next; pictures there follow each other without a gap.
        tellsGaps = !(isVideo && isISO)
        slack = MediaTime(ticks: 2, timeBase: timeBase)
    }

    /// Takes in one more packet; `time` is `nil` where it has none.
    mutating func add(
        time: MediaTime?, duration: MediaTime, size: Int, isKey: Bool, isCorrupt: Bool, isSecondField: Bool = false,
        isHidden: Bool = false
    ) {
        let number = result.packetCount
        result.packetCount += 1
        if !isSecondField, !isHidden { result.frameCount += 1 }
        result.byteCount &+= Int64(size)
        if isCorrupt { result.corruptCount += 1 }
        guard let time else {
            result.untimedCount += 1
            return
        }
        result.rates.add(size, at: time)
        guard !isHidden else { return }
        result.range = MediaTimeRange(
            start: min(result.range?.start ?? time, time), end: max(result.range?.end ?? time, time + duration, time))
        if isVideo, isKey { addKeyframe(time, number) }
        var place = window.count
        while place > 0, window[place - 1].time <= time { place -= 1 }
        window.insert((time, duration), at: place)
        if window.count > Self.windowSize, let first = window.popLast() { settle(first) }
    }

    private mutating func addKeyframe(_ time: MediaTime, _ number: Int) {
        result.keyframeCount += 1
        if let last = lastKeyframe, time >= last.time {
            result.keyframeSpacing.add(time - last.time)
            let distance = number - last.number
            let known = result.keyframeDistance ?? distance...distance
            result.keyframeDistance = min(known.lowerBound, distance)...max(known.upperBound, distance)
        }
        lastKeyframe = (time, number)
    }

    private mutating func settle(_ packet: (time: MediaTime, duration: MediaTime)) {
        defer { settled = packet }
        guard let last = settled, packet.time >= last.time else { return }
        result.frameDuration.add(packet.time - last.time)
        let end = last.time + last.duration
        // A missing picture, or a break that is heard: clocks of recorders jitter by a few milliseconds.
        let missing = packet.time - end + slack
        let isGap = isVideo ? missing >= last.duration : missing > MediaTime(value: 1, timescale: 100) + slack + slack
        guard tellsGaps, last.duration > slack + slack, isGap else { return }
        result.gapCount += 1
        if result.gaps.count < PacketStatistics.keptGaps {
            result.gaps.append(MediaTimeRange(start: end, end: packet.time))
        }
    }

    /// All that was gathered.
    consuming func finish() -> PacketStatistics {
        while let next = window.popLast() { settle(next) }
        // Either end of a length may have been rounded by half a tick.
        if result.frameDuration.count > 1, let longest = result.frameDuration.maximum,
            let shortest = result.frameDuration.minimum
        {
            result.isEven = longest - shortest < slack
        }
        if let settled, settled.duration > .zero { result.frameDuration.add(settled.duration) }
        return result
    }
}
