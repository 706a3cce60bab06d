extension StringProtocol {
    /// The bytes for which percent-encoded text stands (RFC 3986, 2.1); what is no such encoding stays as it is.
    package var percentDecoded: [UInt8] {
        func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(digit)
            guard byte == UInt8(ascii: "%"), digits.count == 2 else {
                bytes.append(byte)
                continue
            }
            bytes.append(digits[0] << 4 | digits[1])
            rest.removeFirst(2)
        }
        return bytes
    }
}

extension Sequence<UInt8> {
    /// Returns the bytes as percent-encoded text (RFC 3986, 2.1).
    ///
    /// - Parameter kept: The characters in ASCII that stay as they are, besides the unreserved ones.
    package func percentEncoded(keeping kept: String = "") -> String {
        reduce(into: "") { result, byte in
            if byte.isUnreservedInURL || kept.utf8.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + padded(byte, to: 2, radix: 16).uppercased()
            }
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes as pairs of lower-case hexadecimal digits.
    package var hexadecimal: String { reduce(into: "") { $0 += padded($1, to: 2, radix: 16) } }

    /// The bytes in base64 with padding (RFC 4648, section 4).
    package var base64: String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        var bits = 0
        var pending = 0
        for byte in self {
            pending = pending << 8 | Int(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[pending >> bits & 63])
            }
            pending &= 63
        }
        if bits > 0 { text.append(digits[pending << (6 - bits) & 63]) }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes for which text in base64 stands; `nil` if it has other characters.
    ///
    /// Padding, spaces and line breaks are skipped.
    package var base64Decoded: [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(underestimatedCount / 4 * 3)
        var bits = 0
        var pending: UInt32 = 0
        for character in self where character != UInt8(ascii: "=") && character > UInt8(ascii: " ") {
            guard let digit = character.base64Digit else { return nil }
            pending = pending << 6 | UInt32(digit)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        return bytes
    }
}

extension UInt8 {
    /// True for the characters that are never percent-encoded (RFC 3986, 2.3).
    package var isUnreservedInURL: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(self)
        }
    }

    /// The value of a digit of base64; `nil` for another character.
    fileprivate var base64Digit: UInt8? {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): self - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
