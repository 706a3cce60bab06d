import LibAV
import MediaBase

/// Gathers what comes of packets; frames in a row of one form become one ``DigestedSound`` where they are digested.
struct SoundGatherer {
    /// What came so far; ``endRun()`` first, where frames are digested.
    private(set) var events: [SoundEvent] = []
    /// Bytes of sound so far, also of what was digested.
    private(set) var byteCount = 0

    private let segment: SoundSegment
    private let setup: DecoderSetup
    private let digest: (any SoundDigest)?
    /// How many events there would be if nothing were digested.
    private var place = 0
    /// The frames that are digested together: their form, and what is known of each.
    private var form: SoundForm?
    private var timings: [DigestedSound.Timing] = []
    private var samples = 0

    /// Samples in each channel that are enough for one digest: its memory then stays small enough to be used again.
    private static let mostSamples = 1 << 14

    /// - Parameter digester: What takes the place of frames; `nil` for none.
    init(_ segment: SoundSegment, _ setup: DecoderSetup, digester: SoundDigester?) {
        self.segment = segment
        self.setup = setup
        digest = digester?()
    }

    /// Takes what comes of a packet, or of the end.
    ///
    /// - Parameter keepsFrames: Whether its frames stay as they are.
    mutating func take(
        _ sample: StoredSample?, _ decoder: inout PacketDecoder, keepsFrames: Bool = false
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
        if samples >= Self.mostSamples { endRun() }
    }
}
