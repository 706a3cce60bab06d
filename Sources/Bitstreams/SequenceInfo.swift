package import MediaBase

/// What coded pictures say of themselves in their own headers; what they do not say is `nil`.
package struct SequenceInfo: Hashable, Sendable {
    /// The profile as libavcodec numbers it.
    package var profile: Int?
    /// The level as the codec numbers it.
    package var level: Int?
    /// The picture after the codec's own cropping.
    package var size: Dimensions?
    /// Width of a pixel by its height.
    package var sampleAspectRatio: Rational?
    /// How many chroma samples there are for luma samples.
    package var chroma: Chroma?
    /// Bits of a luma sample.
    package var bitDepth: Int?
    /// Bits of a chroma sample, where they are written apart from those of luma.
    package var chromaBitDepth: Int?
    /// Whether chroma samples of 4:2:0 lie where ITU-T H.273 numbers it, 0 (left) to 5 (bottom).
    package var chromaLocation: Int?
    /// What the numbers of colours mean.
    package var color: CodePoints?
    /// Primaries, transfer and matrix are written, even if as "unspecified".
    package var hasColorDescription = false
    /// How many pictures may come before another one that is shown earlier; `nil` where the header leaves that open.
    package var reorderedPictures: Int?
    /// Frames a second by the codec's clock, where the header fixes them; else `nil`.
    package var fixedFrameRate: Rational?
    /// Whether pictures are whole frames or may be fields.
    package var scan: Scan?
    /// What further headers of H.264 are read by; `nil` for other codecs.
    package var h264Syntax: H264Syntax?

    /// How many chroma samples there are for luma samples.
    package enum Chroma: String, Hashable, Sendable {
        /// None at all.
        case monochrome = "4:0:0"
        /// Half across, half down.
        case quarter = "4:2:0"
        /// Half across.
        case half = "4:2:2"
        /// A quarter across.
        case narrow = "4:1:1"
        /// As many as luma.
        case full = "4:4:4"

        /// By the number of H.264 and HEVC (chroma_format_idc).
        init?(index: Int) {
            guard let chroma = [0: Self.monochrome, 1: .quarter, 2: .half, 3: .full][index] else { return nil }
            self = chroma
        }
    }

    /// How a frame's lines were taken.
    package enum Scan: String, Hashable, Sendable {
        /// Whole frames only.
        case progressive
        /// Fields occur, in an order that is not told here.
        case interlaced
        /// Fields; the upper is shown first.
        case topFieldFirst
        /// Fields; the lower is shown first.
        case bottomFieldFirst
    }

    /// Colours in the code points of ITU-T H.273; 2 is "unspecified".
    package struct CodePoints: Hashable, Sendable {
        /// The primaries.
        package var primaries: UInt16 = 2
        /// The transfer characteristic.
        package var transfer: UInt16 = 2
        /// The matrix.
        package var matrix: UInt16 = 2
        /// Whether the full range of numbers is used; `nil` where the stream does not say.
        package var isFullRange: Bool?

        /// Makes code points; each is unspecified unless given.
        package init(primaries: UInt16 = 2, transfer: UInt16 = 2, matrix: UInt16 = 2, isFullRange: Bool? = nil) {
            self.primaries = primaries
            self.transfer = transfer
            self.matrix = matrix
            self.isFullRange = isFullRange
        }
    }

    /// Nothing known.
    package init() {}
}

extension SequenceInfo {
    /// The shapes of a pixel that H.264 and HEVC number (ITU-T H.273, table 9); 255 means that numbers follow.
    private static let aspectRatios: [(Int64, Int64)] = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
        (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    /// Fills in what H.264 and HEVC say by saying nothing: chroma of 4:2:0 lies at the left.
    mutating func inferChromaLocation() {
        if chroma == .quarter, chromaLocation == nil { chromaLocation = 0 }
    }

    /// Reads the beginning of "video usability information", which H.264 (E.1.1) and HEVC (E.2.1) share.
    mutating func readUsability(_ reader: inout BitReader) throws(MediaError) {
        if try reader.flag() {
            let index = Int(try reader.bits(8))
            if index == 255 {
                let ratio = Rational(Int64(try reader.bits(16)), Int64(try reader.bits(16)))
                sampleAspectRatio = ratio.isPositive ? ratio : nil
            } else if Self.aspectRatios.indices.contains(index - 1) {
                let (width, height) = Self.aspectRatios[index - 1]
                sampleAspectRatio = Rational(width, height)
            }
        }
        if try reader.flag() { try reader.skip(1) }
        if try reader.flag() {
            try reader.skip(3)
            var color = CodePoints(isFullRange: try reader.flag())
            hasColorDescription = try reader.flag()
            if hasColorDescription { try color.read(&reader) }
            self.color = color
        }
        if try reader.flag() {
            chromaLocation = try reader.unsigned(atMost: 5)
            _ = try reader.unsigned(atMost: 5)
        }
    }
}

extension SequenceInfo.CodePoints {
    /// Takes three code points of eight bits.
    mutating func read(_ reader: inout BitReader) throws(MediaError) {
        primaries = UInt16(truncatingIfNeeded: try reader.bits(8))
        transfer = UInt16(truncatingIfNeeded: try reader.bits(8))
        matrix = UInt16(truncatingIfNeeded: try reader.bits(8))
    }
}

extension Dimensions {
    /// A size by what a header counts, less what it crops; `nil` where nothing is left or it is beyond any picture.
    init?(_ width: Int, _ height: Int, croppingAcross across: Int, down: Int) {
        guard width > across, height > down, across >= 0, down >= 0, width <= 1 << 20, height <= 1 << 20 else {
            return nil
        }
        self.init(width: width - across, height: height - down)
    }
}
