import LibAV
public import MediaBase

/// Pictures to packets: scaled and converted, encoded, each at its exact time.
final class VideoEncodingPipeline: EncodingPipeline, @unchecked Sendable {
    private let settings: VideoOutputSettings
    /// As it was begun; from the first picture on with its start on the track's own grid.
    private(set) var session: SessionFacts
    /// Ticks a second in which the pictures' times are whole; 0 for what the first one's asks for.
    private let timescale: Int32
    private let frameRate: Rational?

    private var encoder: Encoder?
    private var converter: PixelConverter?
    private var timeBase = Rational.invalid
    /// The encoder's clock, which is coarser where it does not take the other one.
    private var encoderBase = Rational.invalid
    /// A picture whose end is not known before the next one comes, or that the session's start may cut off.
    private var held: SampleBuffer?
    private var lastTicks: Int64?
    private var lastEncoderTicks: Int64?
    /// When pictures that the encoder still has are shown, and how long, by their ticks of its clock.
    private var pending: [Int64: (ticks: Int64, duration: Int64)] = [:]
    private var usualDuration: Int64 = 0
    /// The last packet so far in decode order, whose duration is known at the end.
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

    /// Encodes a picture of open duration behind which nothing comes: until the session's end, or as long as others.
    private func endHeld(to sink: any PacketSink) throws(MediaError) {
        guard let last = held.take(), last.presentationTime < session.end else { return }
        try encode(last, until: session.end.isNumeric ? session.end : .indefinite, to: sink)
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

    /// Encodes a picture that is on screen until a time of the source; not at all where that is not after the session's
    /// start.
    private func encode(_ buffer: SampleBuffer, until last: MediaTime, to sink: any PacketSink) throws(MediaError) {
        guard let picture = buffer.pixelBuffer, last > session.start else { return }
        if !timeBase.isValid { settleClock(buffer.presentationTime, buffer.duration, last) }
        let end = last - session.start
        guard end > .zero else { return }
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
            // Encoders with a coarser clock do not change the pictures' order.
            let decode = encoderBase == timeBase ? packet.dts : presentation
            firstDecodeTicks = firstDecodeTicks ?? decode
            if let before = lastPacket { try sink.add(before.packet.shared()) }
            lastPacket = CompressedSample(
                try packet.retimed(pts: presentation, dts: decode, duration: known?.duration ?? packet.duration))
        }
    }

    /// Settles in which ticks times are written: in those of the pictures' own times, counted from the session's start.
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

/// How large encoded pictures may become when they are made smaller.
public enum PictureSizeLimit: Sendable, Hashable {
    /// As large as the source's.
    case none
    /// So many pixels along the shorter side at most: 540 for 960x540 and for 540x960.
    case shorterSide(Int)
    /// So many rows at most.
    case height(Int)
    /// Inside a box, whichever way up the picture is.
    case box(Dimensions)
}

extension PictureSizeLimit {
    /// The size for pictures of a format: even sides, and never more than there is.
    ///
    /// The pixel aspect makes up for rounding, where it is not to be square. Of the sizes within a fiftieth of the exact
    /// one, the nearest is taken whose pixel aspect is a fraction that codecs and containers can keep.
    /// - Parameters:
    ///   - format: What there is.
    ///   - hasSquarePixels: Whether pixels are to be square. Then one side becomes shorter instead of the other one
    ///     longer.
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
        // What x264 writes, and what libavformat reads of QuickTime files.
        return Self.keepable(nearest, for: format, most: 4096) ?? Self.keepable(nearest, for: format, most: 32767)
            ?? nearest
    }

    /// The size nearest to another whose pixel aspect has no longer terms than `most`; `nil` where there is none.
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
        // Rows before columns, as the number of rows is what is asked for.
        let candidates = steps(nearest.height, most: nearest.height).reversed().lazy.compactMap {
            height -> Dimensions? in
            steps(nearest.width, most: source.width).sorted { abs($0 - nearest.width) < abs($1 - nearest.width) }
                .lazy.map { Dimensions(width: $0, height: height) }.first(where: isKept)
        }
        return candidates.first
    }

    private func scale(width: Rational, height: Rational) -> Rational {
        func ratio(_ limit: Int, _ side: Rational) -> Rational {
            // An even side above an odd limit would be one too many.
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

    /// The even number nearest to a scaled side, not above the side there is unless that is below 2.
    private static func even(_ side: Rational, _ scale: Rational, most: Int) -> Int {
        let halves = side.multiplied(by: scale)?.divided(by: Rational(2))?.rounded() ?? 1
        return max(2, min(Int(clamping: halves) * 2, most / 2 * 2))
    }
}
