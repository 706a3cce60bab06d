import LibAV
import MediaBase

/// Decodes the packets of one track, one after the other, into frames in presentation order.
///
/// One thread uses it at a time.
final class FrameSource: SoundSource {
    private var decoder: PacketDecoder
    private var tally: DecodingTally

    /// Samples that the container has the decoder leave out before the first frame: the encoder's priming.
    var skippedSamples: Int64 { tally.skippedSamples }

    /// Opens a decoder for a track.
    init(
        _ file: InputFile, track: Int, threads: Int, bySlices: Bool = false
    ) throws(MediaError) {
        decoder = PacketDecoder(
            try Decoder.open(file, stream: track, threads: threads, bySlices: bySlices))
        tally = DecodingTally()
    }

    /// Goes on with a decoder that has decoded what came before.
    init(continuing decoder: consuming PacketDecoder, _ tally: DecodingTally) {
        self.decoder = decoder
        self.tally = tally
    }

    /// The next frame; `nil` at the end.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` where packets came, and not one could be decoded.
    func next(from packets: PacketQueue) throws(MediaError) -> Frame? {
        while true {
            switch try decoder.receive() {
            case .frame(let frame):
                tally.produced()
                return frame
            case .damage(let damage): tally.note(damage, packets)
            case .needsInput:
                let sample = try packets.next()
                let isDispensable = sample.map(packets.isDispensable) ?? false
                if let damage = try decoder.send(sample, unlessUnreferenced: isDispensable) {
                    tally.note(damage, packets)
                } else if let sample {
                    tally.sent(skipping: sample.packet.skippedSamples)
                }
            case .ended:
                try tally.checkEnd()
                return nil
            }
        }
    }

    /// The next frame as any source of sound gives it.
    func nextSound(from packets: PacketQueue) throws(MediaError) -> DecodedSound? {
        guard let frame = try next(from: packets) else { return nil }
        return .frame(frame)
    }

    /// How many errors libavcodec has logged while it decoded: ``Decoder/complaintCount``.
    var complaintCount: Int { decoder.complaintCount }

    /// Forgets all packets, as is due after a seek.
    func flush() { decoder.flush() }
}

/// Where an ``AudioPipeline`` gets decoded sound from.
protocol SoundSource: AnyObject {
    /// What comes next; `nil` at the end.
    func nextSound(from packets: PacketQueue) throws(MediaError) -> DecodedSound?
    /// Takes back digested sound that came last: the frames that it stands for come next.
    func takeBack(_ sound: DigestedSound) throws(MediaError)
    /// Samples that the container has the decoder leave out before the first frame: the encoder's priming.
    var skippedSamples: Int64 { get }
}

extension SoundSource {
    /// Nothing, where no sound is digested.
    func takeBack(_ sound: DigestedSound) throws(MediaError) {}
}
