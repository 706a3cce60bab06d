import LibAV
import MediaBase

/// Stored samples untouched, in decode order, as the container holds them.
final class StoredPipeline: SamplePipeline {
    private let track: AssetTrack
    private let format: FormatDescription
    private let origin: MediaTime
    private let range: OutputRange

    init(track: AssetTrack, format: FormatDescription, origin: MediaTime, range: OutputRange) {
        self.track = track
        self.format = format
        self.origin = origin
        self.range = range
    }

    /// The next sample whose time is in the range; all of them where the range is the whole track.
    ///
    /// Samples before the range's start are left out, also where later ones need them to be decoded.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while !range.isEmpty, let sample = try packets.next() {
            let packet = StoredTimes(sample, track: track, origin: origin)
            // Nothing that is decoded after the end is shown before it.
            if let end = range.end, let decode = packet.decode, decode >= end { return nil }
            let begins = packet.presentation.isNumeric ? packet.presentation : packet.decode ?? .indefinite
            let ends = begins + packet.duration
            if range.start > .zero, begins.isNumeric, begins < range.start, ends <= range.start { continue }
            if let end = range.end, begins.isNumeric, begins >= end { continue }
            if let damage = sample.damage { packets.reportDamage(damage) }
            return SampleBuffer(
                track: track, presentationTime: packet.presentation, decodeTime: packet.decode,
                duration: packet.duration, isSync: sample.packet.isKey, formatDescription: format,
                attachments: packet.attachments, content: .stored(sample))
        }
        return nil
    }
}

/// A packet's times on the presentation's time line.
struct StoredTimes {
    let presentation: MediaTime
    let decode: MediaTime?
    let duration: MediaTime
    let attachments: SampleBuffer.Attachments

    init(_ sample: StoredSample, track: AssetTrack, origin: MediaTime) {
        presentation = sample.packet.pts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin } ?? .indefinite
        decode = sample.packet.dts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
        duration = MediaTime(ticks: sample.packet.duration, timeBase: track.timeBase)
        var attachments: SampleBuffer.Attachments = []
        if sample.packet.isCorrupt { attachments.insert(.isDamaged) }
        if sample.packet.isDiscarded { attachments.insert(.isNotShown) }
        self.attachments = attachments
    }
}
