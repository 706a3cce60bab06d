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
                let digits = String(byte, radix: 16, uppercase: true)
                result += (digits.count == 1 ? "%0" : "%") + digits
            }
        }
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
}
