import ISOMedia
import LibAV
import MediaBase

/// Divides the packets of all tracks into fragments, each with everything that is presented in one interval.
///
/// A fragment ends where the leading track, the first with video that is not over, has the first packet at or after the
/// next boundary. Other tracks are cut at the same time, even if their packets come later in the order of decoding.
/// Packets are handed to the muxer one late for each track, because only the next one tells how long a packet lasts.
struct FragmentWriter {
    private let muxer: MuxerFile
    private let rules: Rules
    private let receiver: any SegmentReceiver
    /// The edits of the header.
    private var edits: MovieHeaderEdits

    private var lanes: [Lane]
    /// The lane of the track that leads.
    private var leading = 0
    /// The earliest time at which the next fragment may begin.
    private var boundary: MediaTime
    /// The time at which the next fragment begins and the lane that decided it, once it is known; the packets of it that
    /// have come already wait.
    private var cut: (time: MediaTime, lane: Int)?
    private var held: [(packet: CompressedSample, shown: Int64, lane: Int)] = []
    /// The latest time of decoding; all packets that are still to come are decoded at or after it.
    private var latest = MediaTime.negativeInfinity
    private var isEmpty = true
    /// The time by which the fragments of tracks are delayed, in ticks of their media, by track ID.
    private var delays: [UInt32: UInt64] = [:]
    /// The header as it was written; empty before the first fragment.
    private(set) var header: [UInt8] = []

    /// The rules by which fragments are cut.
    struct Rules: Sendable {
        /// The duration of a fragment.
        var interval: MediaTime
        /// The time from which intervals are counted.
        var start = MediaTime.zero
        /// True for segments of a stream: each begins with a sync sample and a `styp` box, and is reported.
        var isSegmented: Bool
    }

    /// A track of the movie.
    private struct Track {
        /// The index in the container.
        var index: Int
        var timeBase: Rational
        var mediaType: MediaType
    }

    private struct Lane {
        /// `nil` for a track that is not written, as it has no samples.
        let track: Track?
        /// The packet whose duration the next one tells.
        var waiting: CompressedSample?
        var isOver = false
        /// The time from which the track is presented.
        var begins = MediaTime.zero
        /// The time that is added to all times of the media.
        var delay = MediaTime.zero
        /// True once the lane has reached the time of the cut.
        var hasReachedCut = false
        /// The part of the presentation that the current fragment covers.
        var presented: (start: MediaTime, end: MediaTime)?
        /// The first video sample of the current fragment.
        var firstVideoSample: AssetSegmentReport.VideoSample?
    }

    /// Creates a writer for a muxer whose header was begun.
    ///
    /// - Parameters:
    ///   - muxer: The muxer, which collects its output in memory.
    ///   - lanes: The tracks.
    ///   - edits: The edits of the header, without edit lists.
    ///   - rules: The rules by which fragments are cut.
    ///   - receiver: Receives the header and each fragment.
    init(
        _ muxer: MuxerFile, lanes: [MuxSession.Lane], edits: MovieHeaderEdits, rules: Rules,
        receiver: any SegmentReceiver
    ) {
        self.muxer = muxer
        self.rules = rules
        self.receiver = receiver
        self.edits = edits
        let tracks = lanes.map { lane -> Track? in
            guard let index = lane.index, let stream = lane.stream else { return nil }
            let mediaType: MediaType =
                stream.parameters.isVideo ? .video : stream.parameters.isAudio ? .audio : .data
            return Track(index: index, timeBase: stream.timeBase, mediaType: mediaType)
        }
        self.lanes = tracks.map { Lane(track: $0, isOver: $0 == nil) }
        boundary = rules.start + rules.interval
        lead()
    }

    /// Chooses the track that leads, among those that are not over.
    private mutating func lead() {
        func first(_ mediaType: MediaType?) -> Int? {
            lanes.firstIndex { !$0.isOver && (mediaType == nil || $0.track?.mediaType == mediaType) }
        }
        leading = first(.video) ?? first(.audio) ?? first(nil) ?? leading
    }
}

extension FragmentWriter {
    /// Sets the edit list of a track, before the header is written, by the times of its first packet.
    ///
    /// The end is not known yet, and the muxer sees the first packet of a track that begins late only after the header.
    /// Browsers pass over empty edits, so the media of such a track begins late in segments.
    mutating func begin(lane: Int, with first: (decode: MediaTime, presentation: MediaTime)) {
        guard lanes.indices.contains(lane), let index = lanes[lane].track?.index,
            let place = edits.tracks.firstIndex(where: { $0.index == index })
        else { return }
        lanes[lane].begins = max(.zero, first.presentation)
        lanes[lane].delay = rules.isSegmented ? lanes[lane].begins : .zero
        edits.tracks[place].presented = (lanes[lane].begins - lanes[lane].delay, .positiveInfinity)
        edits.tracks[place].mediaStart = first.decode - lanes[lane].delay
    }

    /// Takes a packet; those of all tracks come in decode order.
    mutating func add(_ packet: CompressedSample, lane: Int) throws(MediaError) {
        guard lanes.indices.contains(lane), let track = lanes[lane].track else { return }
        latest = max(latest, time(packet.packet.dts ?? packet.packet.pts, lane))
        guard track.mediaType == .video || track.mediaType == .audio else {
            // The next packet of a sparse track may come late, and these packets state their duration.
            try place(packet, shown: packet.packet.duration, lane: lane)
            return try endFragmentIfReached()
        }
        let before = lanes[lane].waiting
        lanes[lane].waiting = packet
        if let before {
            var lasting = before
            if let this = packet.packet.dts, let last = before.packet.dts, this > last {
                lasting = CompressedSample(
                    try before.packet.retimed(pts: before.packet.pts, dts: last, duration: this - last))
            }
            try place(lasting, shown: before.packet.duration, lane: lane)
        }
        try endFragmentIfReached()
    }

    /// Ends a track, all of whose packets were added.
    ///
    /// - Parameters:
    ///   - lane: The track's lane.
    ///   - end: The time at which the track's last sample ends, if it lasts shorter than its packet.
    mutating func end(lane: Int, at end: MediaTime?) throws(MediaError) {
        guard lanes.indices.contains(lane), !lanes[lane].isOver, let track = lanes[lane].track else { return }
        if let last = lanes[lane].waiting.take() {
            var duration = last.packet.duration
            if let end, let start = last.packet.pts, let ends = end.ticks(in: track.timeBase, rounding: .up),
                ends > start
            {
                duration = min(max(1, ends - start), duration > 0 ? duration : .max)
            }
            let cut = CompressedSample(
                try last.packet.retimed(pts: last.packet.pts, dts: last.packet.dts, duration: duration))
            try place(cut, shown: duration, lane: lane)
        }
        lanes[lane].isOver = true
        if lane == leading { lead() }
        try endFragmentIfReached()
    }

    /// Writes the last fragment and the end of the file.
    mutating func finish() throws(MediaError) {
        for lane in lanes.indices { try end(lane: lane, at: nil) }
        if !isEmpty { try endFragment() }
        try muxer.writeTrailer()
        let rest = muxer.takeOutput()
        if !rest.isEmpty { try receiver.receive(.end(rest)) }
    }

    /// Completes the output, once it was verified.
    func complete() throws(MediaError) { try receiver.finish() }
}

// MARK: - Cutting

extension FragmentWriter {
    private func time(_ ticks: Int64?, _ lane: Int) -> MediaTime {
        guard let ticks, let track = lanes[lane].track else { return .zero }
        return MediaTime(ticks: ticks, timeBase: track.timeBase)
    }

    /// The time of a packet that is compared with the time of a cut: when it is shown, or decoded if fragments need not
    /// begin with sync samples.
    private func cutTime(of packet: CompressedSample, lane: Int) -> MediaTime {
        let (pts, dts) = (packet.packet.pts, packet.packet.dts)
        return time(rules.isSegmented && lane == leading ? pts ?? dts : dts ?? pts, lane)
    }

    /// Writes a packet to the current fragment, or keeps it for the next.
    private mutating func place(_ packet: CompressedSample, shown: Int64, lane: Int) throws(MediaError) {
        let time = cutTime(of: packet, lane: lane)
        if cut == nil, lane == leading, !isEmpty, time >= boundary, packet.packet.isKey || !rules.isSegmented {
            cut = (time, lane)
        }
        if let cut, lane == cut.lane || time >= cut.time {
            lanes[lane].hasReachedCut = true
            held.append((packet, shown, lane))
            return
        }
        try write(packet, shown: shown, lane: lane)
    }

    private mutating func write(_ packet: CompressedSample, shown: Int64, lane: Int) throws(MediaError) {
        guard let track = lanes[lane].track else { return }
        isEmpty = false
        try muxer.write(packet.packet, stream: track.index, timeBase: track.timeBase)
        let start = time(packet.packet.pts ?? packet.packet.dts, lane)
        let end = start + time(max(0, shown), lane)
        let begins = max(start, lanes[lane].begins)
        guard end > begins || shown == 0, !packet.packet.isDiscarded else { return }
        lanes[lane].presented = (
            min(lanes[lane].presented?.start ?? begins, begins), max(lanes[lane].presented?.end ?? end, end)
        )
        if track.mediaType == .video, lanes[lane].firstVideoSample == nil {
            lanes[lane].firstVideoSample = .init(
                presentationTime: start, offset: 0, length: 0, isSync: packet.packet.isKey)
        }
    }

    /// Ends the fragment if every track has reached the time of the cut, and begins the next with the packets that wait.
    private mutating func endFragmentIfReached() throws(MediaError) {
        while let (time, _) = cut {
            let isReached = lanes.indices.allSatisfy { lane in
                let lane = lanes[lane]
                if lane.isOver || lane.hasReachedCut { return true }
                guard let waiting = lane.waiting, let track = lane.track else { return latest >= time }
                let ticks = waiting.packet.dts ?? waiting.packet.pts ?? 0
                return MediaTime(ticks: ticks, timeBase: track.timeBase) >= time
            }
            guard isReached else { return }
            try endFragment()
            let count = (time - rules.start).ticks(
                in: Rational(rules.interval) ?? .one, rounding: .down)
            boundary = rules.start + rules.interval * (Int(clamping: count ?? 0) + 1)
            cut = nil
            for lane in lanes.indices { lanes[lane].hasReachedCut = false }
            let waiting = held
            held = []
            for (packet, shown, lane) in waiting { try place(packet, shown: shown, lane: lane) }
        }
    }

    /// Writes the fragment and hands it on, the first one after the header.
    private mutating func endFragment() throws(MediaError) {
        var parts = try FragmentParts(muxer.cut())
        if header.isEmpty {
            header = try FragmentParts.editing(parts.header) { (editor) throws(MediaError) in
                try edits.apply(to: &editor)
                for lane in lanes where lane.delay > .zero {
                    guard let index = lane.track?.index else { continue }
                    let ticks = lane.delay.converted(toTimescale: try editor.mediaTimescale(ofTrack: index)).value
                    delays[UInt32(clamping: index + 1)] = UInt64(clamping: ticks)
                }
            }
            try receiver.receive(.init(data: header, type: .initialization, report: nil))
            // With `delay_moov` the muxer writes the header alone first.
            if parts.fragments.isEmpty { parts = try FragmentParts(muxer.cut()) }
        }
        if !delays.isEmpty { try parts.delay(by: delays) }
        var data = rules.isSegmented ? FragmentParts.segmentType : []
        let prefix = data.count
        data += parts.fragments
        try receiver.receive(
            .init(data: data, type: .media, report: takeReport(of: parts.fragments, after: prefix)))
        isEmpty = true
    }

    /// Returns the report on the current fragment, and begins that of the next.
    private mutating func takeReport(of fragment: [UInt8], after prefix: Int) -> AssetSegmentReport {
        var reports: [AssetSegmentReport.Track] = []
        for place in lanes.indices {
            guard let track = lanes[place].track, let (start, end) = lanes[place].presented.take() else { continue }
            let trackID = UInt32(clamping: track.index + 1)
            var sample = lanes[place].firstVideoSample.take()
            if sample != nil, let bytes = FragmentParts.firstSample(ofTrack: trackID, in: fragment) {
                sample?.offset = prefix + bytes.lowerBound
                sample?.length = bytes.count
            }
            reports.append(
                AssetSegmentReport.Track(
                    trackID: Int(trackID), mediaType: track.mediaType, earliestPresentationTime: start,
                    duration: end - start, firstVideoSample: sample))
        }
        return AssetSegmentReport(tracks: reports)
    }
}
