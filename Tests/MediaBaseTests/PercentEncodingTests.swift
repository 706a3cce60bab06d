import MediaBase
import Testing

/// Percent-encoded text and its bytes, by RFC 3986.
@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("a%20b", "a b"), ("%C3%A9%c3%a9", "éé"), ("100%", "100%"), ("%zz%4", "%zz%4"), ("%+1", "%+1"), ("", ""),
        ("%2541", "%41"), ("é%41", "éA"),
    ])
    func textIsDecodedOnce(text: String, decoded: String) { #expect(text.percentDecoded == Array(decoded.utf8)) }

    @Test func bytesNeedNotBeText() { #expect("%FF%00".percentDecoded == [0xFF, 0]) }
}
