internal import SystemCalls
package import SystemPackage

extension FilePath {
    /// The path's bytes in base64 if they are not UTF-8, so that programs can read them from JSON; otherwise `nil`.
    package var pathBytes: String? {
        String(validating: self) == nil ? base64(bytes) : nil
    }
}

/// Returns bytes in base64 with padding (RFC 4648, section 4).
package func base64(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    var bits = 0
    var pending = 0
    for byte in bytes {
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
