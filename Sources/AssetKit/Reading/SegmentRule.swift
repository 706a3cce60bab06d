import LibAV
import MediaBase

/// Whether and how a codec's sound may be decoded in segments: how much a decoder must have heard before.
///
/// Only codecs are listed whose decoders were seen to give the same after so much pre-roll as from the start.
struct SegmentRule: Sendable {
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
    func preRoll(_ recent: [StoredSample], timeBase: Rational) -> [StoredSample] {
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
