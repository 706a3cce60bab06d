import MediaBase

/// The messages beside the coded pictures of H.264 and HEVC ("supplemental enhancement information").
///
/// ITU-T H.264 and H.265, 7.3.2.3.
enum SupplementalMessages {
    /// Hands out each message's type and bytes, in order; what is cut off, or refused, ends its unit.
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

    /// The bytes of the first message of a type among units of H.264; `nil` where there is none.
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

    /// A type or a length: bytes of 255, and what is left in one more.
    private static func count(_ reader: inout BigEndianReader) throws(MediaError) -> Int {
        var count = 0
        while true {
            let byte = Int(try reader.uint8())
            count += byte
            if byte < 255 { return count }
        }
    }
}
