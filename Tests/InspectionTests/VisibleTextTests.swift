import JSONText
import MediaBase
import Testing

@testable import Inspection

/// Expected texts are written by hand: C's escapes, RFC 4180, OWASP's page on CSV injection.
@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("größe 日本 😀 \u{A0}", "größe 日本 😀 \u{A0}"), ("", ""),
        ("a\nb\r\tc", #"a\nb\r\tc"#), ("\r\n", #"\r\n"#),
        ("\u{1B}]0;x\u{7}\u{7F}", #"\x1b]0;x\x07\x7f"#), ("\u{9B}2J\u{85}", #"\x9b2J\x85"#),
        ("\u{2028}\u{2029}", #"\u2028\u2029"#),
        ("a\u{202E}vom.exe\u{202A}\u{2066}\u{2069}", #"a\u202evom.exe\u202a\u2066\u2069"#),
        ("\u{200E}\u{200F}\u{61C}", #"\u200e\u200f\u061c"#),
    ])
    func whatATerminalObeysIsEscaped(text: String, wanted: String) {
        #expect(VisibleText.line(text) == wanted)
    }

    @Test(arguments: [
        ("a.mov", "a.mov"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("a\nb", #"a\nb"#),
        ("=1+1", "'=1+1"), ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""),
        ("+x", "'+x"), ("-x.mov", "'-x.mov"), ("@SUM(A1)", "'@SUM(A1)"),
        ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
        ("\t=1", #"\t=1"#), ("-", "-"), ("-23.5", "-23.5"), ("-23.5 LUFS", "-23.5 LUFS"), ("-1/25", "-1/25"),
        ("-1/=2", "'-1/=2"), ("-2 =x", "'-2 =x"), ("-inf", "'-inf"),
    ])
    func cellsAreNoFormulas(text: String, wanted: String) {
        #expect(VisibleText.cell(text) == wanted)
    }

    @Test func jsonEscapesTheSame() throws {
        let text = "\u{9B}\u{202E}x\u{200F}\u{61C}\u{2066}\u{2028}–é\u{640}€"
        #expect(
            try OrderedJSONEncoder().string(text)
                == "\"\\u009b\\u202ex\\u200f\\u061c\\u2066\\u2028–é\u{640}€\"")
    }
}
