package import MediaBase

// The sequence parameter set of HEVC: ITU-T H.265, 7.3.2.2 and E.2.1.

extension SequenceInfo {
    /// Reads a sequence parameter set, including its NAL unit header.
    package init(hevcParameterSet unit: ArraySlice<UInt8>) throws(MediaError) {
        self.init()
        var reader = BitReader(NALUnits.payload(unit))
        try reader.skip(16 + 4)
        let subLayers = Int(try reader.bits(3))
        try reader.skip(1)
        try readProfile(&reader, subLayers: subLayers)
        _ = try reader.unsigned()
        let format = try reader.unsigned(atMost: 3)
        chroma = Chroma(index: format)
        // No pixel format corresponds to separately coded colour planes.
        if format == 3, try reader.flag() { chroma = nil }
        let width = try reader.unsigned(atMost: 1 << 16)
        let height = try reader.unsigned(atMost: 1 << 16)
        var (across, down) = (0, 0)
        if try reader.flag() {
            across = (try reader.unsigned(atMost: 1 << 16) + reader.unsigned(atMost: 1 << 16))
            down = (try reader.unsigned(atMost: 1 << 16) + reader.unsigned(atMost: 1 << 16))
            if format == 1 || format == 2 { across *= 2 }
            if format == 1 { down *= 2 }
        }
        size = Dimensions(width, height, croppingAcross: across, down: down)
        bitDepth = 8 + (try reader.unsigned(atMost: 8))
        chromaBitDepth = 8 + (try reader.unsigned(atMost: 8))
        let orderBits = 4 + (try reader.unsigned(atMost: 12))
        for _ in (try reader.flag() ? 0 : subLayers)...subLayers {
            _ = try reader.unsigned()
            // The last values apply to all sub-layers together.
            reorderedPictures = try reader.unsigned(atMost: 16)
            _ = try reader.unsigned()
        }
        for _ in 0..<6 { _ = try reader.unsigned() }
        if try reader.flag(), try reader.flag() { try Self.skipScalingLists(&reader) }
        try reader.skip(2)
        if try reader.flag() {
            try reader.skip(8)
            _ = try reader.unsigned()
            _ = try reader.unsigned()
            try reader.skip(1)
        }
        try Self.skipReferenceSets(&reader)
        if try reader.flag() {
            for _ in 0..<(try reader.unsigned(atMost: 32)) { try reader.skip(orderBits + 1) }
        }
        try reader.skip(2)
        if try reader.flag() {
            try readUsability(&reader)
            try reader.skip(1)
            // A sequence of fields; this flag takes precedence over the source's scan flags in the profile.
            if try reader.flag() { scan = .interlaced }
        }
        inferChromaLocation()
    }

    private mutating func readProfile(_ reader: inout BitReader, subLayers: Int) throws(MediaError) {
        try reader.skip(3)
        var profile = Int(try reader.bits(5))
        let compatible = try reader.bits(32)
        // Old encoders write 0 as the profile, and only the profiles that theirs is compatible with.
        if profile == 0 { profile = (1..<32).last { compatible >> (31 - UInt32($0)) & 1 == 1 } ?? 0 }
        self.profile = profile
        let isProgressive = try reader.flag()
        let isInterlaced = try reader.flag()
        switch (isProgressive, isInterlaced) {
        case (true, false): scan = .progressive
        case (false, true): scan = .interlaced
        default: break
        }
        try reader.skip(46)
        level = Int(try reader.bits(8))
        var present: [(profile: Bool, level: Bool)] = []
        for _ in 0..<subLayers { present.append((try reader.flag(), try reader.flag())) }
        if subLayers > 0 { try reader.skip(2 * (8 - subLayers)) }
        for layer in present { try reader.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
    }

    private static func skipScalingLists(_ reader: inout BitReader) throws(MediaError) {
        for size in 0..<4 {
            for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                if try reader.flag() {
                    if size > 1 { _ = try reader.signed() }
                    for _ in 0..<min(64, 1 << (4 + size << 1)) { _ = try reader.signed() }
                } else {
                    _ = try reader.unsigned()
                }
            }
        }
    }

    private static func skipReferenceSets(_ reader: inout BitReader) throws(MediaError) {
        let count = try reader.unsigned(atMost: 64)
        var pictures = 0
        for place in 0..<count {
            if place > 0, try reader.flag() {
                try reader.skip(1)
                _ = try reader.unsigned()
                var kept = 0
                for _ in 0...pictures {
                    let isUsed = try reader.flag()
                    let isKept = isUsed ? true : try reader.flag()
                    if isKept { kept += 1 }
                }
                pictures = kept
            } else {
                pictures = try reader.unsigned(atMost: 16) + reader.unsigned(atMost: 16)
                for _ in 0..<pictures {
                    _ = try reader.unsigned()
                    try reader.skip(1)
                }
            }
        }
    }
}
