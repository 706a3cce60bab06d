internal import MediaBase
internal import SystemCalls
internal import SystemPackage

/// What a timeline's reference names: paths under which the file may be, and by which name it may be looked for.
struct MediaName {
    /// Paths to try, the first that is there counts: from the timeline's folder, or from the root.
    private(set) var candidates: [FilePath] = []
    /// The folders and the file at the end of the path, as another computer wrote them.
    private(set) var components: [String] = []
    /// Why the file cannot be reached by the reference itself; `nil` where it may be.
    private(set) var refusal: MediaError?

    /// Takes a reference apart: a path with `/` or `\`, with percent signs or without, or a `file:` URL.
    ///
    /// - Throws: `damaged` for a name with a zero byte.
    init(_ url: String) throws(MediaError) {
        if let scheme = Self.scheme(of: url), scheme != "file" {
            refusal = MediaError(
                .unsupported, "\(scheme): media is not fetched; copy it beside the timeline", path: url)
            let path = url.prefix { $0 != "?" && $0 != "#" }.drop { $0 != ":" }
            setComponents(Self.decoded(path))
        } else if url.prefix(5).lowercased() == "file:" {
            readFileURL(url)
        } else {
            // Where a name has percent signs of its own, the file that is there counts.
            let (plain, decoded) = (Array(url.utf8), Self.decoded(url))
            add(plain)
            add(decoded)
            setComponents(decoded)
        }
        // A path would end before it.
        guard !Self.decoded(url).contains(0) else {
            throw MediaError(.damaged, "the media's name has a zero byte", path: url)
        }
    }

    private mutating func readFileURL(_ url: String) {
        var rest = url.dropFirst(5)
        guard rest.hasPrefix("//") else {
            // A file may be called so.
            add(Array(url.utf8))
            add(Self.decoded(rest))
            return setComponents(Self.decoded(rest))
        }
        rest = rest.dropFirst(2)
        let host = rest.prefix { $0 != "/" }
        let isDrive = host.count == 2 && host.last == ":"
        if !isDrive { rest = rest.dropFirst(host.count) }
        setComponents(Self.decoded(rest))
        guard host.isEmpty || isDrive || host.lowercased() == "localhost" else {
            refusal = MediaError(.unsupported, "the media is on another computer, \(host); copy it here", path: url)
            return
        }
        add(Self.decoded(rest))
    }

    /// A path that was written with `\` is tried with `/` too, unless it begins with a drive or a server of Windows.
    private mutating func add(_ path: [UInt8]) {
        add(FilePath(bytes: path))
        guard path.contains(Self.backslash), !Self.isOfWindows(path) else { return }
        add(FilePath(bytes: path.map { $0 == Self.backslash ? Self.slash : $0 }))
    }

    private mutating func add(_ path: FilePath) {
        if !path.isEmpty, !candidates.contains(path) { candidates.append(path) }
    }

    private mutating func setComponents(_ path: [UInt8]) {
        components = path.split { $0 == Self.slash || $0 == Self.backslash }.map { String(decoding: $0, as: UTF8.self) }
            .filter { $0 != "." && $0 != ".." }
    }

    private static let slash = UInt8(ascii: "/")
    private static let backslash = UInt8(ascii: "\\")

    /// Whether a path begins as `C:\` or `\\server`.
    private static func isOfWindows(_ path: [UInt8]) -> Bool {
        path.starts(with: [backslash, backslash]) || path.count > 2 && path[1] == UInt8(ascii: ":")
    }

    /// The scheme of a URL in small letters; `nil` where there is none.
    private static func scheme(of url: String) -> String? {
        guard let colon = url.firstRange(of: "://"), colon.lowerBound != url.startIndex,
            url[..<colon.lowerBound].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return url[..<colon.lowerBound].lowercased()
    }

    private static func decoded(_ text: some StringProtocol) -> [UInt8] {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                case let digits = bytes[index + 1...index + 2],
                digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }
}
