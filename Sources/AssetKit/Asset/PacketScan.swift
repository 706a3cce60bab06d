import LibAV
import MediaBase

/// What reading all packets of a file shows, without decoding: exact extents, and where decoding can start.
///
/// Needed where a container has no index and its header only estimates (TS, PS, raw streams).
struct PacketScan: Sendable {
    /// What was found of each stream, by its index.
    private(set) var streams: [Int: Stream] = [:]

    /// One stream's packets.
    struct Stream: Sendable {
        /// How many there are.
        fileprivate(set) var packetCount = 0
        /// From the first sample's presentation to the end of the last one's.
        fileprivate(set) var range: MediaTimeRange
        /// The sync samples, by presentation time.
        fileprivate(set) var syncSamples: [SyncSample] = []
    }

    /// A place from which decoding can start.
    struct SyncSample: Sendable {
        /// When it is shown.
        let time: MediaTime
        /// Where it lies in the file; `nil` where the demuxer does not say.
        let position: Int64?
    }

    /// Reads the file to its end.
    ///
    /// - Parameters:
    ///   - file: A file from which no packet was read yet; it is at its end afterwards.
    ///   - origin: What is subtracted from its time stamps.
    init(_ file: InputFile, origin: MediaTime) throws(MediaError) {
        var timeBases: [Int: Rational] = [:]
        while let packet = try readOn(file) {
            let index = packet.streamIndex
            if timeBases[index] == nil { timeBases[index] = file.stream(index)?.timeBase }
            guard let timeBase = timeBases[index], let pts = packet.pts ?? packet.dts else { continue }
            let time = MediaTime(ticks: pts, timeBase: timeBase) - origin
            let end = time + MediaTime(ticks: packet.duration, timeBase: timeBase)
            var stream = streams[index] ?? Stream(range: MediaTimeRange(start: time, end: end))
            stream.packetCount += 1
            stream.range = stream.range.union(MediaTimeRange(start: time, end: max(time, end)))
            if packet.isKey { stream.syncSamples.append(SyncSample(time: time, position: packet.position)) }
            streams[index] = stream
        }
        for index in streams.keys { streams[index]?.syncSamples.sort { $0.time < $1.time } }
    }
}

/// The next packet, taking damage in the container for its end.
func readOn(_ file: InputFile) throws(MediaError) -> Packet? {
    do {
        return try file.readPacket()
    } catch {
        if error.code == .damaged { return nil }
        throw error
    }
}
