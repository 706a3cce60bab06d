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

    /// A place from which decoding can start.
    struct Sample {
        /// When it is shown.
        let time: MediaTime
        /// Where it lies.
        let place: Place
    }

    /// Where a sync sample lies.
    enum Place {
        /// At a time stamp of the container's index.
        case indexed(Int64)
        /// At a byte of the file.
        case byte(Int64)
    }

    init(_ asset: Asset, track: AssetTrack, _ contents: AssetContents) {
        self.asset = asset
        self.track = track
        origin = contents.origin
        hasIndex = contents.seeking.hasIndex
    }

    /// The last sync sample that is not after `time`, and the first one after it; the nearer first, the earlier if even.
    func around(_ time: MediaTime) throws(MediaError) -> [Sample] {
        let near = hasIndex ? try indexedSyncSamples(around: time) : try scannedSyncSamples(around: time)
        return near.sorted { ($0.time - time).absoluteValue < ($1.time - time).absoluteValue }
    }

    private func scannedSyncSamples(around time: MediaTime) throws(MediaError) -> [Sample] {
        guard let stream = try asset.packetScan(Cancellation()).streams[track.index] else { return [] }
        let next = stream.lastSyncSample(notAfter: time).map { $0 + 1 } ?? 0
        return [next - 1, next].filter(stream.syncSamples.indices.contains).map { number in
            let sample = stream.syncSamples[number]
            return Sample(time: sample.time, place: .byte(sample.position ?? -1))
        }
    }

    private func indexedSyncSamples(around time: MediaTime) throws(MediaError) -> [Sample] {
        guard let ticks = ticks(of: time) else { return [] }
        let scout = try openScout()
        // Where there is no index, seeking makes the demuxer read on until it has one that reaches past the place.
        _ = scout.seek(stream: track.index, to: ticks)
        var found: [Sample] = []
        var position = scout.indexOfKeyframe(stream: track.index, notAfter: ticks)
        let next = position.map { $0 + 1 } ?? 0
        // The index knows decode times only: look the presentation time up in the packet, and step to both sides.
        while let here = position, let shown = try sample(ofIndexEntry: here, scout) {
            if shown.time <= time {
                found.insert(shown, at: 0)
                break
            }
            found = [shown]
            position = nextKeyframe(from: here - 1, step: -1, scout)
        }
        if found.last.map({ $0.time <= time }) ?? true, let after = nextKeyframe(from: next, step: 1, scout),
            let shown = try sample(ofIndexEntry: after, scout)
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

    private func ticks(of time: MediaTime) -> Int64? { (time + origin).ticks(in: track.timeBase, rounding: .down) }

    /// The sync sample of an index entry with its time on the presentation's time line.
    private func sample(ofIndexEntry position: Int, _ scout: InputFile) throws(MediaError) -> Sample? {
        guard let entry = scout.indexEntry(stream: track.index, at: position),
            let time = try presentationTime(of: entry.ticks, scout)
        else { return nil }
        return Sample(time: time, place: .indexed(entry.ticks))
    }

    /// When the sync sample at a time stamp of the index is shown, by its packet, which is looked up only once.
    private func presentationTime(of ticks: Int64, _ scout: InputFile) throws(MediaError) -> MediaTime? {
        if let time = known[ticks] { return time }
        for delay in reorderDelay > 0 ? [reorderDelay, 0] : [0] {
            guard scout.seek(stream: track.index, to: ticks &+ delay) else { return nil }
            // The seek may lead to a sync sample before the one that is looked for: read on to it.
            while let packet = try readOn(scout) {
                guard packet.streamIndex == track.index, packet.isKey, let pts = packet.pts ?? packet.dts else {
                    continue
                }
                reorderDelay = packet.reorderDelay ?? reorderDelay
                let decoded = packet.dts ?? pts
                if decoded > ticks, pts != ticks, delay > 0 { break }
                // Matroska's index holds presentation times.
                guard decoded >= ticks || pts == ticks else { continue }
                let time = MediaTime(ticks: pts, timeBase: track.timeBase) - origin
                known[ticks] = time
                return time
            }
        }
        return nil
    }

    /// Splits moments in rising order into runs that are each decoded from a sync sample of their own.
    ///
    /// Moments for which decoding would start at the same place stay together, and so do those of several short groups
    /// of pictures. The runs depend on the file and the moments only.
    func runs(of times: [MediaTime]) throws(MediaError) -> [Range<Int>] {
        guard let first = times.first, let last = times.last else { return [] }
        guard times.count > 1, !asset.isStream else { return [0..<times.count] }
        var runs: [Range<Int>] = []
        let starts = try startFinder(upTo: last)
        var (begin, began, here) = (0, first, starts(first))
        for (place, time) in times.enumerated() where starts(time) != here {
            here = starts(time)
            guard time - began >= Self.leastRun else { continue }
            runs.append(begin..<place)
            (begin, began) = (place, time)
        }
        return runs + [begin..<times.count]
    }

    /// Groups of pictures are decoded together until a run is as long as this, as moving costs a few pictures.
    private static let leastRun = MediaTime(value: 4, timescale: 1)

    /// Tells which sync sample decoding starts at for a moment, as a number.
    private func startFinder(upTo last: MediaTime) throws(MediaError) -> (MediaTime) -> Int? {
        guard hasIndex else {
            guard asset.hasPacketScan || last > FrameFinder.worthScanning else { return { _ in nil } }
            let stream = try asset.packetScan(Cancellation()).streams[track.index]
            return { stream?.lastSyncSample(notAfter: $0) }
        }
        let scout = try openScout()
        if let ticks = ticks(of: last) { _ = scout.seek(stream: track.index, to: ticks) }
        return { [track, origin] time in
            (time + origin).ticks(in: track.timeBase, rounding: .down).flatMap {
                scout.indexOfKeyframe(stream: track.index, notAfter: $0)
            }
        }
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
