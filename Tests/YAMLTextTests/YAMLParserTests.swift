import MediaBase
import Testing
import YAMLText

/// The tree as one line: texts in quotes, other scalars bare.
private func outline(_ node: YAMLNode?) -> String {
    guard let node else { return "-" }
    switch node.content {
    case .scalar(let text, let isText): return isText ? "\"\(text)\"" : text
    case .sequence(let nodes): return "[" + nodes.map(outline).joined(separator: " ") + "]"
    case .mapping(let entries):
        return "{" + entries.map { "\(outline($0.key)):\(outline($0.value))" }.joined(separator: " ") + "}"
    }
}

struct YAMLParserTests {
    @Test(arguments: [
        ("", "-"), ("# nothing\n", "-"), ("---\n...\n", ""), ("a", "a"),
        ("a: 1\nb: '1'\nc: \"é\\t\"\n", "{a:1 b:\"1\" c:\"é\t\"}"),
        ("- {a: [1, 2], b: }\n- - x\n  - y\n", "[{a:[1 2] b:} [x y]]"),
        ("text: |\n  12\n  34\nfolded: >-\n  1\n  2\n", "{text:\"12\n34\n\" folded:\"1 2\"}"),
        ("a: !!str 1\nb: !other 1\n", "{a:\"1\" b:1}"), ("a: b # c\nd: 'it''s'\n", "{a:b d:\"it's\"}"),
        ("? [1]\n: 2\n", "{[1]:2}"), ("{\"a\": [true, null, -1.5e3]}", "{\"a\":[true null -1.5e3]}"),
    ])
    func reads(_ text: String, _ expected: String) throws {
        #expect(outline(try YAMLParser.parse(text)) == expected)
    }

    @Test func saysOnWhichLineValuesBegin() throws {
        let document = try #require(try YAMLParser.parse("# one\na:\n  - x\n\n  - y: 1\n"))
        let list = try #require(document.mapping?.first?.value)
        #expect(list.line == 3)
        #expect(list.sequence?.map(\.line) == [3, 5])
    }

    @Test(arguments: [
        ("a: [", "line 2: this is not YAML"), ("a:\n  - b\n c", "line 3: this is not YAML"),
        ("a: \"\u{0}\"", "line 1: this is not YAML"), ("a: 1\nb: \"\u{0}\"", "line 2: this is not YAML"),
        ("a: &x 1\nb: *x\n", "line 1: anchors"), ("a: 1\nb: *x\n", "line 2: anchors"), ("- &x [1]", "line 1: anchors"),
        ("- &x {a: 1}", "line 1: anchors"), ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a'"),
        ("a\n---\nb\n", "line 3: a second document"),
    ])
    func refuses(_ text: String, _ message: String) {
        let error = #expect(throws: MediaError.self) { try YAMLParser.parse(text) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func ofThisDepthAndNotMore() throws {
        let most = YAMLParser.maximumLevels
        let flow = String(repeating: "[", count: most) + String(repeating: "]", count: most)
        #expect(try YAMLParser.parse(flow) != nil)
        let blocks = String(repeating: "- ", count: most + 1) + "a"
        for text in [
            "[" + flow + "]", blocks, String(repeating: "[", count: 100_000), String(repeating: "{", count: 100_000),
        ] {
            let error = #expect(throws: MediaError.self) { try YAMLParser.parse(text) }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test func ofThisManyValuesAndNotMore() throws {
        let most = YAMLParser.maximumValues
        #expect(try YAMLParser.parse("[" + String(repeating: "a,", count: most - 1) + "]")?.sequence?.count == most - 1)
        let error = #expect(throws: MediaError.self) {
            try YAMLParser.parse("[" + String(repeating: "a,", count: most) + "]")
        }
        #expect(error?.code == .limitExceeded)
    }
}
