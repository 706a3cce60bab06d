import MediaBase
import Testing

@testable import JSONText

@Suite struct JSONReaderTests {
    private func text(_ json: String, leavingOut: Set<String> = []) throws -> String {
        var writer = JSONWriter(layout: .compact)
        writer.write(try JSONReader.parse(Array(json.utf8), leavingOut: leavingOut))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("null", "null"), (" [ 1 , -2.5e3 ,true, false ] ", "[1,-2.5e3,true,false]"),
        (#"{"b":{"c":[]},"a":"x"}"#, #"{"b":{"c":[]},"a":"x"}"#), ("{}", "{}"),
        (#""\u00e9\ud83d\ude00\n\/\\""#, "\"é😀\\n/\\\\\""), (#""\ud83d""#, "\"\u{FFFD}\""), ("\u{FEFF}1", "1"),
        (#"{"a":1,"a":2}"#, #"{"a":2}"#),
    ])
    func valuesAreRead(json: String, wanted: String) throws {
        #expect(try text(json) == wanted)
    }

    @Test func valuesOfSomeKeysAreLeftOut() throws {
        let json = #"{"metadata":{"x":[{"y":1}]},"a":{"metadata":[2],"b":3}}"#
        #expect(try text(json, leavingOut: ["metadata"]) == #"{"a":{"b":3}}"#)
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "[1 2]", "1 2", "\"a", "\"\\x\"", "\"\\u12\"", "tru", "0x10",
        "1e", "--1", "'a'", "\"\u{1}\"", "[", "{\"a\":1,}", ".5", "+1",
    ])
    func whatIsNoJSONIsRefused(json: String) {
        #expect { try text(json) } throws: { ($0 as? MediaError)?.code == .damaged }
    }

    @Test func theMessageNamesThePlace() {
        #expect { try text("{\n  \"a\": ?\n}") } throws: {
            "\($0)".hasSuffix("at line 2, column 8")
        }
    }

    @Test func textThatIsNotUTF8IsRefused() {
        #expect(throws: MediaError.self) { try JSONReader.parse([0x22, 0xFF, 0x22]) }
    }

    @Test func theNumberOfValuesIsBounded() throws {
        let bytes = Array(#"[1,{"a":null}]"#.utf8)
        _ = try JSONReader.parse(bytes, atMost: 4)
        #expect { try JSONReader.parse(bytes, atMost: 3) } throws: { ($0 as? MediaError)?.code == .limitExceeded }
    }

    @Test func depthIsBounded() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(try text(nested(512)) == nested(512))
        #expect { try text(nested(100_000)) } throws: { ($0 as? MediaError)?.code == .limitExceeded }
    }
}
