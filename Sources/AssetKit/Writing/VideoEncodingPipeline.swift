import LibAV
import MediaBase

/// Pictures to packets: scaled and converted, encoded, each at its exact time.
final class VideoEncodingPipeline: EncodingPipeline, @unchecked Sendable {
    private let settings: VideoOutputSettings
    private let session: SessionFacts
    /// Ticks a second that are wanted; 0 for what the first picture's time asks for.
    private let timescale: Int32
    private let frameRate: Rational?

    private var encoder: Encoder?
    private var converter: PixelConverter?
    private var timeBase = Rational.invalid
    /// A picture whose end is not known before the next one comes, or that the session's start may cut off.
    private var held: SampleBuffer?
    private var lastTicks: Int64?
    /// How long pictures last that the encoder still has, by their ticks.
    private var durations: [Int64: Int64] = [:]
    private var usualDuration: Int64 = 0
    /// The last packet so far in decode order, whose duration is known at the end.
    private var lastPacket: StoredSample?
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

    /// A picture in the size and format that are encoded.
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
        return SampleBuffer(buffer, picture: PixelBuffer(converted))
    }

    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        let time = buffer.presentationTime - session.start
        guard time.isNumeric else {
            throw MediaError(.invalidArgument, "a picture has no presentation time")
        }
        if buffer.presentationTime >= session.end { return try endHeld(to: sink) }
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

    /// Encodes a picture of open duration behind which nothing comes: until the session's end, or as long as others.
    private func endHeld(to sink: any PacketSink) throws(MediaError) {
        guard let last = held.take(), last.presentationTime < session.end else { return }
        try encode(last, until: session.end.isNumeric ? session.end - session.start : .indefinite, to: sink)
    }

    /// So long that all durations together are the track's, as those of samples are counted by decode times.
    private func durationOfLast(_ packet: borrowing Packet) -> Int64 {
        guard let presented, let first = firstDecodeTicks, let last = packet.dts,
            let whole = (presented.end - presented.start).ticks(in: timeBase, rounding: .halfAwayFromZero),
            case let (passed, overflow) = last.subtractingReportingOverflow(first), !overflow, passed >= 0,
            whole > passed
        else { return packet.duration }
        return whole - passed
    }

    /// Encodes a picture that is on screen until a time of the session; not at all where that is over at its start.
    private func encode(_ buffer: SampleBuffer, until end: MediaTime, to sink: any PacketSink) throws(MediaError) {
        guard let picture = buffer.pixelBuffer, end > .zero else { return }
        // The picture on screen at the session's start is shown from there on.
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
        durations[ticks] = usualDuration
        presented = (presented?.start ?? time, max(ends, time))
        try encoder?.send(picture.frame, at: ticks)
        try drain(to: sink)
    }

    private func drain(to sink: any PacketSink) throws(MediaError) {
        while case .packet(let packet)? = try encoder?.receive() {
            let duration = packet.pts.flatMap { durations.removeValue(forKey: $0) } ?? packet.duration
            firstDecodeTicks = firstDecodeTicks ?? packet.dts
            if let before = lastPacket { try sink.add(before.packet.shared()) }
            lastPacket = StoredSample(try packet.retimed(pts: packet.pts, dts: packet.dts, duration: duration))
        }
    }

    private func open(
        for picture: PixelBuffer, of buffer: SampleBuffer, until end: MediaTime, to sink: any PacketSink
    ) throws(MediaError) {
        let scale =
            timescale > 0 ? timescale : Self.timescale(holding: [buffer.presentationTime, session.start, end])
        timeBase = Rational(1, Int64(scale))
        let source = VideoFormat(
            encodedSize: picture.dimensions, sampleAspectRatio: picture.sampleAspectRatio,
            pixelFormat: picture.pixelFormat, color: picture.color)
        let lasting = Rational(end - buffer.presentationTime + session.start)?.inverse
        let rate = settings.expectedFrameRate ?? frameRate ?? lasting
        usualDuration = rate?.inverse.flatMap { MediaTime($0).ticks(in: timeBase, rounding: .halfAwayFromZero) } ?? 1
        let configuration = try settings.configuration(
            for: source, timeBase: timeBase, frameRate: rate, in: session.fileType,
            usesGlobalHeader: session.usesGlobalHeader)
        let made = try Encoder.open(configuration)
        var stream = WrittenStream(parameters: made.parameters, timeBase: timeBase)
        stream.frameRate = rate
        stream.sampleAspectRatio = configuration.video?.sampleAspectRatio
        stream.codecTag = configuration.codecTag
        encoder = consume made
        try sink.begin(stream)
    }

    /// Ticks a second in which times of a track are whole when they are counted from `start`; the track's own where that
    /// would take too many.
    static func timescale(_ own: Int32, from start: MediaTime) -> Int32 {
        guard start.isNumeric, start > .zero else { return own }
        let both = timescale(holding: [MediaTime(value: 1, timescale: max(1, own)), start])
        return both <= 10_000_000 ? both : own
    }

    /// The lowest number of ticks a second in which all of the times are whole.
    static func timescale(holding times: [MediaTime]) -> Int32 {
        let sum = times.filter(\.isNumeric).reduce(MediaTime.zero) { sum, time in
            // Adding gives the common timescale; the value is of no interest.
            MediaTime(value: 0, timescale: sum.timescale) + MediaTime(value: 0, timescale: time.timescale)
        }
        return max(1, sum.timescale)
    }
}
