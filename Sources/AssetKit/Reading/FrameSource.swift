import LibAV
import MediaBase

/// Decodes the packets of one track into frames in presentation order, stepping over what is damaged.
///
/// One thread uses it at a time.
final class FrameSource {
    private var decoder: Decoder
    private var isFinishing = false
    private var hasProduced = false
    private var damage = 0
    /// Samples that the container has the decoder leave out before the first frame: the encoder's priming.
    private(set) var skippedSamples: Int64 = 0
    /// Failures since a packet was last handed over; a decoder that does nothing else has come to its end.
    private var failuresInARow = 0

    /// The time stamp of the packet that was handed over last.
    private var lastSent: Int64?

    private static let patience = 100

    /// Opens a decoder for a track.
    init(_ file: InputFile, track: Int, threads: Int, refusesDamage: Bool = false) throws(MediaError) {
        decoder = try Decoder.open(file, stream: track, threads: threads, refusesDamage: refusesDamage)
    }

    /// The next frame; `nil` at the end.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` where packets came, and not one could be decoded.
    func next(from packets: PacketQueue) throws(MediaError) -> Frame? {
        while true {
            do throws(MediaError) {
                switch try decoder.receive() {
                case .frame(let frame):
                    hasProduced = true
                    return frame
                case .ended: return try ended()
                case .needsInput: break
                }
            } catch {
                try note(error, at: lastSent, packets)
                failuresInARow += 1
                if failuresInARow < Self.patience { continue }
            }
            guard !isFinishing else { return try ended() }
            guard let sample = try packets.next() else {
                isFinishing = true
                do throws(MediaError) {
                    try decoder.finish()
                } catch {
                    try note(error, at: lastSent, packets)
                }
                continue
            }
            failuresInARow = 0
            lastSent = sample.packet.pts
            do throws(MediaError) {
                try decoder.send(sample.packet, unlessUnreferenced: packets.isDispensable(sample))
                if !hasProduced { skippedSamples += Int64(sample.packet.skippedSamples) }
            } catch {
                try note(error, at: sample.packet.pts, packets)
            }
        }
    }

    /// Forgets all packets, as is due after a seek.
    func flush() {
        decoder.flush()
        isFinishing = false
    }

    private func ended() throws(MediaError) -> Frame? {
        guard damage == 0 || hasProduced else {
            throw MediaError(.damaged, "nothing in the track can be decoded (\(damage) damaged packets)")
        }
        return nil
    }

    /// Counts what is damaged, and lets pass on what is no matter of the packet.
    private func note(_ error: MediaError, at ticks: Int64?, _ packets: PacketQueue) throws(MediaError) {
        switch error.code {
        case .cancelled, .outOfResources: throw error
        default:
            damage += 1
            packets.reportDamage(ticks)
        }
    }
}
