import Glibc
public import SystemPackage

/// The options for reading from the network, for an asset whose URL is one of `http`, `https` or `s3`.
///
/// Proxies are those of the environment, as in curl(1): `https_proxy`, `http_proxy`, `no_proxy`.
public struct NetworkOptions: Sendable, Hashable {
    /// The headers to send, such as `Authorization: Bearer …`; they go only to the server that the URL names, not to one to
    /// which it redirects.
    public var headers: [String] = []
    /// True to take names and passwords from `~/.netrc`, or the file named by `NETRC`: netrc(5).
    public var usesNetrc = false
    /// The file with the certificates of the authorities to trust, in PEM format; `nil` for the system's.
    public var certificateAuthorities: FilePath?
    /// The number of times that a request is repeated after a failure that may pass, such as a lost connection.
    ///
    /// The pauses before them grow from a quarter of a second on, or are what the server asks for, up to 30 seconds.
    public var retries = 4
    /// The settings for URLs of `s3`.
    public var s3 = S3()

    /// The settings for an object store with the interface of Amazon S3.
    public struct S3: Sendable, Hashable {
        /// The identifier of the access key; empty to send requests without a signature.
        public var accessKeyID = ""
        /// The secret access key.
        public var secretAccessKey = ""
        /// The session token of temporary credentials; empty for none.
        public var sessionToken = ""
        /// The region of the buckets.
        public var region = "us-east-1"
        /// The URL of the server, such as `http://localhost:9000`, in whose path the bucket is named; empty for Amazon's, in
        /// whose host the bucket is named.
        public var endpoint = ""
        /// True to pay for requests to buckets whose owner does not: `x-amz-request-payer`.
        public var paysForRequests = false

        /// Creates settings without credentials.
        public init() {}
    }

    /// Creates options without credentials; ``environment`` has those of the process.
    public init() {}

    /// The options that the environment's variables state.
    ///
    /// They are `SSL_CERT_FILE`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`,
    /// `AWS_DEFAULT_REGION` and `AWS_ENDPOINT_URL`.
    public static var environment: NetworkOptions {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        var options = NetworkOptions()
        options.certificateAuthorities = variable("SSL_CERT_FILE").map { FilePath($0) }
        options.s3.accessKeyID = variable("AWS_ACCESS_KEY_ID") ?? ""
        options.s3.secretAccessKey = variable("AWS_SECRET_ACCESS_KEY") ?? ""
        options.s3.sessionToken = variable("AWS_SESSION_TOKEN") ?? ""
        options.s3.region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? options.s3.region
        options.s3.endpoint = variable("AWS_ENDPOINT_URL") ?? ""
        return options
    }
}

extension NetworkOptions: CustomStringConvertible, CustomReflectable {
    /// A description without the headers and credentials.
    public var description: String { "NetworkOptions(retries: \(retries))" }
    /// A mirror without children, so that printing the options shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension NetworkOptions.S3: CustomStringConvertible, CustomReflectable {
    /// A description without the credentials.
    public var description: String { "S3(region: \(region))" }
    /// A mirror without children, so that printing the settings shows no secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
