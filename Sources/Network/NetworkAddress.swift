package import MediaBase

/// The address of a file on the network: a URL of `http`, `https` or `s3` (RFC 3986).
///
/// It keeps what is secret, a name with a password and the query, apart from what may be shown.
package struct NetworkAddress: Sendable, Hashable {
    /// The way in which the file is fetched.
    package enum Scheme: String, Sendable {
        /// HTTP without encryption.
        case http
        /// HTTP over TLS.
        case https
        /// A bucket and a key of an object store with the interface of Amazon S3.
        case s3
    }

    /// The scheme.
    package let scheme: Scheme
    /// The name and the password, percent-decoded; `nil` if the address has none.
    let user: (name: String, password: String)?
    /// The host in lower case, in brackets if it is an IPv6 address; the bucket of an S3 address.
    package let host: String
    /// The port; `nil` for the scheme's own.
    let port: Int?
    /// The path, percent-encoded, beginning with a slash; the key of an S3 address, as it is stored, after a slash.
    let path: String
    /// The query, percent-encoded, without its question mark; `nil` if the address has none.
    let query: String?

    /// Returns true if a text is meant as an address: it begins with `http://`, `https://` or `s3://`, in any case.
    package static func isAddress(_ text: some StringProtocol) -> Bool { split(text) != nil }

    private static func split<Text: StringProtocol>(_ text: Text) -> (Scheme, Text.SubSequence)? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[colon...].hasPrefix("://"),
            let scheme = Scheme(rawValue: text[..<colon].lowercased())
        else { return nil }
        return (scheme, text[colon...].dropFirst(3))
    }

    /// Parses an address.
    ///
    /// Characters that must be percent-encoded and are not, such as spaces and letters beyond ASCII, are encoded. The
    /// key of an S3 address is taken literally.
    ///
    /// - Throws: `invalidArgument` if it is no address, has no host or an invalid port.
    package init(_ text: some StringProtocol) throws(MediaError) {
        guard let (scheme, rest) = Self.split(text) else {
            throw MediaError(.invalidArgument, "is not an address of http, https or s3")
        }
        self.scheme = scheme
        let ending = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        var authority = rest[..<ending]
        let remainder = rest[ending...]
        if scheme == .s3 {
            (user, port, query) = (nil, nil, nil)
            host = String(authority)
            path = String(remainder)
            guard !host.isEmpty, path.hasPrefix("/"), path.count > 1,
                host.utf8.allSatisfy(\.isUnreservedInURL)
            else { throw MediaError(.invalidArgument, "names no object; write s3://bucket/key") }
            return
        }
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = (Self.decoded(parts[0]), parts.count > 1 ? Self.decoded(parts[1]) : "")
            authority = authority[at...].dropFirst()
        } else {
            user = nil
        }
        let afterBrackets = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[afterBrackets...].lastIndex(of: ":") {
            let digits = authority[colon...].dropFirst()
            guard let number = UInt16(digits), number > 0, digits.first != "+" else {
                throw MediaError(.invalidArgument, "has an invalid port")
            }
            port = Int(number)
            authority = authority[..<colon]
        } else {
            port = nil
        }
        host = authority.lowercased()
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}%".utf8.contains($0) })
        else { throw MediaError(.invalidArgument, "has no valid host") }
        let withoutFragment = remainder.prefix { $0 != "#" }
        let mark = withoutFragment.firstIndex(of: "?")
        let wholePath = Self.encoded(withoutFragment[..<(mark ?? withoutFragment.endIndex)])
        path = wholePath.isEmpty ? "/" : wholePath
        query = mark.map { Self.encoded(withoutFragment[$0...].dropFirst()) }
    }

    /// The address without what is secret: `…` stands for a name with its password, and for the query.
    package var displayName: String {
        let shown = scheme == .s3 ? path : path + (query == nil ? "" : "?…")
        return "\(scheme)://" + (user == nil ? "" : "…@") + authority + shown
    }

    /// The last part of the path, percent-decoded, as the name of a file; the host if the path ends with a slash.
    package var fileName: String {
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let name = scheme == .s3 ? String(last) : Self.decoded(last)
        if name.isEmpty { return host }
        // A percent-encoded slash must not lead into another folder.
        return name == "." || name == ".." ? "_" : String(name.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
    }

    /// The whole address with what is secret, which must not be shown: ``init(_:)`` makes the same address of it.
    package var secretText: String {
        guard scheme != .s3 else { return "s3://\(host)\(path)" }
        let user = user.map { Self.encodedKey($0.name) + ":" + Self.encodedKey($0.password) + "@" } ?? ""
        return "\(scheme)://\(user)\(authority)\(path)" + (query.map { "?" + $0 } ?? "")
    }

    /// The host and the port.
    var authority: String { host + (port.map { ":\($0)" } ?? "") }

    /// The URL that is requested, without the name and the password; for HTTP only.
    var requestURL: String { "\(scheme)://\(authority)\(path)" + (query.map { "?" + $0 } ?? "") }

    /// Returns true if both have the same scheme, host and port: the same origin of RFC 6454.
    func hasOrigin(of other: NetworkAddress) -> Bool {
        scheme == other.scheme && host == other.host
            && (port ?? scheme.standardPort) == (other.port ?? scheme.standardPort)
    }

    /// Returns the address that a reference leads to from this one, as in a `Location` header (RFC 3986, 5.2).
    ///
    /// - Throws: `unsupported` if it leads to another scheme than `http` and `https`.
    func resolving(_ reference: String) throws(MediaError) -> NetworkAddress {
        if let colon = reference.firstIndex(of: ":"), reference[..<colon].allSatisfy({ $0.isLetter || $0.isNumber }) {
            guard let target = try? NetworkAddress(reference), target.scheme != .s3 else {
                throw MediaError(.unsupported, "the server redirects to something else than HTTP")
            }
            return target
        }
        if reference.hasPrefix("//") { return try NetworkAddress("\(scheme):\(reference)") }
        let base = "\(scheme)://\(authority)"
        if reference.hasPrefix("/") { return try NetworkAddress(base + reference) }
        if reference.hasPrefix("?") { return try NetworkAddress(base + path + reference) }
        return try NetworkAddress(base + path[...(path.lastIndex(of: "/") ?? path.startIndex)] + reference)
    }

    /// Returns true if both name the same file with the same credentials.
    package static func == (first: NetworkAddress, second: NetworkAddress) -> Bool {
        first.scheme == second.scheme && first.host == second.host && first.port == second.port
            && first.path == second.path && first.query == second.query && first.user?.name == second.user?.name
            && first.user?.password == second.user?.password
    }

    /// Hashes the parts that are not secret.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(host)
        hasher.combine(path)
    }
}

extension NetworkAddress.Scheme {
    /// The port of a server of this scheme.
    var standardPort: Int { self == .http ? 80 : 443 }
}

// MARK: - Percent-encoding

extension NetworkAddress {
    /// Encodes the bytes that may not stand in a path or a query; what is encoded stays as it is.
    private static func encoded(_ text: some StringProtocol) -> String {
        text.utf8.percentEncoded(keeping: "!$&'()*+,;=:@/?%[]")
    }

    /// Encodes all bytes but the unreserved ones and the slash, as S3 wants it of a key.
    static func encodedKey(_ text: some StringProtocol) -> String {
        text.utf8.percentEncoded(keeping: "/")
    }

    /// Decodes percent-encoded text, and repairs invalid UTF-8.
    private static func decoded(_ text: some StringProtocol) -> String {
        String(decoding: text.percentDecoded, as: UTF8.self)
    }
}
