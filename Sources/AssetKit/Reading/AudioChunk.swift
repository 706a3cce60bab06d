import LibAV
import MediaBase
import Threading

/// Some packets of a track in a row, which are decoded apart from the others.
final class AudioChunk: Sendable {
    /// Its place among the segments, from 0.
    let number: Int
    /// Packets before the first one, which are decoded so that the decoder knows what it would know, and not delivered.
    let preRoll: [CompressedSample]
    /// The packets whose sound is delivered.
    let packets: [CompressedSample]
    /// The packet after the last one, by which the seam is checked; `nil` where none is known.
    let following: CompressedSample?
    /// Whether the track ends here, so that all that is inside the decoder comes out.
    let isLast: Bool
    /// Bytes of decoded sound beyond which decoding is given up.
    let byteLimit: Int

    init(
        number: Int, preRoll: [CompressedSample], packets: [CompressedSample], following: CompressedSample?,
        isLast: Bool,
        byteLimit: Int
    ) {
        self.number = number
        self.preRoll = preRoll
        self.packets = packets
        self.following = following
        self.isLast = isLast
        self.byteLimit = byteLimit
    }

    /// Packets before the track's end whose frames stay as they are: an edit list most often cuts some of their samples.
    private static let lastPackets = 3
    /// Packets at the track's start likewise, whose samples may be the encoder's priming, before time 0.
    ///
    /// Where some are to be cut of what was digested, the whole segment is decoded once more.
    private static let firstPackets = 4

    /// A decoder that was used and is emptied, or a new one.
    private static func ready(
        _ used: consuming PacketDecoder?, _ setup: DecoderSetup
    ) throws(MediaError) -> PacketDecoder {
        if var decoder = used, decoder.restart() { return decoder }
        return PacketDecoder(try Decoder.open(setup, threads: 1))
    }

    /// Decodes the segment with a decoder of its own; on any thread.
    ///
    /// - Parameters:
    ///   - digester: What takes the place of frames, save those of the first packet and of the one after the
    ///     last, which the seams are checked by, and those of the track's first and last packets.
    ///   - used: A decoder that has decoded another segment; `nil` for a new one.
    func decode(
        _ setup: DecoderSetup, digester: SoundDigester?, reusing used: consuming PacketDecoder? = nil
    ) -> DecodedChunk {
        do throws(MediaError) {
            var decoder = try Self.ready(used, setup)
            for sample in preRoll { try decoder.discard(sample) }
            var gatherer = SoundGatherer(self, setup, digester: digester)
            var head = 0
            for (place, sample) in packets.enumerated() {
                let isNearEnd = isLast && packets.count - place <= Self.lastPackets
                let isNearStart = place < (number == 0 ? Self.firstPackets : 1)
                try gatherer.take(sample, &decoder, keepsFrames: isNearStart || isNearEnd)
                if place == 0 { head = gatherer.events.count }
                guard gatherer.byteCount <= byteLimit else { return DecodedChunk(.isTooLarge) }
            }
            if isLast { try gatherer.take(nil, &decoder, keepsFrames: true) }
            gatherer.endRun()
            var overlap = SoundGatherer(self, setup, digester: nil)
            if let following { try overlap.take(following, &decoder) }
            // What a packet has a decoder leave out may reach beyond it, and damage may have any consequence.
            let leavesNothing =
                gatherer.events.allSatisfy(\.isSound) && overlap.events.allSatisfy(\.isSound)
                && preRoll.allSatisfy { $0.packet.skippedSamples == 0 }
            return DecodedChunk(
                .decoded, gatherer.events, head: head, overlap: overlap.events, decoder,
                leavesNothingBehind: leavesNothing)
        } catch {
            return DecodedChunk(.failed(error))
        }
    }
}

/// What came of a segment.
final class DecodedChunk: Sendable {
    /// Whether it could be decoded.
    enum Outcome: Sendable {
        case decoded
        /// It is longer than its packets said.
        case isTooLarge
        /// What is no matter of the packets.
        case failed(MediaError)
    }

    let outcome: Outcome
    /// What is to be delivered, in order.
    private let events: Mutex<[SoundEvent]>
    /// What the packet after the last one gave.
    let overlap: [SoundEvent]
    /// What the first packet gave.
    private let head: [SoundEvent]
    private let decoder: Mutex<PacketDecoder?>
    /// Whether the decoder has seen nothing out of the ordinary, and may serve again.
    let leavesNothingBehind: Bool

    init(_ outcome: Outcome) {
        self.outcome = outcome
        events = Mutex([])
        overlap = []
        head = []
        decoder = Mutex(nil)
        leavesNothingBehind = false
    }

    init(
        _ outcome: Outcome, _ events: [SoundEvent], head: Int, overlap: [SoundEvent],
        _ decoder: consuming PacketDecoder, leavesNothingBehind: Bool
    ) {
        self.outcome = outcome
        self.events = Mutex(events)
        self.head = Array(events.prefix(head))
        self.overlap = overlap
        self.decoder = Mutex(decoder)
        self.leavesNothingBehind = leavesNothingBehind
    }

    /// The decoder, which has decoded the packet after the last one too; the first time only.
    func takeDecoder() -> PacketDecoder? { decoder.withLock { $0.take() } }

    /// What is to be delivered, in order; the first time only, so that what is delivered can be let go.
    func takeEvents() -> [SoundEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Whether the first packet gave what it gives to the decoder of the segment before, which knows all that came
    /// before.
    func follows(_ previous: DecodedChunk, _ rule: ChunkingRule) -> Bool {
        guard case .decoded = outcome, case .decoded = previous.outcome, previous.overlap.count == head.count
        else { return false }
        return zip(previous.overlap, head).allSatisfy { $0.agrees(with: $1, rule) }
    }
}

/// What a decoder gave, or did not give.
enum SoundEvent: Sendable {
    case frame(FrameBox)
    case digested(DigestedSound)
    case damage(PacketDecoder.Damage)
    /// Samples that the container has the decoder leave out.
    case skips(Int)

    /// Bytes of sound.
    var byteCount: Int { if case .frame(let box) = self { box.byteCount } else { 0 } }

    /// Whether it is sound in which the decoder saw no damage.
    fileprivate var isSound: Bool {
        switch self {
        case .frame(let box): !box.isCorrupt
        case .digested(let sound): !sound.form.isCorrupt
        case .damage, .skips: false
        }
    }

    fileprivate func agrees(with other: SoundEvent, _ rule: ChunkingRule) -> Bool {
        switch (self, other) {
        case (.frame(let mine), .frame(let others)): mine.agrees(with: others, rule)
        case (.damage(let mine), .damage(let others)): mine == others
        case (.skips(let mine), .skips(let others)): mine == others
        default: false
        }
    }
}

/// A frame that is taken out once.
final class FrameBox: Sendable {
    private let frame: Mutex<Frame?>
    /// Bytes of sound.
    let byteCount: Int
    /// Whether the decoder saw damage in it.
    let isCorrupt: Bool

    init(_ frame: consuming Frame) {
        isCorrupt = frame.isCorrupt
        let sampleBytes = frame.sampleFormat?.format.bytesPerSample ?? 8
        byteCount = frame.sampleCount * frame.channelLayout.channels * sampleBytes
        self.frame = Mutex(frame)
    }

    /// The frame; the first time only.
    func take() -> Frame? { frame.withLock { $0.take() } }

    fileprivate func agrees(with other: FrameBox, _ rule: ChunkingRule) -> Bool {
        frame.withLock { mine in
            other.frame.withLock { others in
                switch mine {
                case .none: false
                case .some(let mine):
                    switch others {
                    case .none: false
                    case .some(let others): rule.accepts(mine, others)
                    }
                }
            }
        }
    }
}
