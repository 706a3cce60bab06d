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

/// What the headers of one track's pictures say, whatever the codec.
package struct PictureHeaders: Hashable, Sendable {
    /// The sequence's header; `nil` where the codec is not read, or none was found.
    package var sequence: SequenceInfo?
    /// HDR metadata among the messages.
    package var messages = HDRMessages()

    /// Codecs whose headers are read, by libavcodec's names.
    package static let codecs: Set<String> = ["h264", "hevc", "av1", "vp9", "mpeg2video", "mpeg1video"]

    /// Codecs that say something only in their samples.
    package static let codecsNeedingSample: Set<String> = ["hevc", "av1", "vp9", "mpeg2video"]

    /// Reads headers.
    ///
    /// - Parameters:
    ///   - codec: libavcodec's name of the codec.
    ///   - header: The codec's header as the container stores it; may be empty.
    ///   - sample: The first sample, or its beginning, as it is stored; may be empty.
    package init(codec: String, header: [UInt8], sample: [UInt8]) {
        switch codec {
        case "h264", "hevc":
            let isHEVC = codec == "hevc"
            var sets = ParameterSets(header, isHEVC: isHEVC)
            sets.units +=
                sets.lengthSize.map { NALUnits.inSample(sample, lengthSize: $0) } ?? NALUnits.inByteStream(sample)
            sequence =
                sets.units.lazy.compactMap { unit in
                    isHEVC
                        ? Self.isUnit(unit, hevc: 33) ? try? SequenceInfo(hevcParameterSet: unit) : nil
                        : (unit.first ?? 0) & 0x1F == 7 ? try? SequenceInfo(h264ParameterSet: unit) : nil
                }.first
            messages.read(sets.units, isHEVC: isHEVC)
            if sequence?.scan == .interlaced, let syntax = sequence?.h264Syntax {
                sequence?.scan = SequenceInfo.Scan(h264: sets.units, syntax: syntax) ?? .interlaced
            }
        case "av1":
            // Four bytes of configuration stand before the units (av1C).
            let units = AV1Unit.list(in: header.dropFirst(header.first == 0x81 ? 4 : 0)) + AV1Unit.list(in: sample[...])
            sequence =
                units.lazy.compactMap { unit in
                    unit.type == 1 ? try? SequenceInfo(av1SequenceHeader: unit.payload) : nil
                }.first
            messages.read(units)
        case "vp9": sequence = try? SequenceInfo(vp9KeyFrame: sample)
        case "mpeg2video", "mpeg1video": sequence = try? SequenceInfo(mpegVideo: header + sample)
        default: break
        }
    }

    private static func isUnit(_ unit: ArraySlice<UInt8>, hevc type: UInt8) -> Bool {
        unit.first.map { $0 >> 1 & 0x3F == type } ?? false
    }
}

/// Tells of VP8, VP9 and AV1 which samples hold only pictures that others refer to, and that are never shown.
package enum ShownPictures {
    /// Whether a codec has samples that are never shown.
    package static func canHide(codec: String) -> Bool { ["vp8", "vp9", "av1"].contains(codec) }

    /// Whether a sample gives a picture to show; `true` where its headers do not tell.
    ///
    /// - Parameters:
    ///   - codec: libavcodec's name of the codec.
    ///   - size: How many bytes the sample has.
    ///   - byte: The byte at a place of the sample; `nil` outside of it.
    package static func holdsOne(codec: String, size: Int, byte: (Int) -> UInt8?) -> Bool {
        switch codec {
        // RFC 6386, 9.1: key frame, version, show_frame; a sample without bytes repeats the picture before.
        case "vp8": byte(0).map { $0 & 0x10 != 0 } ?? true
        case "vp9": holdsVP9(size, byte)
        case "av1": holdsAV1(size, byte)
        default: true
        }
    }

    /// VP9 Bitstream & Decoding Process Specification, Annex B: several frames with an index at the sample's end.
    private static func holdsVP9(_ size: Int, _ byte: (Int) -> UInt8?) -> Bool {
        guard let first = byte(0), let marker = byte(size - 1) else { return true }
        let (count, width) = (Int(marker & 7) + 1, Int(marker >> 3 & 3) + 1)
        let end = size - (2 + count * width)
        guard marker & 0xE0 == 0xC0, end > 0, byte(end) == marker else { return isShownVP9(first) }
        var start = 0
        for frame in 0..<count where start < end {
            if let header = byte(start), isShownVP9(header) { return true }
            start += (0..<width).reduce(0) { $0 | Int(byte(end + 1 + frame * width + $1) ?? 0) << (8 * $1) }
        }
        return false
    }

    /// The uncompressed header's first byte (6.2): marker, profile, show_existing_frame, frame_type, show_frame.
    private static func isShownVP9(_ header: UInt8) -> Bool {
        guard header >> 6 == 2 else { return true }
        // Profile 3 has a reserved bit behind it.
        let bits = header & 0x30 == 0x30 ? header << 1 : header
        return bits & 0x0A != 0
    }

    /// AV1 Bitstream & Decoding Process Specification, 5.9.2: show_existing_frame, frame_type, show_frame.
    private static func holdsAV1(_ size: Int, _ byte: (Int) -> UInt8?) -> Bool {
        var place = 0
        var hasFrame = false
        while let header = byte(place), place < size {
            place += header & 0x04 != 0 ? 2 : 1
            var length = size - place
            if header & 0x02 != 0 {
                let written = (0..<8).map { byte(place + $0) ?? 0 }
                guard let (value, bytes) = AV1Unit.leb128(written[...]), value <= length - bytes else { return true }
                place += bytes
                length = value
            }
            // Frame headers, and frames.
            if [3, 6].contains(header >> 3 & 0xF), let frame = byte(place) {
                if frame & 0x90 != 0 { return true }
                hasFrame = true
            }
            place += length
        }
        return !hasFrame
    }
}
