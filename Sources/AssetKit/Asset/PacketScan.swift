import Bitstreams
import ContainerFacts
import LibAV
public import MediaBase

/// The result of reading all packets of a file without decoding: exact extents, and the places where decoding can
/// start.
///
/// It is needed if a container has no index and its header only estimates (TS, PS, raw streams).
struct PacketScan: Sendable {
    /// The result for each stream, by its index.
    private(set) var streams: [Int: Stream] = [:]
    /// True if the container ended prematurely.
    private(set) var isTruncated = false

    /// The packets of one stream.
    struct Stream: Sendable {
        /// The number of packets.
        fileprivate(set) var packetCount = 0
        /// The range from the presentation of the first sample to the end of the last one.
        fileprivate(set) var range: MediaTimeRange
        /// True if the last packet states its duration, so that the end of the range is known.
        fileprivate(set) var isEndKnown = false
        /// The statistics of the packets.
        fileprivate(set) var statistics = PacketStatistics()
        /// The sync samples of a video track, by presentation time; empty for other tracks.
        fileprivate(set) var syncSamples: [SyncSample] = []
        /// True if at least one sync sample has no presentation time, so that only decoding can determine it.
        fileprivate(set) var hasUntimedSyncSamples = false
    }

    /// A place from which decoding can start, according to the demuxer.
    struct SyncSample: Sendable, Hashable {
        /// The presentation time.
        let time: MediaTime
        /// The byte position in the file; `nil` if the demuxer does not report it.
        let position: Int64?
        /// The decode time, or else the presentation time, in the stream's time base; `nil` if the demuxer reports
        /// neither.
        let ticks: Int64?
        /// The fingerprint that identifies the packet: ``LibAV/Packet/fingerprint``.
        let fingerprint: UInt64
    }

    /// Reads the file to its end.
    ///
    /// Every packet counts once, even if an edit list hides it.
    ///
    /// - Parameters:
    ///   - file: A file from which no packet has been read yet; it is at its end afterwards.
    ///   - origin: Returns the time to subtract from a stream's timestamps.
    init(_ file: InputFile, origin: (_ stream: Int) -> MediaTime) throws(MediaError) {
        var facts: [Int: (timeBase: Rational, isVideo: Bool, origin: MediaTime)] = [:]
        // The durations of Matroska blocks (RFC 9559, 5.1.3.5.7) and MP3 frames include their padding.
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
            // A packet without a timestamp follows the previous one.
            let time = stamped ?? streams[index]?.range.end ?? .zero
            var end = time + duration
            if countsPadding, let rate = sampleRates[index], rate > 0 {
                end = end - MediaTime(value: Int64(packet.paddingSamples), timescale: rate)
            }
            let range = MediaTimeRange(start: time, end: max(time, end))
            // For some pictures, MPEG program streams state neither the presentation time nor the position.
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
    /// Adds one more packet.
    fileprivate mutating func add(_ range: MediaTimeRange, sync: PacketScan.SyncSample?) {
        packetCount += 1
        if range.end >= self.range.end { isEndKnown = !range.isEmpty }
        self.range = MediaTimeRange(start: min(self.range.start, range.start), end: max(self.range.end, range.end))
        if let sync { syncSamples.append(sync) }
    }

    /// Returns the index of the last sync sample that is not after `time`; `nil` if all of them are.
    func lastSyncSample(notAfter time: MediaTime) -> Int? {
        var (low, high) = (0, syncSamples.count)
        while low < high {
            let middle = low + (high - low) / 2
            if syncSamples[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}

extension Asset {
    /// Finds the end of a track whose container states none, by the packets after its last sync sample in the index.
    ///
    /// It is that of reading all packets (``Options/isPrecise``). From then on it is the asset's, and earlier values of the
    /// track are no longer equal to it.
    /// - Returns: The track with its end; `nil` if these packets do not show it.
    package func findEnd(of track: AssetTrack) throws(MediaError) -> AssetTrack? {
        var contents = try contents()
        guard contents.format.hasTrueSyncSamples, canBeReadAgain, !track.isAttachedPicture,
            let place = contents.tracks.firstIndex(of: track)
        else { return nil }
        let file = try openForLookUp(contents, readsAhead: false)
        file.select(streams: [track.index])
        // The first seek makes the demuxer read an index that is not part of the header.
        if contents.format.readsIndexLate, !file.seek(stream: track.index, to: 0) { return nil }
        guard file.seek(stream: track.index, to: .max / 2) else { return nil }
        do throws(MediaError) {
            let scan = try PacketScan(file, origin: contents.mediaOrigin(ofStream:))
            guard !scan.isTruncated, let stream = scan.streams[track.index], stream.isEndKnown else { return nil }
            contents.tracks[place].settle(end: stream.range.end)
        } catch {
            throw error.at(path: displayName)
        }
        settle(contents)
        return contents.tracks[place]
    }
}

extension Asset {
    /// Reads all packets and returns statistics for each track, by its ``AssetTrack/index``.
    ///
    /// Tracks without packets are omitted. Nothing is decoded. The file is read once; with ``Options/isPrecise`` this
    /// happens during loading. A stream that can be read only once is at its end afterwards.
    public func packetStatistics() throws(MediaError) -> [Int: PacketStatistics] {
        try packetScan(Cancellation()).streams.mapValues(\.statistics)
    }

    /// Returns the number of bytes that were skipped before the media because they are not part of it.
    package func skippedBytes() throws(MediaError) -> Int64 { try contents().skippedBytes }

    /// Returns true if reading all packets, as for ``packetStatistics()``, showed that the container ends prematurely.
    package func isTruncated() throws(MediaError) -> Bool { try packetScan(Cancellation()).isTruncated }

    /// Returns true if the first stored frames may be undecodable, because a recording can start anywhere in a stream.
    package func mayBeginUndecodable() throws(MediaError) -> Bool {
        guard backing.input != nil else { return false }
        return try !contents().format.hasTrueSyncSamples
    }
}

extension Packet {
    /// Returns true if the packet contains a frame to show, or if its headers do not say.
    func showsPicture(of codec: String) -> Bool {
        ShownPictures.holdsOne(codec: codec, size: size) { byte(at: $0) }
    }
}

/// Reads the next packet; damage in the container counts as the end of the file.
func readOn(_ file: InputFile) throws(MediaError) -> Packet? {
    var isTruncated = false
    return try readOn(file, &isTruncated)
}

/// Reads the next packet, and reports if damage in the container ended the file.
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
    /// True if the demuxer gives up; a container that breaks off is used up to that point.
    var endsContainer: Bool { code == .damaged || code == .libraryFailure }
}

/// Statistics from reading all packets of one track: their number, regularity and size.
///
/// Times are on the presentation timeline. Memory use does not grow with the file.
public struct PacketStatistics: Sendable, Hashable {
    /// The number of packets, including those that an edit list hides.
    public internal(set) var packetCount = 0
    /// The number of frames.
    ///
    /// Packets that hold the second field of a frame, or a frame that is never shown, are not counted.
    public internal(set) var frameCount = 0
    /// The total size of the packets in bytes.
    public internal(set) var byteCount: Int64 = 0
    /// The number of packets that the demuxer reports as damaged.
    public internal(set) var corruptCount = 0
    /// The number of packets without a timestamp.
    public internal(set) var untimedCount = 0
    /// The range from the first presentation time to the end of the last presentation; `nil` if no packet has a
    /// timestamp.
    public internal(set) var range: MediaTimeRange?
    /// The display durations of frames: from one presentation time to the next, and the last frame's own duration.
    ///
    /// The last frame is omitted if it states no duration.
    public internal(set) var frameDuration = Spread()
    /// True if all presentation times are equally spaced, apart from rounding to the container's clock.
    ///
    /// It is `nil` if there are fewer than two such intervals.
    public internal(set) var isEven: Bool?
    /// The number of video packets at which decoding can start.
    public internal(set) var keyframeCount = 0
    /// The time from one such packet to the next.
    public internal(set) var keyframeSpacing = Spread()
    /// The minimum and maximum number of packets from one such packet to the next; `nil` if there are fewer than two.
    public internal(set) var keyframeDistance: ClosedRange<Int>?
    /// The first time ranges in which nothing is presented.
    public internal(set) var gaps: [MediaTimeRange] = []
    /// The total number of such time ranges.
    public internal(set) var gapCount = 0
    /// The data rate over time.
    public internal(set) var rates = RateCurve()

    /// The maximum number of gaps to keep.
    static let keptGaps = 100

    /// The minimum, maximum and mean of a set of durations.
    public struct Spread: Sendable, Hashable {
        /// The shortest duration; `nil` if there are none.
        public private(set) var minimum: MediaTime?
        /// The longest duration; `nil` if there are none.
        public private(set) var maximum: MediaTime?
        private var sum = MediaTime.zero
        fileprivate private(set) var count: Int64 = 0

        /// The mean duration, exact if a 64-bit value over a 32-bit timescale can hold it; `nil` if there are none.
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

    /// The size of packets by presentation time, in at most 1000 intervals of whole seconds.
    public struct RateCurve: Sendable, Hashable {
        /// The length of an interval in seconds: a power of two.
        public private(set) var interval = 1
        /// The bytes of each interval from time 0; packets before time 0, which are not presented, do not count.
        public private(set) var bytes: [Int64] = []

        private static let maximumStretches = 1000

        mutating func add(_ size: Int, at time: MediaTime) {
            guard let second = Rational(time)?.rounded(.down), (0..<Int64(Int32.max)).contains(second) else { return }
            while Int(second) / interval >= Self.maximumStretches {
                bytes = stride(from: 0, to: bytes.count, by: 2).map { bytes[$0...].prefix(2).reduce(0, &+) }
                interval *= 2
            }
            let place = Int(second) / interval
            while bytes.count <= place { bytes.append(0) }
            bytes[place] &+= Int64(size)
        }
    }
}

/// Collects statistics from packets in storage order.
///
/// Presentation times are sorted in a window of packets that is wider than the reordering of any codec.
struct PacketStatisticsBuilder: Sendable {
    private var result = PacketStatistics()
    private let isVideo: Bool
    /// True if a packet's duration is that of its presentation, rather than the time until the next one is decoded.
    private let tellsGaps: Bool
    /// Two ticks: times that differ by less are considered equal.
    private let slack: MediaTime
    /// The presentation times that are not final yet, latest first, with each packet's own duration.
    private var window: [(time: MediaTime, duration: MediaTime)] = []
    /// The last packet whose presentation time is final.
    private var settled: (time: MediaTime, duration: MediaTime)?
    private var lastKeyframe: (time: MediaTime, number: Int)?

    /// Wider than the 16 pictures that H.264 and HEVC may delay, counted in fields.
    private static let windowSize = 64

    init(isVideo: Bool, timeBase: Rational, isISO: Bool) {
        self.isVideo = isVideo
        // The tables of ISO files count from one decode time to the next; frames there follow each other without gaps.
        tellsGaps = !(isVideo && isISO)
        slack = MediaTime(ticks: 2, timeBase: timeBase)
    }

    /// Adds one more packet; `time` is `nil` if it has none.
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
        // A gap is a missing frame or an audible break; the clocks of recorders jitter by a few milliseconds.
        let missing = packet.time - end + slack
        let isGap = isVideo ? missing >= last.duration : missing > MediaTime(value: 1, timescale: 100) + slack + slack
        guard tellsGaps, last.duration > slack + slack, isGap else { return }
        result.gapCount += 1
        if result.gaps.count < PacketStatistics.keptGaps {
            result.gaps.append(MediaTimeRange(start: end, end: packet.time))
        }
    }

    /// Returns the collected statistics.
    consuming func finish() -> PacketStatistics {
        while let next = window.popLast() { settle(next) }
        // Both ends of an interval may have been rounded by half a tick.
        if result.frameDuration.count > 1, let longest = result.frameDuration.maximum,
            let shortest = result.frameDuration.minimum
        {
            result.isEven = longest - shortest < slack
        }
        if let settled, settled.duration > .zero { result.frameDuration.add(settled.duration) }
        return result
    }
}
