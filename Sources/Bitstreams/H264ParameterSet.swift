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
