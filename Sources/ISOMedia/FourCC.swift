/// The four-byte code that names a box, a brand, a handler, a sample format or a reference.
///
/// String literals stand for the four bytes (`"moov"`, `"©nam"`); a shorter literal is filled with blanks. The bytes
/// are read as ISO 8859-1, which agrees with QuickTime's Macintosh Roman on the one code in use above ASCII, `©`.
///
/// ISO/IEC 14496-12, 4.2 (compact type).
package struct FourCC: RawRepresentable, Hashable, Sendable {
    /// The four bytes as one big-endian number.
    package let rawValue: UInt32

    /// Makes a code from its number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The four bytes as four characters.
    ///
    /// A byte that is no printable character shows as U+FFFD, so the text is for people, not for comparing.
    package var text: String {
        var text = ""
        for shift in [24, 16, 8, 0] as [UInt32] {
            let byte = UInt8(truncatingIfNeeded: rawValue >> shift)
            let isPrintable = (0x20...0x7E).contains(byte) || byte >= 0xA0
            text.unicodeScalars.append(isPrintable ? Unicode.Scalar(byte) : "\u{FFFD}")
        }
        return text
    }
}

extension FourCC: ExpressibleByStringLiteral {
    /// Makes a code from the first four characters of a literal.
    package init(stringLiteral literal: String) {
        var value: UInt32 = 0
        var scalars = literal.unicodeScalars.makeIterator()
        for _ in 0..<4 {
            value = value << 8 | ((scalars.next() ?? " ").value & 0xFF)
        }
        self.init(rawValue: value)
    }
}

extension FourCC: CustomStringConvertible {
    /// The four characters.
    package var description: String { text }
}
