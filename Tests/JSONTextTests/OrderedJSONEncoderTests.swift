import Foundation
import MediaBase
import Testing

@testable import JSONText

/// Expected texts are written by hand from RFC 8259; validity and values are checked with Foundation's reader.
@Suite struct OrderedJSONEncoderTests {
    private struct Report: Encodable {
        var schemaVersion = 1
        var path = "a/b.mov"
        var zebra: Int? = 3
        var absent: Int?
        var apple = [1.5, 2, -0.25]
        var nested = Inner()
        var empty: [Int] = []

        struct Inner: Encodable {
            var value: Int64 = 9_223_372_036_854_775_807
            var flag = true
        }
    }

    @Test func keepsTheOrderOfDeclaration() throws {
        #expect(
            try OrderedJSONEncoder().string(Report())
                == #"{"schemaVersion":1,"path":"a/b.mov","zebra":3,"apple":[1.5,2.0,-0.25],"#
                + #""nested":{"value":9223372036854775807,"flag":true},"empty":[]}"#)
    }

    @Test func prettyIndentsByTwo() throws {
        let text = try OrderedJSONEncoder(layout: .pretty).string(["a": [1, 2], "b": []])
        #expect(text == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}")
        let inside = try OrderedJSONEncoder(layout: .pretty).encode([1], depth: 1)
        #expect(String(decoding: inside, as: UTF8.self) == "[\n    1\n  ]")
    }

    @Test func escapes() throws {
        #expect(
            try OrderedJSONEncoder().string("\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}") == #""\"\\/\b\f\n\r\t\u0001\u001f""#)
        #expect(
            try OrderedJSONEncoder().string("\u{7F}\u{80}\u{9F}\u{A0}é€😀")
                == "\"\\u007f\\u0080\\u009f\u{A0}é€😀\"")
    }

    @Test func everyScalarSurvives() throws {
        var scalars = String.UnicodeScalarView()
        for value in UInt32(0)...0x10FFFF where value < 0x3000 || value % 251 == 0 || value > 0x10FF00 {
            if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
        }
        let text = String(scalars)
        let bytes = try OrderedJSONEncoder().encode([text])
        let read = try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? [String])
        #expect(read.first.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars))
    }

    @Test(arguments: [0.1, 1e-7, 1e22, .pi, -0.0, .leastNonzeroMagnitude, 1.7976931348623157e308, 48000, 1.0 / 3])
    func doublesReadBackTheSame(number: Double) throws {
        let bytes = try OrderedJSONEncoder().encode([number])
        #expect(try JSONDecoder().decode([Double].self, from: Data(bytes)) == [number])
    }

    @Test func whatIsNotFiniteIsNull() throws {
        #expect(try OrderedJSONEncoder().string([Double.infinity, -.infinity, .nan]) == "[null,null,null]")
        #expect(try OrderedJSONEncoder().string(["peak": -Float.infinity]) == #"{"peak":null}"#)
        #expect(try OrderedJSONEncoder().string(Double.nan) == "null")
    }

    @Test func integersOfEveryWidth() throws {
        #expect(try OrderedJSONEncoder().string([UInt64.max]) == "[18446744073709551615]")
        #expect(try OrderedJSONEncoder().string([Int8.min]) == "[-128]")
        #expect(
            try OrderedJSONEncoder().string([Int128.min]) == "[-170141183460469231731687303715884105728]")
        #expect(try OrderedJSONEncoder().string(Float(0.1)) == "0.1")
    }

    @Test func dictionariesAndSetsComeOutSorted() throws {
        let keys = (0..<100).map { "key\($0)" }
        let text = try OrderedJSONEncoder().string(Dictionary(uniqueKeysWithValues: keys.map { ($0, 0) }))
        #expect(text == "{" + keys.sorted().map { "\"\($0)\":0" }.joined(separator: ",") + "}")
        #expect(try OrderedJSONEncoder().string(Set(["c", "a", "b"])) == #"["a","b","c"]"#)
        #expect(try OrderedJSONEncoder().string([true: "x", false: "y"]) == #"[false,"y",true,"x"]"#)
    }

    /// A subclass-like value that fills containers out of order, repeats a key and uses super encoders.
    private struct Scattered: Encodable {
        enum Key: String, CodingKey { case first, second, third, `super` }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            var list = object.nestedUnkeyedContainer(forKey: .first)
            let parent = object.superEncoder(forKey: .second)
            try object.encode("once", forKey: .third)
            try list.encode(1)
            var inner = list.nestedContainer(keyedBy: Key.self)
            try list.encodeNil()
            try inner.encode(2, forKey: .first)
            var late = parent.singleValueContainer()
            try late.encode([7])
            var again = encoder.container(keyedBy: Key.self)
            try again.encode("twice", forKey: .third)
            var end = object.superEncoder().unkeyedContainer()
            try end.encode(true)
            #expect(list.count == 3)
        }
    }

    @Test func containersMayBeFilledInAnyOrder() throws {
        #expect(
            try OrderedJSONEncoder().string(Scattered())
                == #"{"first":[1,{"first":2},null],"second":[7],"third":"twice","super":[true]}"#)
    }

    private struct ManyKeys: Encodable {
        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: OrderedJSONKey.self)
            for round in 0..<2 {
                for index in (0..<40).reversed() {
                    try object.encode(round, forKey: OrderedJSONKey(stringValue: "k\(index)"))
                }
            }
            try object.encode(1, forKey: OrderedJSONKey(stringValue: "\u{E9}"))
            try object.encode(2, forKey: OrderedJSONKey(stringValue: "e\u{301}"))
        }
    }

    @Test func manyKeysKeepTheirPlaceAndAreToldApartByBytes() throws {
        let keys = (0..<40).reversed().map { "\"k\($0)\":1" } + ["\"\u{E9}\":1", "\"e\u{301}\":2"]
        #expect(Array(try OrderedJSONEncoder().encode(ManyKeys())) == Array("{\(keys.joined(separator: ","))}".utf8))
    }

    private indirect enum Deep: Encodable {
        case end
        case level(Deep)

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            if case .level(let next) = self { try list.encode(next) }
        }
    }

    @Test func nestingIsLimited() throws {
        var value = Deep.end
        for _ in 0..<400 { value = .level(value) }
        let text = try OrderedJSONEncoder().string(value)
        #expect(text == String(repeating: "[", count: 401) + String(repeating: "]", count: 401))
        for _ in 0..<400 { value = .level(value) }
        #expect { try OrderedJSONEncoder().string(value) } throws: { ($0 as? MediaError)?.code == .limitExceeded }
    }

    private struct Nothing: Encodable {}

    @Test func aValueWithoutMembersIsAnEmptyObject() throws {
        #expect(try OrderedJSONEncoder().string([Nothing()]) == "[{}]")
        #expect(try OrderedJSONEncoder().string(Int?.none) == "null")
    }
}
