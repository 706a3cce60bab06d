/// The number that names an EBML element, with its length marker, as the specifications write it (0x1654AE6B).
package struct EBMLID: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The one to four bytes as a big-endian number.
    package let rawValue: UInt32

    /// Makes an ID of its number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Makes an ID of a literal.
    package init(integerLiteral value: UInt32) { rawValue = value }
}

/// An element's header: its ID and how many bytes of content follow.
///
/// RFC 8794, 4 to 6.
package struct EBMLHeader: Hashable, Sendable {
    /// What the element is.
    package let id: EBMLID

    /// The length of the content; `nil` where it is unknown and the element ends with what cannot be inside it.
    package let size: UInt64?

    /// The length of the header itself.
    package let headerSize: Int

    /// The longest that a header is: four bytes of ID and eight of size.
    package static let longest = 12

    /// Reads a header.
    ///
    /// - Returns: The header, or `nil` where the bytes cannot be one, or end too early.
    package init?(_ bytes: some Collection<UInt8>) {
        guard let (id, idLength) = Self.number(bytes, longest: 4, keepsMarker: true), let id = UInt32(exactly: id),
            let (size, sizeLength) = Self.number(bytes.dropFirst(idLength), longest: 8, keepsMarker: false)
        else { return nil }
        self.id = EBMLID(rawValue: id)
        let isUnknown = size == UInt64.max >> (64 - 7 * UInt64(sizeLength))
        self.size = isUnknown ? nil : size
        headerSize = idLength + sizeLength
    }

    /// Reads a number whose first byte's leading zeros tell its length.
    private static func number(
        _ bytes: some Collection<UInt8>, longest: Int, keepsMarker: Bool
    ) -> (value: UInt64, length: Int)? {
        guard let first = bytes.first else { return nil }
        let length = first.leadingZeroBitCount + 1
        guard length <= longest, bytes.count >= length else { return nil }
        var value = UInt64(first)
        if !keepsMarker { value &= 0xFF >> UInt64(length) }
        for byte in bytes.dropFirst().prefix(length - 1) { value = value << 8 | UInt64(byte) }
        return (value, length)
    }
}

/// One element in memory.
struct EBMLElement {
    let id: EBMLID
    let content: ArraySlice<UInt8>

    /// The elements that follow each other in `bytes`, as far as they can be followed; one that claims too much is cut.
    ///
    /// - Parameter limit: How many are looked at.
    static func list(in bytes: ArraySlice<UInt8>, limit: Int = 10_000) -> [EBMLElement] {
        var elements: [EBMLElement] = []
        var rest = bytes
        while elements.count < limit, let header = EBMLHeader(rest) {
            rest = rest.dropFirst(header.headerSize)
            let size = header.size.flatMap { Int(exactly: $0) } ?? rest.count
            elements.append(EBMLElement(id: header.id, content: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return elements
    }

    /// The elements inside.
    var children: [EBMLElement] { Self.list(in: content) }

    /// An unsigned number of up to eight bytes, of which none are 0; `nil` for a longer one.
    var unsigned: UInt64? {
        content.count <= 8 ? content.reduce(0) { $0 << 8 | UInt64($1) } : nil
    }

    /// A number of four or eight bytes; `nil` for another length and what is not finite.
    var float: Double? {
        guard let bits = unsigned else { return nil }
        let value: Double? =
            switch content.count {
            case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            case 8: Double(bitPattern: bits)
            default: nil
            }
        return value.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Text up to its end or the first zero.
    var text: String { String(decoding: content.prefix { $0 != 0 }, as: UTF8.self) }
}
