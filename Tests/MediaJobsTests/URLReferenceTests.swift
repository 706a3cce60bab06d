import SystemPackage
import Testing

@testable import MediaJobs

/// Expected references are written by hand from RFC 3986.
@Suite struct URLReferenceTests {
    @Test(arguments: [
        ("a.jpg", "a.vtt", "a.jpg"), ("out/a.jpg", "out/x/../a.vtt", "a.jpg"), ("out/a.jpg", "a.vtt", "out/a.jpg"),
        ("a.jpg", "web/vtt/a.vtt", "../../a.jpg"), ("/x/y/a.jpg", "/x/z/a.vtt", "../y/a.jpg"),
        ("s/a.jpg", "s/a.jpg/b.vtt", "../a.jpg"), ("a b#c?d%.jpg", "a.vtt", "a%20b%23c%3Fd%25.jpg"),
        ("é:>.jpg", "a.vtt", "%C3%A9%3A%3E.jpg"), ("../a.jpg", "../b.vtt", "a.jpg"),
    ])
    func referencesAreRelativeAndEscaped(file: String, document: String, wanted: String) {
        #expect(URLReference.relative(to: FilePath(file), from: FilePath(document)) == wanted)
    }
}
