import LibAV
import MediaBase

/// Looks up the presentation times of a track's sync samples without decoding.
///
/// It uses the container's index, or a scan of all packets if there is none. It reads packets from its own opening of
/// the file, so that a decoder keeps its position. One thread may use it at a time.
final class KeyframeIndex {
    private let asset: Asset
    private let track: AssetTrack
    private let contents: AssetContents
    private let origin: MediaTime
    private let hasIndex: Bool
    private var scout: PacketReader?
    /// The samples that were looked up, by place.
    private var known: [Place: Sample] = [:]
    /// All sync samples in order of time, if they had to be decoded.
    private var allDecoded: [Sample]?
    /// Cancels the reading of all packets.
    var cancellation: Cancellation

    /// A sample at which decoding can start.
    struct Sample {
        /// The presentation time.
        let time: MediaTime
        /// The place of the sample; `nil` if it was found by decoding.
        let place: Place?
        /// The frame that is shown next.
        let follower: Follower
        /// True if the demuxer reports that the sample is not shown, for example if fragments overlap.
        var isHidden = false

        var isDecoded: Bool { place == nil }
    }

    /// The frame that is shown after a sample, according to the packets.
    enum Follower {
        /// A frame that starts at this time.
        case picture(MediaTime)
        /// No frame.
        case none
        /// A frame that cannot be determined from packets.
        case unknown
    }

    /// The place of a sync sample.
    enum Place: Hashable {
        /// A timestamp in the container's index.
        case indexed(Int64)
        /// A sync sample found by a scan of all packets.
        case scanned(PacketScan.SyncSample)
    }

    init(_ asset: Asset, track: AssetTrack, _ contents: AssetContents, cancellation: Cancellation = Cancellation()) {
        self.cancellation = cancellation
        self.asset = asset
        self.track = track
        self.contents = contents
        origin = contents.origin(ofStream: track.index)
        hasIndex = contents.format.hasIndex
    }

    /// Returns the last sync sample that is not after `time`, and the first one after it.
    ///
    /// The nearer sample comes first; if both are equally near, the earlier one.
    func around(_ time: MediaTime) throws(MediaError) -> [Sample] {
        let near = hasIndex ? try indexedSyncSamples(around: time) : try scannedSyncSamples(around: time)
        return near.sorted { ($0.time - time).absoluteValue < ($1.time - time).absoluteValue }
    }

    private func scannedSyncSamples(around time: MediaTime) throws(MediaError) -> [Sample] {
        guard let stream = try asset.packetScan(cancellation).streams[track.index] else { return [] }
        guard !stream.hasUntimedSyncSamples || track.isAttachedPicture else { return try decoded(around: time) }
        let next = stream.lastSyncSample(notAfter: time).map { $0 + 1 } ?? 0
        let scout = try openScout()
        var found: [Sample] = []
        for number in [next - 1, next] where stream.syncSamples.indices.contains(number) {
            let sample = stream.syncSamples[number]
            found.append(try look(up: .scanned(sample), at: sample.time, scout))
        }
        return found
    }

    /// Returns the sync samples around `time` if packets do not state true presentation times.
    ///
    /// The whole track is decoded once.
    func decoded(around time: MediaTime) throws(MediaError) -> [Sample] {
        if allDecoded == nil { allDecoded = try decodeSyncSamples() }
        let all = allDecoded ?? []
        let next = all.firstIndex { $0.time > time } ?? all.count
        return [next - 1, next].filter { all.indices.contains($0) }.map { all[$0] }.sorted {
            ($0.time - time).absoluteValue < ($1.time - time).absoluteValue
        }
    }

    private func decodeSyncSamples() throws(MediaError) -> [Sample] {
        let file = try asset.takeFile(cancellation)
        let feed = PacketReader(file, track: track, contents)
        let source = try TimedFrameSource(file, track: track, origin: origin, threads: 1)
        let packets = PacketQueue(next: { () throws(MediaError) in try feed.next() }, reportDamage: { _ in })
        var found: [Sample] = []
        while let frame = try source.next(from: packets) {
            feed.pass(frame.time)
            if frame.isKey { found.append(Sample(time: frame.time, place: nil, follower: .unknown)) }
        }
        return found
    }

    /// Returns a sync sample of the scan with the frame that follows it.
    private func look(up place: Place, at time: MediaTime, _ scout: PacketReader) throws(MediaError) -> Sample {
        if let sample = known[place] { return sample }
        var follower = Follower.unknown
        if track.storesOnePictureASample, try scout.move(to: place), let packet = try scout.next(),
            scout.time(of: packet) == time
        {
            follower = try scout.follower(of: time)
        }
        let sample = Sample(time: time, place: place, follower: follower)
        known[place] = sample
        return sample
    }

    private func indexedSyncSamples(around time: MediaTime) throws(MediaError) -> [Sample] {
        guard let ticks = ticks(of: time) else { return [] }
        let scout = try openScout()
        // If there is no index, a seek makes the demuxer read on until its index extends past the target.
        _ = scout.file.seek(stream: track.index, to: ticks)
        var found: [Sample] = []
        var position = scout.file.indexOfKeyframe(stream: track.index, notAfter: ticks)
        let next = position.map { $0 + 1 } ?? 0
        // The index contains only decode times: look up the presentation time in the packet, and step in both
        // directions.
        while let here = position, let sample = try sample(ofIndexEntry: here, scout) {
            if sample.time <= time, !sample.isHidden || sample.time < .zero {
                found.insert(sample, at: 0)
                break
            }
            if !sample.isHidden { found = [sample] }
            position = nextKeyframe(from: here - 1, step: -1, scout)
        }
        guard found.last.map({ $0.time <= time }) ?? true else { return found }
        position = nextKeyframe(from: next, step: 1, scout)
        while let here = position, let sample = try sample(ofIndexEntry: here, scout) {
            guard sample.isHidden else { return found + [sample] }
            position = nextKeyframe(from: here + 1, step: 1, scout)
        }
        return found
    }

    private func nextKeyframe(from start: Int, step: Int, _ scout: PacketReader) -> Int? {
        var position = start
        while position >= 0, let entry = scout.file.indexEntry(stream: track.index, at: position) {
            if entry.isKey { return position }
            position += step
        }
        return nil
    }

    private func ticks(of time: MediaTime) -> Int64? { (time + origin).ticks(in: track.timeBase, rounding: .down) }

    /// Returns the sync sample of an index entry from its packet, which is looked up only once.
    private func sample(ofIndexEntry position: Int, _ scout: PacketReader) throws(MediaError) -> Sample? {
        guard let entry = scout.file.indexEntry(stream: track.index, at: position) else { return nil }
        let place = Place.indexed(entry.ticks)
        if let sample = known[place] { return sample }
        guard try scout.move(to: place) else { return nil }
        // The seek may have led to an earlier sync sample: read on to the wanted one.
        while let stored = try scout.next() {
            guard stored.packet.isKey, let pts = stored.packet.pts ?? stored.packet.dts else { continue }
            // Matroska's index holds presentation times.
            guard stored.packet.dts ?? pts >= entry.ticks || pts == entry.ticks else { continue }
            let time = MediaTime(ticks: pts, timeBase: track.timeBase) - origin
            let follower = track.storesOnePictureASample ? try scout.follower(of: time) : .unknown
            let sample = Sample(
                time: time, place: place, follower: follower, isHidden: stored.packet.isDiscarded)
            known[place] = sample
            return sample
        }
        return nil
    }

    /// Splits ascending times into runs that are each decoded from their own sync sample.
    ///
    /// Times for which decoding would start at the same place stay together, and so do those of several short groups of
    /// pictures. The runs depend only on the file and the times.
    func runs(of times: [MediaTime]) throws(MediaError) -> [Range<Int>] {
        guard let first = times.first, let last = times.last else { return [] }
        guard times.count > 1, !asset.isStream else { return [0..<times.count] }
        var runs: [Range<Int>] = []
        let starts = try startFinder(upTo: last)
        var (begin, began, here) = (0, first, starts(first))
        for (place, time) in times.enumerated() where starts(time) != here {
            here = starts(time)
            guard time - began >= Self.minimumRun else { continue }
            runs.append(begin..<place)
            (begin, began) = (place, time)
        }
        return runs + [begin..<times.count]
    }

    /// The minimum length of a run; shorter groups of pictures are decoded together, because a seek costs a few frames.
    private static let minimumRun = MediaTime(value: 4, timescale: 1)

    /// Returns a function that identifies by number the sync sample at which decoding starts for a time.
    private func startFinder(upTo last: MediaTime) throws(MediaError) -> (MediaTime) -> Int? {
        guard hasIndex else {
            guard asset.hasPacketScan || last > FrameFinder.worthScanning else { return { _ in nil } }
            let stream = try asset.packetScan(cancellation).streams[track.index]
            // If the demuxer does not find a place again, everything is decoded once from the beginning.
            guard let stream, let far = stream.lastSyncSample(notAfter: last),
                try openScout().move(to: stream.syncSamples[far])
            else { return { _ in nil } }
            return { stream.lastSyncSample(notAfter: $0) }
        }
        let scout = try openScout()
        if let ticks = ticks(of: last) { _ = scout.file.seek(stream: track.index, to: ticks) }
        return { [track, origin] time in
            (time + origin).ticks(in: track.timeBase, rounding: .down).flatMap {
                scout.file.indexOfKeyframe(stream: track.index, notAfter: $0)
            }
        }
    }

    /// Opens the file a second time to look up packets, so that the decoder keeps its position.
    private func openScout() throws(MediaError) -> PacketReader {
        if let scout { return scout }
        let opened = PacketReader(
            try asset.openForLookUp(contents, readsAhead: !hasIndex), track: track, contents)
        scout = opened
        return opened
    }
}

extension FrameFinder {
    /// Returns the frame for `time`, or another one within the tolerances.
    ///
    /// A frame is accepted if its interval intersects [time − before, time + after]. The result is the accepted sync
    /// sample that is nearest to `time`, or otherwise the frame at `time` itself. For a time before zero or after the
    /// end of the asset, the result is that of ``frame(at:)``.
    func frame(
        at time: MediaTime, before: MediaTime, after: MediaTime, _ keyframes: KeyframeIndex
    ) throws(MediaError) -> Found {
        guard time.isNumeric, feed.file.isSeekable else { return try frame(at: time) }
        if let end = try presentationEnd(), time > end {
            let last = try frame(at: time)
            // If a frame is on screen nevertheless, the container declares too short a duration.
            guard time < last.end else { return last }
        }
        guard time >= .zero else { return try frame(at: time) }
        let (start, end) = (time - before, time + after)
        var nearest = try firstPicture(of: keyframes.around(time), from: start, to: end)
        if case .untrue = nearest {
            nearest = try firstPicture(of: keyframes.decoded(around: time), from: start, to: end)
        }
        if case .found(let found) = nearest { return found }
        return try frame(at: time)
    }

    /// The outcome of searching for a sync sample's frame.
    private enum Nearest {
        case found(Found)
        /// No frame is acceptable.
        case none
        /// Decoding contradicts the packets' data on sync samples.
        case untrue
    }

    /// Returns the frame of the first of several sync samples that is on screen between two times.
    private func firstPicture(
        of samples: [KeyframeIndex.Sample], from start: MediaTime, to end: MediaTime
    ) throws(MediaError) -> Nearest {
        for sample in samples where sample.time <= end {
            // A frame that ends before the presentation starts is never shown.
            if case .picture(let next) = sample.follower, next <= max(start, .zero) { continue }
            let isBelieved = hasTrueSyncSamples || sample.isDecoded
            do throws(MediaError) {
                let found = try frame(of: sample)
                guard found.frame.time == sample.time, found.frame.isKey || isBelieved else {
                    if isBelieved { continue }
                    return .untrue
                }
                if found.end > start { return .found(found) }
            } catch {
                // Skip a sync sample that cannot be decoded; other errors end the search.
                guard error.code == .outOfRange || error.code == .damaged else { throw error }
                if error.code == .outOfRange, !isBelieved { return .untrue }
            }
        }
        return .none
    }

    /// Returns the end of the presentation; `nil` if the container only estimates it.
    private func presentationEnd() throws(MediaError) -> MediaTime? {
        let contents = try asset.contents()
        let ends = [contents.duration, track.timeRange.end].filter(\.isNumeric)
        return contents.isTimingPrecise ? ends.max() : nil
    }

    /// Returns the frame of a sync sample, decoded alone if packets state its interval, otherwise like any other frame.
    private func frame(of sample: KeyframeIndex.Sample) throws(MediaError) -> Found {
        if let last = lastSyncPicture, last.frame.time == sample.time { return last }
        if let found = try loneFrame(of: sample) {
            lastSyncPicture = found
            return found
        }
        return try frame(at: sample.time)
    }

    /// Decodes the packet of a sync sample without those that follow.
    ///
    /// - Returns: `nil` if the result might differ from that of decoding on.
    private func loneFrame(of sample: KeyframeIndex.Sample) throws(MediaError) -> Found? {
        guard case .picture(let next) = sample.follower, let place = sample.place else { return nil }
        prepareToDecode()
        guard !track.isAttachedPicture, try feed.move(to: place),
            let packet = try feed.next(), packet.packet.isKey, feed.time(of: packet) == sample.time, !feed.areMisplaced
        else { return nil }
        defer { prepareToDecode() }
        var waiting: CompressedSample? = packet
        let queue = queue { () throws(MediaError) in
            defer { waiting = nil }
            return waiting
        }
        guard let frame = try source.next(from: queue), frame.time == sample.time, frame.isKey, !isDoubtful,
            !frame.picture.frame.isCorrupt
        else { return nil }
        return Found(frame: frame, end: next, isLast: false)
    }
}
