import LibAV
import MediaBase

/// Whether and how a codec's sound may be decoded in segments: how much a decoder must have heard before.
///
/// Only codecs are listed whose decoders were seen to give the same after so much pre-roll as from the start.
struct ChunkingRule: Sendable {
    /// How the sound at a seam has to be what the decoder of the segment before gives.
    enum Seam: Sendable {
        /// Bit for bit.
        case identical
        /// In form, length and time: the decoder puts in noise of its own, which is another one in every decoder.
        case alike
    }

    /// How the sound at a seam is checked.
    let seam: Seam
    /// Whether a decoder that was emptied decodes another segment: one that takes long to open and keeps nothing.
    let keepsDecoders: Bool
    /// Packets that the pre-roll has at least.
    private let packets: Int
    /// Bytes that they have together at least.
    private let bytes: Int
    /// How long they are together at least.
    private let duration: MediaTime
    /// How many times as long as others a segment is, so that a long pre-roll does not outweigh it; packets are small then.
    let lengthFactor: Int
    /// Samples that a frame has at most; a longer one is of an extension of the codec that is not known here.
    private let longestFrame: Int

    private init(
        _ seam: Seam, packets: Int, bytes: Int = 0, milliseconds: Int64 = 0, longestFrame: Int = .max,
        lengthFactor: Int = 1, keepsDecoders: Bool = false
    ) {
        self.seam = seam
        self.lengthFactor = lengthFactor
        self.keepsDecoders = keepsDecoders
        self.packets = packets
        self.bytes = bytes
        duration = MediaTime(value: milliseconds, timescale: 1000)
        self.longestFrame = longestFrame
    }

    /// The rule for a track; `nil` for a codec that is decoded in one go.
    init?(_ format: FormatDescription) {
        switch format.codec {
        // Each frame stands by itself.
        case "flac", "alac": self.init(.identical, packets: 0, keepsDecoders: true)
        case "tta", "wavpack": self.init(.identical, packets: 1)
        // Half of a window overlaps. Opening one means making tables of the codebooks.
        case "vorbis": self.init(.identical, packets: 4, lengthFactor: 2, keepsDecoders: true)
        // The filter bank remembers a frame.
        case "mp2": self.init(.identical, packets: 4)
        // The bit reservoir reaches 511 bytes back, not counting headers.
        case "mp3": self.init(.identical, packets: 4, bytes: 2048)
        // Each band's energy is told by the difference to a part of the frame before: after some 30 frames of 20 ms
        // nothing is left of an error in 24 bits.
        case "opus":
            self.init(.identical, packets: 8, milliseconds: 800, lengthFactor: 3, keepsDecoders: true)
        // Spectral band replication (twice the samples a frame) has headers that come now and then.
        case "aac" where format.profile == "LC": self.init(.alike, packets: 4, longestFrame: 1024)
        case "ac3", "eac3": self.init(.alike, packets: 4)
        default: return nil
        }
    }

    /// The last of some packets that are enough of a pre-roll; all where they are not.
    func preRoll(_ recent: [CompressedSample], timeBase: Rational) -> [CompressedSample] {
        var first = recent.endIndex
        var size = 0
        var ticks: Int64 = 0
        while first > recent.startIndex {
            let isLongEnough = MediaTime(ticks: ticks, timeBase: timeBase) >= duration
            if recent.endIndex - first >= packets, size >= bytes, isLongEnough { break }
            first -= 1
            size += recent[first].size
            ticks = ticks.addingReportingOverflow(max(0, recent[first].packet.duration)).partialValue
        }
        return Array(recent[first...])
    }

    /// Whether the two frames that two decoders gave for a packet agree.
    func accepts(_ left: borrowing Frame, _ right: borrowing Frame) -> Bool {
        guard left.sampleCount <= longestFrame, left.isCorrupt == right.isCorrupt else { return false }
        switch seam {
        case .identical: return left.isIdentical(to: right)
        case .alike: return left.hasShape(of: right)
        }
    }
}

/// Cuts the packets of a track into segments, at places that depend on the packets alone.
struct AudioChunker: Sendable {
    private let rule: ChunkingRule
    private let timeBase: Rational
    private let sampleRate: Int
    /// Whether durations are told in samples.
    private let countsSamples: Bool
    /// About how many samples in each channel a segment has.
    private let length: Int
    private let byteLimit: Int

    private var number = 0
    /// The first packet of the segment to come.
    private(set) var head: CompressedSample?
    /// The last packets of the segments so far.
    private var recent: [CompressedSample] = []
    /// Whether there is nothing more to cut.
    private(set) var isOver = false
    /// Why the packets broke off.
    private(set) var error: MediaError?

    /// Packets that a segment has at least, so that the pre-roll does not outweigh it, and at most.
    private static let packetCounts = 8...1 << 14
    /// Bytes of packets in a segment at most.
    private static let maximumBytes = 16 << 20
    /// Packets that are remembered for the pre-roll.
    private static let recentCount = 256

    /// - Parameter bytes: About how many bytes of decoded sound, at 32 bits a sample, a segment has.
    init(_ rule: ChunkingRule, format: AudioFormat, timeBase: Rational, bytes: Int) {
        self.rule = rule
        self.timeBase = timeBase
        sampleRate = max(1, format.sampleRate)
        countsSamples = timeBase == Rational(1, Int64(sampleRate))
        length = Self.samples(in: bytes, format) * rule.lengthFactor
        byteLimit = 4 * max(bytes, 1 << 20) * rule.lengthFactor
    }

    /// About how many samples in each channel a segment has.
    static func samples(in bytes: Int, _ format: AudioFormat) -> Int { max(1, bytes / (4 * max(1, format.channels))) }

    /// The next segment; `nil` where there is none.
    mutating func next(from packets: () throws(MediaError) -> CompressedSample?) -> AudioChunk? {
        guard !isOver else { return nil }
        var list: [CompressedSample] = []
        var samples = 0
        var bytes = 0
        while true {
            do throws(MediaError) {
                guard let sample = try take(packets) else {
                    isOver = true
                    return list.isEmpty && number > 0 ? nil : segment(list, isLast: true)
                }
                // Behind new parameters a decoder that has not seen all would be another one.
                let isChange = sample.packet.changesFormat && (number > 0 || !list.isEmpty)
                let isFull = samples >= length && list.count >= Self.packetCounts.lowerBound
                if isChange || isFull || list.count >= Self.packetCounts.upperBound || bytes >= Self.maximumBytes {
                    head = sample
                    isOver = isChange
                    return segment(list, isLast: false)
                }
                list.append(sample)
                samples += self.samples(in: sample)
                bytes += sample.size
            } catch {
                isOver = true
                self.error = error
                return list.isEmpty ? nil : segment(list, isLast: false)
            }
        }
    }

    private mutating func take(
        _ packets: () throws(MediaError) -> CompressedSample?
    ) throws(MediaError) -> CompressedSample? {
        if let head = head.take() { return head }
        return try packets()
    }

    private mutating func segment(_ list: [CompressedSample], isLast: Bool) -> AudioChunk {
        let preRoll = number == 0 ? [] : rule.preRoll(recent, timeBase: timeBase)
        recent = Array((recent + list.suffix(Self.recentCount)).suffix(Self.recentCount))
        defer { number += 1 }
        return AudioChunk(
            number: number, preRoll: preRoll, packets: list, following: head, isLast: isLast, byteLimit: byteLimit)
    }

    /// How many samples a packet has by its duration, or as most codecs' have.
    private func samples(in sample: CompressedSample) -> Int {
        if countsSamples, (1...1 << 20).contains(sample.packet.duration) { return Int(sample.packet.duration) }
        let duration = MediaTime(ticks: sample.packet.duration, timeBase: timeBase)
        let samples = duration.sampleIndex(rate: Int32(clamping: sampleRate), rounding: .up) ?? 0
        return samples > 0 ? Int(min(samples, 1 << 20)) : 1024
    }
}
