import LibAV
import MediaBase

/// A decoded picture and when it is shown.
struct TimedFrame {
    let picture: PixelBuffer
    /// Its presentation time.
    let time: MediaTime
    /// The time is known: the first picture after a move may have no time stamp, and none before it that would tell.
    let isPlaced: Bool
    /// How long it is shown by the packet's word, which is often wrong; `nil` where it has none.
    let statedDuration: MediaTime?
    /// Whether it came from a sync sample.
    let isKey: Bool
}

/// Decoded pictures of one track in presentation order, with times on the presentation's time line.
///
/// A picture without a time stamp, or with that of the one before it or a later one's, follows that one by a frame's duration, or halfway to
/// the next one where that comes sooner. MP4, QuickTime and Matroska files say themselves what is shown: there a picture
/// with the time of another is shown for no time at all.
final class TimedFrameSource {
    private let frames: FrameSource
    private let track: AssetTrack
    private let origin: MediaTime
    private let keepsDoubled: Bool
    private var last: MediaTime?
    /// The last time stamp that a picture had.
    private var lastStamp: MediaTime?
    /// A picture that was decoded to learn its time, and comes next.
    private var upcoming: Frame?
    private var upcomingStamp: MediaTime?
    private var hasUpcoming = false
    /// Whether a time stamp may be later than that of the next picture, which then is right: MPEG program streams.
    private let mayMisplace: Bool
    /// When the last of the packets that were read so far is over by its own word.
    private var packetsEnd = MediaTime.negativeInfinity

    init(
        _ file: InputFile, track: AssetTrack, origin: MediaTime, threads: Int, bySlices: Bool = false
    ) throws(MediaError) {
        frames = try FrameSource(
            file, track: track.index, threads: threads, bySlices: bySlices)
        self.track = track
        self.origin = origin
        mayMisplace = file.format.mayMisplaceTimes
        keepsDoubled = !file.format.startsAtZero
    }

    /// The next picture; `nil` at the end.
    func next(from packets: PacketQueue) throws(MediaError) -> TimedFrame? {
        while let frame = try nextFrame(from: packets) {
            let stated = frame.duration > 0 ? MediaTime(ticks: frame.duration, timeBase: track.timeBase) : nil
            let isKey = frame.isKey
            let stamp = stamp(of: frame)
            var isWrong = keepsDoubled && stamp != nil && stamp == lastStamp
            if mayMisplace, !isWrong, let last, let stamp, let next = try nextStamp(packets), next > last, next < stamp
            {
                isWrong = true
            }
            lastStamp = stamp ?? lastStamp
            let shown: MediaTime
            let isPlaced = stamp != nil || last != nil
            if let stamp, !isWrong {
                shown = stamp
            } else {
                shown = try time(after: last, lasting: stated ?? nominalDuration, packets)
            }
            // A picture that is not later than the one before would be on screen for no time at all.
            if let last, shown <= last { continue }
            last = shown
            return TimedFrame(
                picture: PixelBuffer(frame), time: shown, isPlaced: isPlaced, statedDuration: stated, isKey: isKey)
        }
        return nil
    }

    private func nextFrame(from packets: PacketQueue) throws(MediaError) -> Frame? {
        hasUpcoming = false
        if let frame = upcoming.take() { return frame }
        return try frames.next(from: noting(packets))
    }

    private func stamp(of frame: borrowing Frame) -> MediaTime? {
        frame.pts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
    }

    /// When a picture is shown that does not say it, by the one before it and the one after it.
    private func time(
        after last: MediaTime?, lasting duration: MediaTime, _ packets: PacketQueue
    ) throws(MediaError) -> MediaTime {
        guard let last else { return .zero }
        guard let next = try nextStamp(packets), next > last, next <= last + duration else { return last + duration }
        return last + (next - last).multiplied(by: 1, dividedBy: 2)
    }

    /// The time stamp of the picture that comes next, which is decoded for that.
    private func nextStamp(_ packets: PacketQueue) throws(MediaError) -> MediaTime? {
        if !hasUpcoming, let next = try frames.next(from: noting(packets)) {
            (upcomingStamp, hasUpcoming) = (stamp(of: next), true)
            upcoming = consume next
        }
        return hasUpcoming ? upcomingStamp : nil
    }

    /// Until when the track's last picture is on screen.
    ///
    /// The track's end where the container's word on it holds; else by the packets' durations, or one frame. All packets
    /// count, because a picture of two fields may have come in two, and the last ones may be undecodable.
    func end(ofLast frame: TimedFrame) -> MediaTime {
        let stated = max(frame.time + duration(of: frame), packetsEnd)
        guard let edited = track.editedEnd, edited > frame.time else { return stated }
        return edited
    }

    /// How long a picture is shown by its packet's word, or one frame where it has none.
    func duration(of frame: TimedFrame) -> MediaTime { frame.statedDuration ?? nominalDuration }

    private func noting(_ packets: PacketQueue) -> PacketQueue {
        PacketQueue(
            next: { () throws(MediaError) in
                guard let sample = try packets.next() else { return nil }
                if let pts = sample.packet.pts, !sample.packet.isDiscarded {
                    let end =
                        MediaTime(ticks: pts, timeBase: self.track.timeBase) - self.origin
                        + MediaTime(ticks: sample.packet.duration, timeBase: self.track.timeBase)
                    if end.isNumeric { self.packetsEnd = max(self.packetsEnd, end) }
                }
                return sample
            }, reportDamage: packets.reportDamage, isDispensable: packets.isDispensable)
    }

    /// How many errors libavcodec has logged while it decoded: ``Decoder/complaintCount``.
    var complaintCount: Int { frames.complaintCount }

    /// Forgets all packets, as is due after a seek.
    func flush() {
        frames.flush()
        (last, lastStamp) = (nil, nil)
        upcoming = nil
        hasUpcoming = false
    }

    private var nominalDuration: MediaTime {
        guard let rate = track.averageFrameRate ?? track.nominalFrameRate, let duration = rate.inverse else {
            return MediaTime(value: 1, timescale: 25)
        }
        return MediaTime(duration)
    }
}

/// Decoded pictures in presentation order, each with the time until the next one, converted as asked.
final class VideoPipeline: SamplePipeline {
    private let source: TimedFrameSource
    private let track: AssetTrack
    private let origin: MediaTime
    private let format: FormatDescription
    private let range: OutputRange
    private let settings: VideoSettings
    private var converter: PixelConverter?
    private var turner: FrameRotator?
    /// The decoder's format that ``converter`` keeps, where none was asked for.
    private var keptFormat: PixelFormat?
    private var waiting: TimedFrame?
    private var isStarted = false
    private var isOver = false

    init(
        _ file: InputFile, track: AssetTrack, format: FormatDescription, origin: MediaTime, range: OutputRange,
        settings: VideoSettings, threads: Int
    ) throws(MediaError) {
        source = try TimedFrameSource(
            file, track: track, origin: origin, threads: threads, bySlices: settings.decodesBySlices)
        self.track = track
        self.origin = origin
        self.format = format
        self.range = range
        self.settings = settings
        guard let wanted = settings.pixelFormat else { return }
        if let turn = settings.turn, turn != .identity, turn.isQuarterTurn, let size = settings.dimensions {
            turner = try FrameRotator.open(
                turn, to: wanted, dimensions: size, coding: settings.coding)
        } else {
            converter = try PixelConverter(
                to: wanted, dimensions: settings.dimensions, coding: settings.coding,
                convertsFieldsApart: settings.convertsFieldsApart)
        }
    }

    /// The next picture that is on screen at some moment of the range.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while !isOver, !range.isEmpty {
            if !isStarted {
                isStarted = true
                waiting = try source.next(from: packets)
            }
            guard let frame = waiting else { break }
            if let end = range.end, frame.time >= end { break }
            waiting = try source.next(from: packets)
            let end = waiting?.time ?? source.end(ofLast: frame)
            // A frame that is over before the range begins is decoded only for the sake of later ones.
            if end <= range.start, waiting != nil || range.start > .zero { continue }
            if frame.picture.frame.isCorrupt {
                let start = (frame.time + origin).ticks(in: track.timeBase, rounding: .halfAwayFromZero)
                let length = (end - frame.time).ticks(in: track.timeBase, rounding: .halfAwayFromZero)
                packets.reportDamage(PacketDecoder.Damage(ticks: start, duration: length ?? 0))
            }
            return try buffer(frame, duration: end - frame.time)
        }
        isOver = true
        return nil
    }

    private func buffer(_ frame: TimedFrame, duration: MediaTime) throws(MediaError) -> SampleBuffer {
        let picture = try converted(frame.picture)
        var format = format
        format.video?.encodedSize = picture.dimensions
        format.video?.pixelFormat = picture.pixelFormat
        format.video?.color = picture.color
        return SampleBuffer(
            track: track, presentationTime: frame.time, duration: duration, isSync: frame.isKey,
            formatDescription: format, attachments: frame.picture.frame.isCorrupt ? [.isDamaged] : [],
            content: .picture(picture))
    }

    private func converted(_ stored: PixelBuffer) throws(MediaError) -> PixelBuffer {
        let picture = settings.deinterlaces ? try stored.deinterlaced() : stored
        if let turned = try turner?.convert(picture.frame) { return PixelBuffer(turned) }
        if settings.pixelFormat == nil, settings.dimensions == nil, settings.colorRange == nil { return picture }
        if settings.pixelFormat == nil, keptFormat != picture.pixelFormat {
            keptFormat = picture.pixelFormat
            converter = try PixelConverter(
                to: picture.pixelFormat, dimensions: settings.dimensions, coding: settings.coding)
        }
        guard let converted = try converter?.convert(picture.frame) else { return picture }
        return PixelBuffer(converted)
    }
}
