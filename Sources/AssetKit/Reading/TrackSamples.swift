import Bitstreams
import LibAV
import MediaBase

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
        var sample: StoredSample
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
                first.sample = StoredSample(try first.sample.packet.joined(with: entry.sample.packet))
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
