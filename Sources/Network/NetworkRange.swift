import Glibc

/// The ranges of addresses that are not public: loopback, private and link-local networks.
///
/// IANA's registries of special-purpose addresses (RFC 6890) list them.
enum NetworkRange {
    /// Returns true if an address of four bytes is public.
    static func isPublic(ipv4 bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _), (169, 254), (172, 16...31), (192, 168), (100, 64...127), (198, 18...19):
            return false
        case (224..., _): return false
        default: return true
        }
    }

    /// Returns true if an address of sixteen bytes is public.
    static func isPublic(ipv6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        let head = bytes.prefix(12)
        // An IPv4 address in IPv6's form, and one behind a translator (RFC 6052).
        if head.prefix(10).allSatisfy({ $0 == 0 }), head.suffix(2) == [0xFF, 0xFF] || head.suffix(2) == [0, 0] {
            return isPublic(ipv4: Array(bytes.suffix(4)))
        }
        if head.elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
            return isPublic(ipv4: Array(bytes.suffix(4)))
        }
        // fc00::/7, fe80::/10 with fec0::/10, ff00::/8.
        return bytes[0] & 0xFE != 0xFC && !(bytes[0] == 0xFE && bytes[1] >= 0x80) && bytes[0] != 0xFF
    }

    /// Returns true if a host is a number or a name that is certain not to be public; names are looked up elsewhere.
    static func isPrivate(host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let number = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        return bytes(of: number).map { !isPublic(bytes: $0) } ?? false
    }

    /// Returns true if a numeric address is public.
    static func isPublic(number: String) -> Bool { bytes(of: number).map { isPublic(bytes: $0) } ?? false }

    private static func isPublic(bytes: [UInt8]) -> Bool {
        bytes.count == 4 ? isPublic(ipv4: bytes) : isPublic(ipv6: bytes)
    }

    /// Returns the bytes of a numeric address; `nil` for anything else: inet_pton(3).
    private static func bytes(of number: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, number, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
