import LibAV
import MediaBase

/// Looks up when a track's sync samples are shown, without decoding: by the container's index, or by a scan of all
/// packets where there is none.
///
/// Packets are read through an opening of the file of its own, so that a decoder beside it keeps its place. One thread
/// uses it at a time.
final class SyncSamples {
    private let asset: Asset
    private let track: AssetTrack
    private let origin: MediaTime
    private let hasIndex: Bool
    private var scout: InputFile?
    /// Presentation times that were looked up, by decode time in the index.
    private var known: [Int64: MediaTime] = [:]
    /// By how much a sync sample is shown later than it is decoded, in the stream's time base.
    private var reorderDelay: Int64 = 0

    init(_ asset: Asset, track: AssetTrack, _ contents: AssetContents) {
        self.asset = asset
        self.track = track
        origin = contents.origin
        hasIndex = contents.seeking.hasIndex
    }

    /// The last sync sample that is not after `time`, and the first one after it; the nearer first, the earlier if even.
    func around(_ time: MediaTime) throws(MediaError) -> [MediaTime] {
        let near = hasIndex ? try indexedSyncSamples(around: time) : try scannedSyncSamples(around: time)
        return near.sorted { ($0 - time).absoluteValue < ($1 - time).absoluteValue }
    }

    private func scannedSyncSamples(around time: MediaTime) throws(MediaError) -> [MediaTime] {
        guard let stream = try asset.packetScan(Cancellation()).streams[track.index] else { return [] }
        let next = stream.lastSyncSample(notAfter: time).map { $0 + 1 } ?? 0
        return [next - 1, next].filter(stream.syncSamples.indices.contains).map { stream.syncSamples[$0].time }
    }

    private func indexedSyncSamples(around time: MediaTime) throws(MediaError) -> [MediaTime] {
        guard let ticks = (time + origin).ticks(in: track.timeBase, rounding: .down) else { return [] }
        let scout = try openScout()
        // Where there is no index, seeking makes the demuxer read on until it has one that reaches past the place.
        _ = scout.seek(stream: track.index, to: ticks)
        var found: [MediaTime] = []
        var position = scout.indexOfKeyframe(stream: track.index, notAfter: ticks)
        let next = position.map { $0 + 1 } ?? 0
        // The index knows decode times only: look the presentation time up in the packet, and step to both sides.
        while let here = position, let shown = try presentationTime(ofIndexEntry: here, scout) {
            if shown <= time {
                found.insert(shown, at: 0)
                break
            }
            found = [shown]
            position = nextKeyframe(from: here - 1, step: -1, scout)
        }
        if found.last.map({ $0 <= time }) ?? true, let after = nextKeyframe(from: next, step: 1, scout),
            let shown = try presentationTime(ofIndexEntry: after, scout)
        {
            found.append(shown)
        }
        return found
    }

    private func nextKeyframe(from start: Int, step: Int, _ scout: InputFile) -> Int? {
        var position = start
        while position >= 0, let entry = scout.indexEntry(stream: track.index, at: position) {
            if entry.isKey { return position }
            position += step
        }
        return nil
    }

    /// When the sync sample of an index entry is shown, by its packet, which is looked up only once.
    private func presentationTime(ofIndexEntry position: Int, _ scout: InputFile) throws(MediaError) -> MediaTime? {
        guard let entry = scout.indexEntry(stream: track.index, at: position) else { return nil }
        if let time = known[entry.ticks] { return time }
        for delay in reorderDelay > 0 ? [reorderDelay, 0] : [0] {
            guard scout.seek(stream: track.index, to: entry.ticks &+ delay) else { return nil }
            // The seek may lead to a sync sample before the one that is looked for: read on to it.
            while let packet = try readOn(scout) {
                guard packet.streamIndex == track.index, packet.isKey, let pts = packet.pts ?? packet.dts else {
                    continue
                }
                reorderDelay = packet.reorderDelay ?? reorderDelay
                let decoded = packet.dts ?? pts
                if decoded > entry.ticks, pts != entry.ticks, delay > 0 { break }
                // Matroska's index holds presentation times.
                guard decoded >= entry.ticks || pts == entry.ticks else { continue }
                let time = MediaTime(ticks: pts, timeBase: track.timeBase) - origin
                known[entry.ticks] = time
                return time
            }
        }
        return nil
    }

    /// A second opening of the file for looking up packets, so that the decoder keeps its place.
    private func openScout() throws(MediaError) -> InputFile {
        if let scout { return scout }
        let opened = try asset.openForLookUp()
        opened.select(streams: [track.index])
        scout = opened
        return opened
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
