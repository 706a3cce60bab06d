import MediaBase
import Testing

@testable import MediaJobs

/// Expected names are written by hand from the placeholders' meaning.
@Suite struct ThumbsNameTemplateTests {
    private func name(_ text: String) throws -> String {
        let template = try ThumbsNameTemplate(parsing: Array(text.utf8))
        let name = template.name { $0 == .width ? nil : Array($0.rawValue.uppercased().utf8) }
        return String(decoding: name, as: UTF8.self)
    }

    @Test func placeholdersAreReplacedAndDoubleBracesAreBraces() throws {
        #expect(try name("a/{stem}-{index}.{ext}") == "a/STEM-INDEX.EXT")
        #expect(try name("{{{seconds}}}{timecode}") == "{SECONDS}TIMECODE")
        #expect(try name("{width}x{height}") == "{width}xHEIGHT")
        #expect(try name("plain") == "plain")
    }

    @Test(arguments: ["{frames}", "{}", "{ stem}", "{stem", "stem}", "{{stem}"])
    func whatIsNoTemplateIsRefused(text: String) throws {
        let error = #expect(throws: MediaError.self) { try ThumbsNameTemplate(parsing: Array(text.utf8)) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func bytesThatAreNotUTF8StayAsTheyAre() throws {
        let template = try ThumbsNameTemplate(parsing: [0xFF] + Array("{index}".utf8) + [0xC3])
        #expect(template.name { _ in [0x31] } == [0xFF, 0x31, 0xC3])
    }

    @Test func foldersHaveTheUsualNames() throws {
        let folder = try ThumbsNameTemplate(parsing: Array("out".utf8)).asFolder()
        #expect(folder.name { Array($0.rawValue.utf8) } == Array("out/stem-index.ext".utf8))
        #expect(ThumbsNameTemplate(literal: Array("{a}".utf8)).name { _ in [] } == Array("{a}".utf8))
    }
}
