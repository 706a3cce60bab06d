import LibAV
import MediaBase
import Testing

/// Digests against the vectors of RFC 1321 and FIPS 180-2, and against Python's hashlib.
@Suite struct MessageDigestTests {
    private static let vectors: [(MessageDigest.Algorithm, String, String)] = [
        (.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
        (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
        (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test(arguments: vectors)
    func publishedVectors(_ algorithm: MessageDigest.Algorithm, _ text: String, _ wanted: String) throws {
        var digest = try MessageDigest(algorithm)
        digest.update(Array(text.utf8))
        #expect(digest.finish().hexadecimal == wanted)
    }

    /// A million times the letter a, in pieces of several lengths; the MD5 is hashlib's.
    @Test(arguments: [
        (MessageDigest.Algorithm.md5, "7707d6ae4e027c70eea2a935c2296f21"),
        (.sha256, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func piecesDoNotMatter(_ algorithm: MessageDigest.Algorithm, _ wanted: String) throws {
        let all = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        for length in [1, 63, 64, 65, 4096, 1_000_000] {
            var digest = try MessageDigest(algorithm)
            for start in stride(from: 0, to: all.count, by: length) {
                digest.update(all.span.bytes.extracting(start..<min(start + length, all.count)))
            }
            digest.update([])
            #expect(digest.finish().hexadecimal == wanted)
        }
    }
}
