package import MediaBase

// AV1's open bitstream units and sequence header: AV1 Bitstream & Decoding Process Specification, 5.3 and 5.5.

/// An open bitstream unit of AV1.
package struct AV1Unit: Sendable {
    /// The unit's type: 1 sequence header, 5 metadata, and others.
    package let type: UInt8
    /// The bytes after the unit's header.
    package let payload: ArraySlice<UInt8>

    /// Returns the units of a temporal unit, up to the first that cannot be read.
    package static func list(in bytes: ArraySlice<UInt8>, limit: Int = 1000) -> [AV1Unit] {
        var units: [AV1Unit] = []
        var rest = bytes
        while units.count < limit, let header = rest.popFirst() {
            if header & 0x04 != 0 { _ = rest.popFirst() }
            var size = rest.count
            if header & 0x02 != 0 {
                guard let (written, length) = leb128(rest), written <= rest.count - length else { break }
                rest = rest.dropFirst(length)
                size = written
            }
            units.append(AV1Unit(type: header >> 3 & 0xF, payload: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return units
    }

    /// Reads a number of up to eight bytes with seven bits each, lowest first; `nil` if it does not end within them.
    static func leb128(_ bytes: ArraySlice<UInt8>) -> (value: Int, length: Int)? {
        var value = 0
        for (place, byte) in bytes.prefix(8).enumerated() {
            value |= Int(byte & 0x7F) << (7 * place)
            if byte & 0x80 == 0 { return (value, place + 1) }
        }
        return nil
    }
}

extension SequenceInfo {
    /// Reads the payload of a sequence header.
    package init(av1SequenceHeader payload: ArraySlice<UInt8>) throws(MediaError) {
        self.init()
        var reader = BitReader(Array(payload))
        let profile = Int(try reader.bits(3))
        self.profile = profile
        try reader.skip(1)
        let isReduced = try reader.flag()
        level = isReduced ? Int(try reader.bits(5)) : try Self.av1Level(&reader)
        let widthBits = Int(try reader.bits(4)) + 1
        let heightBits = Int(try reader.bits(4)) + 1
        let width = Int(try reader.bits(widthBits)) + 1
        size = Dimensions(width: width, height: Int(try reader.bits(heightBits)) + 1)
        if !isReduced, try reader.flag() { try reader.skip(7) }
        try reader.skip(3)
        if !isReduced { try Self.skipAV1Tools(&reader) }
        try reader.skip(3)
        try readAV1Color(&reader, profile: profile)
    }

    /// Returns the level of the first operating point, and skips the others.
    private static func av1Level(_ reader: inout BitReader) throws(MediaError) -> Int {
        var delayBits: Int?
        if try reader.flag() {
            try reader.skip(64)
            if try reader.flag() { _ = try reader.variableLength() }
            if try reader.flag() {
                delayBits = Int(try reader.bits(5)) + 1
                try reader.skip(32 + 5 + 5)
            }
        }
        let hasDisplayDelay = try reader.flag()
        var first: Int?
        for _ in 0...(try reader.bits(5)) {
            try reader.skip(12)
            let level = Int(try reader.bits(5))
            if level > 7 { try reader.skip(1) }
            if let delayBits, try reader.flag() { try reader.skip(2 * delayBits + 1) }
            if hasDisplayDelay, try reader.flag() { try reader.skip(4) }
            first = first ?? level
        }
        return first ?? 0
    }

    private static func skipAV1Tools(_ reader: inout BitReader) throws(MediaError) {
        try reader.skip(4)
        let hasOrder = try reader.flag()
        if hasOrder { try reader.skip(2) }
        let choosesScreenTools = try reader.flag()
        let hasScreenTools = choosesScreenTools ? true : try reader.flag()
        if hasScreenTools, try !reader.flag() { try reader.skip(1) }
        if hasOrder { try reader.skip(3) }
    }

    /// Reads `color_config` (5.5.2).
    private mutating func readAV1Color(_ reader: inout BitReader, profile: Int) throws(MediaError) {
        let isHigh = try reader.flag()
        let isTwelve = profile == 2 && isHigh ? try reader.flag() : false
        bitDepth = isTwelve ? 12 : isHigh ? 10 : 8
        let isMonochrome = profile != 1 ? try reader.flag() : false
        var color = CodePoints()
        let isDescribed = try reader.flag()
        if isDescribed { try color.read(&reader) }
        if isMonochrome {
            color.isFullRange = try reader.flag()
            chroma = .monochrome
        } else if color == CodePoints(primaries: 1, transfer: 13, matrix: 0) {
            color.isFullRange = true
            chroma = .full
        } else {
            color.isFullRange = try reader.flag()
            switch profile {
            case 0: chroma = .quarter
            case 1: chroma = .full
            default:
                let isHalf = isTwelve ? try reader.flag() : true
                let isQuarter = isTwelve && isHalf ? try reader.flag() : false
                chroma = isQuarter ? .quarter : isHalf ? .half : .full
            }
            if chroma == .quarter {
                switch try reader.bits(2) {
                case 1: chromaLocation = 0
                case 2: chromaLocation = 2
                default: break
                }
            }
        }
        self.color = color
    }
}

// The start of VP9's frames: VP9 Bitstream & Decoding Process Specification, 6.2.

extension SequenceInfo {
    /// Reads the uncompressed header of a keyframe.
    ///
    /// - Throws: `damaged` if the frame is not a VP9 keyframe.
    package init(vp9KeyFrame frame: [UInt8]) throws(MediaError) {
        self.init()
        var reader = BitReader(Array(frame.prefix(32)))
        let isFrame = try reader.bits(2) == 2
        let low = try reader.bits(1)
        let profile = Int(try reader.bits(1) << 1 | low)
        if profile == 3 { try reader.skip(1) }
        let isRepeated = try reader.flag()
        let isInter = try reader.flag()
        try reader.skip(2)
        guard isFrame, !isRepeated, !isInter, try reader.bits(24) == 0x498342 else {
            throw MediaError(.damaged, "is no key frame of VP9")
        }
        self.profile = profile
        bitDepth = profile < 2 ? 8 : try reader.flag() ? 12 : 10
        var color = CodePoints()
        let space = try reader.bits(3)
        if space == 7 {
            color.matrix = 0
            color.isFullRange = true
            chroma = .full
            if profile & 1 == 1 { try reader.skip(1) }
        } else {
            color.matrix = [1: 5, 2: 1, 3: 6, 4: 7, 5: 9][space] ?? 2
            color.isFullRange = try reader.flag()
            chroma = .quarter
            if profile & 1 == 1 {
                let isHalf = try reader.flag()
                let isDownHalf = try reader.flag()
                try reader.skip(1)
                // Chroma with half the height and full width is 4:4:0, which has no case in `Chroma`.
                chroma = isHalf ? (isDownHalf ? .quarter : .half) : (isDownHalf ? nil : .full)
            }
        }
        self.color = color
        let width = Int(try reader.bits(16)) + 1
        size = Dimensions(width: width, height: Int(try reader.bits(16)) + 1)
    }
}

// The sequence header of MPEG-1 and MPEG-2 video and its extensions: ITU-T H.262, 6.2.2 and 6.2.3.

extension SequenceInfo {
    /// Reads the available headers at the start of a stream.
    ///
    /// - Throws: `damaged` if there is no sequence header.
    package init(mpegVideo bytes: [UInt8]) throws(MediaError) {
        self.init()
        var hasHeader = false
        for unit in NALUnits.inByteStream(bytes) {
            guard let code = unit.first else { continue }
            var reader = BitReader(Array(unit.dropFirst()))
            switch code {
            case 0xB3 where !hasHeader:
                try readSequenceHeader(&reader)
                hasHeader = true
            // A truncated extension is not an error.
            case 0xB5 where hasHeader: try? readExtension(&reader)
            // A slice comes after all headers.
            case 0x01...0xAF where hasHeader: return
            default: break
            }
        }
        guard hasHeader else { throw MediaError(.damaged, "has no sequence header") }
    }

    private mutating func readSequenceHeader(_ reader: inout BitReader) throws(MediaError) {
        let width = Int(try reader.bits(12))
        size = Dimensions(width: width, height: Int(try reader.bits(12)))
        try reader.skip(4)
        fixedFrameRate = Self.mpegRates[try reader.bits(4)]
        chroma = .quarter
        bitDepth = 8
        scan = .progressive
    }

    /// The frame rates by code (ITU-T H.262, table 6-4).
    private static let mpegRates: [UInt32: Rational] = [
        1: Rational(24000, 1001), 2: Rational(24), 3: Rational(25), 4: Rational(30000, 1001), 5: Rational(30),
        6: Rational(50), 7: Rational(60000, 1001), 8: Rational(60),
    ]

    private mutating func readExtension(_ reader: inout BitReader) throws(MediaError) {
        switch try reader.bits(4) {
        case 1:
            let code = try reader.bits(8)
            // Bit 7 marks the few profiles that have a separate table of levels, such as 4:2:2.
            if code & 0x80 == 0 {
                profile = Int(code >> 4 & 7)
                level = Int(code & 0xF)
            } else {
                (profile, level) = (0, [2: 8, 5: 5][code & 0xF])
            }
            scan = try reader.flag() ? .progressive : .interlaced
            chroma = Chroma(index: Int(try reader.bits(2)))
            let width = Int(try reader.bits(2))
            let height = Int(try reader.bits(2))
            size = size.map { Dimensions(width: $0.width | width << 12, height: $0.height | height << 12) }
            try reader.skip(12 + 1 + 8 + 1)
            let factor = Rational(Int64(try reader.bits(2)) + 1, Int64(try reader.bits(5)) + 1)
            fixedFrameRate = fixedFrameRate?.multiplied(by: factor)
        case 2:
            try reader.skip(3)
            guard try reader.flag() else { return }
            var color = CodePoints()
            try color.read(&reader)
            self.color = color
        case 8:
            try reader.skip(16 + 2)
            let structure = try reader.bits(2)
            let isTopFirst = try reader.flag()
            try reader.skip(5)
            _ = try reader.bits(2)
            let isProgressive = try reader.flag()
            guard scan == .interlaced else { return }
            if isProgressive {
                scan = .progressive
            } else {
                // A single field is stored first because it is shown first.
                scan =
                    structure == 3
                    ? (isTopFirst ? .topFieldFirst : .bottomFieldFirst)
                    : (structure == 1 ? .topFieldFirst : .bottomFieldFirst)
            }
        default: break
        }
    }
}

/// The header of a ProRes frame.
///
/// SMPTE RDD 36, 5.1.
package struct ProResFrameHeader: Hashable, Sendable {
    /// The picture size.
    package var size: Dimensions
    /// The chroma subsampling: 4:2:2 or 4:4:4.
    package var chroma: SequenceInfo.Chroma
    /// The scan type: whole frames, or the order of the fields.
    package var scan: FieldOrder
    /// The code points of primaries, transfer and matrix (ITU-T H.273); RDD 36 has only limited range.
    package var color: SequenceInfo.CodePoints
    /// The number of bits per alpha sample, 8 or 16; `nil` without alpha.
    package var alphaBits: Int?

    /// Reads the header of a frame.
    ///
    /// - Throws: `damaged` if the data is not a ProRes frame.
    package init(_ frame: [UInt8]) throws(MediaError) {
        var reader = BitReader(Array(frame.prefix(64)))
        try reader.skip(32)
        guard try reader.bits(32) == 0x6963_7066 else { throw MediaError(.damaged, "is not a frame of ProRes") }
        // The header's size, a reserved byte, the version and the encoder.
        try reader.skip(16 + 8 + 8 + 32)
        let width = Int(try reader.bits(16))
        size = Dimensions(width: width, height: Int(try reader.bits(16)))
        guard let chroma: SequenceInfo.Chroma = [2: .half, 3: .full][try reader.bits(2)] else {
            throw MediaError(.damaged, "has an impossible chroma format")
        }
        self.chroma = chroma
        try reader.skip(2)
        scan = [1: .topFieldFirst, 2: .bottomFieldFirst][try reader.bits(2)] ?? .progressive
        try reader.skip(2)
        // The aspect ratio and frame rate, which containers state better.
        try reader.skip(8)
        color = SequenceInfo.CodePoints(isFullRange: false)
        try color.read(&reader)
        // 0 has no more meaning than 2 (unspecified).
        if color.primaries == 0 { color.primaries = 2 }
        if color.transfer == 0 { color.transfer = 2 }
        if color.matrix == 0 { color.matrix = 2 }
        try reader.skip(4)
        alphaBits = [1: 8, 2: 16][try reader.bits(4)]
    }
}
