import LibAV
import MediaBase

/// A decoded frame and its presentation time.
struct TimedFrame {
    let picture: PixelBuffer
    let time: MediaTime
    /// True if the time is known; the first frame after a seek may lack a timestamp and an earlier frame to derive it
    /// from.
    let isPlaced: Bool
    /// The duration stated by the packet, which is often wrong; `nil` if it has none.
    let statedDuration: MediaTime?
    /// Indicates whether the frame was decoded from a sync sample.
    let isKey: Bool
}

/// Decoded frames of one track in presentation order, with times on the presentation's time line.
///
/// Some frames lack a timestamp, repeat that of the frame before, or have one later than the next frame's. Such a frame
/// follows the frame before by a frame duration, or halfway to the next frame if that comes sooner. MP4, QuickTime and
/// Matroska files define what is shown, so a frame that repeats a time in them is not shown at all.
final class TimedFrameSource {
    private let frames: FrameSource
    private let track: AssetTrack
    private let origin: MediaTime
    private let keepsDoubled: Bool
    private var last: MediaTime?
    /// The last timestamp of a frame.
    private var lastStamp: MediaTime?
    /// A frame that was decoded ahead to learn its timestamp, and is returned next.
    private var upcoming: Frame?
    private var upcomingStamp: MediaTime?
    private var hasUpcoming = false
    /// True if a timestamp may be later than the next frame's, which is then the correct one, as in MPEG program
    /// streams.
    private let mayMisplace: Bool
    /// The end of the latest packet that was read so far, by the packet's own duration.
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

    /// Returns the next frame; `nil` at the end.
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
            // A frame that is not later than the one before would never be on screen.
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

    /// Returns the time of a frame without a valid timestamp, derived from the frames before and after it.
    private func time(
        after last: MediaTime?, lasting duration: MediaTime, _ packets: PacketQueue
    ) throws(MediaError) -> MediaTime {
        guard let last else { return .zero }
        guard let next = try nextStamp(packets), next > last, next <= last + duration else { return last + duration }
        return last + (next - last).multiplied(by: 1, dividedBy: 2)
    }

    /// Decodes the next frame if necessary, and returns its timestamp.
    private func nextStamp(_ packets: PacketQueue) throws(MediaError) -> MediaTime? {
        if !hasUpcoming, let next = try frames.next(from: noting(packets)) {
            (upcomingStamp, hasUpcoming) = (stamp(of: next), true)
            upcoming = consume next
        }
        return hasUpcoming ? upcomingStamp : nil
    }

    /// Returns the time at which the track's last frame ends.
    ///
    /// This is the track's end, if the container states a valid one. Otherwise the packets' durations, or one frame
    /// duration, determine it. All packets count, because an interlaced frame may come in two packets, and the last
    /// ones may be undecodable.
    func end(ofLast frame: TimedFrame) -> MediaTime {
        let stated = max(frame.time + duration(of: frame), packetsEnd)
        guard let edited = track.editedEnd, edited > frame.time else { return stated }
        return edited
    }

    /// Returns the duration stated by a frame's packet, or one frame duration if it has none.
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

    /// The number of errors that libavcodec has logged while decoding: ``Decoder/complaintCount``.
    var complaintCount: Int { frames.complaintCount }

    /// Discards all packets, as required after a seek.
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

/// Delivers decoded frames in presentation order, each lasting until the next one, and converts them as requested.
final class VideoPipeline: SamplePipeline {
    private let source: TimedFrameSource
    private let track: AssetTrack
    private let origin: MediaTime
    private let format: FormatDescription
    private let range: OutputRange
    private let conversion: PictureConversion
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
        conversion = try PictureConversion(settings)
    }

    /// Returns the next frame that is on screen within the range.
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
            // A frame that ends before the range starts is decoded only because later frames depend on it.
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
        let picture = try conversion.convert(frame.picture)
        return SampleBuffer(
            track: track, presentationTime: frame.time, duration: duration, isSync: frame.isKey,
            formatDescription: format.describing(picture),
            attachments: frame.picture.frame.isCorrupt ? [.isDamaged] : [], content: .picture(picture))
    }
}

extension FormatDescription {
    /// Returns the description of a frame that was converted from this format.
    func describing(_ picture: PixelBuffer) -> FormatDescription {
        var format = self
        format.video?.encodedSize = picture.dimensions
        format.video?.pixelFormat = picture.pixelFormat
        format.video?.color = picture.color
        return format
    }
}

/// Converts decoded frames as an output's settings require.
///
/// Only one thread may use it at a time.
final class PictureConversion {
    private let settings: VideoSettings
    private var converter: PixelConverter?
    private var turner: FrameRotator?
    /// The decoder's pixel format that ``converter`` keeps, if no format was requested.
    private var keptFormat: PixelFormat?

    init(_ settings: VideoSettings) throws(MediaError) {
        self.settings = settings
        guard let wanted = settings.pixelFormat else { return }
        if let turn = settings.turn, turn != .identity, turn.isQuarterTurn, let size = settings.dimensions {
            turner = try FrameRotator.open(
                turn, to: wanted, dimensions: size, coding: settings.coding)
        } else {
            converter = try PixelConverter(
                to: wanted, dimensions: settings.dimensions, coding: settings.coding,
                convertsFieldsApart: settings.convertsFieldsApart)
            converter?.scalesByArea = settings.scalesByArea
        }
    }

    /// Returns a frame in the requested form.
    func convert(_ stored: PixelBuffer) throws(MediaError) -> PixelBuffer {
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
