package import MediaBase

// The sequence parameter set of H.264: ITU-T H.264, 7.3.2.1.1 and E.1.1.

extension SequenceInfo {
    /// Reads a sequence parameter set, with its NAL unit header.
    package init(h264ParameterSet unit: ArraySlice<UInt8>) throws(MediaError) {
        self.init()
        var reader = BitReader(NALUnits.payload(unit))
        try reader.skip(8)
        let profile = Int(try reader.bits(8))
        let constraints = try reader.bits(8)
        self.profile = Self.h264Profile(profile, constraints: constraints)
        level = Int(try reader.bits(8))
        // Level 1b is written as 1.1 with a flag where there is no number of its own.
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
        // Pictures are then shown in the order in which they are stored (8.2.1.3).
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
            // A set that ends here has said all about its pictures.
            try? readTiming(&reader, &syntax)
        }
        h264Syntax = syntax
        inferChromaLocation()
    }

    /// The profile as libavcodec numbers it: with a bit for "constrained" and one for "intra".
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

    /// Reads on in "video usability information" (E.1.1) from `timing_info_present_flag`.
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

    /// Passes over the order of pictures and gives its type.
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

/// What of a sequence parameter set of H.264 it takes to read further headers.
///
/// ITU-T H.264, 7.3.2.1.1 and E.1.1.
package struct H264Syntax: Hashable, Sendable {
    /// How many bits a slice header's `frame_num` has.
    var frameNumberBits = 4
    /// Whether a slice header says which colour it is of.
    var hasSeparatePlanes = false
    /// How many bits of delays stand at the beginning of a picture timing message.
    var delayBits = 0
    /// Whether a picture timing message says how its frame is shown.
    var hasPictureStructure = false
    /// Whether there is "video usability information" at all.
    package var hasUsability = false
}

extension H264Syntax {
    /// Reads on in "video usability information" (E.1.1) from `nal_hrd_parameters_present_flag`.
    mutating func readDelays(_ reader: inout BitReader) throws(MediaError) {
        var delays: Int?
        for _ in 0..<2 where try reader.flag() { delays = try Self.delayBits(&reader) }
        if let delays {
            delayBits = delays
            try reader.skip(1)
        }
        hasPictureStructure = try reader.flag()
    }

    /// Passes over `hrd_parameters` (E.1.2) and gives how many bits the two delays take.
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

/// What a coded picture of H.264 is: a frame, or one field of a frame.
package struct H264Picture: Hashable, Sendable {
    /// The number of its frame, which both fields share (`frame_num`).
    package let frameNumber: UInt32
    /// Whether it is the lower field of a frame; `nil` for a frame.
    package let isBottomField: Bool?

    /// Reads the beginning of the first slice among units (7.3.3); `nil` where there is none, or it is cut off.
    package init?(_ units: [ArraySlice<UInt8>], syntax: H264Syntax) {
        guard let slice = units.first(where: { [1, 2, 5].contains(($0.first ?? 0) & 0x1F) }),
            let picture = try? Self.read(slice.prefix(64), syntax)
        else { return nil }
        self = picture
    }

    private init(frameNumber: UInt32, isBottomField: Bool?) {
        self.frameNumber = frameNumber
        self.isBottomField = isBottomField
    }

    private static func read(_ slice: ArraySlice<UInt8>, _ syntax: H264Syntax) throws(MediaError) -> H264Picture {
        var reader = BitReader(NALUnits.payload(slice))
        try reader.skip(8)
        // The first macroblock, the slice's type, the picture parameter set.
        for _ in 0..<3 { _ = try reader.unsigned() }
        if syntax.hasSeparatePlanes { try reader.skip(2) }
        let number = try reader.bits(syntax.frameNumberBits)
        return H264Picture(frameNumber: number, isBottomField: try reader.flag() ? try reader.flag() : nil)
    }
}

extension SequenceInfo.Scan {
    /// The order of fields that a first sample tells, in a stream that may have fields; `nil` where it tells none.
    ///
    /// A picture timing message (D.2.3, pic_struct) goes first; else the sample's first field is the first one.
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

/// Tells, packet by packet, which ones of H.264 are the second field of a frame.
package struct H264FieldPairs: Sendable {
    private let syntax: H264Syntax
    /// How many bytes before each unit say how long it is; `nil` for start codes.
    private let lengthSize: Int?
    private var first: H264Picture?

    /// How many bytes of a packet are looked at; its first slice begins within them.
    package static let headLength = 4096

    /// Makes a reader; `nil` where there are whole frames only.
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

    /// The units of a packet's beginning, of which the last may be cut off.
    private func units(_ head: [UInt8]) -> [ArraySlice<UInt8>] {
        guard let lengthSize else { return NALUnits.inByteStream(head) }
        return NALUnits.inSample(head, lengthSize: lengthSize, isCutOff: true)
    }

    /// Whether the next packet, of which this is the beginning, completes the frame of the packet before.
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

    /// Whether a second field, of which this is the beginning, can be one sample with the first.
    ///
    /// libavcodec takes a parameter set that stands between the fields of one sample as the first field's too.
    package func isJoinable(_ head: [UInt8]) -> Bool {
        units(head).allSatisfy { ![7, 8].contains(($0.first ?? 0) & 0x1F) }
    }
}
