import LibAV
import MediaBase

/// Sound to packets: converted, cut at the session's start and end to the sample, holes filled with silence, in frames of
/// the encoder's size.
final class AudioEncodingPipeline: EncodingPipeline, @unchecked Sendable {
    private let settings: AudioOutputSettings
    /// As it was begun; from the first sample on with its start at a sample.
    private(set) var session: SessionFacts

    private var encoder: Encoder?
    private var converter: SampleConverter?
    private var queue: SampleQueue?
    private var sourceRate: Int32 = 0
    /// Counts samples on the source's time line.
    private var place = SamplePlace(timeBase: Rational(1, 1_000_000), snapsToZero: false, codec: "pcm")
    /// Where the next sample belongs that is taken in, counted at the source's rate from the session's start.
    private var nextSource: Int64?
    /// Where the next sample belongs that goes to the encoder, counted at its own rate.
    private var nextEncoded: Int64 = 0
    private var firstEncoded: Int64 = 0
    private var rate: Int32 = 0

    init(_ settings: AudioOutputSettings, session: SessionFacts) {
        self.settings = settings
        self.session = session
    }

    /// From the first sample to the last one's end.
    var presented: (start: MediaTime, end: MediaTime)? {
        guard rate > 0, nextEncoded > firstEncoded else { return nil }
        return (MediaTime(value: firstEncoded, timescale: rate), MediaTime(value: nextEncoded, timescale: rate))
    }

    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        guard let sound = buffer.audioBuffer, let format = buffer.formatDescription.audio else {
            throw MediaError(.invalidArgument, "an audio input takes linear PCM, not other samples")
        }
        let time = buffer.presentationTime
        guard time.isNumeric else { throw MediaError(.invalidArgument, "a run of sound has no presentation time") }
        if sourceRate == 0 {
            sourceRate = Int32(clamping: sound.sampleRate)
            if sourceRate > 0 { session.begin(atSampleOf: sourceRate) }
        }
        guard sound.sampleRate == Int(sourceRate), sourceRate > 0 else {
            throw MediaError(.invalidArgument, "the sample rate changes from \(sourceRate) to \(sound.sampleRate) Hz")
        }
        let (count, furthest) = (Int64(sound.sampleCount), Int64(1) << 60)
        // Beyond that is no moment of any session, and all sums below stay inside 64 bits.
        func index(_ time: MediaTime) -> Int64? {
            time.sampleIndex(rate: sourceRate, rounding: .up).flatMap { $0.magnitude < furthest ? $0 : nil }
        }
        let placed = place.place(count: sound.sampleCount, rate: sound.sampleRate, time: time)
        guard let zero = index(session.start), placed.magnitude < furthest else { return }
        let begins = placed - zero
        let end = index(session.end).map { $0 - zero } ?? furthest
        let from = min(max(0, -begins), count)
        let to = max(from, min(count, end - begins))
        guard to > from else { return }
        if encoder == nil { try open(for: sound, format: format, to: sink) }
        try begin(at: begins + from, to: sink)
        try sound.withFrame { (frame, range) throws(MediaError) in
            let wanted = range.lowerBound + Int(from)..<range.lowerBound + Int(to)
            let cut = try frame.cropped(to: wanted)
            try convert(cut, to: sink)
        }
        nextSource = begins + to
    }

    /// Brings the encoder to the place of the next sample.
    private func begin(at start: Int64, to sink: any PacketSink) throws(MediaError) {
        guard let next = nextSource else {
            let moment = MediaTime(value: start, timescale: sourceRate)
            let first = moment.sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
            if session.fileType.keepsLateStarts {
                (firstEncoded, nextEncoded) = (first, first)
            } else {
                try silence(first, to: sink)
            }
            return
        }
        guard start > next else { return }
        // What the converter holds belongs before the hole.
        if let rest = try converter?.drain() { try encode(rest, to: sink) }
        let moment = MediaTime(value: start, timescale: sourceRate)
        let due = moment.sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? nextEncoded
        try silence(due - nextEncoded - Int64(queue?.count ?? 0), to: sink)
    }

    private func convert(_ frame: borrowing Frame, to sink: any PacketSink) throws(MediaError) {
        guard let converted = try converter?.convert(frame) else { return }
        try encode(converted, to: sink)
    }

    private func silence(_ count: Int64, to sink: any PacketSink) throws(MediaError) {
        var left = count
        while left > 0 {
            let some = Int(min(left, 1 << 15))
            try queue?.appendSilence(some)
            try encodeWhole(to: sink)
            left -= Int64(some)
        }
    }

    private func encode(_ frame: borrowing Frame, to sink: any PacketSink) throws(MediaError) {
        guard frame.sampleCount > 0 else { return }
        try queue?.append(frame, 0..<frame.sampleCount)
        try encodeWhole(to: sink)
    }

    /// Encodes as many whole frames as there are.
    private func encodeWhole(to sink: any PacketSink) throws(MediaError) {
        let size = frameSize
        while (queue?.count ?? 0) >= size { try encodeFrame(size, to: sink) }
    }

    private func encodeFrame(_ size: Int, to sink: any PacketSink) throws(MediaError) {
        guard let frame = try queue?.take(size) else { return }
        try encoder?.send(frame, at: nextEncoded)
        nextEncoded += Int64(frame.sampleCount)
        try drain(to: sink)
    }

    /// The encoder's own, or for one that takes any number so many that packets neither are tiny nor wait long.
    private var frameSize: Int {
        guard let size = encoder?.frameSize, size > 0 else { return 1024 }
        return size
    }

    func finish(to sink: any PacketSink) throws(MediaError) {
        guard encoder != nil else { return }
        if let rest = try converter?.drain() { try encode(rest, to: sink) }
        try encodeFrame(frameSize, to: sink)
        try encoder?.finish()
        try drain(to: sink)
        encoder = nil
    }

    private func drain(to sink: any PacketSink) throws(MediaError) {
        while case .packet(let packet)? = try encoder?.receive() { try sink.add(packet) }
    }

    private func open(for sound: AudioBuffer, format: AudioFormat, to sink: any PacketSink) throws(MediaError) {
        var source = format
        source.sampleRate = sound.sampleRate
        source.channelLayout = sound.channelLayout
        source.sampleFormat = sound.sampleFormat
        let configuration = try settings.configuration(
            for: source, in: session.fileType, usesGlobalHeader: session.usesGlobalHeader)
        guard let encoded = configuration.audio, let form = encoded.sampleFormat else { return }
        converter = try SampleConverter(
            to: form, isPlanar: encoded.isPlanar, sampleRate: encoded.sampleRate,
            channelLayout: encoded.channelLayout)
        queue = try SampleQueue(
            format: form, isPlanar: encoded.isPlanar, sampleRate: encoded.sampleRate,
            channelLayout: encoded.channelLayout)
        rate = Int32(clamping: encoded.sampleRate)
        let made = try Encoder.open(configuration)
        let stream = WrittenStream(parameters: made.parameters, timeBase: configuration.timeBase)
        encoder = consume made
        try sink.begin(stream)
    }
}
