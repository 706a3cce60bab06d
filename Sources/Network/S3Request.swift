import CCurl
import Glibc
import MediaBase
import SystemCalls

/// The HTTP request for an object of S3, signed with Signature Version 4.
///
/// libcurl 7.88 can sign too, but leaves out `x-amz-content-sha256`, which S3 demands.
struct S3Request {
    /// The URL of the object.
    let url: NetworkAddress
    private let settings: NetworkOptions.S3
    private let region: String

    /// The SHA-256 of no bytes, which is what a request without a body has.
    private static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Creates the request for an object.
    ///
    /// - Parameters:
    ///   - object: An address of S3.
    ///   - settings: The endpoint and the credentials.
    ///   - region: The region if the server has named another one than the settings.
    init(_ object: NetworkAddress, _ settings: NetworkOptions.S3, region: String? = nil) throws(MediaError) {
        self.settings = settings
        self.region = region ?? settings.region
        let key = NetworkAddress.encodedKey(object.path)
        var text: String
        if !settings.endpoint.isEmpty {
            text = settings.endpoint
            while text.hasSuffix("/") { text.removeLast() }
            text += "/\(object.host)\(key)"
        } else if object.host.contains(".") {
            // The certificate of the service does not match names with further dots.
            text = "https://s3.\(self.region).amazonaws.com/\(object.host)\(key)"
        } else {
            text = "https://\(object.host).s3.\(self.region).amazonaws.com\(key)"
        }
        guard let url = try? NetworkAddress(text), url.scheme != .s3 else {
            throw MediaError(.invalidArgument, "the endpoint of S3 is not an address of http or https")
        }
        self.url = url
    }

    /// Returns the headers of a GET request for a range.
    ///
    /// - Parameters:
    ///   - range: The value of the `Range` header; `nil` for none.
    ///   - time: The time of the request, in seconds since 1970.
    /// - Throws: `unsupported` if there are credentials to sign with and libcrypto is missing.
    func headers(range: String?, time: Int) throws(MediaError) -> [String] {
        let stamp = Self.stamp(time)
        var fields = [("host", url.authority), ("x-amz-content-sha256", Self.emptyDigest), ("x-amz-date", stamp)]
        if let range { fields.append(("range", range)) }
        if settings.paysForRequests { fields.append(("x-amz-request-payer", "requester")) }
        if !settings.sessionToken.isEmpty { fields.append(("x-amz-security-token", settings.sessionToken)) }
        fields.sort { $0.0 < $1.0 }
        // libcurl sends these two itself.
        var headers = fields.filter { $0.0 != "host" && $0.0 != "range" }.map { "\($0.0): \($0.1)" }
        guard !settings.accessKeyID.isEmpty else { return headers }
        let names = fields.map(\.0).joined(separator: ";")
        let signature = try Self.signature(
            of: "GET", path: url.path, query: url.query ?? "", fields: fields, at: stamp, region: region,
            secret: settings.secretAccessKey)
        let scope = Self.scope(stamp, region)
        headers.append(
            "Authorization: AWS4-HMAC-SHA256 Credential=\(settings.accessKeyID)/\(scope), SignedHeaders=\(names), "
                + "Signature=\(signature)")
        return headers
    }

    private static func scope(_ stamp: String, _ region: String) -> String {
        "\(stamp.prefix(8))/\(region)/s3/aws4_request"
    }

    /// Returns the signature of a request without a body, in hexadecimal digits.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path, percent-encoded.
    ///   - query: The query, its parameters percent-encoded and sorted.
    ///   - fields: The headers to sign, sorted by their names in lower case.
    ///   - stamp: The time as in `x-amz-date`.
    ///   - region: The region.
    ///   - secret: The secret access key.
    static func signature(
        of method: String, path: String, query: String, fields: [(String, String)], at stamp: String, region: String,
        secret: String
    ) throws(MediaError) -> String {
        let names = fields.map(\.0).joined(separator: ";")
        let request =
            ([method, path, query] + fields.map { "\($0.0):\($0.1)" } + ["", names, emptyDigest])
            .joined(separator: "\n")
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope(stamp, region))\n\(try sha256(request).hexadecimal)"
        var key = Array("AWS4\(secret)".utf8)
        for part in [String(stamp.prefix(8)), region, "s3", "aws4_request"] { key = try hmac(part, key: key) }
        return try hmac(text, key: key).hexadecimal
    }

    /// Returns a time as `20130524T000000Z`.
    private static func stamp(_ time: Int) -> String {
        UTCTime.text(seconds: time).filter { $0 != "-" && $0 != ":" }
    }

    private static func sha256(_ text: String) throws(MediaError) -> [UInt8] {
        let bytes = Array(text.utf8)
        return try digest { ccurl_sha256(bytes, bytes.count, $0) }
    }

    private static func hmac(_ text: String, key: [UInt8]) throws(MediaError) -> [UInt8] {
        let bytes = Array(text.utf8)
        return try digest { ccurl_hmac_sha256(key, key.count, bytes, bytes.count, $0) }
    }

    private static func digest(_ make: (UnsafeMutablePointer<UInt8>?) -> CInt) throws(MediaError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: 32)
        let isMade = result.withUnsafeMutableBufferPointer { make($0.baseAddress) }
        guard isMade == 1 else {
            throw MediaError(
                .unsupported, "requests to S3 cannot be signed: libcrypto.so.3 is missing; install libssl3")
        }
        return result
    }

}
