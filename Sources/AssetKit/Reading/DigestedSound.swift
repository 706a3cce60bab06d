import LibAV
import MediaBase

/// Extracts what a consumer needs from decoded audio, on the decoding thread; only one thread may use it at a time.
package protocol SoundDigest: AnyObject {
    /// Takes a buffer that follows the previous one and has the same format.
    func take(_ sound: AudioBuffer)
    /// Returns the result for all audio that was taken since the last call.
    func finish() -> any Sendable
}

/// Creates a ``SoundDigest`` for each segment.
///
/// If audio is decoded in segments, buffers carry the digest's result (``AudioBuffer/digest``) instead of samples. This
/// saves the memory of a few seconds of audio and the time to move it between threads. Such a buffer replaces many
/// frames. Buffers at the edges of segments, and all buffers if audio is decoded serially, still carry samples.
package typealias SoundDigester = @Sendable () -> any SoundDigest

/// The properties of audio frames, apart from their samples and their length.
struct SoundForm: Sendable, Hashable {
    let sampleRate: Int
    let channelLayout: ChannelLayout
    let format: SampleFormat
    let isPlanar: Bool
    let isCorrupt: Bool

    /// Creates the form of a frame; `nil` if it holds no audio of a known format.
    init?(_ frame: borrowing Frame) {
        guard let (format, isPlanar) = frame.sampleFormat else { return nil }
        sampleRate = frame.sampleRate
        channelLayout = frame.channelLayout
        self.format = format
        self.isPlanar = isPlanar
        isCorrupt = frame.isCorrupt
    }
}

/// Consecutive frames whose samples were replaced by the result of a digest.
struct DigestedSound: Sendable {
    /// A frame's timestamp in the stream's time base, and its length.
    struct Timing: Sendable {
        let ticks: Int64?
        let sampleCount: Int
    }

    let form: SoundForm
    let timings: [Timing]
    /// The number of samples per channel in all frames.
    let sampleCount: Int
    let value: any Sendable
    /// The index of the first frame among the events of the segment without digests.
    let place: Int
    private let segment: AudioChunk
    private let setup: DecoderSetup

    init(
        _ form: SoundForm, _ timings: [Timing], _ value: any Sendable, in segment: AudioChunk, _ setup: DecoderSetup,
        place: Int
    ) {
        self.form = form
        self.timings = timings
        sampleCount = timings.reduce(0) { $0 + $1.sampleCount }
        self.value = value
        self.segment = segment
        self.setup = setup
        self.place = place
    }

    /// Returns true if the timestamps show exactly that each frame starts at the end of the one before.
    func isEven(timeBase: Rational) -> Bool {
        guard let start = timings.first?.ticks, timeBase.num > 0, timeBase.den > 0,
            case let (unit, overflow) = timeBase.num.multipliedReportingOverflow(by: Int64(form.sampleRate)),
            !overflow, unit > 0
        else { return false }
        var samples: Int64 = 0
        for timing in timings {
            let (scaled, overflow) = samples.multipliedReportingOverflow(by: timeBase.den)
            let (steps, rest) = scaled.quotientAndRemainder(dividingBy: unit)
            guard !overflow, rest == 0, let ticks = timing.ticks,
                case let (end, wraps) = start.addingReportingOverflow(steps), !wraps, ticks == end
            else { return false }
            samples += Int64(timing.sampleCount)
        }
        return true
    }

    /// Decodes the whole segment again without digests and returns its events.
    func undigested() throws(MediaError) -> [SoundEvent] {
        let decoded = segment.decode(setup, digester: nil)
        switch decoded.outcome {
        case .decoded: return decoded.takeEvents()
        case .failed(let error): throw error
        case .isTooLarge: throw MediaError(.libraryFailure, "sound cannot be decoded a second time")
        }
    }
}

/// The output of a ``SoundSource``.
enum DecodedSound: ~Copyable {
    case frame(Frame)
    case digested(DigestedSound)
}

/// Collects the decoding results of packets; digests consecutive frames of one form into a ``DigestedSound``.
struct SoundGatherer {
    /// The results so far; call ``endRun()`` first if frames are digested.
    private(set) var events: [SoundEvent] = []
    /// The size of the audio so far in bytes, including digested audio.
    private(set) var byteCount = 0

    private let segment: AudioChunk
    private let setup: DecoderSetup
    private let digest: (any SoundDigest)?
    /// The number of results so far if nothing were digested.
    private var place = 0
    /// The form of the frames in the current digest; `timings` has an entry for each of them.
    private var form: SoundForm?
    private var timings: [DigestedSound.Timing] = []
    private var samples = 0

    /// The number of samples per channel that completes a digest; its memory stays small enough to be reused.
    private static let maximumSamples = 1 << 14

    /// - Parameter digester: Creates the digest that replaces frames; `nil` to keep frames.
    init(_ segment: AudioChunk, _ setup: DecoderSetup, digester: SoundDigester?) {
        self.segment = segment
        self.setup = setup
        digest = digester?()
    }

    /// Decodes a packet, or the end, and collects the results.
    ///
    /// - Parameter keepsFrames: True to keep the frames undigested.
    mutating func take(
        _ sample: CompressedSample?, _ decoder: inout PacketDecoder, keepsFrames: Bool = false
    ) throws(MediaError) {
        if let packet = sample?.damage { append(.damage(packet)) }
        if let damage = try decoder.send(sample) {
            append(.damage(damage))
        } else if let skipped = sample?.packet.skippedSamples, skipped > 0 {
            append(.skips(skipped))
        }
        while true {
            switch try decoder.receive() {
            case .frame(let frame):
                if let digest, !keepsFrames { take(frame, digest) } else { append(.frame(FrameBox(frame))) }
            case .damage(let damage): append(.damage(damage))
            case .needsInput: return
            case .ended: return
            }
        }
    }

    /// Completes the current digest and adds it to the results.
    mutating func endRun() {
        guard let digest, let form = form.take() else { return }
        let first = place - timings.count
        events.append(
            .digested(DigestedSound(form, timings, digest.finish(), in: segment, setup, place: first)))
        timings = []
        samples = 0
    }

    private mutating func append(_ event: SoundEvent) {
        endRun()
        byteCount += event.byteCount
        events.append(event)
        place += 1
    }

    private mutating func take(_ frame: consuming Frame, _ digest: any SoundDigest) {
        let timing = DigestedSound.Timing(ticks: frame.pts, sampleCount: frame.sampleCount)
        guard let form = SoundForm(frame), timing.sampleCount > 0 else { return append(.frame(FrameBox(frame))) }
        guard let buffer = AudioBuffer(frame, range: 0..<timing.sampleCount) else { return }
        if self.form != form {
            endRun()
            self.form = form
        }
        byteCount += timing.sampleCount * form.channelLayout.channels * form.format.bytesPerSample
        timings.append(timing)
        place += 1
        samples += timing.sampleCount
        digest.take(buffer)
        if samples >= Self.maximumSamples { endRun() }
    }
}
