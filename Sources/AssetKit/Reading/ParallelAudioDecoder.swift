import LibAV
import MediaBase

/// The settings for decoding audio in chunks.
struct ChunkSettings: Sendable, Hashable {
    /// The approximate size of a chunk's decoded audio in bytes, at 32 bits per sample.
    var bytes = 3 << 20
    /// The number of decoding threads.
    var threads = 1
    /// Indicates whether chunks are decoded in parallel, for which packets are read ahead.
    var readsAhead = true

    /// The maximum number of threads; more would only hold more audio in memory.
    static let maximumThreads = 16
}

/// Decodes a track's audio in chunks, several in parallel, with the result of a single decoder.
///
/// Chunks are cut at positions that depend on the packets alone, so the result does not depend on the number of
/// threads. The container is read once, in order. Each chunk has its own decoder, which first decodes the last
/// packets before the chunk. The decoder of the chunk before decodes one packet too many: the outputs of both
/// decoders for that packet must agree by the codec's ``ChunkingRule``. If they do not, or at a packet with a new
/// header, the decoder that has seen all packets decodes the rest serially.
///
/// Only one thread may use it at a time.
final class ParallelAudioDecoder: AudioSource {
    private let setup: DecoderSetup
    private let rule: ChunkingRule
    private let workers: ChunkWorkers
    private let reduction: (any AudioReduction)?
    private var hasBegun = false
    /// The chunk that is being delivered.
    private var current: DecodedChunk?
    private var events: [AudioEvent] = []
    private var position = 0
    private var tally = DecodingTally()
    /// The serial decoder of the rest; until pending events are delivered, `serialDecoder` holds its decoder.
    private var serial: FrameSource?
    private var serialDecoder: PacketDecoder?
    /// Packets that were already read and are to be decoded serially.
    private var serialPackets: [CompressedSample] = []
    private var serialPosition = 0
    /// The error that ended the packets after `serialPackets`.
    private var serialError: MediaError?

    /// The encoder's priming: the number of samples that the decoder has to skip before the first frame.
    var skippedSamples: Int64 { serial?.skippedSamples ?? tally.skippedSamples }

    /// Creates a source for a track whose codec has a rule; nothing is read yet.
    init(
        _ setup: DecoderSetup, _ rule: ChunkingRule, _ borders: ChunkBorders, threads: Int,
        _ reduction: (any AudioReduction)?
    ) {
        self.setup = setup
        self.rule = rule
        self.reduction = reduction
        workers = ChunkWorkers(setup, rule, AudioChunker(borders), reduction, count: threads)
    }

    deinit { workers.stop() }

    /// Returns the next audio; `nil` at the end.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if there were packets but none could be decoded.
    func nextAudio(from packets: PacketQueue) throws(MediaError) -> DecodedAudio? {
        while true {
            if let serial {
                guard let frame = try serial.next(from: queue(packets)) else { return nil }
                return .frame(frame)
            }
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
            guard try advance(packets) else {
                try tally.checkEnd()
                return nil
            }
        }
    }

    /// Delivers the rest of the chunk frame by frame, from the first frame of the reduced audio on.
    func takeBack(_ run: ReducedRun) throws(MediaError) {
        reduction?.discard(run.partial)
        events = try run.eventsOfChunk()
        position = min(run.firstEvent, events.count)
    }

    /// Advances to the next chunk or to serial decoding; returns false at the end.
    private func advance(_ packets: PacketQueue) throws(MediaError) -> Bool {
        if let decoder = serialDecoder.take() {
            serial = FrameSource(continuing: decoder, tally)
            return true
        }
        if !hasBegun {
            hasBegun = true
            guard let ahead = packets.ahead else {
                try decodeRest([])
                return true
            }
            if let chunk = workers.first(from: ahead) {
                // A track of at most one chunk needs no threads.
                if chunk.isLast {
                    workers.stop()
                    try decodeRest(chunk.packets)
                    return true
                }
                workers.begin(chunk)
            }
        }
        guard let (chunk, decoded) = workers.next() else {
            let rest = workers.rest()
            if let head = rest.head {
                try decodeRest([head])
                return true
            }
            if let error = rest.error { throw error }
            deliver(nil)
            // Reads the end, so that a truncated container is reported now.
            _ = try packets.next()
            return false
        }
        if case .failed(let error) = decoded.outcome { throw error }
        let isStart = chunk.number == 0
        let isSound = if case .decoded = decoded.outcome { true } else { false }
        guard isSound, isStart || current.map({ decoded.follows($0, rule) }) ?? false else {
            let rest = workers.rest()
            serialError = rest.error
            try decodeRest(chunk.packets + rest.packets)
            return true
        }
        if let current { workers.takeBack(current) }
        deliver(decoded)
        return true
    }

    private func deliver(_ chunk: DecodedChunk?) {
        current = chunk
        events = chunk?.takeEvents() ?? []
        position = 0
    }

    /// Prepares serial decoding of all further packets, by the decoder that has seen all previous ones.
    private func decodeRest(_ read: [CompressedSample]) throws(MediaError) {
        serialPackets = read
        if let previous = current, let decoder = previous.takeDecoder() {
            // This decoder has already decoded the first packet, whose output is still to be delivered.
            serialPosition = 1
            serialDecoder = consume decoder
            events = previous.overlap
            position = 0
        } else {
            serialDecoder = PacketDecoder(try Decoder.open(setup, threads: 1))
        }
    }

    /// Returns the remaining packets, starting with those that were already read.
    private func queue(_ packets: PacketQueue) -> PacketQueue {
        guard serialPosition < serialPackets.count || serialError != nil else { return packets }
        return PacketQueue(
            next: { () throws(MediaError) in
                guard self.serialPosition < self.serialPackets.count else {
                    if let error = self.serialError { throw error }
                    return try packets.next()
                }
                defer { self.serialPosition += 1 }
                let sample = self.serialPackets[self.serialPosition]
                // The packets were read ahead, which does not report damage.
                if let damage = sample.damage { packets.reportDamage(damage) }
                return sample
            }, reportDamage: packets.reportDamage)
    }
}
