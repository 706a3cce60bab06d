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
}
