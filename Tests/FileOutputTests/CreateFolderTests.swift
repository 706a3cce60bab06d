import MediaBase
import SystemPackage
import Testing

@testable import FileOutput

@Suite struct CreateFolderTests {
    @Test func makesTheFoldersAboveToo() throws {
        let scratch = try Scratch()
        try createFolder(at: scratch("x/y/z"))
        try createFolder(at: scratch("x/y/z"))
        #expect(try Stat(scratch("x/y/z")).type == .directory)
    }

    @Test func doesNotReplaceAFile() throws {
        let scratch = try Scratch()
        try scratch.write("", to: "file")
        #expect {
            try createFolder(at: scratch("file"))
        } throws: {
            ($0 as? MediaError)?.code == .alreadyExists
        }
        #expect {
            try createFolder(at: scratch("file/below"))
        } throws: {
            ($0 as? MediaError)?.code == .alreadyExists
        }
        #expect(try scratch.names() == ["file"])
    }
}
