import MediaBase
import Testing

/// Bytes as text: percent-encoded by RFC 3986, in base64 by RFC 4648, in hexadecimal digits.
@Suite struct BytesAsTextTests {
    @Test(arguments: [
        ("a%20b", "a b"), ("%C3%A9%c3%a9", "éé"), ("100%", "100%"), ("%zz%4", "%zz%4"), ("%+1", "%+1"), ("", ""),
        ("%2541", "%41"), ("é%41", "éA"),
    ])
    func textIsDecodedOnce(text: String, decoded: String) { #expect(text.percentDecoded == Array(decoded.utf8)) }

    @Test func bytesNeedNotBeText() { #expect("%FF%00".percentDecoded == [0xFF, 0]) }

    /// The test vectors of RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64OfTheRFC(text: String, encoded: String) {
        #expect(text.utf8.base64 == encoded)
        #expect(encoded.utf8.base64Decoded == Array(text.utf8))
    }

    @Test func base64OfOtherBytes() {
        // printf '\xfb\xff\x00\xbf' | base64
        #expect([0xFB, 0xFF, 0x00, 0xBF].base64 == "+/8Avw==")
        #expect("+/8A\r\n vw".utf8.base64Decoded == [0xFB, 0xFF, 0x00, 0xBF])
        #expect("+_8A".utf8.base64Decoded == nil)
    }

    @Test func hexadecimalDigits() {
        #expect([0x00, 0x0F, 0xA0, 0xFF].hexadecimal == "000fa0ff")
    }
}
