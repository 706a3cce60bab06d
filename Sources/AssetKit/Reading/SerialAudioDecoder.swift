import LibAV
import MediaBase

/// Decodes a track's audio on the calling thread, packet by packet.
///
/// With ``ChunkBorders``, it cuts the track where ``ParallelAudioDecoder`` would and changes the decoder there, so that
/// both give the same samples. It does not read ahead, so that packets of other tracks do not pile up.
final class SerialAudioDecoder: AudioSource {
    private let setup: DecoderSetup
    private let rule: ChunkingRule
    private var borders: ChunkBorders?
    private var decoder: PacketDecoder
    private var tally = DecodingTally()
    private var events: [AudioEvent] = []
    private var position = 0
    private var isAtEnd = false

    var skippedSamples: Int64 { tally.skippedSamples }

    init(_ setup: DecoderSetup, _ rule: ChunkingRule, _ borders: ChunkBorders) throws(MediaError) {
        self.setup = setup
        self.rule = rule
        self.borders = borders
        decoder = PacketDecoder(try Decoder.open(setup, threads: 1))
    }

    func nextAudio(from packets: PacketQueue) throws(MediaError) -> DecodedAudio? {
        while true {
            while position < events.count {
                position += 1
                switch events[position - 1] {
                case .skips(let samples): tally.sent(skipping: samples)
                case .damage(let damage): tally.note(damage, packets)
                case .frame(let box):
                    guard let frame = box.take() else { continue }
                    tally.produced()
                    return .frame(frame)
                case .reduced: continue
                }
            }
            guard !isAtEnd else {
                try tally.checkEnd()
                return nil
            }
            let sample = try packets.next()
            isAtEnd = sample == nil
            events = try decode(sample)
            position = 0
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
