import Glibc
package import MediaBase
import SystemPackage
import Threading

/// A file on a server, read by HTTP range requests (RFC 9110, 14): a byte source for the network.
///
/// The first request, for the first bytes, tells the size and the entity tag of the file. An answer that shows another one
/// later ends the reading with `changed`. A server that sends only the whole file is read once, into a temporary file.
///
/// Thread-safe; several reads go over one connection where the server allows it. A read waits for the network.
package final class RemoteFile: ByteSource {
    /// The address.
    package let address: NetworkAddress
    private let options: NetworkOptions
    private let noteWhole: @Sendable () -> Void
    private let state = Mutex(State())
    private let opening = Mutex<Result<Void, MediaError>?>(nil)

    private struct State: Sendable {
        /// The place from which the file comes, after redirections; `nil` before the first answer.
        var target: NetworkAddress?
        /// The region that the S3 server has named.
        var region: String?
        /// True if the server that the address names is public.
        var isPublic = false
        var size: UInt64?
        /// The entity tag, or else the date of the last change, of the first answer.
        var version = Version()
        /// The first bytes, until they have been asked for.
        var head: [UInt8]?
        var download: WholeDownload?
    }

    /// The marks by which one version of the file is told from another.
    private struct Version: Sendable {
        var tag: String?
        var date: String?

        init() {}

        init(_ headers: [String: String]) {
            tag = headers["etag"]
            date = headers["last-modified"]
        }

        /// The value of the `If-Range` header; weak tags are not allowed there (RFC 9110, 13.1.5).
        var condition: String? { tag.flatMap { $0.hasPrefix("W/") ? nil : $0 } }

        /// Returns true if another version cannot be the same.
        func differs(from other: Version) -> Bool {
            if let tag, let otherTag = other.tag { return tag != otherTag }
            if let date, let otherDate = other.date { return date != otherDate }
            return false
        }
    }

    /// The number of bytes that the first request asks for.
    package static let headBytes = 1 << 16
    /// The longest body of an answer that is an error.
    private static let maximumErrorBytes = 1 << 14
    private static let maximumRedirections = 10
    /// An answer that breaks off after this many bytes resets the count of failures.
    private static let progressBytes = 1 << 16

    /// Creates a source, which sends nothing yet.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - options: The options for requests.
    ///   - noteWhole: Called once if the server sends only the whole file, on the thread that opens the source.
    package init(
        _ address: NetworkAddress, _ options: NetworkOptions, noteWhole: @escaping @Sendable () -> Void = {}
    ) {
        self.address = address
        self.options = options
        self.noteWhole = noteWhole
    }

    deinit { state.withLock { $0.download }?.abandon() }

    /// The size in bytes, after ``open()``; `nil` if the server sends only the whole file and does not tell.
    package var size: UInt64? { state.withLock { $0.size } }

    /// The entity tag, after ``open()``; `nil` if the server sends none.
    package var entityTag: String? { state.withLock { $0.version.tag } }

    /// Requests the first bytes, once, and learns the size; a failure is kept.
    package func open() throws(MediaError) {
        try opening.withLock { result throws(MediaError) in
            if let result { return try result.get() }
            let first = Result { () throws(MediaError) in try requestFirst() }
            result = first
            try first.get()
        }
    }

    private func requestFirst() throws(MediaError) {
        let download = WholeDownload()
        var first = try bytes(from: 0, count: Self.headBytes, first: download)
        if !download.hasBegun, state.withLock({ $0.size }) == nil {
            // Without the size, only the end of the whole file shows it.
            first = try bytes(from: 0, count: Self.headBytes, first: download, asWhole: true)
        }
        if download.hasBegun {
            let (size, version) = (download.size, Version(download.headers))
            state.withLock { ($0.download, $0.size, $0.version) = (download, size, version) }
            return noteWhole()
        }
        let head = first
        let isKnown = state.withLock { state in
            state.head = head
            return state.size != nil
        }
        guard isKnown else { throw MediaError(.unsupported, "the server does not tell the size of the file") }
    }

    /// Reads bytes; fewer at the end of the file.
    package func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
        try open()
        let (head, size, download) = state.withLock { state in
            (offset == 0 ? state.head.take() : nil, state.size, state.download)
        }
        if let download { return try download.bytes(at: offset, count: count) }
        let wanted = min(UInt64(max(0, count)), size.map { $0 > offset ? $0 - offset : 0 } ?? 0)
        guard wanted > 0 else { return [] }
        guard let head else { return try bytes(from: offset, count: Int(wanted)) }
        if head.count >= wanted { return Array(head.prefix(Int(wanted))) }
        return try head + bytes(from: UInt64(head.count), count: Int(wanted) - head.count)
    }

    // MARK: Requests

    /// Requests a range as often as the policy allows, going on after what a broken answer has brought.
    ///
    /// - Parameters:
    ///   - offset: The offset of the first byte.
    ///   - count: The number of bytes.
    ///   - download: For the first request, the download that takes an answer with the whole file.
    ///   - asWhole: True to ask for the whole file.
    private func bytes(
        from offset: UInt64, count: Int, first download: WholeDownload? = nil, asWhole: Bool = false
    ) throws(MediaError) -> [UInt8] {
        var received: [UInt8] = []
        var failures = 0
        while true {
            let start = offset + UInt64(received.count)
            let range = asWhole ? nil : "\(start)-\(offset + UInt64(count) - 1)"
            let part = try answer(range, from: start, count: count - received.count, first: download)
            received += part.bytes
            // The server's connection may end before the range does.
            guard let failure = part.failure else { return received }
            if part.bytes.count >= Self.progressBytes { failures = 0 }
            guard failures < options.retries else { throw failure.error }
            let pause = RetryPolicy.pause(before: failures, asked: failure.pause)
            failures += 1
            usleep(UInt32(pause / .microseconds(1)))
        }
    }

    /// The bytes of an answer, and the failure after them, which may pass.
    private typealias Part = (bytes: [UInt8], failure: RetryPolicy.Failure?)

    /// Requests a range once, following redirections.
    private func answer(
        _ range: String?, from offset: UInt64, count: Int, first download: WholeDownload?
    ) throws(MediaError) -> Part {
        let known = state.withLock { (target: $0.target, isPublic: $0.isPublic) }
        var origin = try self.origin()
        var place = known.target ?? origin
        var mustBePublic = known.isPublic
        for _ in 0...Self.maximumRedirections {
            var request = try self.request(to: place, origin, range: range)
            request.maximumBytes = max(count, Self.maximumErrorBytes)
            request.refusesPrivate = mustBePublic && place != origin
            let loop = try TransferLoop.current()
            let answer: Transfer.Answer
            if let download {
                // The rest of a whole file is received while its beginning is read.
                request.begin = { download.begin($0) }
                request.receive = { download.receive($0) }
                let transfer = Transfer(request)
                loop.begin(transfer)
                answer = download.wait(for: transfer)
            } else {
                answer = loop.answer(to: request)
            }
            if place == origin, known.target == nil { mustBePublic = NetworkRange.isPublic(number: answer.server) }
            if let region = answer.headers["x-amz-bucket-region"], isElsewhere(answer, region) {
                state.withLock { $0.region = region }
                origin = try self.origin()
                place = origin
                continue
            }
            if let failure = RetryPolicy.failure(in: answer, authorities: options.certificateAuthorities?.string) {
                // A signed address to which the server has redirected may have expired.
                let isOld = known.target != nil && known.target != origin && answer.status == 403
                if isOld { state.withLock { $0.target = nil } }
                guard failure.mayPass || isOld else { throw failure.error }
                return ([], failure)
            }
            if answer.status >= 300 {
                place = try redirected(from: place, by: answer, mustBePublic: mustBePublic)
                continue
            }
            let (settledPlace, isPublic) = (place, mustBePublic)
            let part = try part(of: answer, from: offset, count: count, isFirst: download != nil)
            state.withLock { state in
                state.target = settledPlace
                state.isPublic = isPublic
            }
            return part
        }
        throw MediaError(.inputOutput, "the server redirects too often")
    }

    /// The address that is requested first.
    private func origin() throws(MediaError) -> NetworkAddress {
        guard address.scheme == .s3 else { return address }
        return try S3Request(address, options.s3, region: state.withLock { $0.region }).url
    }

    /// Returns true if an S3 server says that the bucket is in another region than the one asked.
    private func isElsewhere(_ answer: Transfer.Answer, _ region: String) -> Bool {
        address.scheme == .s3 && [301, 307, 400].contains(answer.status) && options.s3.endpoint.isEmpty
            && region != state.withLock { $0.region } ?? options.s3.region
            && region.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }

    private func request(
        to place: NetworkAddress, _ origin: NetworkAddress, range: String?
    ) throws(MediaError) -> Transfer.Request {
        var request = Transfer.Request(url: place.requestURL, range: range, maximumBytes: 0)
        request.usesNetrc = options.usesNetrc
        request.certificateAuthorities = options.certificateAuthorities?.string
        // No server but the one that the user has named gets the user's secrets.
        if place.hasOrigin(of: origin) {
            request.headers = options.headers
            request.user = origin.user
            if address.scheme == .s3 {
                let signed = try S3Request(address, options.s3, region: state.withLock { $0.region })
                request.headers += try signed.headers(range: range.map { "bytes=\($0)" }, time: time(nil))
            }
        } else if let user = place.user {
            request.user = user
        }
        if let condition = state.withLock({ $0.version.condition }) { request.headers.append("If-Range: \(condition)") }
        return request
    }

    /// Returns the place to which an answer redirects.
    private func redirected(
        from place: NetworkAddress, by answer: Transfer.Answer, mustBePublic: Bool
    ) throws(MediaError) -> NetworkAddress {
        guard let location = answer.headers["location"], [301, 302, 303, 307, 308].contains(answer.status) else {
            throw MediaError(.inputOutput, "the server does not send the file (HTTP \(answer.status))")
        }
        let target = try place.resolving(location)
        if place.scheme == .https, target.scheme == .http {
            throw MediaError(.permissionDenied, "the server redirects from https to http, which is refused")
        }
        if mustBePublic || !NetworkRange.isPrivate(host: address.host) && !NetworkRange.isPrivate(host: place.host),
            NetworkRange.isPrivate(host: target.host)
        {
            throw MediaError(
                .permissionDenied, "the server redirects to an address that is not public, which is refused")
        }
        return target
    }

    // MARK: Answers

    /// Returns the bytes of a successful answer, and the failure if they are fewer than announced.
    private func part(
        of answer: Transfer.Answer, from offset: UInt64, count: Int, isFirst: Bool
    ) throws(MediaError) -> Part {
        let changed = MediaError(.changed, "was changed while it was read; try again when nobody writes to it")
        let version = Version(answer.headers)
        let known = state.withLock { (version: $0.version, size: $0.size) }
        guard !known.version.differs(from: version) else { throw changed }
        guard answer.status == 206 else {
            if isFirst { return ([], nil) }
            // The condition of If-Range did not hold, or the server has changed its mind about ranges.
            throw changed
        }
        if let encoding = answer.headers["content-encoding"], encoding.lowercased() != "identity" {
            throw MediaError(.unsupported, "the server sends the file compressed, of which no ranges can be read")
        }
        guard let range = ContentRange(answer.headers["content-range"] ?? ""), range.start == offset,
            range.end - range.start <= UInt64(count), range.end <= range.size ?? .max
        else {
            throw MediaError(.inputOutput, "the server sends another range than it was asked for")
        }
        if let known = known.size, let size = range.size, known != size { throw changed }
        if isFirst {
            guard let size = range.size else { return ([], nil) }
            state.withLock { state in
                state.size = size
                state.version = version
            }
        }
        let announced = Int(range.end - range.start)
        let bytes = Array(answer.body.prefix(announced))
        let expected = min(count, Int(clamping: (range.size ?? .max) - offset))
        guard bytes.count < expected else { return (bytes, nil) }
        let words = "the connection to the server was lost before all bytes had come"
        let error = MediaError(.inputOutput, words, cause: answer.code == 0 ? nil : answer.reason)
        return (bytes, RetryPolicy.Failure(error: error, mayPass: true))
    }
}

/// The `Content-Range` header of an answer (RFC 9110, 14.4).
struct ContentRange {
    /// The offset of the first byte.
    let start: UInt64
    /// The offset after the last byte.
    let end: UInt64
    /// The size of the whole file; `nil` if the server does not tell it.
    let size: UInt64?

    /// Parses `bytes 0-99/1000` or `bytes 0-99/*`; returns `nil` for anything else.
    init?(_ text: String) {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let start = UInt64(bounds[0]), let last = UInt64(bounds[1]), last >= start, last < .max
        else { return nil }
        self.start = start
        end = last + 1
        size = UInt64(parts[1])
        guard parts[1] == "*" || size != nil else { return nil }
    }
}
