import LibAV
import MediaBase

/// A decoder that turns packets into frames and reports each packet that could not be decoded.
///
/// ```swift
/// if let damage = try decoder.send(sample) { … }
/// while case .frame(let frame) = try decoder.receive() { … }
/// ```
struct PacketDecoder: ~Copyable, Sendable {
    /// A result of ``receive()``.
    enum Step: ~Copyable {
        /// A frame, in presentation order.
        case frame(Frame)
        /// A packet that could not be decoded.
        case damage(Damage)
        /// The decoder needs another packet, or the end.
        case needsInput
        /// All frames have been returned.
        case ended
    }

    /// A packet that could not be decoded, by its timestamp and duration in the track's time base.
    struct Damage: Sendable, Hashable {
        var ticks: Int64?
        /// The duration; 0 if unknown.
        var duration: Int64 = 0
    }

    private var decoder: Decoder
    private var isFinishing = false
    /// The timestamp and duration of the packet that was sent last.
    private var lastSent = Damage()
    /// The number of failures since the last packet; a decoder that only fails is treated as ended.
    private var failuresInARow = 0

    private static let patience = 100

    /// Creates a packet decoder from an open decoder.
    init(_ decoder: consuming Decoder) { self.decoder = decoder }

    /// Sends a packet, or `nil` for the end, and returns the damage if it cannot be decoded.
    ///
    /// - Parameter unlessUnreferenced: True to skip the frame if no other frame refers to it.
    /// - Throws: Errors that are not caused by the packet.
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

    /// Returns the next result.
    ///
    /// - Throws: Errors that are not caused by a packet.
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

    /// Decodes a packet without returning frames, for packets that depend on it.
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

    /// The number of errors that libavcodec has logged while decoding: ``Decoder/complaintCount``.
    var complaintCount: Int { decoder.complaintCount }

    /// Discards all packets, as required after a seek.
    mutating func flush() {
        decoder.flush()
        isFinishing = false
    }

    /// Discards all packets and all state except what the codec itself keeps; returns false if that is impossible.
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
    /// The damage that the demuxer found in the sample; `nil` if none.
    ///
    /// The decoder may still produce a frame from it, which then differs from the original.
    var damage: PacketDecoder.Damage? {
        packet.isCorrupt ? PacketDecoder.Damage(ticks: packet.pts ?? packet.dts, duration: packet.duration) : nil
    }
}

extension PacketDecoder.Damage {
    /// Returns the time range on the presentation's time line; `nil` if the timestamp is unknown.
    ///
    /// - Parameter origin: The container time of the presentation's zero.
    func range(in timeBase: Rational, from origin: MediaTime) -> MediaTimeRange? {
        guard let ticks else { return nil }
        let start = MediaTime(ticks: ticks, timeBase: timeBase) - origin
        let length = MediaTime(ticks: max(0, duration), timeBase: timeBase)
        return MediaTimeRange(start: start, duration: length.isNumeric ? length : .zero)
    }
}

/// The decoding results of a track's packets so far.
struct DecodingTally: Sendable {
    private var hasProduced = false
    private var damageCount = 0
    /// The encoder's priming: the number of samples that the decoder has to skip before the first frame.
    private(set) var skippedSamples: Int64 = 0

    /// Counts a packet that the decoder accepted.
    mutating func sent(skipping samples: Int) { if !hasProduced { skippedSamples += Int64(samples) } }

    /// Records that a frame was decoded.
    mutating func produced() { hasProduced = true }

    /// Counts damage and reports it.
    mutating func note(_ damage: PacketDecoder.Damage, _ packets: PacketQueue) {
        damageCount += 1
        packets.reportDamage(damage)
    }

    /// Checks at the end that not all packets were damaged.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if there were packets but none could be decoded.
    func checkEnd() throws(MediaError) {
        guard damageCount == 0 || hasProduced else {
            throw MediaError(.damaged, "nothing in the track can be decoded (\(damageCount) damaged packets)")
        }
    }
}

/// Decodes the packets of one track serially into frames in presentation order.
///
/// Only one thread may use it at a time.
final class FrameSource: AudioSource {
    private var decoder: PacketDecoder
    private var tally: DecodingTally

    /// The encoder's priming: the number of samples that the decoder has to skip before the first frame.
    var skippedSamples: Int64 { tally.skippedSamples }

    /// Opens a decoder for a track.
    init(
        _ file: InputFile, track: Int, threads: Int, bySlices: Bool = false
    ) throws(MediaError) {
        decoder = PacketDecoder(
            try Decoder.open(file, stream: track, threads: threads, bySlices: bySlices))
        tally = DecodingTally()
    }

    /// Continues with a decoder that has decoded the previous packets.
    init(continuing decoder: consuming PacketDecoder, _ tally: DecodingTally) {
        self.decoder = decoder
        self.tally = tally
    }

    /// Returns the next frame; `nil` at the end.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if there were packets but none could be decoded.
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

    func nextAudio(from packets: PacketQueue) throws(MediaError) -> DecodedAudio? {
        guard let frame = try next(from: packets) else { return nil }
        return .frame(frame)
    }

    /// The number of errors that libavcodec has logged while decoding: ``Decoder/complaintCount``.
    var complaintCount: Int { decoder.complaintCount }

    /// Discards all packets, as required after a seek.
    func flush() { decoder.flush() }
}

/// A source of decoded audio for an ``AudioPipeline``.
protocol AudioSource: AnyObject {
    /// Returns the next audio; `nil` at the end.
    func nextAudio(from packets: PacketQueue) throws(MediaError) -> DecodedAudio?
    /// Takes back the reduced audio that was returned last; the frames it replaces are returned next.
    func takeBack(_ run: ReducedRun) throws(MediaError)
    /// The encoder's priming: the number of samples that the decoder has to skip before the first frame.
    var skippedSamples: Int64 { get }
}

extension AudioSource {
    /// Does nothing, for sources without reduced audio.
    func takeBack(_ run: ReducedRun) throws(MediaError) {}
}

/// The output of an ``AudioSource``.
enum DecodedAudio: ~Copyable {
    case frame(Frame)
    case reduced(ReducedRun)
}

/// Turns the packets of one track into the sample buffers of one output.
///
/// A pipeline pulls packets as it needs them. Only one thread may use it at a time.
protocol SamplePipeline: AnyObject {
    /// Returns the next buffer in presentation order; `nil` at the end.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer?
    /// Returns the next samples, or the run that reducers have made of them.
    func nextAudio(from packets: PacketQueue) throws(MediaError) -> PipelineAudio?
    /// The number of audio samples before time 0 that were omitted so far.
    var samplesCutBeforeZero: Int64 { get }
}

extension SamplePipeline {
    func nextAudio(from packets: PacketQueue) throws(MediaError) -> PipelineAudio? {
        try next(from: packets).map(PipelineAudio.samples)
    }

    var samplesCutBeforeZero: Int64 { 0 }
}

/// Audio as a pipeline delivers it.
enum PipelineAudio {
    case samples(SampleBuffer)
    case reduced(ReducedRun, at: MediaTime)

    /// The time of the first sample.
    var presentationTime: MediaTime {
        switch self {
        case .samples(let buffer): buffer.presentationTime
        case .reduced(_, let time): time
        }
    }
}

/// The source of a pipeline's packets: the part of an open file that one output reads.
struct PacketQueue {
    /// Returns the next packet of the track; `nil` at the end.
    let next: () throws(MediaError) -> CompressedSample?
    /// Reports a damaged or undecodable packet by its timestamp and duration; repeated reports count once.
    var reportDamage: (PacketDecoder.Damage) -> Void
    /// Returns true if a packet's frame may be skipped when no other frame refers to it.
    var isDispensable: (CompressedSample) -> Bool = { _ in false }
    /// Returns the next packet to threads that read ahead; `nil` if only the caller's thread may read.
    ///
    /// A truncated container is recorded only when ``next`` returns `nil`.
    var ahead: (@Sendable () throws(MediaError) -> CompressedSample?)?
}

/// The time range in which an output delivers samples, on the presentation's time line.
struct OutputRange {
    /// The start of the range.
    var start: MediaTime
    /// The end of the range, exclusive; `nil` for no limit.
    var end: MediaTime?

    /// Creates the intersection of the requested range and the track's own extent.
    ///
    /// - Parameters:
    ///   - trackEnd: The time at which edits end the track; `nil` if they do not.
    ///   - grid: The grid of times at which the track can be cut. An end that exceeds 32 bits of timescale was rounded
    ///     and may have moved past a sample.
    init(_ asked: MediaTimeRange, trackEnd: MediaTime?, grid: TrimGrid) {
        start = max(asked.start.isNumeric ? asked.start : .zero, .zero)
        let end = asked.end.hasBeenRounded ? grid.rounded(asked.end) : asked.end
        let ends = [end, trackEnd ?? .positiveInfinity].filter { $0.isNumeric }
        self.end = ends.min()
    }

    /// Indicates whether the range is empty.
    var isEmpty: Bool { end.map { $0 <= start } ?? false }
}
