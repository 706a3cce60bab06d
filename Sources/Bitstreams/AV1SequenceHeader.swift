package import MediaBase

// AV1's open bitstream units and sequence header: AV1 Bitstream & Decoding Process Specification, 5.3 and 5.5.

/// One open bitstream unit of AV1.
package struct AV1Unit: Sendable {
    /// 1 sequence header, 5 metadata, and others.
    package let type: UInt8
    /// What follows the header.
    package let payload: ArraySlice<UInt8>

    /// The units of a temporal unit, as far as they can be followed.
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

    /// A number of up to eight bytes of seven bits, the lowest first; `nil` where it does not end or is too large.
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

    /// Passes to the first operating point's level and over all others.
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

    /// `color_config`, 5.5.2.
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
