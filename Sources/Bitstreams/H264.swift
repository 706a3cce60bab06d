package import MediaBase

// The sequence parameter set of H.264: ITU-T H.264, 7.3.2.1.1 and E.1.1.

extension SequenceInfo {
    /// Reads a sequence parameter set, including its NAL unit header.
    package init(h264ParameterSet unit: ArraySlice<UInt8>) throws(MediaError) {
        self.init()
        var reader = BitReader(NALUnits.payload(unit))
        try reader.skip(8)
        let profile = Int(try reader.bits(8))
        let constraints = try reader.bits(8)
        self.profile = Self.h264Profile(profile, constraints: constraints)
        level = Int(try reader.bits(8))
        // Profiles without a separate number for level 1b code it as 1.1 with a flag.
        if level == 11, constraints & 0x10 != 0, profile <= 88 { level = 9 }
        _ = try reader.unsigned()
        var format = 1
        var syntax = H264Syntax()
        bitDepth = 8
        if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profile) {
            format = try reader.unsigned(atMost: 3)
            if format == 3 { syntax.hasSeparatePlanes = try reader.flag() }
            bitDepth = 8 + (try reader.unsigned(atMost: 6))
            chromaBitDepth = 8 + (try reader.unsigned(atMost: 6))
            try reader.skip(1)
            if try reader.flag() {
                for list in 0..<(format == 3 ? 12 : 8) where try reader.flag() {
                    try Self.skipScalingList(&reader, count: list < 6 ? 16 : 64)
                }
            }
        }
        chroma = Chroma(index: format)
        syntax.frameNumberBits = try reader.unsigned(atMost: 12) + 4
        // With type 2, pictures are shown in the order in which they are stored (8.2.1.3).
        if try Self.skipPictureOrder(&reader) == 2 { reorderedPictures = 0 }
        _ = try reader.unsigned()
        try reader.skip(1)
        let width = (try reader.unsigned(atMost: 1 << 16) + 1) * 16
        let rows = try reader.unsigned(atMost: 1 << 16) + 1
        let isFramesOnly = try reader.flag()
        if !isFramesOnly { try reader.skip(1) }
        try reader.skip(1)
        let height = rows * 16 * (isFramesOnly ? 1 : 2)
        var (across, down) = (0, 0)
        if try reader.flag() {
            let planes = syntax.hasSeparatePlanes ? 0 : format
            let unitX = planes == 1 || planes == 2 ? 2 : 1
            let unitY = (planes == 1 ? 2 : 1) * (isFramesOnly ? 1 : 2)
            across = (try reader.unsigned(atMost: 1 << 20) + reader.unsigned(atMost: 1 << 20)) * unitX
            down = (try reader.unsigned(atMost: 1 << 20) + reader.unsigned(atMost: 1 << 20)) * unitY
        }
        size = Dimensions(width, height, croppingAcross: across, down: down)
        scan = isFramesOnly ? .progressive : .interlaced
        syntax.hasUsability = try reader.flag()
        if syntax.hasUsability {
            try readUsability(&reader)
            // If the set ends here, everything about its pictures has been read.
            try? readTiming(&reader, &syntax)
        }
        h264Syntax = syntax
        inferChromaLocation()
    }

    /// Returns the profile as libavcodec numbers it, with flag bits for "constrained" and "intra".
    private static func h264Profile(_ profile: Int, constraints: UInt32) -> Int {
        switch profile {
        case 66 where constraints & 0x40 != 0: profile | 1 << 9
        case 110, 122, 244: constraints & 0x10 != 0 ? profile | 1 << 11 : profile
        default: profile
        }
    }

    private static func skipScalingList(_ reader: inout BitReader, count: Int) throws(MediaError) {
        var (last, next): (Int64, Int64) = (8, 8)
        for _ in 0..<count {
            if next != 0 { next = (last + (try reader.signed()) % 256 + 256) % 256 }
            if next != 0 { last = next }
        }
    }

    /// Continues reading "video usability information" (E.1.1) at `timing_info_present_flag`.
    private mutating func readTiming(_ reader: inout BitReader, _ syntax: inout H264Syntax) throws(MediaError) {
        if try reader.flag() {
            let (units, scale) = (Int64(try reader.bits(32)), Int64(try reader.bits(32)))
            // The clock counts fields.
            let rate = Rational(scale, 2 * units)
            if try reader.flag(), rate.isPositive { fixedFrameRate = rate }
        }
        try syntax.readDelays(&reader)
        guard try reader.flag() else { return }
        try reader.skip(1)
        for _ in 0..<4 { _ = try reader.unsigned() }
        reorderedPictures = try reader.unsigned(atMost: 16)
    }

    /// Skips the picture order fields and returns the type of order.
    private static func skipPictureOrder(_ reader: inout BitReader) throws(MediaError) -> Int {
        let type = try reader.unsigned(atMost: 2)
        switch type {
        case 0: _ = try reader.unsigned()
        case 1:
            try reader.skip(1)
            _ = try reader.signed()
            _ = try reader.signed()
            for _ in 0..<(try reader.unsigned(atMost: 255)) { _ = try reader.signed() }
        default: break
        }
        return type
    }
}

/// The fields of an H.264 sequence parameter set that are needed to parse further headers.
///
/// ITU-T H.264, 7.3.2.1.1 and E.1.1.
package struct H264Syntax: Hashable, Sendable {
    /// The number of bits in a slice header's `frame_num`.
    var frameNumberBits = 4
    /// True if slice headers state which colour plane they belong to.
    var hasSeparatePlanes = false
    /// The number of delay bits at the start of a picture timing message.
    var delayBits = 0
    /// True if picture timing messages state how a frame is shown.
    var hasPictureStructure = false
    /// True if the set contains "video usability information".
    package var hasUsability = false
}

extension H264Syntax {
    /// Continues reading "video usability information" (E.1.1) at `nal_hrd_parameters_present_flag`.
    mutating func readDelays(_ reader: inout BitReader) throws(MediaError) {
        var delays: Int?
        for _ in 0..<2 where try reader.flag() { delays = try Self.delayBits(&reader) }
        if let delays {
            delayBits = delays
            try reader.skip(1)
        }
        hasPictureStructure = try reader.flag()
    }

    /// Skips `hrd_parameters` (E.1.2) and returns the total number of bits of the two delays.
    private static func delayBits(_ reader: inout BitReader) throws(MediaError) -> Int {
        let count = try reader.unsigned(atMost: 31) + 1
        try reader.skip(8)
        for _ in 0..<count {
            _ = try reader.unsigned()
            _ = try reader.unsigned()
            try reader.skip(1)
        }
        try reader.skip(5)
        let bits = try reader.bits(5) + 1 + reader.bits(5) + 1
        try reader.skip(5)
        return Int(bits)
    }
}

/// A coded H.264 picture: a frame, or one field of a frame.
package struct H264Picture: Hashable, Sendable {
    /// The frame number (`frame_num`), which is the same for both fields of a frame.
    package let frameNumber: UInt32
    /// True for the bottom field of a frame, false for the top field; `nil` for a whole frame.
    package let isBottomField: Bool?
}

extension H264Picture {
    /// Reads the start of the first slice among units (7.3.3); `nil` if there is no slice or it is truncated.
    package init?(_ units: [ArraySlice<UInt8>], syntax: H264Syntax) {
        guard let slice = units.first(where: { [1, 2, 5].contains(($0.first ?? 0) & 0x1F) }),
            let picture = try? Self.read(slice.prefix(64), syntax)
        else { return nil }
        self = picture
    }

    private static func read(_ slice: ArraySlice<UInt8>, _ syntax: H264Syntax) throws(MediaError) -> H264Picture {
        var reader = BitReader(NALUnits.payload(slice))
        try reader.skip(8)
        // The first macroblock, the slice type and the picture parameter set ID.
        for _ in 0..<3 { _ = try reader.unsigned() }
        if syntax.hasSeparatePlanes { try reader.skip(2) }
        let number = try reader.bits(syntax.frameNumberBits)
        return H264Picture(frameNumber: number, isBottomField: try reader.flag() ? try reader.flag() : nil)
    }
}

extension FieldOrder {
    /// Determines the field order from the first sample of a stream that may contain fields; `nil` if it is not stated.
    ///
    /// A picture timing message (D.2.3, pic_struct) takes precedence. Without one, the sample's first field is the
    /// first to be shown.
    init?(h264 units: [ArraySlice<UInt8>], syntax: H264Syntax) {
        if syntax.hasPictureStructure, let message = SupplementalMessages.first(1, in: units) {
            var reader = BitReader(message)
            if (try? reader.skip(syntax.delayBits)) != nil, let structure = try? reader.bits(4) {
                switch structure {
                case 1, 3, 5: self = .topFieldFirst
                case 2, 4, 6: self = .bottomFieldFirst
                default: return nil
                }
                return
            }
        }
        guard let isBottom = H264Picture(units, syntax: syntax)?.isBottomField else { return nil }
        self = isBottom ? .bottomFieldFirst : .topFieldFirst
    }
}

/// Detects, packet by packet, the second fields of frames in H.264.
package struct H264FieldPairs: Sendable {
    private let syntax: H264Syntax
    /// The size of the length field before each unit, in bytes; `nil` for start codes.
    private let lengthSize: Int?
    private var first: H264Picture?

    /// The number of bytes to inspect at the start of a packet; its first slice starts within them.
    package static let headLength = 4096

    /// Creates a detector; `nil` if the stream contains only whole frames.
    ///
    /// - Parameter header: The codec's header as the container passes it on.
    package init?(header: [UInt8]) {
        let sets = ParameterSets(header, isHEVC: false)
        guard let sequence = PictureHeaders(codec: "h264", header: header, sample: []).sequence,
            sequence.scan != .progressive, let syntax = sequence.h264Syntax
        else { return nil }
        self.syntax = syntax
        lengthSize = sets.lengthSize
    }

    /// Returns the units at the start of a packet; the last one may be truncated.
    private func units(_ head: [UInt8]) -> [ArraySlice<UInt8>] {
        guard let lengthSize else { return NALUnits.inByteStream(head) }
        return NALUnits.inSample(head, lengthSize: lengthSize, isCutOff: true)
    }

    /// Reports whether the next packet, given its start, completes the frame of the previous packet.
    package mutating func isSecondField(_ head: [UInt8]) -> Bool {
        let picture = H264Picture(units(head), syntax: syntax)
        if let picture, let before = first, picture.frameNumber == before.frameNumber,
            let isBottom = picture.isBottomField, before.isBottomField == !isBottom
        {
            first = nil
            return true
        }
        first = picture?.isBottomField == nil ? nil : picture
        return false
    }

    /// Reports whether a second field, given the start of its packet, can be in the same sample as the first field.
    ///
    /// libavcodec applies a parameter set between the fields of one sample to the first field as well.
    package func isJoinable(_ head: [UInt8]) -> Bool {
        units(head).allSatisfy { ![7, 8].contains(($0.first ?? 0) & 0x1F) }
    }
}
