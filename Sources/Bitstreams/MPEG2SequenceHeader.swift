package import MediaBase

// The sequence header of MPEG-1 and MPEG-2 video and its extensions: ITU-T H.262, 6.2.2 and 6.2.3.

extension SequenceInfo {
    /// Reads the headers at the beginning of a stream, as far as they are there.
    ///
    /// - Throws: `damaged` where there is no sequence header.
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
            // What is cut off says nothing.
            case 0xB5 where hasHeader: try? readExtension(&reader)
            // A slice: all headers were before it.
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

    /// ITU-T H.262, table 6-4.
    private static let mpegRates: [UInt32: Rational] = [
        1: Rational(24000, 1001), 2: Rational(24), 3: Rational(25), 4: Rational(30000, 1001), 5: Rational(30),
        6: Rational(50), 7: Rational(60000, 1001), 8: Rational(60),
    ]

    private mutating func readExtension(_ reader: inout BitReader) throws(MediaError) {
        switch try reader.bits(4) {
        case 1:
            let code = try reader.bits(8)
            // Bit 7 marks the few profiles that have a table of their own, such as 4:2:2.
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
                // A field by itself comes first in the stream because it is shown first.
                scan =
                    structure == 3
                    ? (isTopFirst ? .topFieldFirst : .bottomFieldFirst)
                    : (structure == 1 ? .topFieldFirst : .bottomFieldFirst)
            }
        default: break
        }
    }
}
