import Foundation
import MediaBase
import Testing

/// JSON with sorted keys, as Foundation's encoder shuffles them otherwise.
func sortedJSON(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

@Suite struct MediaTimeCodingTests {
    /// The keys are the specification's.
    @Test(arguments: [
        (time(1, 2), #"{"seconds":0.5,"timescale":2,"value":1}"#),
        (.positiveInfinity, #"{"flags":["positiveInfinity"],"seconds":null,"timescale":0,"value":0}"#),
        (.negativeInfinity, #"{"flags":["negativeInfinity"],"seconds":null,"timescale":0,"value":0}"#),
        (.indefinite, #"{"flags":["indefinite"],"seconds":null,"timescale":0,"value":0}"#),
        (.invalid, #"{"flags":["invalid"],"seconds":null,"timescale":0,"value":0}"#),
        (time(7, 3).converted(toTimescale: 2), #"{"flags":["hasBeenRounded"],"seconds":2.5,"timescale":2,"value":5}"#),
    ])
    func jsonGoesBothWays(time: MediaTime, text: String) throws {
        #expect(try sortedJSON(time) == text)
        let read = try JSONDecoder().decode(MediaTime.self, from: Data(text.utf8))
        #expect(read == time)
        #expect(read.flags == time.flags)
        #expect(read.timescale == time.timescale)
    }

    @Test func secondsAreNotNeededToRead() throws {
        let read = try JSONDecoder().decode(MediaTime.self, from: Data(#"{"value":9,"timescale":4}"#.utf8))
        #expect(shape(read) == "9/4 0")
    }

    @Test(arguments: [
        #"{}"#, #"[]"#, #"{"value":1}"#, #"{"value":1,"timescale":0}"#, #"{"value":1,"timescale":-5}"#,
        #"{"value":1,"timescale":2147483648}"#, #"{"value":9223372036854775808,"timescale":1}"#,
        #"{"value":1e300,"timescale":1}"#, #"{"value":1.5,"timescale":1}"#, #"{"value":"1","timescale":1}"#,
        #"{"value":1,"timescale":1,"flags":["wrong"]}"#, #"{"value":1,"timescale":1,"flags":7}"#,
        #"{"value":1,"timescale":0,"flags":["hasBeenRounded"]}"#,
        #"{"value":0,"timescale":0,"flags":["positiveInfinity","negativeInfinity"]}"#,
    ])
    func hostileJSONThrows(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(MediaTime.self, from: Data(text.utf8)) }
    }

    @Test func keysAreWrittenInTheirOrder() throws {
        let cases: [(any Encodable, [String])] = [
            (time(1, 2), ["value", "timescale", "seconds"]),
            (MediaTime.indefinite, ["value", "timescale", "seconds", "flags"]),
            (Rational(1, 2), ["num", "den"]),
            (MediaTimeRange.zero, ["start", "duration"]),
        ]
        for (value, keys) in cases {
            let recorder = KeyRecorder()
            try value.encode(to: recorder)
            #expect(recorder.keys == keys)
        }
    }
}

/// An encoder that only notes which keys it is given, in turn.
private final class KeyRecorder: Encoder {
    var keys: [String] = []
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Keyed(recorder: self))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { preconditionFailure("not a keyed value") }
    func singleValueContainer() -> any SingleValueEncodingContainer { preconditionFailure("not a keyed value") }

    struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        var recorder: KeyRecorder
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) { recorder.keys.append(key.stringValue) }
        func encode(_ value: some Encodable, forKey key: Key) { recorder.keys.append(key.stringValue) }
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { recorder.container(keyedBy: type) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { recorder.unkeyedContainer() }
        func superEncoder() -> any Encoder { recorder }
        func superEncoder(forKey key: Key) -> any Encoder { recorder }
    }
}
