import LibAV
public import MediaBase

/// Turns video frames into packets: scales, converts and encodes them, each at its exact time.
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
        return SampleBuffer(buffer, picture: PixelBuffer(converted))
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
        try encoder?.send(picture.frame, at: encoderTicks)
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
        let configuration = try settings.configuration(
            for: source, timeBase: encoderBase, frameRate: rate, in: session.fileType,
            usesGlobalHeader: session.usesGlobalHeader)
        let made = try Encoder.open(configuration)
        var stream = WrittenStream(parameters: made.parameters, timeBase: timeBase)
        stream.frameRate = rate
        stream.sampleAspectRatio = configuration.video?.sampleAspectRatio
        stream.codecTag = configuration.codecTag
        encoder = consume made
        try sink.begin(stream)
    }
}

/// The maximum size of encoded video frames when they are scaled down.
public enum PictureSizeLimit: Sendable, Hashable {
    /// No limit except the size of the source.
    case none
    /// A maximum number of pixels along the shorter side: 540 for 960x540 and for 540x960.
    case shorterSide(Int)
    /// A maximum number of rows.
    case height(Int)
    /// A box that the frame must fit into, in either orientation.
    case box(Dimensions)
}

extension PictureSizeLimit {
    /// Returns the size for video frames of a format: even sides, never larger than the source.
    ///
    /// The pixel aspect ratio compensates for rounding, unless pixels are to be square. Among the sizes within a
    /// fiftieth of the exact one, the result is the nearest whose pixel aspect ratio is a fraction that codecs and
    /// containers can store.
    /// - Parameters:
    ///   - format: The format of the source.
    ///   - hasSquarePixels: True to produce square pixels. One side is then shortened rather than the other lengthened.
    public func size(for format: VideoFormat, hasSquarePixels: Bool = false) -> Dimensions {
        var width = Rational(Int64(format.encodedSize.width))
        var height = Rational(Int64(format.encodedSize.height))
        if hasSquarePixels, let ratio = format.sampleAspectRatio, ratio.isPositive {
            if ratio > .one { height = height.divided(by: ratio) ?? height }
            if ratio < .one { width = width.multiplied(by: ratio) ?? width }
        }
        let scale = min(.one, scale(width: width, height: height))
        let nearest = Dimensions(
            width: Self.even(width, scale, most: format.encodedSize.width),
            height: Self.even(height, scale, most: format.encodedSize.height))
        if hasSquarePixels { return nearest }
        // The first limit is that of x264, the second that of libavformat when it reads QuickTime files.
        return Self.keepable(nearest, for: format, most: 4096) ?? Self.keepable(nearest, for: format, most: 32767)
            ?? nearest
    }

    /// Returns the nearest size whose pixel aspect ratio has no term above `most`; `nil` if none exists.
    private static func keepable(_ nearest: Dimensions, for format: VideoFormat, most: Int64) -> Dimensions? {
        let source = format.encodedSize
        func isKept(_ size: Dimensions) -> Bool {
            guard
                let across = Rational(Int64(size.height), Int64(size.width)).multiplied(
                    by: Rational(Int64(source.width), Int64(source.height))),
                let ratio = across.multiplied(by: format.sampleAspectRatio ?? .one)
            else { return false }
            return max(ratio.num, ratio.den) <= most
        }
        func steps(_ side: Int, most: Int) -> [Int] {
            let reach = side / 50 / 2
            return (-reach...reach).map { side + 2 * $0 }.filter { $0 >= 2 && $0 <= max(2, most) }
        }
        // Rows take precedence over columns, because the caller asks for a number of rows.
        let candidates = steps(nearest.height, most: nearest.height).reversed().lazy.compactMap {
            height -> Dimensions? in
            steps(nearest.width, most: source.width).sorted { abs($0 - nearest.width) < abs($1 - nearest.width) }
                .lazy.map { Dimensions(width: $0, height: height) }.first(where: isKept)
        }
        return candidates.first
    }

    private func scale(width: Rational, height: Rational) -> Rational {
        func ratio(_ limit: Int, _ side: Rational) -> Rational {
            // Rounds an odd limit down, because the even side above it would exceed it.
            Rational(Int64(max(2, limit) / 2 * 2)).divided(by: side) ?? .one
        }
        switch self {
        case .none: return .one
        case .shorterSide(let limit): return ratio(limit, min(width, height))
        case .height(let limit): return ratio(limit, height)
        case .box(let box):
            let isUpright = width < height
            let size = isUpright == (box.width < box.height) ? box : box.transposed
            return min(ratio(size.width, width), ratio(size.height, height))
        }
    }

    /// Returns the even number nearest to a scaled side, at most the source's side but never less than 2.
    private static func even(_ side: Rational, _ scale: Rational, most: Int) -> Int {
        let halves = side.multiplied(by: scale)?.divided(by: Rational(2))?.rounded() ?? 1
        return max(2, min(Int(clamping: halves) * 2, most / 2 * 2))
    }
}
