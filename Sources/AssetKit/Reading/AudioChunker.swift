import LibAV
import MediaBase

/// The conditions for decoding a codec's audio in chunks, such as the pre-roll that a decoder needs.
///
/// Contains only codecs whose decoders were observed to produce the same output after this pre-roll as from the start.
struct ChunkingRule: Sendable {
    /// The agreement required at a seam between a chunk and the decoder of the chunk before.
    enum Seam: Sendable {
        /// The samples are identical bit by bit.
        case identical
        /// Format, length and time agree; the decoder adds noise, which differs between any two decoders.
        case alike
    }

    /// The agreement required at a seam.
    let seam: Seam
    /// True if a flushed decoder is reused for another chunk: opening is slow, and flushing leaves no state.
    let keepsDecoders: Bool
    /// The minimum number of packets in the pre-roll.
    private let packets: Int
    /// The minimum size of the pre-roll in bytes.
    private let bytes: Int
    /// The minimum duration of the pre-roll.
    private let duration: MediaTime
    /// The factor by which chunks are longer than usual to outweigh a long pre-roll; packets of such codecs are
    /// small.
    let lengthFactor: Int
    /// The maximum number of samples in a frame; a longer frame belongs to an unknown extension of the codec.
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

    /// Returns the rule for a track; `nil` for codecs that are decoded serially.
    init?(_ format: FormatDescription) {
        switch format.codec {
        // Each frame is independent.
        case "flac", "alac": self.init(.identical, packets: 0, keepsDecoders: true)
        case "tta", "wavpack": self.init(.identical, packets: 1)
        // Half of a window overlaps. Opening a decoder builds tables of the codebooks.
        case "vorbis": self.init(.identical, packets: 4, lengthFactor: 2, keepsDecoders: true)
        // The filter bank remembers one frame.
        case "mp2": self.init(.identical, packets: 4)
        // The bit reservoir reaches 511 bytes back, not counting headers.
        case "mp3": self.init(.identical, packets: 4, bytes: 2048)
        // Each band's energy is coded relative to a part of the frame before. After some 30 frames of 20 ms, no error
        // remains in 24 bits.
        case "opus":
            self.init(.identical, packets: 8, milliseconds: 800, lengthFactor: 3, keepsDecoders: true)
        // Spectral band replication (twice the samples per frame) has headers only in some packets.
        case "aac" where format.profile == "LC": self.init(.alike, packets: 4, longestFrame: 1024)
        case "ac3", "eac3": self.init(.alike, packets: 4)
        default: return nil
        }
    }

    /// Returns the shortest sufficient pre-roll from the end of some packets; all packets if they do not suffice.
    func preRoll(_ recent: ArraySlice<CompressedSample>, timeBase: Rational) -> [CompressedSample] {
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

    /// Returns true if the frames of two decoders for the same packet agree.
    func accepts(_ left: borrowing Frame, _ right: borrowing Frame) -> Bool {
        guard left.sampleCount <= longestFrame, left.isCorrupt == right.isCorrupt else { return false }
        switch seam {
        case .identical: return left.isIdentical(to: right)
        case .alike: return left.hasShape(of: right)
        }
    }
}

/// Decides where the packets of a track are cut into chunks, by the packets alone.
struct ChunkBorders: Sendable {
    /// The place of a packet.
    enum Step {
        case sameChunk
        /// The packet starts a chunk, for which decoding these packets prepares a decoder.
        case newChunk(preRoll: [CompressedSample])
        /// The packet has new parameters; a decoder that has not seen all packets before would behave differently.
        case newHeader
    }

    private let rule: ChunkingRule
    private let timeBase: Rational
    private let sampleRate: Int
    /// True if durations are counted in samples.
    private let countsSamples: Bool
    /// The approximate number of samples per channel in a chunk.
    private let length: Int
    /// The size of a chunk's decoded audio, in bytes, above which its packets state too short durations.
    let byteLimit: Int

    private var isFirst = true
    private var packets = 0
    private var samples = 0
    private var bytes = 0
    /// The last packets.
    private var recent: [CompressedSample] = []

    /// The range of packets in a chunk; the minimum keeps the pre-roll from outweighing the chunk.
    private static let packetCounts = 8...1 << 14
    /// The maximum size of a chunk's packets in bytes.
    private static let maximumBytes = 16 << 20
    /// The number of packets that are kept for the pre-roll.
    private static let recentCount = 256

    /// - Parameter bytes: The approximate size of a chunk's decoded audio in bytes, at 32 bits per sample.
    init(_ rule: ChunkingRule, format: AudioFormat, timeBase: Rational, bytes: Int) {
        self.rule = rule
        self.timeBase = timeBase
        sampleRate = max(1, format.sampleRate)
        countsSamples = timeBase == Rational(1, Int64(sampleRate))
        length = Self.samples(in: bytes, format) * rule.lengthFactor
        byteLimit = 4 * max(bytes, 1 << 20) * rule.lengthFactor
    }

    /// Returns the approximate number of samples per channel in a chunk.
    static func samples(in bytes: Int, _ format: AudioFormat) -> Int { max(1, bytes / (4 * max(1, format.channels))) }

    /// Returns the place of the packet that follows the previous one.
    mutating func next(_ sample: CompressedSample) -> Step {
        let isFull = samples >= length && packets >= Self.packetCounts.lowerBound
        var step = Step.sameChunk
        if sample.packet.changesFormat, !isFirst {
            step = .newHeader
        } else if isFull || packets >= Self.packetCounts.upperBound || bytes >= Self.maximumBytes {
            step = .newChunk(preRoll: rule.preRoll(recent.suffix(Self.recentCount), timeBase: timeBase))
            (packets, samples, bytes) = (0, 0, 0)
        }
        isFirst = false
        packets += 1
        samples += self.samples(in: sample)
        bytes += sample.size
        recent.append(sample)
        if recent.count > 2 * Self.recentCount { recent.removeFirst(Self.recentCount) }
        return step
    }

    /// Returns the number of samples in a packet by its duration, or a typical number if it has none.
    private func samples(in sample: CompressedSample) -> Int {
        if countsSamples, (1...1 << 20).contains(sample.packet.duration) { return Int(sample.packet.duration) }
        let duration = MediaTime(ticks: sample.packet.duration, timeBase: timeBase)
        let samples = duration.sampleIndex(rate: Int32(clamping: sampleRate), rounding: .up) ?? 0
        return samples > 0 ? Int(min(samples, 1 << 20)) : 1024
    }
}

/// Cuts the packets of a track into chunks.
struct AudioChunker: Sendable {
    private var borders: ChunkBorders
    private var number = 0
    /// The first packet of the next chunk, and the packets that prepare a decoder for it.
    private(set) var head: CompressedSample?
    private var preRoll: [CompressedSample] = []
    /// True if no more chunks can be cut.
    private(set) var isOver = false
    /// The error that ended the packets.
    private(set) var error: MediaError?

    init(_ borders: ChunkBorders) { self.borders = borders }

    /// Returns the next chunk; `nil` if there is none.
    mutating func next(from packets: () throws(MediaError) -> CompressedSample?) -> AudioChunk? {
        guard !isOver else { return nil }
        var list = [head.take()].compactMap(\.self)
        while true {
            do throws(MediaError) {
                guard let sample = try packets() else {
                    isOver = true
                    return list.isEmpty && number > 0 ? nil : chunk(list, isLast: true)
                }
                switch borders.next(sample) {
                case .sameChunk:
                    list.append(sample)
                    continue
                case .newChunk(let preRoll):
                    head = sample
                    defer { self.preRoll = preRoll }
                    return chunk(list, isLast: false)
                case .newHeader:
                    head = sample
                    isOver = true
                    return chunk(list, isLast: false)
                }
            } catch {
                isOver = true
                self.error = error
                return list.isEmpty ? nil : chunk(list, isLast: false)
            }
        }
    }

    private mutating func chunk(_ list: [CompressedSample], isLast: Bool) -> AudioChunk {
        defer { number += 1 }
        return AudioChunk(
            number: number, preRoll: preRoll, packets: list, following: head, isLast: isLast,
            byteLimit: borders.byteLimit)
    }
}
