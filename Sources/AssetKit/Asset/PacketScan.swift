import Bitstreams
import LibAV
import MediaBase

/// What reading all packets of a file shows, without decoding: exact extents, and where decoding can start.
///
/// Needed where a container has no index and its header only estimates (TS, PS, raw streams).
struct PacketScan: Sendable {
    /// What was found of each stream, by its index.
    private(set) var streams: [Int: Stream] = [:]
    /// Whether the container broke off before its end.
    private(set) var breaksOff = false

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
        let countsPadding = file.formatName.hasPrefix("matroska") || file.formatName == "mp3"
        var sampleRates: [Int: Int32] = [:]
        var fields: [Int: H264FieldPairs] = [:]
        var hidingCodecs: [Int: String] = [:]
        let isISO = file.formatName.split(separator: ",").contains("mov")
        var builders: [Int: PacketStatisticsBuilder] = [:]
        while let packet = try readOn(file, &breaksOff) {
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
        if file.breaksOff { breaksOff = true }
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
    var breaksOff = false
    return try readOn(file, &breaksOff)
}

/// The same, and whether it was damage that ended it.
private func readOn(_ file: InputFile, _ breaksOff: inout Bool) throws(MediaError) -> Packet? {
    do {
        return try file.readPacket()
    } catch {
        guard error.endsContainer else { throw error }
        breaksOff = true
        return nil
    }
}

extension MediaError {
    /// Whether a demuxer gives up: a container that breaks off is used as far as it goes.
    var endsContainer: Bool { code == .damaged || code == .libraryFailure }
}
