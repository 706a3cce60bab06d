import Testing

@testable import QualityControl

@Suite struct ReportTests {
    @Test func reportsShowTheSame() {
        #expect(
            Markup.escaped("<a&\"b\">\n\u{202E}\u{1B}\u{FFFE}")
                == "&lt;a&amp;&quot;b&quot;&gt;\\n\\u202e\\x1b\u{FFFD}")
    }
}
