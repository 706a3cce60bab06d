package import MediaBase

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
