import CCurl
import MediaBase

/// Which answers are failures, which of these may pass, and the pauses before a request is repeated.
enum RetryPolicy {
    /// A failed request.
    struct Failure {
        /// The error to report if it is not repeated.
        var error: MediaError
        /// True if the same request may succeed later.
        var mayPass: Bool
        /// The pause that the server asks for, in seconds; `nil` if it asks for none.
        var pause: Int?
    }

    /// The longest pause that is made because a server asks for it, in seconds.
    private static let longestPause = 30

    /// Returns the pause before a repetition.
    ///
    /// It is a quarter of a second before the first one and doubles with each, up to 8 seconds; chance makes it up to half
    /// shorter, so that many clients do not come back at once.
    ///
    /// - Parameters:
    ///   - number: The number of the repetition, from 0.
    ///   - asked: The pause that the server has asked for, in seconds.
    static func pause(before number: Int, asked: Int?) -> Duration {
        if let asked { return .seconds(min(max(0, asked), longestPause)) }
        let milliseconds = 250 << min(max(0, number), 5)
        return .milliseconds(Int.random(in: milliseconds / 2...milliseconds))
    }

    /// Returns the failure that an answer is; `nil` for a success and for a redirection.
    ///
    /// - Parameter authorities: The file of the authorities to trust, for the message; `nil` for the system's.
    static func failure(in answer: Transfer.Answer, authorities: String? = nil) -> Failure? {
        switch answer.status {
        case 200, 206, 300..<400: return nil
        case 0: return failure(withoutAnswer: answer, authorities)
        case let status:
            let (code, words) = meaning(of: status)
            // The service's own word, such as `NoSuchKey`, is in the XML of S3's errors.
            let own = word(in: answer.body).map { ", \($0)" } ?? ""
            let stated = "HTTP \(status)\(own)"
            let mayPass = status == 408 || status == 429 || status >= 500 && status != 501 && status != 505
            return Failure(
                error: MediaError(code, "\(words) (\(stated))", cause: stated), mayPass: mayPass,
                pause: mayPass ? answer.headers["retry-after"].flatMap { Int($0) } : nil)
        }
    }

    private static func meaning(of status: Int) -> (MediaError.Code, String) {
        switch status {
        case 401: (.permissionDenied, "the server asks for a name and a password, or refuses those that it got")
        case 403:
            (.permissionDenied, "the server refuses access; check the credentials, or whether the address has expired")
        case 404: (.notFound, "the server has no such file")
        case 407: (.permissionDenied, "the proxy asks for a name and a password")
        case 410: (.notFound, "the server has the file no longer")
        case 429: (.inputOutput, "the server refuses so many requests; try again later")
        case 500...: (.inputOutput, "the server fails; try again later")
        default: (.inputOutput, "the server does not send the file")
        }
    }

    private static func failure(withoutAnswer answer: Transfer.Answer, _ authorities: String?) -> Failure {
        func failure(_ code: MediaError.Code, _ words: String, mayPass: Bool = false) -> Failure {
            Failure(error: MediaError(code, words, cause: answer.reason), mayPass: mayPass)
        }
        if answer.proxyStatus == 407 {
            return failure(.permissionDenied, "the proxy asks for a name and a password (HTTP 407)")
        }
        if answer.hasTooLongHeaders { return failure(.inputOutput, "the server's headers are too long") }
        if answer.wasRefused {
            return failure(.permissionDenied, "the server redirects to an address that is not public, which is refused")
        }
        switch answer.code {
        case CCURL_COULDNT_RESOLVE_HOST:
            return failure(.notFound, "there is no server of this name", mayPass: true)
        case CCURL_COULDNT_RESOLVE_PROXY: return failure(.notFound, "there is no proxy of this name")
        case CCURL_PEER_FAILED_VERIFICATION:
            return failure(
                .permissionDenied,
                "the server's certificate is not trusted; a private authority's certificates can be given as a file")
        case CCURL_CACERT_BADFILE:
            return failure(
                .invalidArgument, "the trusted certificates cannot be read from \(authorities ?? "the system's file")")
        case CCURL_SSL_CONNECT_ERROR: return failure(.inputOutput, "no encrypted connection can be made", mayPass: true)
        case CCURL_MALFORMED_URL: return failure(.invalidArgument, "is not an address of http, https or s3")
        // Other schemes have been refused before: here it is an answer that is not of HTTP.
        case CCURL_UNSUPPORTED_PROTOCOL:
            return failure(.inputOutput, "the server sends what is no answer of HTTP", mayPass: true)
        case CCURL_COULDNT_CONNECT:
            return failure(.inputOutput, "no connection to the server can be made", mayPass: true)
        default: return failure(.inputOutput, "the connection to the server was lost", mayPass: true)
        }
    }

    /// Returns the text between `<Code>` and `</Code>`.
    private static func word(in body: [UInt8]) -> String? {
        let text = String(decoding: body.prefix(4096), as: UTF8.self)
        guard let start = text.firstRange(of: "<Code>"), let end = text[start.upperBound...].firstRange(of: "</Code>")
        else { return nil }
        let word = text[start.upperBound..<end.lowerBound]
        return word.count <= 64 && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ? String(word) : nil
    }
}
