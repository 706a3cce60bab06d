import LibAV
package import MediaBase

/// A digest of bytes or of decoded samples, for those who may not import LibAV.
///
/// ```swift
/// var digest = try ContentDigest(.sha256)
/// digest.update(bytes)
/// let text = digest.finish()
/// ```
package struct ContentDigest: ~Copyable, Sendable {
    private var digest: MessageDigest

    /// How bytes become a digest.
    package enum Algorithm: Sendable {
        /// 16 bytes, RFC 1321; against accidents only.
        case md5
        /// 32 bytes, FIPS 180-4.
        case sha256
    }

    /// Creates the digest of no bytes.
    package init(_ algorithm: Algorithm) throws(MediaError) {
        digest = try MessageDigest(algorithm == .md5 ? .md5 : .sha256)
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: RawSpan) { digest.update(bytes) }

    /// Adds the next bytes.
    package mutating func update(_ bytes: [UInt8]) { digest.update(bytes) }

    /// Adds a picture as raw video holds it, and returns the number of its bytes: `av_image_copy_to_buffer`.
    package mutating func update(_ picture: PixelBuffer) -> Int { picture.frame.addPixels(to: &digest) }

    /// Returns the digest in lower-case hexadecimal digits.
    package consuming func finish() -> String { digest.finish().hexadecimal }

    /// Returns the digest as bytes.
    package consuming func finishBytes() -> [UInt8] { digest.finish() }
}
