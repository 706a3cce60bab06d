public import FoundationEssentials
public import MediaBase
import SystemCalls
import SystemPackage

extension Asset {
    /// Creates an asset for a file, given its URL: `AVURLAsset(url:)`.
    ///
    /// The path is the bytes for which the URL's percent-encoding stands, even if they are not valid UTF-8.
    /// - Parameters:
    ///   - url: A `file:` URL; a relative one is resolved against its base.
    ///   - options: The options for opening the file.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for a URL that names no file of this machine, such as
    ///   one of `https:`; ``MediaError/Code-swift.struct/invalidArgument`` if no path can be made of it.
    public convenience init(url: URL, options: Options = Options()) throws(MediaError) {
        self.init(path: try FilePath(fileURL: url), options: options)
    }
}

extension FilePath {
    /// Creates the path that a `file:` URL names (RFC 8089).
    init(fileURL url: URL) throws(MediaError) {
        let url = url.absoluteURL
        guard url.isFileURL else {
            throw MediaError(
                .unsupported,
                "an address of \(url.scheme.map { $0 + ":" } ?? "no scheme") cannot be opened, only file: URLs; download "
                    + "it first, or read it by a ByteSource")
        }
        if let host = url.host(percentEncoded: false), !host.isEmpty, host.lowercased() != "localhost" {
            throw MediaError(.unsupported, "a file: URL that names the host \(host) cannot be opened")
        }
        let bytes = Self.decoded(url.path(percentEncoded: true))
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw MediaError(.invalidArgument, "the URL names no file: its path is empty or contains a zero byte")
        }
        self.init(bytes: bytes)
    }

    /// Returns the bytes for which percent-encoded text stands (RFC 3986, 2.1).
    private static func decoded(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = ArraySlice(text.utf8)
        func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) } }
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
