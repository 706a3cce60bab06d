import LibAV
import MediaBase

/// Decodes a track's audio on the calling thread with the samples that ``ParallelAudioDecoder`` gives.
///
/// It changes the decoder at the same packets (``ChunkBorders``) by the same rule, but does not read ahead, so that packets
/// of other tracks do not pile up. A file whose packets state far too short durations may be the exception: the parallel
/// decoder returns to a single decoder at the start of such a chunk.
final class SerialAudioDecoder: AudioSource {
    private let setup: DecoderSetup
    private let rule: ChunkingRule
    private var borders: ChunkBorders?
    private var decoder: PacketDecoder
    private var queue = AudioEventQueue()
    private var isAtEnd = false

    var skippedSamples: Int64 { queue.tally.skippedSamples }

    init(_ setup: DecoderSetup, _ rule: ChunkingRule, _ borders: ChunkBorders) throws(MediaError) {
        self.setup = setup
        self.rule = rule
        self.borders = borders
        decoder = PacketDecoder(try Decoder.open(setup, threads: 1))
    }

    func nextAudio(from packets: PacketQueue) throws(MediaError) -> DecodedAudio? {
        while true {
            if let audio = queue.next(reportingTo: packets) { return audio }
            guard !isAtEnd else {
                try queue.tally.checkEnd()
                return nil
            }
            let sample = try packets.next()
            isAtEnd = sample == nil
            queue.fill(try decode(sample))
        }
    }

    /// Decodes a packet, or the end; the first packet of a chunk with a new decoder, if that gives what the current one
    /// gives.
    private func decode(_ sample: CompressedSample?) throws(MediaError) -> [AudioEvent] {
        let events: [AudioEvent] = try decoder.events(of: sample)
        guard let sample, let step = borders?.next(sample) else { return events }
        switch step {
        case .sameChunk: return events
        case .newHeader: borders = nil
        case .newChunk(let preRoll):
            var next = PacketDecoder(try Decoder.open(setup, threads: 1))
            for sample in preRoll { try next.discard(sample) }
            let others: [AudioEvent] = try next.events(of: sample)
            if events.agree(with: others, rule) {
                decoder = next
                return others
            }
            borders = nil
        }
        return events
    }
}
