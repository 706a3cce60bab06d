public import FoundationEssentials
public import MediaBase
package import Network
import SystemCalls
import SystemPackage

extension Asset {
    /// Creates an asset for a file, given its URL: `AVURLAsset(url:)`.
    ///
    /// The path of a `file:` URL is the bytes for which its percent-encoding stands, even if they are not valid UTF-8. A
    /// file at a URL of `http`, `https` or `s3` is read by range requests, with ``Options/network``; `s3://bucket/key` is an
    /// object of Amazon S3 or of a store with its interface. Opening it sends the first request.
    /// - Parameters:
    ///   - url: The URL; a relative one is resolved against its base.
    ///   - options: The options for opening the file.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for a URL of another scheme;
    ///   ``MediaError/Code-swift.struct/invalidArgument`` if it names no file.
    public convenience init(url: URL, options: Options = Options()) throws(MediaError) {
        let url = url.absoluteURL
        if let scheme = url.scheme?.lowercased(), ["http", "https", "s3"].contains(scheme) {
            // An S3 address takes the key as it is stored.
            let text =
                scheme == "s3"
                ? "s3://\(url.host(percentEncoded: false) ?? "")\(url.path(percentEncoded: false))" : url.absoluteString
            self.init(address: try NetworkAddress(text), options: options)
        } else {
            self.init(path: try FilePath(fileURL: url), options: options)
        }
    }

    /// Creates an asset for a file on the network.
    package convenience init(address: NetworkAddress, options: Options = Options()) {
        self.init(
            source: NetworkAccess.source(address, options.network), name: address.displayName, options: options)
    }
}

extension FilePath {
    /// Creates the path that a `file:` URL names (RFC 8089).
    init(fileURL url: URL) throws(MediaError) {
        let url = url.absoluteURL
        guard url.isFileURL else {
            throw MediaError(
                .unsupported,
                "an address of \(url.scheme.map { $0 + ":" } ?? "no scheme") cannot be opened, only one of file:, http:, "
                    + "https: or s3:")
        }
        if let host = url.host(percentEncoded: false), !host.isEmpty, host.lowercased() != "localhost" {
            throw MediaError(.unsupported, "a file: URL that names the host \(host) cannot be opened")
        }
        let bytes = url.path(percentEncoded: true).percentDecoded
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw MediaError(.invalidArgument, "the URL names no file: its path is empty or contains a zero byte")
        }
        self.init(bytes: bytes)
    }
}
