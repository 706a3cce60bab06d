import LibAV
import MediaBase

/// How sound is decoded in segments side by side.
struct SegmentSettings: Sendable, Hashable {
    /// About how many bytes of decoded sound, at 32 bits a sample, a segment has.
    var bytes = 3 << 20
    /// Threads that decode.
    var threads = 1

    /// More threads would only hold more sound in memory.
    static let maximumThreads = 16
}

/// Decodes a track's sound in segments, several at a time, and gives what one decoder would have given.
///
/// Segments are cut at places that depend on the packets alone, so that the result is the same however many threads
/// there are. The container is read once, in order. Each segment has a decoder to itself, which first decodes the last
/// packets before the segment, and the decoder of the segment before goes one packet too far: what both give for that
/// packet must agree by the codec's ``ChunkingRule``. Where it does not, and from a packet with a new header on, the
/// rest is decoded in one go by the decoder that has seen it all.
///
/// One thread uses it at a time.
final class ParallelAudioDecoder: SoundSource {
    private let setup: DecoderSetup
    private let rule: ChunkingRule
    private let workers: ChunkWorkers
    private var hasBegun = false
    /// The segment that is delivered.
    private var current: DecodedChunk?
    private var events: [SoundEvent] = []
    private var position = 0
    private var tally = DecodingTally()
    /// What decodes the rest in one go; before that, the decoder for it, as soon as what is left is delivered.
    private var serial: FrameSource?
    private var serialDecoder: PacketDecoder?
    /// Packets that were read already and are to be decoded in one go.
    private var serialPackets: [CompressedSample] = []
    private var serialPosition = 0
    /// Why the packets broke off behind those.
    private var serialError: MediaError?

    /// Samples that the container has the decoder leave out before the first frame: the encoder's priming.
    var skippedSamples: Int64 { serial?.skippedSamples ?? tally.skippedSamples }

    /// Makes a source of a track whose codec has a rule; nothing is read yet.
    init(
        _ file: InputFile, track: AssetTrack, format: AudioFormat, rule: ChunkingRule, settings: SegmentSettings,
        digester: SoundDigester?
    ) throws(MediaError) {
        setup = try DecoderSetup(file, stream: track.index)
        self.rule = rule
        let cutter = AudioChunker(rule, format: format, timeBase: track.timeBase, bytes: settings.bytes)
        workers = ChunkWorkers(setup, rule, cutter, digester: digester, count: settings.threads)
    }

    deinit { workers.stop() }

    /// What comes next; `nil` at the end.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` where packets came, and not one could be decoded.
    func nextSound(from packets: PacketQueue) throws(MediaError) -> DecodedSound? {
        while true {
            if let serial { return try serial.nextSound(from: queue(packets)) }
            while position < events.count {
                // What is delivered must not stay in memory until the segment is over.
                var event = SoundEvent.skips(0)
                swap(&event, &events[position])
                position += 1
                switch event {
                case .skips(let samples): tally.sent(skipping: samples)
                case .damage(let damage): tally.note(damage, packets)
                case .frame(let box):
                    guard let frame = box.take() else { continue }
                    tally.produced()
                    return .frame(frame)
                case .digested(let sound):
                    tally.produced()
                    return .digested(sound)
                }
            }
            guard try advance(packets) else {
                try tally.checkEnd()
                return nil
            }
        }
    }

    /// Has the rest of the segment given frame by frame, from the first of some digested sound on.
    func takeBack(_ sound: DigestedSound) throws(MediaError) {
        events = try sound.undigested()
        position = min(sound.place, events.count)
    }

    /// Goes on to the next segment, or to decoding in one go; gives whether there is more.
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
            if let segment = workers.first(from: ahead) {
                // A track that is not longer than a segment needs no threads.
                if segment.isLast {
                    workers.stop()
                    try decodeRest(segment.packets)
                    return true
                }
                workers.begin(segment)
            }
        }
        guard let (segment, decoded) = workers.next() else {
            let rest = workers.rest()
            if let head = rest.head {
                try decodeRest([head])
                return true
            }
            if let error = rest.error { throw error }
            deliver(nil)
            // Whether the container broke off is now to be told.
            _ = try packets.next()
            return false
        }
        if case .failed(let error) = decoded.outcome { throw error }
        let isStart = segment.number == 0
        let isSound = if case .decoded = decoded.outcome { true } else { false }
        guard isSound, isStart || current.map({ decoded.follows($0, rule) }) ?? false else {
            let rest = workers.rest()
            serialError = rest.error
            try decodeRest(segment.packets + rest.packets)
            return true
        }
        if let current { workers.takeBack(current) }
        deliver(decoded)
        return true
    }

    private func deliver(_ segment: DecodedChunk?) {
        current = segment
        events = segment?.takeEvents() ?? []
        position = 0
    }

    /// Has all packets from here on decoded in one go, by the decoder that has seen all before them.
    private func decodeRest(_ read: [CompressedSample]) throws(MediaError) {
        serialPackets = read
        if let previous = current, let decoder = previous.takeDecoder() {
            // It has decoded the first packet already, and what came of that is still to be delivered.
            serialPosition = 1
            serialDecoder = consume decoder
            events = previous.overlap
            position = 0
        } else {
            serialDecoder = PacketDecoder(try Decoder.open(setup, threads: 1))
        }
    }

    /// The packets that are left: first those that were read already.
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
                // They were read ahead, where nobody counts.
                if let damage = sample.damage { packets.reportDamage(damage) }
                return sample
            }, reportDamage: packets.reportDamage)
    }
}
