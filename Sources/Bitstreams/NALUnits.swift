package import MediaBase

/// A reader of bits, most significant first, and of the codes used in video headers.
///
/// Every read throws `MediaError.Code.damaged` if there are not enough bits.
package struct BitReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a reader at the first bit of `bytes`.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of unread bits.
    package var remaining: Int { bytes.count * 8 - position }

    /// Reads up to 32 bits as an unsigned number.
    package mutating func bits(_ count: Int) throws(MediaError) -> UInt32 {
        guard (0...32).contains(count), count <= remaining else { throw MediaError(.damaged, "ends too early") }
        var value: UInt32 = 0
        var left = count
        while left > 0 {
            let free = 8 - position % 8
            let taken = min(free, left)
            let byte = UInt32(bytes[position / 8])
            value = value << UInt32(taken) | byte >> UInt32(free - taken) & (1 << UInt32(taken) - 1)
            position += taken
            left -= taken
        }
        return value
    }

    /// Reads one bit.
    package mutating func flag() throws(MediaError) -> Bool { try bits(1) == 1 }

    /// Skips any number of bits.
    package mutating func skip(_ count: Int) throws(MediaError) {
        guard count >= 0, count <= remaining else { throw MediaError(.damaged, "ends too early") }
        position += count
    }

    /// Reads an unsigned Exp-Golomb code: `ue(v)` of ITU-T H.264, 9.1.
    package mutating func unsigned() throws(MediaError) -> UInt32 {
        var zeros = 0
        while try !flag() {
            zeros += 1
            guard zeros < 32 else { throw MediaError(.damaged, "has an impossible number") }
        }
        return try (1 << UInt32(zeros) - 1) + bits(zeros)
    }

    /// Reads an unsigned Exp-Golomb code, and throws if it is larger than `limit`.
    package mutating func unsigned(atMost limit: UInt32) throws(MediaError) -> Int {
        let value = try unsigned()
        guard value <= limit else { throw MediaError(.damaged, "has an impossible number") }
        return Int(value)
    }

    /// Reads a signed Exp-Golomb code: `se(v)` of ITU-T H.264, 9.1.1.
    package mutating func signed() throws(MediaError) -> Int64 {
        let code = Int64(try unsigned())
        return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    }

    /// Reads a number with as many bits as there are zeros before it: `uvlc()` of AV1, 4.10.3.
    package mutating func variableLength() throws(MediaError) -> UInt32 {
        var zeros = 0
        while try !flag() {
            zeros += 1
            if zeros >= 32 { return .max }
        }
        return try bits(zeros) + (1 << UInt32(zeros) - 1)
    }
}

/// Finds the units of H.264 and HEVC in the forms in which they are stored.
package enum NALUnits {
    /// The maximum number of units to return.
    private static let limit = 1000

    /// Returns the units of a stream with start codes (ITU-T H.264, Annex B), without the start codes.
    package static func inByteStream(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var units: [ArraySlice<UInt8>] = []
        var start: Int?
        var place = 0
        while place + 3 <= bytes.count, units.count < limit {
            guard bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1 else {
                place += 1
                continue
            }
            if let start { units.append(bytes[start..<place]) }
            start = place + 3
            place += 3
        }
        if let start, start < bytes.count, units.count < limit { units.append(bytes[start...]) }
        return units
    }

    /// Returns the units of a sample in which each unit has a length field of one to four bytes.
    ///
    /// - Parameter isCutOff: True if the bytes are only the start of a sample, so that a truncated last unit is
    ///   included; false to leave out a truncated unit.
    package static func inSample(
        _ bytes: [UInt8], lengthSize: Int, isCutOff: Bool = false
    ) -> [ArraySlice<UInt8>] {
        guard (1...4).contains(lengthSize) else { return [] }
        var units: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while rest.count > lengthSize, units.count < limit {
            let length = rest.prefix(lengthSize).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(lengthSize)
            guard length <= rest.count else {
                if isCutOff { units.append(rest) }
                break
            }
            if length > 0 { units.append(rest.prefix(length)) }
            rest = rest.dropFirst(length)
        }
        return units
    }

    /// Returns a unit without its emulation prevention bytes (3 after two zeros), which keep start codes out of it.
    package static func payload(_ unit: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(unit.count)
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }
}

/// The header that MP4 and Matroska store separately from the samples of H.264 and HEVC.
///
/// ISO/IEC 14496-15, 5.3.3 (avcC) and 8.3.3 (hvcC).
package struct ParameterSets: Sendable {
    /// The parameter sets and messages.
    package var units: [ArraySlice<UInt8>] = []

    /// The size of the length field before each unit of a sample, in bytes; `nil` for start codes.
    package var lengthSize: Int?

    /// Reads a codec's header in either form.
    package init(_ header: [UInt8], isHEVC: Bool) {
        guard header.count > 4, header.first == 1 else {
            units = NALUnits.inByteStream(header)
            return
        }
        var reader = BigEndianReader(header)
        try? isHEVC ? readHEVC(&reader) : readAVC(&reader)
    }

    private mutating func readAVC(_ reader: inout BigEndianReader) throws(MediaError) {
        try reader.skip(4)
        lengthSize = Int(try reader.uint8() & 3) + 1
        for mask in [0x1F, 0xFF] as [UInt8] {
            for _ in 0..<(try reader.uint8() & mask) { try readUnit(&reader) }
        }
    }

    private mutating func readHEVC(_ reader: inout BigEndianReader) throws(MediaError) {
        try reader.skip(21)
        lengthSize = Int(try reader.uint8() & 3) + 1
        for _ in 0..<(try reader.uint8()) {
            try reader.skip(1)
            for _ in 0..<(try reader.uint16()) { try readUnit(&reader) }
        }
    }

    private mutating func readUnit(_ reader: inout BigEndianReader) throws(MediaError) {
        units.append(try reader.take(Int(try reader.uint16())))
    }
}

/// The messages that accompany the coded pictures of H.264 and HEVC ("supplemental enhancement information").
///
/// ITU-T H.264 and H.265, 7.3.2.3.
enum SupplementalMessages {
    /// Calls a closure with the type and bytes of each message, in order.
    ///
    /// A truncated message, or an error that the closure throws, skips the rest of the unit.
    static func forEach(
        in units: [ArraySlice<UInt8>], isHEVC: Bool, _ body: (Int, [UInt8]) throws(MediaError) -> Void
    ) {
        for unit in units {
            guard let first = unit.first else { continue }
            let isMessage = isHEVC ? [39, 40].contains(first >> 1 & 0x3F) : first & 0x1F == 6
            guard isMessage else { continue }
            var reader = BigEndianReader(NALUnits.payload(unit.dropFirst(isHEVC ? 2 : 1)))
            try? readAll(&reader, body)
        }
    }

    /// Returns the bytes of the first message of a type among H.264 units; `nil` if there is none.
    static func first(_ wanted: Int, in units: [ArraySlice<UInt8>]) -> [UInt8]? {
        var found: [UInt8]?
        forEach(in: units, isHEVC: false) { type, bytes throws(MediaError) in
            if type == wanted, found == nil { found = bytes }
        }
        return found
    }

    private static func readAll(
        _ reader: inout BigEndianReader, _ body: (Int, [UInt8]) throws(MediaError) -> Void
    ) throws(MediaError) {
        while reader.remaining > 2 {
            let type = try count(&reader)
            try body(type, Array(try reader.take(try count(&reader))))
        }
    }

    /// Reads a type or a size, coded as any number of 255 bytes and one last byte with the remainder.
    private static func count(_ reader: inout BigEndianReader) throws(MediaError) -> Int {
        var count = 0
        while true {
            let byte = Int(try reader.uint8())
            count += byte
            if byte < 255 { return count }
        }
    }
}

/// The HDR metadata in the messages of a video stream.
///
/// H.264 and HEVC: ITU-T H.265, D.2 (SEI); AV1: 5.8 (metadata OBU).
package struct HDRMessages: Hashable, Sendable {
    /// The display on which the content was graded.
    package var masteringDisplay: HDRInfo.MasteringDisplay?
    /// The content's light level.
    package var contentLightLevel: HDRInfo.ContentLightLevel?
    /// True if there is dynamic metadata of SMPTE ST 2094-40 (HDR10+).
    package var hasHDR10Plus = false
    /// The code point of the transfer characteristic that newer displays should use; 18 is HLG.
    package var preferredTransfer: UInt16?

    /// Creates a value without metadata.
    package init() {}

    /// True if no metadata was found.
    package var isEmpty: Bool { self == HDRMessages() }
}

extension HDRMessages {
    /// Reads the messages in H.264 or HEVC units.
    package mutating func read(_ units: [ArraySlice<UInt8>], isHEVC: Bool) {
        SupplementalMessages.forEach(in: units, isHEVC: isHEVC) { type, bytes throws(MediaError) in
            var message = BigEndianReader(bytes)
            switch type {
            case 4: readRegistered(&message)
            case 137: masteringDisplay = try HDRInfo.MasteringDisplay(message: &message)
            case 144: contentLightLevel = try HDRInfo.ContentLightLevel(message: &message)
            case 147: preferredTransfer = UInt16(try message.uint8())
            default: break
            }
        }
    }

    /// Reads the metadata units of AV1.
    package mutating func read(_ units: [AV1Unit]) {
        for unit in units where unit.type == 5 {
            guard let (type, length) = AV1Unit.leb128(unit.payload) else { continue }
            var message = BigEndianReader(Array(unit.payload.dropFirst(length)))
            switch type {
            case 1: contentLightLevel = (try? HDRInfo.ContentLightLevel(message: &message)) ?? contentLightLevel
            case 2: masteringDisplay = (try? HDRInfo.MasteringDisplay(av1: &message)) ?? masteringDisplay
            case 4: readRegistered(&message)
            default: break
            }
        }
    }

    /// Reads a message registered by ITU-T T.35: a country, a provider and the provider's data.
    private mutating func readRegistered(_ message: inout BigEndianReader) {
        // United States, Samsung, SMPTE ST 2094-40, application 4.
        if let head = try? message.take(6), Array(head) == [0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04] { hasHDR10Plus = true }
    }
}

extension HDRInfo.ContentLightLevel {
    /// Reads two 16-bit numbers in cd/m²; `nil` if both are 0, which means that they are unknown.
    init?(message: inout BigEndianReader) throws(MediaError) {
        let maximum = Int(try message.uint16())
        self.init(maximum: maximum, maximumFrameAverage: Int(try message.uint16()))
        if self.maximum == 0, maximumFrameAverage == 0 { return nil }
    }
}

extension HDRInfo.MasteringDisplay {
    /// Reads SEI message 137: green, blue, red and white in 1/50000, luminance in 1/10000 cd/m².
    init(message: inout BigEndianReader) throws(MediaError) {
        self.init()
        green = try Self.pair(&message, unit: 50_000)
        blue = try Self.pair(&message, unit: 50_000)
        red = try Self.pair(&message, unit: 50_000)
        whitePoint = try Self.pair(&message, unit: 50_000)
        maximumLuminance = Rational(Int64(try message.uint32()), 10_000)
        minimumLuminance = Rational(Int64(try message.uint32()), 10_000)
    }

    /// Reads AV1's message 2: red, green, blue and white in 0.16, luminance in 24.8 and 18.14 fixed point.
    init(av1 message: inout BigEndianReader) throws(MediaError) {
        self.init()
        red = try Self.pair(&message, unit: 1 << 16)
        green = try Self.pair(&message, unit: 1 << 16)
        blue = try Self.pair(&message, unit: 1 << 16)
        whitePoint = try Self.pair(&message, unit: 1 << 16)
        maximumLuminance = Rational(Int64(try message.uint32()), 1 << 8)
        minimumLuminance = Rational(Int64(try message.uint32()), 1 << 14)
    }

    private static func pair(_ message: inout BigEndianReader, unit: Int64) throws(MediaError) -> [Rational] {
        [Rational(Int64(try message.uint16()), unit), Rational(Int64(try message.uint16()), unit)]
    }
}
