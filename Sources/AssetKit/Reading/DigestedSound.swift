import LibAV
import MediaBase

/// Takes from decoded sound what a consumer needs of it, on the thread that decodes; one thread uses it at a time.
package protocol SoundDigest: AnyObject {
    /// Takes a buffer that follows the one before, of the same form.
    func take(_ sound: AudioBuffer)
    /// What stands for all that was taken since the last time.
    func finish() -> any Sendable
}

/// Makes a ``SoundDigest`` for each segment.
///
/// Where sound is decoded in segments, buffers then carry what the digest gave (``AudioBuffer/digest``) in place of
/// samples, which saves the memory of a few seconds of sound and the time to carry it from one thread to another. Such a
/// buffer stands for many frames; buffers at the edges, and all where sound is decoded in one go, still carry samples.
package typealias SoundDigester = @Sendable () -> any SoundDigest

/// What frames of sound are, apart from their samples and their length.
struct SoundForm: Sendable, Hashable {
    let sampleRate: Int
    let channelLayout: ChannelLayout
    let format: SampleFormat
    let isPlanar: Bool
    let isCorrupt: Bool

    /// The form of a frame; `nil` where it holds no sound of a known format.
    init?(_ frame: borrowing Frame) {
        guard let (format, isPlanar) = frame.sampleFormat else { return nil }
        sampleRate = frame.sampleRate
        channelLayout = frame.channelLayout
        self.format = format
        self.isPlanar = isPlanar
        isCorrupt = frame.isCorrupt
    }
}

/// What stands for frames in a row whose samples a digest has seen.
struct DigestedSound: Sendable {
    /// A frame's time stamp in the stream's time base, and its length.
    struct Timing: Sendable {
        let ticks: Int64?
        let sampleCount: Int
    }

    let form: SoundForm
    let timings: [Timing]
    /// Samples of all frames in each channel.
    let sampleCount: Int
    let value: any Sendable
    /// The place of the first frame among what the segment gives where nothing is digested.
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

    /// Whether the time stamps tell, without rounding, that each frame begins where the one before ends.
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

    /// What the whole segment gives, decoded again, with nothing digested.
    func undigested() throws(MediaError) -> [SoundEvent] {
        let decoded = segment.decode(setup, digester: nil)
        switch decoded.outcome {
        case .decoded: return decoded.takeEvents()
        case .failed(let error): throw error
        case .isTooLarge: throw MediaError(.libraryFailure, "sound cannot be decoded a second time")
        }
    }
}

/// What a ``SoundSource`` gives.
enum DecodedSound: ~Copyable {
    case frame(Frame)
    case digested(DigestedSound)
}

/// Gathers what comes of packets; frames in a row of one form become one ``DigestedSound`` where they are digested.
struct SoundGatherer {
    /// What came so far; ``endRun()`` first, where frames are digested.
    private(set) var events: [SoundEvent] = []
    /// Bytes of sound so far, also of what was digested.
    private(set) var byteCount = 0

    private let segment: AudioChunk
    private let setup: DecoderSetup
    private let digest: (any SoundDigest)?
    /// How many events there would be if nothing were digested.
    private var place = 0
    /// The frames that are digested together: their form, and what is known of each.
    private var form: SoundForm?
    private var timings: [DigestedSound.Timing] = []
    private var samples = 0

    /// Samples in each channel that are enough for one digest: its memory then stays small enough to be used again.
    private static let maximumSamples = 1 << 14

    /// - Parameter digester: What takes the place of frames; `nil` for none.
    init(_ segment: AudioChunk, _ setup: DecoderSetup, digester: SoundDigester?) {
        self.segment = segment
        self.setup = setup
        digest = digester?()
    }

    /// Takes what comes of a packet, or of the end.
    ///
    /// - Parameter keepsFrames: Whether its frames stay as they are.
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

    /// Puts the frames that were digested last among the events.
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
