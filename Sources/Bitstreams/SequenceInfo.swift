package import MediaBase

/// The properties of a video stream as stated in its own headers; `nil` if not stated.
package struct SequenceInfo: Hashable, Sendable {
    /// The profile as libavcodec numbers it.
    package var profile: Int?
    /// The level as the codec numbers it.
    package var level: Int?
    /// The picture size after the codec's own cropping.
    package var size: Dimensions?
    /// The ratio of a pixel's width to its height.
    package var sampleAspectRatio: Rational?
    /// The chroma subsampling.
    package var chroma: Chroma?
    /// The number of bits per luma sample.
    package var bitDepth: Int?
    /// The number of bits per chroma sample, if it is stated separately.
    package var chromaBitDepth: Int?
    /// The location of 4:2:0 chroma samples as numbered by ITU-T H.273, from 0 (left) to 5 (bottom).
    package var chromaLocation: Int?
    /// The colour description.
    package var color: CodePoints?
    /// True if primaries, transfer and matrix are stated, even as "unspecified".
    package var hasColorDescription = false
    /// The maximum number of pictures stored before a picture that is shown earlier; `nil` if the header does not state
    /// it.
    package var reorderedPictures: Int?
    /// The frame rate from the codec's clock, if the header declares it fixed; otherwise `nil`.
    package var fixedFrameRate: Rational?
    /// The scan type of the pictures.
    package var scan: FieldOrder?
    /// The fields needed to parse further H.264 headers; `nil` for other codecs.
    package var h264Syntax: H264Syntax?

    /// The number of chroma samples relative to luma samples.
    package enum Chroma: String, Hashable, Sendable {
        /// No chroma.
        case monochrome = "4:0:0"
        /// Half the width and half the height of luma.
        case quarter = "4:2:0"
        /// Half the width of luma.
        case half = "4:2:2"
        /// A quarter of the width of luma.
        case narrow = "4:1:1"
        /// The same size as luma.
        case full = "4:4:4"

        /// Creates a value from the number in H.264 and HEVC (chroma_format_idc).
        init?(index: Int) {
            guard let chroma = [0: Self.monochrome, 1: .quarter, 2: .half, 3: .full][index] else { return nil }
            self = chroma
        }
    }

    /// A colour description in the code points of ITU-T H.273; 2 is "unspecified".
    package struct CodePoints: Hashable, Sendable {
        /// The primaries.
        package var primaries: UInt16 = 2
        /// The transfer characteristic.
        package var transfer: UInt16 = 2
        /// The matrix.
        package var matrix: UInt16 = 2
        /// True if the full range of values is used; `nil` if the stream does not state it.
        package var isFullRange: Bool?

        /// Creates code points, which are unspecified by default.
        package init(primaries: UInt16 = 2, transfer: UInt16 = 2, matrix: UInt16 = 2, isFullRange: Bool? = nil) {
            self.primaries = primaries
            self.transfer = transfer
            self.matrix = matrix
            self.isFullRange = isFullRange
        }
    }

    /// Creates a value without any known properties.
    package init() {}
}

extension SequenceInfo {
    /// The pixel aspect ratios numbered by H.264 and HEVC (ITU-T H.273, table 9); 255 means that an explicit ratio
    /// follows.
    private static let aspectRatios: [(Int64, Int64)] = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
        (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]

    /// Sets the default of H.264 and HEVC for 4:2:0 chroma without a stated location, which is left.
    mutating func inferChromaLocation() {
        if chroma == .quarter, chromaLocation == nil { chromaLocation = 0 }
    }

    /// Reads the start of "video usability information", which H.264 (E.1.1) and HEVC (E.2.1) share.
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
    /// Reads three eight-bit code points.
    mutating func read(_ reader: inout BitReader) throws(MediaError) {
        primaries = UInt16(truncatingIfNeeded: try reader.bits(8))
        transfer = UInt16(truncatingIfNeeded: try reader.bits(8))
        matrix = UInt16(truncatingIfNeeded: try reader.bits(8))
    }
}

extension Dimensions {
    /// Creates a size from the coded size and the cropped amounts; `nil` if nothing remains or the size is impossibly
    /// large.
    init?(_ width: Int, _ height: Int, croppingAcross across: Int, down: Int) {
        guard width > across, height > down, across >= 0, down >= 0, width <= 1 << 20, height <= 1 << 20 else {
            return nil
        }
        self.init(width: width - across, height: height - down)
    }
}

/// The information in the video headers of one track, for any supported codec.
package struct PictureHeaders: Hashable, Sendable {
    /// The sequence header; `nil` if the codec is not supported or no header was found.
    package var sequence: SequenceInfo?
    /// The HDR metadata in the stream's messages.
    package var messages = HDRMessages()

    /// The libavcodec names of the codecs whose headers are read.
    package static let codecs: Set<String> = ["h264", "hevc", "av1", "vp9", "mpeg2video", "mpeg1video"]

    /// The codecs that state some properties only in their samples.
    package static let codecsNeedingSample: Set<String> = ["hevc", "av1", "vp9", "mpeg2video"]

    /// Reads the headers of a track.
    ///
    /// - Parameters:
    ///   - codec: The libavcodec name of the codec.
    ///   - header: The codec's header as the container stores it; may be empty.
    ///   - sample: The first sample, or its start, as stored; may be empty.
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
                sequence?.scan = FieldOrder(h264: sets.units, syntax: syntax) ?? .interlaced
            }
        case "av1":
            // In av1C, four bytes of configuration precede the units.
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

/// Detects VP8, VP9 and AV1 samples that contain only reference pictures that are never shown.
package enum ShownPictures {
    /// Reports whether a codec can have samples that are never shown.
    package static func canHide(codec: String) -> Bool { ["vp8", "vp9", "av1"].contains(codec) }

    /// Reports whether a sample yields a picture to show; true if its headers do not state it.
    ///
    /// - Parameters:
    ///   - codec: The libavcodec name of the codec.
    ///   - size: The size of the sample in bytes.
    ///   - byte: Returns the byte at an offset in the sample; `nil` outside the sample.
    package static func holdsOne(codec: String, size: Int, byte: (Int) -> UInt8?) -> Bool {
        switch codec {
        // RFC 6386, 9.1: key frame, version, show_frame; an empty sample repeats the previous picture.
        case "vp8": byte(0).map { $0 & 0x10 != 0 } ?? true
        case "vp9": holdsVP9(size, byte)
        case "av1": holdsAV1(size, byte)
        default: true
        }
    }

    /// Checks the frames of a sample, which can have an index at its end.
    ///
    /// VP9 Bitstream & Decoding Process Specification, Annex B.
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

    /// Checks the first byte of the uncompressed header (6.2).
    ///
    /// The byte contains the marker, profile, show_existing_frame, frame_type and show_frame.
    private static func isShownVP9(_ header: UInt8) -> Bool {
        guard header >> 6 == 2 else { return true }
        // In profile 3, a reserved bit follows the profile.
        let bits = header & 0x30 == 0x30 ? header << 1 : header
        return bits & 0x0A != 0
    }

    /// Checks the frame headers of a sample: show_existing_frame, frame_type, show_frame.
    ///
    /// AV1 Bitstream & Decoding Process Specification, 5.9.2.
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
            // Frame headers and frames.
            if [3, 6].contains(header >> 3 & 0xF), let frame = byte(place) {
                if frame & 0x90 != 0 { return true }
                hasFrame = true
            }
            place += length
        }
        return !hasFrame
    }
}
