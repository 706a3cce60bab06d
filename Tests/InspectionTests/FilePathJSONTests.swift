import SystemCalls
import SystemPackage
import Testing

@testable import Inspection

@Suite struct FilePathJSONTests {
    @Test func onlyWhatIsNotUTF8NeedsBytes() {
        // printf 'caf\xe9' | base64
        #expect(FilePath(bytes: [0x63, 0x61, 0x66, 0xE9]).pathBytes == "Y2Fm6Q==")
        #expect(FilePath("café").pathBytes == nil)
    }

    /// The test vectors of RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64OfTheRFC(text: String, encoded: String) {
        #expect(base64(text.utf8) == encoded)
    }
}
