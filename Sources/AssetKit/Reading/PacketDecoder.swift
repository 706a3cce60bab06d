import LibAV
import MediaBase

/// A decoder at work: packets in, frames out, with a word on each packet that could not be decoded.
///
/// ```swift
/// if let damage = try decoder.send(sample) { … }
/// while case .frame(let frame) = try decoder.receive() { … }
/// ```
struct PacketDecoder: ~Copyable, Sendable {
    /// What ``receive()`` answers.
    enum Step: ~Copyable {
        /// A frame, in presentation order.
        case frame(Frame)
        /// Something could not be decoded.
        case damage(Damage)
        /// Another packet, or the end, is wanted first.
        case needsInput
        /// All has come out.
        case ended
    }

    /// A packet that could not be decoded, by its time stamp and its length in the track's time base.
    struct Damage: Sendable, Hashable {
        var ticks: Int64?
        /// 0 where it is not known.
        var duration: Int64 = 0
    }

    private var decoder: Decoder
    private var isFinishing = false
    /// When the packet that was handed over last is to be shown.
    private var lastSent = Damage()
    /// Failures since a packet was last handed over; a decoder that does nothing else has come to its end.
    private var failuresInARow = 0

    private static let patience = 100

    /// Puts an open decoder to work.
    init(_ decoder: consuming Decoder) { self.decoder = decoder }

    /// Hands over a packet, or `nil` for the end; gives what is wrong with it.
    ///
    /// - Parameter unlessUnreferenced: Whether its picture is left out if no other refers to it.
    /// - Throws: what is no matter of the packet.
    mutating func send(_ sample: CompressedSample?, unlessUnreferenced: Bool = false) throws(MediaError) -> Damage? {
        do throws(MediaError) {
            if let sample {
                failuresInARow = 0
                lastSent = Damage(ticks: sample.packet.pts, duration: sample.packet.duration)
                try decoder.send(sample.packet, unlessUnreferenced: unlessUnreferenced)
            } else if !isFinishing {
                isFinishing = true
                try decoder.finish()
            }
            return nil
        } catch {
            return try damage(error)
        }
    }

    /// What comes next.
    ///
    /// - Throws: what is no matter of the packet.
    mutating func receive() throws(MediaError) -> Step {
        guard failuresInARow < Self.patience else { return isFinishing ? .ended : .needsInput }
        do throws(MediaError) {
            switch try decoder.receive() {
            case .frame(let frame): return .frame(frame)
            case .ended: return .ended
            case .needsInput: return isFinishing ? .ended : .needsInput
            }
        } catch {
            failuresInARow += 1
            return .damage(try damage(error))
        }
    }

    /// Decodes a packet for the sake of those behind it.
    mutating func discard(_ sample: CompressedSample) throws(MediaError) {
        _ = try send(sample)
        while true {
            switch try receive() {
            case .frame: continue
            case .damage: continue
            case .needsInput: return
            case .ended: return
            }
        }
    }

    /// How many errors libavcodec has logged while it decoded: ``Decoder/complaintCount``.
    var complaintCount: Int { decoder.complaintCount }

    /// Forgets all packets, as is due after a seek.
    mutating func flush() {
        decoder.flush()
        isFinishing = false
    }

    /// Forgets all packets, as if it were opened anew but for what the codec itself keeps; gives whether it could.
    mutating func restart() -> Bool {
        guard decoder.restart() else { return false }
        isFinishing = false
        lastSent = Damage()
        failuresInARow = 0
        return true
    }

    private func damage(_ error: MediaError) throws(MediaError) -> Damage {
        switch error.code {
        case .cancelled, .timedOut, .outOfResources: throw error
        default: return lastSent
        }
    }
}

extension CompressedSample {
    /// The damage that the demuxer saw in it; `nil` where it saw none.
    ///
    /// The decoder may make something of it all the same, which then is not what was stored.
    var damage: PacketDecoder.Damage? {
        packet.isCorrupt ? PacketDecoder.Damage(ticks: packet.pts ?? packet.dts, duration: packet.duration) : nil
    }
}

extension PacketDecoder.Damage {
    /// Where it lies on the presentation's time line; `nil` where its time stamp is not known.
    ///
    /// - Parameter origin: The presentation's zero in the container's time.
    func range(in timeBase: Rational, from origin: MediaTime) -> MediaTimeRange? {
        guard let ticks else { return nil }
        let start = MediaTime(ticks: ticks, timeBase: timeBase) - origin
        let length = MediaTime(ticks: max(0, duration), timeBase: timeBase)
        return MediaTimeRange(start: start, duration: length.isNumeric ? length : .zero)
    }
}

/// What has become of the packets of a track so far.
struct DecodingTally: Sendable {
    private var hasProduced = false
    private var damageCount = 0
    /// Samples that the container has the decoder leave out before the first frame: the encoder's priming.
    private(set) var skippedSamples: Int64 = 0

    /// Counts a packet that the decoder took.
    mutating func sent(skipping samples: Int) { if !hasProduced { skippedSamples += Int64(samples) } }

    /// Counts a frame.
    mutating func produced() { hasProduced = true }

    /// Counts damage and reports it.
    mutating func note(_ damage: PacketDecoder.Damage, _ packets: PacketQueue) {
        damageCount += 1
        packets.reportDamage(damage)
    }

    /// Checks at the end that it was not all damage.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` where packets came, and not one could be decoded.
    func checkEnd() throws(MediaError) {
        guard damageCount == 0 || hasProduced else {
            throw MediaError(.damaged, "nothing in the track can be decoded (\(damageCount) damaged packets)")
        }
    }
}

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
