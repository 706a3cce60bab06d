import MediaBase
import Testing

@testable import Network

/// Parses addresses and shows them without what is secret.
@Suite struct NetworkAddressTests {
    @Test(arguments: [
        ("https://example.com/a/clip.mov", "https://example.com/a/clip.mov", "clip.mov"),
        ("HTTPS://Example.COM", "https://example.com/", "example.com"),
        ("http://example.com:8080/a%20b.mov?x=1#part", "http://example.com:8080/a%20b.mov?…", "a b.mov"),
        ("https://ann:s3cret@example.com/x.mp4?sig=abc", "https://…@example.com/x.mp4?…", "x.mp4"),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/x", "x"),
        ("s3://masters/2026/A roll?.mov", "s3://masters/2026/A roll?.mov", "A roll?.mov"),
        ("https://example.com/%2Fetc%2Fpasswd", "https://example.com/%2Fetc%2Fpasswd", "_etc_passwd"),
        ("https://example.com/..", "https://example.com/..", "_"),
        ("https://example.com/会議.mkv", "https://example.com/%E4%BC%9A%E8%AD%B0.mkv", "会議.mkv"),
    ])
    func namesAreShownWithoutSecrets(text: String, shown: String, file: String) throws {
        let address = try NetworkAddress(text)
        #expect(address.displayName == shown)
        #expect(address.fileName == file)
    }

    @Test(arguments: ["ftp://x/y", "/https://x", "https:/x/y", "httpss://x/y", "clip.mov", "s3:key", "https"])
    func otherTextIsNoAddress(text: String) { #expect(!NetworkAddress.isAddress(text)) }

    @Test(arguments: [
        "https://", "https:///x", "https://a b/x", "https://h:0/x", "https://h:65536/x", "https://h:+80/x", "s3://b",
        "s3://b/", "s3:///k", "https://h%2Fx/y",
    ])
    func invalidAddressesAreRefused(text: String) {
        let error = #expect(throws: MediaError.self) { try NetworkAddress(text) }
        #expect(error?.code == .invalidArgument)
    }

    /// The secret text makes the same address again.
    @Test(arguments: [
        "https://ann:p%40ss%3Aword@example.com:444/x%20y.mp4?sig=a%2Fb", "s3://bucket/a key", "http://h/",
    ])
    func theWholeTextIsKept(text: String) throws {
        let address = try NetworkAddress(text)
        #expect(try NetworkAddress(address.secretText) == address)
        #expect(try NetworkAddress("https://ann:other@example.com:444/x%20y.mp4?sig=a%2Fb") != address)
    }

    /// RFC 3986, 5.4, as far as servers redirect.
    @Test(arguments: [
        ("https://other.example/z?q", "https://other.example/z?q"), ("//other.example/z", "http://other.example/z"),
        ("/z", "http://a.example:81/z"), ("z", "http://a.example:81/b/z"), ("?new", "http://a.example:81/b/c?new"),
    ])
    func redirectionsAreResolved(reference: String, target: String) throws {
        #expect(try NetworkAddress("http://a.example:81/b/c?q").resolving(reference).requestURL == target)
    }

    @Test(arguments: ["ftp://x/y", "file:///etc/passwd", "s3://b/k", "gopher://x"])
    func redirectionsStayWithHTTP(reference: String) throws {
        let address = try NetworkAddress("https://a.example/")
        #expect(throws: MediaError.self) { try address.resolving(reference) }
    }

    @Test func originsAreComparedWithTheirPorts() throws {
        let address = try NetworkAddress("https://a.example/x")
        #expect(address.hasOrigin(of: try NetworkAddress("https://A.example:443/y?z")))
        for other in ["http://a.example/x", "https://b.example/x", "https://a.example:8443/x"] {
            #expect(!address.hasOrigin(of: try NetworkAddress(other)))
        }
    }

    /// Printing the options in any way shows no credentials.
    @Test func optionsAreNotDescribed() {
        var options = NetworkOptions()
        options.headers = ["Authorization: Bearer t0ken"]
        (options.s3.accessKeyID, options.s3.secretAccessKey) = ("AKID", "s3cret")
        var dumped = ""
        dump(options, to: &dumped)
        for text in ["\(options)", String(reflecting: options), dumped, "\(options.s3)", "\([options])"] {
            for secret in ["t0ken", "AKID", "s3cret"] { #expect(!text.contains(secret)) }
        }
    }
}
