import LibAV
import MediaBase

/// Decoded pictures in presentation order, each with the time until the next one, converted as asked.
final class VideoPipeline: SamplePipeline {
    private let source: TimedFrameSource
    private let track: AssetTrack
    private let origin: MediaTime
    private let format: FormatDescription
    private let range: OutputRange
    private let settings: VideoSettings
    private var converter: PixelConverter?
    private var turner: PictureTurner?
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
            turner = try PictureTurner.open(
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
