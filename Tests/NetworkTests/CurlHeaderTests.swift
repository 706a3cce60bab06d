import Foundation
import TestSupport
import Testing

/// The constants that stand for libcurl's, against its own headers.
@Suite struct CurlHeaderTests {
    /// libcurl's names where they do not follow from ours.
    private static let names = [
        "NETRC_OPTIONAL": "CURL_NETRC_OPTIONAL", "AUTH_BASIC": "CURLAUTH_BASIC",
        "HTTP_VERSION_2TLS": "CURL_HTTP_VERSION_2TLS", "SOCKET_BAD": "CURL_SOCKET_BAD", "OK": "CURLE_OK",
        "MALFORMED_URL": "CURLE_URL_MALFORMAT", "CACERT_BADFILE": "CURLE_SSL_CACERT_BADFILE",
    ]
    private static let codes: Set<String> = [
        "UNSUPPORTED_PROTOCOL", "COULDNT_RESOLVE_PROXY", "COULDNT_RESOLVE_HOST", "COULDNT_CONNECT", "PARTIAL_FILE",
        "WRITE_ERROR", "OPERATION_TIMEDOUT", "SSL_CONNECT_ERROR", "GOT_NOTHING", "PEER_FAILED_VERIFICATION",
    ]

    private static func original(of name: String) -> String {
        if let other = names[name] { return other }
        if codes.contains(name) { return "CURLE_\(name)" }
        return name.hasPrefix("INFO_") ? "CURLINFO_\(name.dropFirst(5))" : "CURLOPT_\(name)"
    }

    /// Returns the compiler's messages about assertions that pairs of values are the same.
    private func messages(_ pairs: [(String, String)]) throws -> String {
        let header = Repository.path("Sources/CCurl/include/CCurl.h")
        let source =
            "#include <curl/curl.h>\n#include \"\(header)\"\n"
            + pairs.map { "_Static_assert((long)(\($0)) == (long)(\($1)), \"\($0)\");\n" }.joined()
        return try Program.run("clang", ["-fsyntax-only", "-Werror", "-xc", "-"], input: Array(source.utf8)).error
    }

    @Test(
        .enabled(
            if: ["/usr/include/curl/curl.h", "/usr/include/x86_64-linux-gnu/curl/curl.h"].contains {
                FileManager.default.fileExists(atPath: $0)
            }, "the headers of libcurl are not installed"))
    func constantsAreThoseOfTheHeaders() throws {
        let text = try String(contentsOfFile: Repository.path("Sources/CCurl/include/CCurl.h"), encoding: .utf8)
        let names = text.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard words.count > 1, words[1] == "=", words[0].hasPrefix("CCURL_") else { return nil }
            return String(words[0].dropFirst(6))
        }
        #expect(names.count > 35)
        let pairs = names.map { ("CCURL_\($0)", Self.original(of: $0)) }
        #expect(try messages(pairs + [("sizeof(ccurl_address)", "sizeof(struct curl_sockaddr)")]) == "")
        #expect(try !messages([("CCURL_URL", "CURLOPT_RANGE")]).isEmpty)
    }
}
