import LibAV
import MediaBase
import Threading

/// A chunk: consecutive packets of a track that are decoded independently of the others.
final class AudioChunk: Sendable {
    /// The index of the chunk, from 0.
    let number: Int
    /// The packets before the chunk that prepare the decoder; their audio is not delivered.
    let preRoll: [CompressedSample]
    /// The packets whose audio is delivered.
    let packets: [CompressedSample]
    /// The packet after the last one, for checking the seam; `nil` if unknown.
    let following: CompressedSample?
    /// Indicates whether the track ends here, so that the decoder is drained.
    let isLast: Bool
    /// The size of decoded audio, in bytes, above which decoding stops.
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

    /// The number of packets at the track's end that are not reduced, because edit lists most often cut some of their
    /// samples.
    private static let lastPackets = 3
    /// The number of packets at the track's start that are not reduced, because their samples may be priming before
    /// time 0.
    ///
    /// If reduced samples turn out to need cutting, the whole chunk is decoded once more.
    private static let firstPackets = 4

    /// Returns a used decoder after flushing it, or a new one.
    private static func ready(
        _ used: consuming PacketDecoder?, _ setup: DecoderSetup
    ) throws(MediaError) -> PacketDecoder {
        if var decoder = used, decoder.restart() { return decoder }
        return PacketDecoder(try Decoder.open(setup, threads: 1))
    }

    /// Decodes the chunk with its own decoder; may be called on any thread.
    ///
    /// - Parameters:
    ///   - reduction: Makes the reducer that replaces frames; `nil` to keep them. The first packet and the packet after
    ///     the last one keep their frames, which serve to check the seams, and so do the track's first and last packets.
    ///   - used: A decoder that has decoded another chunk; `nil` for a new one.
    func decode(
        _ setup: DecoderSetup, _ reduction: (any AudioReduction)?, reusing used: consuming PacketDecoder? = nil
    ) -> DecodedChunk {
        do throws(MediaError) {
            var decoder = try Self.ready(used, setup)
            for sample in preRoll { try decoder.discard(sample) }
            var gatherer = AudioGatherer(self, setup, reduction)
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
            let overlap: [AudioEvent] = if let following { try decoder.events(of: following) } else { [] }
            // Samples that a packet makes the decoder skip may lie in later packets, and damage may have any effect.
            let leavesNothing =
                gatherer.events.allSatisfy(\.isIntact) && overlap.allSatisfy(\.isIntact)
                && preRoll.allSatisfy { $0.packet.skippedSamples == 0 }
            return DecodedChunk(
                .decoded, gatherer.events, head: head, overlap: overlap, decoder,
                leavesNothingBehind: leavesNothing)
        } catch {
            return DecodedChunk(.failed(error))
        }
    }
}

/// The result of decoding a chunk.
final class DecodedChunk: Sendable {
    /// The outcome of decoding.
    enum Outcome: Sendable {
        case decoded
        /// The audio is longer than the packets stated.
        case isTooLarge
        /// Decoding failed with an error that is not caused by the packets.
        case failed(MediaError)
    }

    let outcome: Outcome
    /// The events to deliver, in order.
    private let events: Mutex<[AudioEvent]>
    /// The events of the packet after the last one.
    let overlap: [AudioEvent]
    /// The events of the first packet.
    private let head: [AudioEvent]
    private let decoder: Mutex<PacketDecoder?>
    /// True if the decoder has seen no damage or skipped samples, so that it may be reused.
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
        _ outcome: Outcome, _ events: [AudioEvent], head: Int, overlap: [AudioEvent],
        _ decoder: consuming PacketDecoder, leavesNothingBehind: Bool
    ) {
        self.outcome = outcome
        self.events = Mutex(events)
        self.head = Array(events.prefix(head))
        self.overlap = overlap
        self.decoder = Mutex(decoder)
        self.leavesNothingBehind = leavesNothingBehind
    }

    /// Returns the decoder, which has also decoded the packet after the last one; `nil` after the first call.
    func takeDecoder() -> PacketDecoder? { decoder.withLock { $0.take() } }

    /// Returns the events to deliver, in order; empty after the first call, so that delivered events can be released.
    func takeEvents() -> [AudioEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Returns true if the first packet decoded as in the chunk before, whose decoder has seen all previous packets.
    func follows(_ previous: DecodedChunk, _ rule: ChunkingRule) -> Bool {
        guard case .decoded = outcome, case .decoded = previous.outcome else { return false }
        return previous.overlap.agree(with: head, rule)
    }
}

/// A result of decoding a packet.
enum AudioEvent: Sendable {
    case frame(FrameBox)
    case reduced(ReducedRun)
    case damage(PacketDecoder.Damage)
    /// The number of samples that the container makes the decoder skip.
    case skips(Int)

    /// The size of the audio in bytes.
    var byteCount: Int { if case .frame(let box) = self { box.byteCount } else { 0 } }

    /// Indicates whether the event is audio in which the decoder found no damage.
    fileprivate var isIntact: Bool {
        switch self {
        case .frame(let box): !box.isCorrupt
        case .reduced(let run): !run.form.isCorrupt
        case .damage, .skips: false
        }
    }

    fileprivate func agrees(with other: AudioEvent, _ rule: ChunkingRule) -> Bool {
        switch (self, other) {
        case (.frame(let mine), .frame(let others)): mine.agrees(with: others, rule)
        case (.damage(let mine), .damage(let others)): mine == others
        case (.skips(let mine), .skips(let others)): mine == others
        default: false
        }
    }
}

/// The results of decoding that wait to be delivered, and the tally of those that were.
struct AudioEventQueue {
    /// The counts of what was delivered and reported.
    private(set) var tally = DecodingTally()
    private var events: [AudioEvent] = []
    private var position = 0

    /// Replaces what waits.
    ///
    /// - Parameter first: The index of the first event to deliver.
    mutating func fill(_ events: [AudioEvent], from first: Int = 0) {
        self.events = events
        position = min(first, events.count)
    }

    /// Returns the next audio, and reports the damage before it; `nil` if nothing waits.
    mutating func next(reportingTo packets: PacketQueue) -> DecodedAudio? {
        while position < events.count {
            // Delivered events are removed at once, so that they do not occupy memory until the chunk ends.
            var event = AudioEvent.skips(0)
            swap(&event, &events[position])
            position += 1
            switch event {
            case .skips(let samples): tally.sent(skipping: samples)
            case .damage(let damage): tally.note(damage, packets)
            case .frame(let box):
                guard let frame = box.take() else { continue }
                tally.produced()
                return .frame(frame)
            case .reduced(let run):
                tally.produced()
                return .reduced(run)
            }
        }
        return nil
    }
}

extension [AudioEvent] {
    /// Returns true if two decoders' results for the same packet agree at a seam.
    func agree(with others: [AudioEvent], _ rule: ChunkingRule) -> Bool {
        count == others.count && zip(self, others).allSatisfy { $0.agrees(with: $1, rule) }
    }
}

extension PacketDecoder {
    /// Decodes a packet, or the end for `nil`, and returns all results.
    mutating func events(of sample: CompressedSample?) throws(MediaError) -> [AudioEvent] {
        var events: [AudioEvent] = []
        try decode(sample, tell: { events.append($0) }, frame: { events.append(.frame(FrameBox($0))) })
        return events
    }

    /// Decodes a packet, or the end for `nil`, and passes each frame and all else in order.
    mutating func decode(
        _ sample: CompressedSample?, tell: (AudioEvent) -> Void, frame take: (consuming Frame) -> Void
    ) throws(MediaError) {
        if let damage = sample?.damage { tell(.damage(damage)) }
        if let damage = try send(sample) {
            tell(.damage(damage))
        } else if let skipped = sample?.packet.skippedSamples, skipped > 0 {
            tell(.skips(skipped))
        }
        while true {
            switch try receive() {
            case .frame(let frame): take(frame)
            case .damage(let damage): tell(.damage(damage))
            case .needsInput: return
            case .ended: return
            }
        }
    }
}

/// A frame that can be taken out once.
final class FrameBox: Sendable {
    private let frame: Mutex<Frame?>
    /// The size of the audio in bytes.
    let byteCount: Int
    /// Indicates whether the decoder found damage in the frame.
    let isCorrupt: Bool

    init(_ frame: consuming Frame) {
        isCorrupt = frame.isCorrupt
        let sampleBytes = frame.sampleFormat?.format.bytesPerSample ?? 8
        byteCount = frame.sampleCount * frame.channelLayout.channels * sampleBytes
        self.frame = Mutex(frame)
    }

    /// Returns the frame; `nil` after the first call.
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
