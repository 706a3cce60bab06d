import MediaBase
import Testing

@testable import Network

/// Compares signatures with those that Amazon has published.
@Suite struct S3RequestTests {
    private var settings: NetworkOptions.S3 {
        var settings = NetworkOptions.S3()
        settings.accessKeyID = "AKIAIOSFODNN7EXAMPLE"
        settings.secretAccessKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
        return settings
    }

    /// Signs the first example of Amazon S3's API reference, "Authenticating Requests".
    ///
    /// It gets the first ten bytes of `test.txt` at 00:00 on 24 May 2013, and names the host without the region.
    @Test func theSignatureIsThePublishedOne() throws {
        var settings = settings
        settings.endpoint = "https://examplebucket.s3.amazonaws.com"
        // The bucket is in the host there and not in the path, so that the object is taken for the bucket.
        let request = try S3Request(NetworkAddress("s3://test.txt/x"), settings)
        #expect(request.url.requestURL == "https://examplebucket.s3.amazonaws.com/test.txt/x")
        let published = try S3Request.signature(
            of: "GET", path: "/test.txt", query: "",
            fields: [
                ("host", "examplebucket.s3.amazonaws.com"), ("range", "bytes=0-9"),
                ("x-amz-content-sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
                ("x-amz-date", "20130524T000000Z"),
            ], at: "20130524T000000Z", region: "us-east-1", secret: settings.secretAccessKey)
        #expect(published == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    /// The third and the fourth of the same examples: a bucket's life cycle, and its list of objects.
    @Test(arguments: [
        ("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ])
    func queriesAreSigned(query: String, published: String) throws {
        let signature = try S3Request.signature(
            of: "GET", path: "/", query: query,
            fields: [
                ("host", "examplebucket.s3.amazonaws.com"),
                ("x-amz-content-sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
                ("x-amz-date", "20130524T000000Z"),
            ], at: "20130524T000000Z", region: "us-east-1", secret: settings.secretAccessKey)
        #expect(signature == published)
    }

    /// 1369353600 is 00:00 on 24 May 2013.
    @Test func theHeadersNameWhatIsSigned() throws {
        var settings = settings
        settings.sessionToken = "t0ken"
        settings.paysForRequests = true
        let request = try S3Request(NetworkAddress("s3://masters/a b/é.mov"), settings)
        #expect(request.url.requestURL == "https://masters.s3.us-east-1.amazonaws.com/a%20b/%C3%A9.mov")
        let headers = try request.headers(range: "bytes=0-9", time: 1_369_353_600)
        #expect(headers.contains("x-amz-date: 20130524T000000Z"))
        #expect(headers.contains("x-amz-security-token: t0ken"))
        #expect(headers.contains("x-amz-request-payer: requester"))
        let signed =
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date;x-amz-request-payer;x-amz-security-token,"
        #expect(headers.last?.contains(signed) == true)
        #expect(headers.last?.contains("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,") == true)
    }

    @Test func buckets() throws {
        var settings = NetworkOptions.S3()
        settings.region = "eu-central-1"
        let dotted = try S3Request(NetworkAddress("s3://my.masters/x"), settings)
        #expect(dotted.url.requestURL == "https://s3.eu-central-1.amazonaws.com/my.masters/x")
        let elsewhere = try S3Request(NetworkAddress("s3://masters/x"), settings, region: "us-west-2")
        #expect(elsewhere.url.requestURL == "https://masters.s3.us-west-2.amazonaws.com/x")
        settings.endpoint = "http://localhost:9000/"
        let own = try S3Request(NetworkAddress("s3://masters/a+b?.mov"), settings)
        #expect(own.url.requestURL == "http://localhost:9000/masters/a%2Bb%3F.mov")
        // Without credentials, nothing is signed.
        #expect(!(try own.headers(range: nil, time: 0)).contains { $0.hasPrefix("Authorization") })
    }
}
