import CCurl
import Glibc
import MediaBase
import Threading

/// One HTTP request and what the server answers to it.
///
/// It is configured by one thread, run by ``TransferLoop``, and read by the first again once it is over.
final class Transfer: @unchecked Sendable {
    /// The request.
    struct Request: Sendable {
        /// The URL, without credentials.
        var url: String
        /// The value of the `Range` header after `bytes=`; `nil` for none.
        var range: String?
        /// The headers.
        var headers: [String] = []
        /// The name and the password for the server.
        var user: (name: String, password: String)?
        /// True to look for these in `~/.netrc`.
        var usesNetrc = false
        /// The file of the authorities to trust.
        var certificateAuthorities: String?
        /// The longest body that is kept.
        var maximumBytes: Int
        /// Receives the body of an answer with status 200 in place of ``Answer/body``; returns false to end the transfer.
        ///
        /// It is called on the loop's thread.
        var receive: (@Sendable (UnsafeRawBufferPointer) -> Bool)?
        /// Called when the headers of the last answer are complete, with the status and the headers, on the loop's thread.
        var begin: (@Sendable (Answer) -> Void)?
        /// True to refuse connections to addresses that are not public.
        var refusesPrivate = false
    }

    /// The answer.
    struct Answer: Sendable {
        /// The status, such as 206; 0 if no answer has come.
        var status = 0
        /// The headers, with names in lower case; the last of each name.
        var headers: [String: String] = [:]
        /// The body, as far as it was kept.
        var body: [UInt8] = []
        /// True if the body was longer than what is kept.
        var isTooLong = false
        /// True if it was ended because of too many headers.
        var hasTooLongHeaders = false
        /// The proxy's status for a tunnel to the server; 0 without one.
        var proxyStatus = 0
        /// The numeric address of the server, or of the proxy.
        var server = ""
        /// True if the connection was refused because the address is not public.
        var wasRefused = false
        /// libcurl's code for how it ended, 0 if well.
        var code = 0

        /// libcurl's words for how it ended.
        var reason: String { ccurl_description(code).map { String(cString: $0) } ?? "code \(code)" }
    }

    /// The longest headers in all.
    private static let maximumHeaderBytes = 1 << 18

    private let request: Request
    private var answer = Answer()
    private var headerBytes = 0
    private var hasBegun = false
    private var list: OpaquePointer?
    private let ended = Monitor(false)

    /// Creates a transfer, which ``TransferLoop`` runs.
    init(_ request: Request) { self.request = request }

    deinit { ccurl_list_free(list) }

    /// Waits until the transfer has ended, and returns the answer.
    func wait() -> Answer {
        ended.wait { $0 ? () : nil }
        return answer
    }

    /// Creates libcurl's handle of this transfer, which must outlive it; `nil` if memory is short.
    func makeHandle() -> OpaquePointer? {
        guard let easy = ccurl_easy_make() else { return nil }
        let this = Unmanaged.passUnretained(self).toOpaque()
        ccurl_set_text(easy, CCURL_URL, request.url)
        ccurl_set_text(easy, CCURL_PROTOCOLS_STR, "http,https")
        ccurl_set_text(easy, CCURL_RANGE, request.range)
        for (option, value) in [
            (CCURL_NOSIGNAL, 1), (CCURL_FOLLOWLOCATION, 0), (CCURL_SUPPRESS_CONNECT_HEADERS, 1),
            (CCURL_HTTP_VERSION, CCURL_HTTP_VERSION_2TLS),
            // A second request waits to learn whether the first one's connection takes several.
            (CCURL_PIPEWAIT, 1), (CCURL_CONNECTTIMEOUT_MS, 15_000),
            (CCURL_LOW_SPEED_LIMIT, 1), (CCURL_LOW_SPEED_TIME, 30),
        ] {
            ccurl_set_number(easy, option, value)
        }
        if let user = request.user {
            ccurl_set_number(easy, CCURL_HTTPAUTH, CCURL_AUTH_BASIC)
            ccurl_set_text(easy, CCURL_USERNAME, user.name)
            ccurl_set_text(easy, CCURL_PASSWORD, user.password)
        } else if request.usesNetrc {
            ccurl_set_number(easy, CCURL_NETRC, CCURL_NETRC_OPTIONAL)
        }
        if let file = request.certificateAuthorities { ccurl_set_text(easy, CCURL_CAINFO, file) }
        for header in request.headers { list = ccurl_append(list, header) ?? list }
        ccurl_set_list(easy, CCURL_HTTPHEADER, list)
        ccurl_set_pointer(easy, CCURL_WRITEDATA, this)
        ccurl_set_receive(easy, CCURL_WRITEFUNCTION) { bytes, _, count, data in
            guard let data else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(data).takeUnretainedValue()
            return transfer.receive(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
        ccurl_set_pointer(easy, CCURL_HEADERDATA, this)
        ccurl_set_receive(easy, CCURL_HEADERFUNCTION) { bytes, _, count, data in
            guard let data else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(data).takeUnretainedValue()
            return transfer.receive(header: UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
        }
        if request.refusesPrivate {
            ccurl_set_pointer(easy, CCURL_OPENSOCKETDATA, this)
            ccurl_set_open_socket(easy) { data, _, address in
                guard let data, let address else { return CInt(CCURL_SOCKET_BAD) }
                return Unmanaged<Transfer>.fromOpaque(data).takeUnretainedValue().openSocket(address)
            }
        }
        return easy
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        announce()
        if answer.status == 200, let receive = request.receive { return receive(bytes) }
        let room = request.maximumBytes - answer.body.count
        answer.body += bytes.prefix(room)
        answer.isTooLong = bytes.count > room
        return !answer.isTooLong
    }

    private func receive(header: UnsafeRawBufferPointer) -> Bool {
        headerBytes += header.count
        guard headerBytes <= Self.maximumHeaderBytes else {
            (answer.status, answer.hasTooLongHeaders) = (0, true)
            return false
        }
        let line = String(decoding: header, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // Answers such as `100 Continue` come before the last one.
            answer.headers = [:]
            answer.status = line.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 0
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[colon...].dropFirst().drop { $0.isWhitespace }
            answer.headers[line[..<colon].lowercased()] = String(value.prefix { !$0.isNewline })
        }
        return true
    }

    private func announce() {
        guard !hasBegun else { return }
        hasBegun = true
        request.begin?(answer)
    }

    private func openSocket(_ address: UnsafeMutablePointer<ccurl_address>) -> CInt {
        let bytes = withUnsafeBytes(of: address.pointee.address) { Array($0) }
        // IPv6 addresses are longer than what curl.h declares of the structure.
        let isPublic =
            switch address.pointee.family {
            case AF_INET: NetworkRange.isPublic(ipv4: Array(bytes[4..<8]))
            case AF_INET6: NetworkRange.isPublic(ipv6: Self.ipv6(address))
            default: false
            }
        guard isPublic else {
            answer.wasRefused = true
            return CInt(CCURL_SOCKET_BAD)
        }
        return socket(address.pointee.family, address.pointee.type | O_CLOEXEC, address.pointee.protocol)
    }

    private static func ipv6(_ address: UnsafeMutablePointer<ccurl_address>) -> [UInt8] {
        guard address.pointee.length >= 24 else { return [] }
        let offset = MemoryLayout<ccurl_address>.offset(of: \.address) ?? 16
        return Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + offset + 8, count: 16))
    }

    /// Notes how the transfer has ended, and releases the handle.
    func end(_ easy: OpaquePointer?, code: Int) {
        announce()
        answer.code = code
        if let easy {
            answer.proxyStatus = ccurl_number(easy, CCURL_INFO_HTTP_CONNECTCODE)
            answer.server = ccurl_text(easy, CCURL_INFO_PRIMARY_IP).map { String(cString: $0) } ?? ""
            ccurl_easy_free(easy)
        }
        ended.update { $0 = true }
    }
}
