import LibAV
import MediaBase

/// Turns video frames into packets: scales, converts and encodes them, each at its exact time.
///
/// Its ``InputSession`` scales on one thread and does the rest on another.
final class VideoEncodingPipeline: EncodingPipeline, @unchecked Sendable {
    private let settings: VideoOutputSettings
    /// The session; from the first frame on, its start lies on the track's own grid.
    private(set) var session: SessionFacts
    /// The ticks per second in which frame times are whole; 0 to derive them from the first frame.
    private let timescale: Int32
    private let frameRate: Rational?

    private var encoder: Encoder?
    private var converter: PixelConverter?
    private var timeBase = Rational.invalid
    /// The encoder's time base, which is coarser than `timeBase` if the encoder does not accept that.
    private var encoderBase = Rational.invalid
    /// A frame that waits for the next one, which determines its end; the session's start may still cut it off.
    private var held: SampleBuffer?
    private var lastTicks: Int64?
    private var lastEncoderTicks: Int64?
    /// The number of the segment of the last frame; `nil` without segments and before the first frame.
    private var lastSegment: Int64?
    /// The times and durations of frames inside the encoder, by their ticks in the encoder's time base.
    private var pending: [Int64: (ticks: Int64, duration: Int64)] = [:]
    private var usualDuration: Int64 = 0
    /// The latest packet in decode order; its duration is known only at the end.
    private var lastPacket: CompressedSample?
    private var firstDecodeTicks: Int64?
    private(set) var presented: (start: MediaTime, end: MediaTime)?

    init(
        _ settings: VideoOutputSettings, session: SessionFacts, timescale: Int32, frameRate: Rational?
    ) {
        self.settings = settings
        self.session = session
        self.timescale = timescale
        self.frameRate = frameRate
    }

    /// The number of scaled frames that wait for the encoder: four, or fewer of more than two million pixels, or one
    /// if the settings have no size.
    ///
    /// The encoder takes frames unevenly; while some wait, the decoder and the scaler go on.
    var framesReady: Int {
        guard let size = settings.dimensions else { return 1 }
        return min(4, max(1, 8_000_000 / max(1, size.width * size.height)))
    }

    /// Returns the frame in the size and pixel format that are encoded.
    func prepared(_ buffer: SampleBuffer) throws(MediaError) -> SampleBuffer {
        guard let picture = buffer.pixelBuffer else {
            throw MediaError(.invalidArgument, "a video input takes pictures, not other samples")
        }
        if converter == nil {
            converter = try PixelConverter(
                to: settings.encodedPixelFormat, dimensions: settings.dimensions, coding: settings.lumaCoding,
                convertsFieldsApart: true)
        }
        guard let converted = try converter?.convert(picture.frame) else { return buffer }
        return SampleBuffer(buffer, content: .picture(PixelBuffer(converted)))
    }

    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        let time = buffer.presentationTime
        guard time.isNumeric else {
            throw MediaError(.invalidArgument, "a picture has no presentation time")
        }
        if time >= session.end { return try endHeld(to: sink) }
        let end = buffer.duration.isNumeric ? time + buffer.duration : .indefinite
        if let before = held.take() { try encode(before, until: time, to: sink) }
        if end.isNumeric {
            try encode(buffer, until: end, to: sink)
        } else {
            held = buffer
        }
    }

    func finish(to sink: any PacketSink) throws(MediaError) {
        try endHeld(to: sink)
        guard encoder != nil else { return }
        try encoder?.finish()
        try drain(to: sink)
        encoder = nil
        guard let last = lastPacket.take() else { return }
        try sink.add(
            last.packet.retimed(pts: last.packet.pts, dts: last.packet.dts, duration: durationOfLast(last.packet)))
    }

    /// Encodes the last frame of open duration: until the session's end, or as long as the frame before it.
    private func endHeld(to sink: any PacketSink) throws(MediaError) {
        guard let last = held.take(), last.presentationTime < session.end else { return }
        try encode(last, until: session.end.isNumeric ? session.end : .indefinite, to: sink)
    }

    /// Returns the duration that makes all durations add up to the track's, counted by decode times.
    private func durationOfLast(_ packet: borrowing Packet) -> Int64 {
        guard let presented, let first = firstDecodeTicks, let last = packet.dts,
            let whole = (presented.end - presented.start).ticks(in: timeBase, rounding: .halfAwayFromZero),
            case let (passed, overflow) = last.subtractingReportingOverflow(first), !overflow, passed >= 0,
            whole > passed
        else { return packet.duration }
        return whole - passed
    }

    /// Encodes a frame that is on screen until a source time, unless that time is not after the session's start.
    private func encode(_ buffer: SampleBuffer, until last: MediaTime, to sink: any PacketSink) throws(MediaError) {
        guard let picture = buffer.pixelBuffer, last > session.start else { return }
        if !timeBase.isValid { settleClock(buffer.presentationTime, buffer.duration, last) }
        let end = last - session.start
        guard end > .zero else { return }
        // The frame on screen at the session's start is shown from then on.
        let time = max(buffer.presentationTime - session.start, .zero)
        if encoder == nil { try open(for: picture, of: buffer, until: end, to: sink) }
        guard let ticks = time.ticks(in: timeBase, rounding: .halfAwayFromZero) else {
            throw MediaError(.outOfRange, "a picture's time \(time) cannot be written")
        }
        if let lastTicks, ticks <= lastTicks {
            throw MediaError(.invalidArgument, "pictures must come in rising order of their times (\(time))")
        }
        lastTicks = ticks
        let ends = end.isNumeric ? end : time + MediaTime(ticks: usualDuration, timeBase: timeBase)
        usualDuration = max(0, (ends.ticks(in: timeBase, rounding: .halfAwayFromZero) ?? ticks) - ticks)
        var encoderTicks = ticks
        if encoderBase != timeBase {
            let coarse = time.ticks(in: encoderBase, rounding: .down) ?? ticks
            encoderTicks = max(coarse, lastEncoderTicks.map { $0 + 1 } ?? coarse)
            lastEncoderTicks = encoderTicks
        }
        pending[encoderTicks] = (ticks, usualDuration)
        presented = (presented?.start ?? time, max(ends, time))
        let segment = session.segment(at: time)
        defer { lastSegment = segment }
        try encoder?.send(picture.frame, at: encoderTicks, isKeyframe: segment != lastSegment)
        try drain(to: sink)
    }

    private func drain(to sink: any PacketSink) throws(MediaError) {
        while case .packet(let packet)? = try encoder?.receive() {
            let known = packet.pts.flatMap { pending.removeValue(forKey: $0) }
            let presentation =
                known?.ticks
                ?? packet.pts.flatMap {
                    MediaTime(ticks: $0, timeBase: encoderBase).ticks(in: timeBase, rounding: .halfAwayFromZero)
                }
            // Encoders with a coarser clock do not reorder frames.
            let decode = encoderBase == timeBase ? packet.dts : presentation
            firstDecodeTicks = firstDecodeTicks ?? decode
            if let before = lastPacket { try sink.add(before.packet.shared()) }
            lastPacket = CompressedSample(
                try packet.retimed(pts: presentation, dts: decode, duration: known?.duration ?? packet.duration))
        }
    }

    /// Chooses the time base: the ticks of the frames' own times, counted from the session's start.
    private func settleClock(_ times: MediaTime...) {
        let scales = times.map(\.timescale)
        let own = timescale > 0 ? timescale : MediaTime.commonTimescale(of: scales) ?? scales.max() ?? 1
        let timescale = Int64(session.begin(onGridOf: own))
        timeBase = Rational(1, timescale)
        encoderBase = Rational(1, min(timescale, settings.codec.finestTimescale))
    }

    private func open(
        for picture: PixelBuffer, of buffer: SampleBuffer, until end: MediaTime, to sink: any PacketSink
    ) throws(MediaError) {
        let source = VideoFormat(
            encodedSize: picture.dimensions, sampleAspectRatio: picture.sampleAspectRatio,
            pixelFormat: picture.pixelFormat, color: picture.color)
        let lasting = Rational(end - buffer.presentationTime + session.start)?.inverse
        let rate = settings.expectedFrameRate ?? frameRate ?? lasting
        usualDuration = rate?.inverse.flatMap { MediaTime($0).ticks(in: timeBase, rounding: .halfAwayFromZero) } ?? 1
        var configuration = try settings.configuration(
            for: source, timeBase: encoderBase, frameRate: rate, in: session.fileType,
            usesGlobalHeader: session.usesGlobalHeader)
        // Otherwise a forced keyframe may be one that later frames refer across.
        if session.segments != nil, settings.codec == .h264 || settings.codec == .hevc {
            configuration.options.append(("forced-idr", "1"))
        }
        let made = try Encoder.open(configuration)
        var stream = WrittenStream(parameters: made.parameters, timeBase: timeBase)
        stream.frameRate = rate
        stream.sampleAspectRatio = configuration.video?.sampleAspectRatio
        stream.codecTag = configuration.codecTag
        encoder = consume made
        try sink.begin(stream)
    }
}
