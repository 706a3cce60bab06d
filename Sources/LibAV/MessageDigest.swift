import CFFmpeg
package import MediaBase

/// Owner of an `AVHashContext`: the digest of bytes that arrive in pieces.
///
/// Only one thread may use it at a time.
package struct MessageDigest: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    /// How bytes become a digest, by libavutil's name.
    package enum Algorithm: String, Sendable, CaseIterable {
        /// 16 bytes, RFC 1321; against accidents only.
        case md5 = "MD5"
        /// 32 bytes, FIPS 180-4.
        case sha256 = "SHA256"
    }

    /// Creates the digest of no bytes (`av_hash_init`).
    package init(_ algorithm: Algorithm) throws(MediaError) {
        var made: OpaquePointer?
        try AVStatus.check(
            av_hash_alloc(&made, algorithm.rawValue), "av_hash_alloc", doing: "compute \(algorithm.rawValue)")
        context = try allocated(made)
        av_hash_init(context)
    }

    deinit {
        var context: OpaquePointer? = context
        av_hash_freep(&context)
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            av_hash_update(context, start.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: [UInt8]) { update(bytes.span.bytes) }

    /// Returns the digest of all bytes (`av_hash_final`).
    package consuming func finish() -> [UInt8] {
        let size = Int(av_hash_get_size(context))
        return [UInt8](unsafeUninitializedCapacity: size) { result, count in
            guard let start = result.baseAddress else { return }
            av_hash_final(context, start)
            count = size
        }
    }
}
