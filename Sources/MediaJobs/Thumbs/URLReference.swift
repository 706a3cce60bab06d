import MediaBase
import SystemCalls
import SystemPackage

/// A reference from one file to another as a web page would have it: relative, and with percent signs for all bytes
/// that are not plain (RFC 3986, unreserved).
enum URLReference {
    /// The reference to `file` in a document at `document`.
    ///
    /// Both are taken by their names: a browser knows no symbolic links.
    static func relative(to file: FilePath, from document: FilePath) -> String {
        let target = file.absolute.components.map(\.bytes)
        let base = document.absolute.components.map(\.bytes).dropLast()
        let shared = zip(target.dropLast(), base).prefix { $0 == $1 }.count
        let steps = [String](repeating: "..", count: base.count - shared)
        return (steps + target.dropFirst(shared).map(escaped)).joined(separator: "/")
    }

    private static func escaped(_ name: [UInt8]) -> String {
        var text = ""
        for byte in name {
            let scalar = Unicode.Scalar(byte)
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~": text.unicodeScalars.append(scalar)
            default: text += "%" + padded(byte, to: 2, radix: 16).uppercased()
            }
        }
        return text
    }
}
