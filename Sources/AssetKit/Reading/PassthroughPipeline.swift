import Bitstreams
import LibAV
import MediaBase

/// Stored samples untouched, in decode order, as the container holds them.
///
/// Of a range they are those that are shown in it, and those that are needed to decode them, marked as not shown: pictures
/// from the sync sample before its start on, and from after its end those that come before one that is shown.
final class PassthroughPipeline: SamplePipeline {
    private let track: AssetTrack
    private let format: FormatDescription
    private let range: OutputRange
    private let limits: MediaLimits
    private var samples: TrackSamples
    private let isVideo: Bool
    /// How many samples of sound come at least before the first one that is heard.
    private let preRoll: Int
    /// How long before the range's start they begin at least.
    private let preRollTime: MediaTime
    /// What came so far and may be needed, until it is known which of it is on screen at the range's start.
    private var held: [TrackSamples.Entry] = []
    private var heldBytes = 0
    /// How many of those are shown at the range's start or later.
    private var heldInside = 0
    private var isPastStart: Bool
    /// Pictures from after the range's end, which are delivered where one that is shown follows.
    private var behind: [SampleBuffer] = []
    private var ready: ArraySlice<SampleBuffer> = []
    private var isOver = false

    /// After how long Opus sounds as if it had been decoded from its beginning (RFC 7845, 4.6).
    static let opusPreRoll = MediaTime(value: 80, timescale: 1000)

    /// H.264 and HEVC hold back 16 pictures at most.
    private static let maximumHeldBack = 17

    init(
        track: AssetTrack, format: FormatDescription, origin: MediaTime, range: OutputRange, limits: MediaLimits
    ) {
        self.track = track
        self.format = format
        self.range = range
        self.limits = limits
        samples = TrackSamples(track: track, format: format, origin: origin)
        isVideo = track.mediaType == .video && !track.isAttachedPicture
        // Two, as one may be cut and the one before it warms the decoder up.
        preRoll = track.mediaType == .audio && PCMForm(format) == nil ? 2 : 0
        preRollTime = format.codec == "opus" ? Self.opusPreRoll : .zero
        isPastStart = range.start <= .zero
        isOver = range.isEmpty
    }

    /// The next sample that is in the range, or needed for one that is.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while true {
            if let buffer = ready.popFirst() { return buffer }
            guard !isOver else { return nil }
            guard let entry = try samples.next(from: packets) else {
                isOver = true
                if !isPastStart { passStart(packets) }
                continue
            }
            if isPastStart { place(entry, packets) } else { try hold(entry, packets) }
        }
    }

    // MARK: The range's start

    private func hold(_ entry: TrackSamples.Entry, _ packets: PacketQueue) throws(MediaError) {
        guard isVideo else {
            guard entry.begins.isNumeric else { return place(entry, packets) }
            let isBefore = entry.begins < range.start && entry.begins + entry.duration <= range.start
            if isBefore {
                held.append(entry)
                if held.count > preRoll, preRoll == 0 || held[1].begins <= range.start - preRollTime {
                    held.removeFirst()
                }
                return
            }
            isPastStart = true
            for early in held { deliver(early, isShown: false, packets) }
            held = []
            return place(entry, packets)
        }
        if entry.sample.packet.isKey, entry.begins <= range.start {
            held = []
            (heldBytes, heldInside) = (0, 0)
        }
        held.append(entry)
        heldBytes += entry.sample.size
        guard heldBytes <= limits.waitingBytes else {
            throw limits.error(.waitingBytes, "\(heldBytes) bytes from the last sync sample to the range's start")
        }
        if entry.begins.isNumeric, entry.begins >= range.start, !entry.isHidden { heldInside += 1 }
        if isOnScreenKnown(entry) { passStart(packets) }
    }

    /// Whether no picture can follow that is on screen at the range's start.
    private func isOnScreenKnown(_ entry: TrackSamples.Entry) -> Bool {
        guard heldInside > 0 else { return false }
        // No picture is shown before it is decoded.
        if let decode = entry.decode, decode >= range.start { return true }
        let isReordered = format.video?.reorders == true || entry.decode.map { $0 != entry.presentation } ?? false
        return !isReordered || heldInside > Self.maximumHeldBack
    }

    /// Delivers what was held: a picture is on screen until the next one is, whatever its packet says of its duration.
    private func passStart(_ packets: PacketQueue) {
        isPastStart = true
        let shown = held.filter { !$0.isHidden && $0.presentation.isNumeric }.map(\.presentation)
        let onScreen = shown.filter { $0 <= range.start }.max()
        let next = shown.filter { $0 > range.start }.min()
        for var entry in held {
            if let onScreen, entry.presentation.isNumeric, !entry.isHidden {
                if entry.presentation < onScreen {
                    deliver(entry, isShown: false, packets)
                    continue
                }
                if entry.presentation == onScreen {
                    if let next { entry.duration = next - onScreen }
                    deliver(entry, isShown: true, packets)
                    continue
                }
            }
            place(entry, packets)
        }
        held = []
    }

    // MARK: What is in the range

    private func place(_ entry: TrackSamples.Entry, _ packets: PacketQueue) {
        // Nothing that is decoded after the end is shown before it.
        if let end = range.end, let decode = entry.decode, decode >= end {
            isOver = true
            return
        }
        let begins = entry.begins
        if let end = range.end, begins.isNumeric, begins >= end {
            guard isVideo else { return }
            behind.append(buffer(entry, isShown: false))
            if behind.count > Self.maximumHeldBack { isOver = true }
            return
        }
        let isBefore =
            range.start > .zero && begins.isNumeric && begins < range.start && begins + entry.duration <= range.start
        if isBefore, !isVideo { return }
        deliver(entry, isShown: !isBefore, packets)
    }

    private func deliver(_ entry: TrackSamples.Entry, isShown: Bool, _ packets: PacketQueue) {
        if isShown, !behind.isEmpty {
            ready += behind
            behind = []
        }
        if let damage = entry.sample.damage { packets.reportDamage(damage) }
        ready.append(buffer(entry, isShown: isShown))
    }

    private func buffer(_ entry: TrackSamples.Entry, isShown: Bool) -> SampleBuffer {
        SampleBuffer(
            track: track, presentationTime: entry.presentation, decodeTime: entry.decode, duration: entry.duration,
            isSync: entry.sample.packet.isKey, formatDescription: format,
            attachments: isShown ? entry.attachments : entry.attachments.union(.isNotShown),
            content: .stored(entry.sample))
    }
}

extension Asset {
    /// Finds the sync sample that the picture on screen at a moment needs, by reading there.
    ///
    /// - Returns: When it is shown; `nil` for an asset that can be read only once, and where there is none.
    /// - Throws: what reading throws.
    package func syncSampleTime(of track: AssetTrack, notAfter time: MediaTime) throws(MediaError) -> MediaTime? {
        guard canBeReadAgain else { return nil }
        let reader = try AssetReader(asset: self)
        reader.timeRange = MediaTimeRange(start: time, duration: .positiveInfinity)
        let output = TrackOutput(track: track)
        try reader.add(output)
        try reader.startReading()
        defer { reader.cancelReading() }
        let first = try output.nextSampleBuffer()
        return first.flatMap { $0.isSync && $0.presentationTime.isNumeric ? $0.presentationTime : nil }
    }
}

/// A packet's times on the presentation's time line.
struct StoredTimes {
    let presentation: MediaTime
    let decode: MediaTime?
    let duration: MediaTime
    let attachments: SampleBuffer.Attachments

    init(_ sample: CompressedSample, track: AssetTrack, origin: MediaTime) {
        presentation = sample.packet.pts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin } ?? .indefinite
        decode = sample.packet.dts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
        duration = MediaTime(ticks: sample.packet.duration, timeBase: track.timeBase)
        var attachments: SampleBuffer.Attachments = []
        if sample.packet.isCorrupt { attachments.insert(.isDamaged) }
        let isPriming = track.mediaType == .audio && presentation < .zero && presentation + duration <= .zero
        if sample.packet.isDiscarded || isPriming { attachments.insert(.isNotShown) }
        self.attachments = attachments
    }
}

/// The packets of a track as its samples: the two fields of a frame are one sample.
struct TrackSamples {
    private let track: AssetTrack
    private let origin: MediaTime
    private let codec: String
    private let hidesPictures: Bool
    private var fields: H264FieldPairs?
    /// A field that waits for the other one of its frame.
    private var waiting: Entry?

    /// One sample at its times on the presentation's time line.
    struct Entry {
        var sample: CompressedSample
        var presentation: MediaTime
        var decode: MediaTime?
        var duration: MediaTime
        var attachments: SampleBuffer.Attachments

        /// When it is shown; where that is not told, when it is decoded.
        var begins: MediaTime { presentation.isNumeric ? presentation : decode ?? .indefinite }
        var isHidden: Bool { attachments.contains(.isNotShown) }
    }

    init(track: AssetTrack, format: FormatDescription, origin: MediaTime) {
        self.track = track
        self.origin = origin
        codec = format.codec
        hidesPictures = ShownPictures.canHide(codec: format.codec)
        fields = format.codec == "h264" ? H264FieldPairs(header: format.extradata) : nil
    }

    /// The next sample, in decode order; `nil` at the end.
    mutating func next(from packets: PacketQueue) throws(MediaError) -> Entry? {
        guard fields != nil else { return try single(from: packets) }
        while true {
            guard let entry = try single(from: packets) else { return waiting.take() }
            let head = entry.sample.packet.prefix(H264FieldPairs.headLength)
            if fields?.isSecondField(head) == true, var first = waiting.take() {
                guard fields?.isJoinable(head) == true else {
                    first.duration = first.duration + entry.duration
                    waiting = entry
                    waiting?.attachments.insert(.isNotShown)
                    return first
                }
                first.sample = CompressedSample(try first.sample.packet.joined(with: entry.sample.packet))
                first.duration = first.duration + entry.duration
                first.attachments.formUnion(entry.attachments.intersection(.isDamaged))
                return first
            }
            if let before = waiting {
                waiting = entry
                return before
            }
            waiting = entry
        }
    }

    private func single(from packets: PacketQueue) throws(MediaError) -> Entry? {
        guard let sample = try packets.next() else { return nil }
        let times = StoredTimes(sample, track: track, origin: origin)
        var entry = Entry(
            sample: sample, presentation: times.presentation, decode: times.decode, duration: times.duration,
            attachments: times.attachments)
        if hidesPictures, !sample.packet.showsPicture(of: codec) { entry.attachments.insert(.isNotShown) }
        return entry
    }
}

extension AssetTrack {
    /// Tells whether its edit list shows several parts of the media, or one at another speed than normal.
    var jumpsInMedia: Bool {
        let media = segments.filter { $0.mediaStart != nil }
        return (media.count > 1 || media.contains { $0.rate != .one }) && !partsContinue
    }

    /// Why its stored samples are not what it shows, in words that follow "is"; `nil` where they are.
    var reasonAgainstCopying: String? {
        guard jumpsInMedia else { return nil }
        return "put together of \(segments.count { $0.mediaStart != nil }) parts by its edit list"
    }

    /// Whether the parts that its edit list shows play at normal speed and continue each other, so that together they are
    /// one.
    private var partsContinue: Bool {
        let first = segments.firstIndex { $0.mediaStart != nil } ?? segments.endIndex
        let parts = segments[first...]
        guard parts.allSatisfy({ $0.mediaStart != nil && $0.rate == .one }) else { return false }
        return zip(parts, parts.dropFirst()).allSatisfy { before, next in
            before.mediaStart.map { $0 + before.duration } == next.mediaStart
        }
    }
}

/// Turns the packets of one track into the sample buffers that one output was asked for.
///
/// Pulls packets as it needs them. One thread uses it at a time.
protocol SamplePipeline: AnyObject {
    /// The next buffer in presentation order; `nil` at the end.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer?
}

/// Where a pipeline gets its packets from: the part of an open file that one output reads.
struct PacketQueue {
    /// The next packet of the track; `nil` at the end.
    let next: () throws(MediaError) -> CompressedSample?
    /// Told of each packet that is damaged or could not be decoded, by its time stamp and length, so that it is counted; telling it
    /// twice does no harm.
    var reportDamage: (PacketDecoder.Damage) -> Void
    /// Whether a packet's picture may be left out if no other refers to it.
    var isDispensable: (CompressedSample) -> Bool = { _ in false }
    /// The next packet of the track for threads that read ahead; `nil` where only the caller's thread may read.
    ///
    /// That the container breaks off is noted only when ``next`` gives `nil`.
    var ahead: (@Sendable () throws(MediaError) -> CompressedSample?)?
}

/// The times between which an output delivers, on the presentation's time line.
struct OutputRange {
    /// The first moment that is wanted.
    var start: MediaTime
    /// The first moment that is not; `nil` for all to the end.
    var end: MediaTime?

    /// Where the range that was asked for and the track's own extent overlap.
    ///
    /// - Parameters:
    ///   - trackEnd: Where edits end the track; `nil` where nothing does.
    ///   - grid: Where the track can be cut: an end that 32 bits of timescale do not hold was rounded, and may have moved
    ///     past a sample.
    init(_ asked: MediaTimeRange, trackEnd: MediaTime?, grid: TrimGrid) {
        start = max(asked.start.isNumeric ? asked.start : .zero, .zero)
        let end = asked.end.hasBeenRounded ? grid.rounded(asked.end) : asked.end
        let ends = [end, trackEnd ?? .positiveInfinity].filter { $0.isNumeric }
        self.end = ends.min()
    }

    /// Whether no moment is wanted at all.
    var isEmpty: Bool { end.map { $0 <= start } ?? false }
}
