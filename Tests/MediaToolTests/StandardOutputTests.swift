import Testing

@testable import mediatool

@Suite struct StandardOutputTests {
    @Test func messagesStayOneLine() {
        #expect(
            StandardError.line(path: "a\nb\u{1B}[31m.mov", message: "bad\u{85}\u{2028}")
                == "mediatool: a\\nb\\x1b[31m.mov: bad\\x85\\u2028\n")
        #expect(StandardError.line(path: nil, message: "größe\t") == "mediatool: größe\\t\n")
    }
}
