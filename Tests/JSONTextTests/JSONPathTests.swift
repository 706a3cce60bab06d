import JSONText
import MediaBase
import Testing

@Suite struct JSONPathTests {
    private struct Result: Encodable {
        var name = "a \"b\""
        var size = ["width": 4]
        var list = [[1, 2], [3]]
        var nothing: Int?
    }

    private func text(_ path: String, quotes: Bool = false) throws -> String? {
        try JSONPath(path).text(in: Result(), layout: .compact, quotesStrings: quotes)
    }

    @Test func pathsLeadToValues() throws {
        #expect(try text("name") == "a \"b\"")
        #expect(try text("name", quotes: true) == #""a \"b\"""#)
        #expect(try text("size.width") == "4")
        #expect(try text(".size") == #"{"width":4}"#)
        #expect(try text("list[0][1]") == "2")
        #expect(try text("list[-1]") == "[3]")
    }

    @Test(arguments: ["nothing", "name.length", "list[2]", "list[-3]", "size[0]", "list.width"])
    func whatIsNotThereIsNil(_ path: String) throws {
        #expect(try text(path) == nil)
    }

    @Test(arguments: ["", ".", "a.", "a..b", "a[", "a[x]", "a[0]b", "a.[0]", "[0", "a]["])
    func whatIsNoPathIsRefused(_ path: String) {
        #expect(throws: MediaError.self) { try JSONPath(path) }
    }
}
