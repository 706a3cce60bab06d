import Bitstreams
import LibAV
import MediaBase

/// The samples of one track of a file, without their bytes: times, sizes and places, in decode order.
///
/// The samples are those that a ``TrackOutput`` without settings delivers: a frame stored as two fields with start codes
/// is one sample.
final class SampleTable: Sendable {
    /// The samples, in decode order.
    let entries: [Entry]
    /// The positions in ``entries`` in presentation order; empty if this is the decode order.
    private let shown: [Int32]
    /// The positions in presentation order by position in decode order; empty if both are the same.
    private let places: [Int32]
    private let timeBase: Rational
    private let origin: MediaTime
    /// True if the bytes of a sample are stored in one piece, just as they are delivered.
    private let isInOnePiece: Bool

    /// A sample; about 40 bytes.
    struct Entry: Sendable, Hashable {
        /// The presentation and the decode time in the stream's time base; the minimum if not stated.
        var pts: Int64
        var dts: Int64
        var duration: Int64
        /// The byte position in the file; negative if not stated.
        var position: Int64
        var size: Int32
        var flags: Flags
    }

    struct Flags: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let isSync = Flags(rawValue: 1)
        static let isHidden = Flags(rawValue: 2)
        static let isDamaged = Flags(rawValue: 4)
    }

    private static let untimed = Int64.min

    /// Reads all packets of a track, without decoding.
    ///
    /// - Parameters:
    ///   - track: The track.
    ///   - file: A file from which no packet has been read yet; it is at its end afterwards.
    ///   - origin: The time to subtract from the track's time stamps.
    init(of track: AssetTrack, in file: InputFile, origin: MediaTime) throws(MediaError) {
        file.select(streams: [track.index])
        let format = track.formatDescriptions.first
        var fields = format?.codec == "h264" ? H264FieldPairs(header: format?.extradata ?? []) : nil
        let hidingCodec = (format?.codec).flatMap { ShownPictures.canHide(codec: $0) ? $0 : nil }
        let isAudio = track.mediaType == .audio
        var entries: [Entry] = []
        while let packet = try readOn(file) {
            guard packet.streamIndex == track.index else { continue }
            var entry = Entry(
                pts: packet.pts ?? Self.untimed, dts: packet.dts ?? Self.untimed, duration: max(0, packet.duration),
                position: packet.position ?? -1, size: Int32(clamping: packet.size), flags: [])
            if packet.isKey { entry.flags.insert(.isSync) }
            if packet.isCorrupt { entry.flags.insert(.isDamaged) }
            let isPriming = isAudio && Self.isPriming(entry, before: origin, track.timeBase)
            let isOverlaid = hidingCodec.map { !packet.showsPicture(of: $0) } ?? false
            if packet.isDiscarded || isPriming || isOverlaid { entry.flags.insert(.isHidden) }
            let head = fields == nil ? [] : packet.prefix(H264FieldPairs.headLength)
            if fields?.isSecondField(head) == true, let last = entries.indices.last {
                entries[last].duration = entries[last].duration.addingClamped(entry.duration)
                if fields?.isJoinable(head) == true {
                    if entries[last].position.addingClamped(Int64(entries[last].size)) != entry.position {
                        entries[last].position = -1
                    }
                    entries[last].size = Int32(clamping: Int(entries[last].size) + Int(entry.size))
                    continue
                }
                entry.flags.insert(.isHidden)
            }
            entries.append(entry)
        }
        self.entries = entries
        self.origin = origin
        timeBase = track.timeBase
        isInOnePiece = file.format == .isoMedia
        (shown, places) = Self.presentationOrder(of: entries)
    }

    /// Returns true for audio that ends before the presentation begins.
    private static func isPriming(_ entry: Entry, before origin: MediaTime, _ timeBase: Rational) -> Bool {
        guard entry.pts != untimed, MediaTime(ticks: entry.pts, timeBase: timeBase) < origin else { return false }
        return MediaTime(ticks: entry.pts.addingClamped(entry.duration), timeBase: timeBase) <= origin
    }

    /// Returns both directions of the order of presentation; empty if it is that of decoding.
    private static func presentationOrder(of entries: [Entry]) -> (shown: [Int32], places: [Int32]) {
        // A sample without a presentation time is shown when it is decoded, or after the one before it.
        var last = untimed
        let times = entries.map { entry in
            last = entry.pts != untimed ? entry.pts : entry.dts != untimed ? entry.dts : last
            return last
        }
        guard zip(times, times.dropFirst()).contains(where: >) else { return ([], []) }
        let shown = entries.indices.sorted { (times[$0], $0) < (times[$1], $1) }
        var places = [Int32](repeating: 0, count: entries.count)
        for (place, number) in shown.enumerated() { places[number] = Int32(clamping: place) }
        return (shown.map { Int32(clamping: $0) }, places)
    }

    /// Returns the position in presentation order of a sample, given that in decode order.
    func place(of number: Int) -> Int { places.isEmpty ? number : Int(places[number]) }

    /// Returns the position in decode order of a sample, given that in presentation order.
    func number(at place: Int) -> Int { shown.isEmpty ? place : Int(shown[place]) }

    /// Returns the presentation time of a sample; indefinite if not stated.
    func presentationTime(of number: Int) -> MediaTime { time(entries[number].pts) ?? .indefinite }

    /// Returns the decode time of a sample; `nil` if not stated.
    func decodeTime(of number: Int) -> MediaTime? { time(entries[number].dts) }

    /// Returns the duration of a sample.
    func duration(of number: Int) -> MediaTime { MediaTime(ticks: entries[number].duration, timeBase: timeBase) }

    /// Returns the bytes of the file that are a sample; `nil` if this is not known.
    func storageRange(of number: Int) -> Range<Int64>? {
        let entry = entries[number]
        guard isInOnePiece, entry.position >= 0 else { return nil }
        return entry.position..<entry.position.addingClamped(Int64(entry.size))
    }

    private func time(_ ticks: Int64) -> MediaTime? {
        ticks == Self.untimed ? nil : MediaTime(ticks: ticks, timeBase: timeBase) - origin
    }

    /// Returns the number of the last sample that is presented at a time or before it.
    ///
    /// Samples that are not shown do not count. If there are none, it is the first sample in presentation order, and
    /// `nil` for a track without samples.
    func sample(shownAt time: MediaTime) -> Int? {
        guard !entries.isEmpty else { return nil }
        var place = Self.count(entries.count) { presentationBegin(of: number(at: $0)) <= time } - 1
        while place >= 0, entries[number(at: place)].flags.contains(.isHidden) { place -= 1 }
        return number(at: max(0, place))
    }

    /// Returns the number of the last sample that is decoded at a time or before it, or the first one.
    func sample(decodedAt time: MediaTime) -> Int {
        max(0, Self.count(entries.count) { decodeBegin(of: $0) <= time } - 1)
    }

    /// Returns the time by which a sample is ordered for presentation.
    func presentationBegin(of number: Int) -> MediaTime {
        time(entries[number].pts) ?? time(entries[number].dts) ?? .negativeInfinity
    }

    /// Returns the time by which a sample is ordered for decoding.
    func decodeBegin(of number: Int) -> MediaTime {
        time(entries[number].dts) ?? time(entries[number].pts) ?? .negativeInfinity
    }

    /// Returns how many of the first `count` positions satisfy a condition that none after them does.
    private static func count(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
