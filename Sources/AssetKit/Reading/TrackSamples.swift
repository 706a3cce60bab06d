import Bitstreams
import LibAV
import MediaBase

/// The packets of a track as its samples: each comes once, also where an edit list has several parts, and the two fields
/// of a frame are one sample.
struct TrackSamples {
    private let track: AssetTrack
    private let origin: MediaTime
    private let codec: String
    private let hidesPictures: Bool
    private var parts: JoinedParts?
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
        parts = JoinedParts(track)
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

    /// The next packet that is not a repetition.
    private mutating func single(from packets: PacketQueue) throws(MediaError) -> Entry? {
        while let sample = try packets.next() {
            let times = StoredTimes(sample, track: track, origin: origin)
            var entry = Entry(
                sample: sample, presentation: times.presentation, decode: times.decode, duration: times.duration,
                attachments: times.attachments)
            if parts?.isRepeated(&entry) == true { continue }
            if hidesPictures, !sample.packet.showsPicture(of: codec) { entry.attachments.insert(.isNotShown) }
            return entry
        }
        return nil
    }
}

/// Puts together what libavformat takes apart: of an edit list with several parts it reads each by itself, from the sync
/// sample before it to the one after it, so that samples come again around each border.
private struct JoinedParts {
    /// When samples were decoded that came already.
    private var decodeTimes: [Place: MediaTime] = [:]
    /// What is added to times of the part that is read, so that they go on where those of the part before end.
    private var shift = MediaTime.zero
    private let end: MediaTime?

    private struct Place: Hashable {
        let position: Int64
        let size: Int
    }

    /// `nil` for a track with fewer than two parts, and one whose parts do not continue each other.
    init?(_ track: AssetTrack) {
        guard track.hasSeveralParts, track.partsContinue else { return nil }
        end = track.editedEnd
    }

    /// Whether a sample came already; one that did not gets its place on the time line of all parts.
    mutating func isRepeated(_ entry: inout TrackSamples.Entry) -> Bool {
        guard let position = entry.sample.packet.position, let decode = entry.decode else { return false }
        let place = Place(position: position, size: entry.sample.size)
        if let known = decodeTimes[place] {
            shift = known - decode
            return true
        }
        entry.decode = decode + shift
        decodeTimes[place] = decode + shift
        guard entry.presentation.isNumeric else { return false }
        entry.presentation = entry.presentation + shift
        // Where the part that is read ends matters no more, only where all of them begin and end.
        let isBefore = entry.presentation < .zero && entry.attachments.contains(.isNotShown)
        let isBehind = end.map { entry.presentation >= $0 } ?? false
        if isBefore || isBehind {
            entry.attachments.insert(.isNotShown)
        } else {
            entry.attachments.remove(.isNotShown)
        }
        return false
    }
}

extension AssetTrack {
    /// Whether its edit list shows more than one part of the media.
    var hasSeveralParts: Bool { segments.count { $0.mediaStart != nil } > 1 }

    /// Why its stored samples are not what it shows, in words that follow "is"; `nil` where they are.
    var reasonAgainstCopying: String? {
        let media = segments.filter { $0.mediaStart != nil }
        guard hasSeveralParts || media.contains(where: { $0.rate != .one }), !partsContinue else { return nil }
        return "put together of \(media.count) parts by its edit list"
    }

    /// Whether the parts that its edit list shows play at normal speed and continue each other, so that together they are
    /// one.
    var partsContinue: Bool {
        let first = segments.firstIndex { $0.mediaStart != nil } ?? segments.endIndex
        let parts = segments[first...]
        guard parts.allSatisfy({ $0.mediaStart != nil && $0.rate == .one }) else { return false }
        return zip(parts, parts.dropFirst()).allSatisfy { before, next in
            before.mediaStart.map { $0 + before.duration } == next.mediaStart
        }
    }
}
