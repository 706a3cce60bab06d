import Bitstreams
import LibAV
import MediaBase

/// Delivers stored samples unchanged, in decode order, as in the container.
///
/// For a time range, these are the samples shown in it and those needed to decode them, which are marked as not shown.
/// Video starts with the sync sample before the range. Frames after the range's end are included if a shown one
/// follows.
final class PassthroughPipeline: SamplePipeline {
    private let track: AssetTrack
    private let format: FormatDescription
    private let range: OutputRange
    private let limits: MediaLimits
    private var samples: TrackSamples
    private let isVideo: Bool
    /// The minimum number of audio samples before the first one that is heard.
    private let preRoll: Int
    /// The samples so far that may be needed, until the frame on screen at the range's start is known.
    private var held: [TrackSamples.Entry] = []
    private var heldBytes = 0
    /// The number of held samples that are shown at or after the range's start.
    private var heldInside = 0
    private var isPastStart: Bool
    /// Frames after the range's end, which are delivered only if a shown frame follows.
    private var behind: [SampleBuffer] = []
    private var ready: ArraySlice<SampleBuffer> = []
    private var isOver = false

    /// H.264 and HEVC reorder at most 16 frames.
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
        // Two samples, because one may be cut and the one before it warms up the decoder.
        preRoll = track.mediaType == .audio && PCMForm(format) == nil ? 2 : 0
        isPastStart = range.start <= .zero
        isOver = range.isEmpty
    }

    /// Returns the next sample that is in the range or needed for one that is.
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

    // MARK: Range start

    private func hold(_ entry: TrackSamples.Entry, _ packets: PacketQueue) throws(MediaError) {
        guard isVideo else {
            guard entry.begins.isNumeric else { return place(entry, packets) }
            let isBefore = entry.begins < range.start && entry.begins + entry.duration <= range.start
            if isBefore {
                held.append(entry)
                if held.count > preRoll,
                    preRoll == 0
                        || AudioPreRoll.isCovered(
                            codec: format.codec, withoutFirstOf: held.map(\.sample.size),
                            second: held[1].begins - range.start)
                {
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

    /// Returns true if no later frame can be on screen at the range's start.
    private func isOnScreenKnown(_ entry: TrackSamples.Entry) -> Bool {
        guard heldInside > 0 else { return false }
        // A frame is never shown before it is decoded.
        if let decode = entry.decode, decode >= range.start { return true }
        let isReordered = format.video?.reorders == true || entry.decode.map { $0 != entry.presentation } ?? false
        return !isReordered || heldInside > Self.maximumHeldBack
    }

    /// Delivers the held samples; a frame is shown until the next one, whatever duration its packet states.
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

    // MARK: Range content

    private func place(_ entry: TrackSamples.Entry, _ packets: PacketQueue) {
        // A frame that is decoded after the end cannot be shown before it.
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
    /// Reads near a time to find the sync sample that the frame on screen at that time needs.
    ///
    /// - Returns: The presentation time of the sync sample; `nil` if there is none, or if the asset can be read only
    ///   once.
    /// - Throws: Errors from reading.
    package func syncSampleTime(of track: AssetTrack, notAfter time: MediaTime) throws(MediaError) -> MediaTime? {
        guard canBeReadAgain else { return nil }
        let output = try samplesNow(
            of: track, as: .stored, in: MediaTimeRange(start: time, duration: .positiveInfinity))
        let first = try output.nextSampleBuffer()
        return first.flatMap { $0.isSync && $0.presentationTime.isNumeric ? $0.presentationTime : nil }
    }
}

/// The times of a packet on the presentation's time line.
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

/// The packets of a track as samples; the two fields of a frame form one sample.
struct TrackSamples {
    private let track: AssetTrack
    private let origin: MediaTime
    private let codec: String
    private let hidesPictures: Bool
    private var fields: H264FieldPairs?
    /// A field that waits for the other field of its frame.
    private var waiting: Entry?

    /// A sample with its times on the presentation's time line.
    struct Entry {
        var sample: CompressedSample
        var presentation: MediaTime
        var decode: MediaTime?
        var duration: MediaTime
        var attachments: SampleBuffer.Attachments

        /// The presentation time, or the decode time if there is none.
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

    /// Returns the next sample, in decode order; `nil` at the end.
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
    /// Indicates whether the edit list shows several parts of the media, or a part at another speed than normal.
    var jumpsInMedia: Bool {
        let media = segments.filter { $0.mediaStart != nil }
        return (media.count > 1 || media.contains { $0.rate != .one }) && !partsContinue
    }

    /// The reason why the stored samples differ from what is shown, in words that follow "is"; `nil` if they do not.
    package var reasonAgainstCopying: String? {
        guard jumpsInMedia else { return nil }
        return "put together of \(segments.count { $0.mediaStart != nil }) parts by its edit list"
    }

    /// Indicates whether the parts of the edit list play at normal speed and form one continuous part.
    private var partsContinue: Bool {
        let first = segments.firstIndex { $0.mediaStart != nil } ?? segments.endIndex
        let parts = segments[first...]
        guard parts.allSatisfy({ $0.mediaStart != nil && $0.rate == .one }) else { return false }
        return zip(parts, parts.dropFirst()).allSatisfy { before, next in
            before.mediaStart.map { $0 + before.duration } == next.mediaStart
        }
    }
}
