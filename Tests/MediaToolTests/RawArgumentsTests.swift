import MediaJobs
import SystemCalls
import SystemPackage
import Testing

@testable import mediatool

@Suite struct RawArgumentsTests {
    private static let samples: [[UInt8]] = [
        [], Array("plain.wav".utf8), Array("größe-日本-😀.mov".utf8), [0xFF], [0x66, 0xE9, 0x2E, 0x77], [0xC3],
        [0xC3, 0x28],
        // Overlong, surrogate, beyond U+10FFFF, cut short: none of them is UTF-8.
        [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF0, 0x9F, 0x98],
        // A scalar of the escape block itself, U+10FEC3, and just outside of it, U+10FF00.
        Array("\u{10FEC3}".utf8), Array("a\u{10FF00}b\u{10FE7F}".utf8), Array("--output=".utf8) + [0xE9],
        Array(0...255),
    ]

    @Test(arguments: samples) func bytesSurvive(bytes: [UInt8]) {
        let text = RawArguments.escaped(bytes: bytes)
        #expect(RawArguments.bytes(of: text) == bytes)
        #expect(String(decoding: text.utf8, as: UTF8.self) == text)
    }

    @Test func everyPairOfBytesHasATextOfItsOwn() {
        var texts = Set<[Unicode.Scalar]>()
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let text = RawArguments.escaped(bytes: [first, second])
                #expect(RawArguments.bytes(of: text) == [first, second])
                texts.insert(Array(text.unicodeScalars))
            }
        }
        #expect(texts.count == 65_536)
    }

    @Test func validTextIsLeftAlone() {
        #expect(RawArguments.escaped(bytes: "größe 12:30.wav".utf8) == "größe 12:30.wav")
        #expect(RawArguments.escaped(bytes: [0x61, 0xE9]) == "a\u{10FEE9}")
        #expect(RawArguments.displayed("a\u{10FEE9}b") == "a\u{FFFD}b")
    }

    @Test func splitsAtNUL() {
        let split = { (text: String) in RawArguments.split(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(split("mediatool\0probe\0\0a b\0") == ["mediatool", "probe", "", "a b"])
        #expect(split("mediatool\0\0") == ["mediatool", ""])
    }

    @Test func pathsGetTheirBytesBack() {
        let path = FilePath(argument: RawArguments.escaped(bytes: [0x63, 0x61, 0x66, 0xE9]))
        #expect(path.bytes == [0x63, 0x61, 0x66, 0xE9])
        #expect(path.displayPath == "caf\u{FFFD}")
    }

    @Test func pathArguments() {
        #expect(PathArgument(argument: "") == nil)
        #expect(PathArgument(argument: "-")?.isStandardStream == true)
        #expect(PathArgument(argument: "./-")?.isStandardStream == false)
        #expect(PathArgument(argument: "out/")?.endsWithSlash == true)
        // Nothing is written to an address.
        #expect(PathArgument(argument: "https://example.com/x") == nil)
    }
}
