import MediaBase
import Testing

@Suite struct RawSoundTests {
    @Test func readsFormatRateAndChannels() throws {
        let sound = try RawSound(parsing: "S16LE:44100:2")
        #expect(sound.encoding == .s16le && sound.sampleRate == 44100 && sound.channels == 2)
        #expect(try RawSound(parsing: "mulaw:8000").description == "mulaw:8000:1")
        #expect(try RawSound(parsing: "f32:48000:6").encoding == .f32le)
        for encoding in RawSound.Encoding.allCases {
            #expect(try RawSound(parsing: "\(encoding):1:512").encoding == encoding)
        }
    }

    @Test(arguments: [
        "", "s16le", "s16le:", "s16le:0", "s16le:44100:0", "s16le:44100:513", "s16le:44100:2:1", "s17:44100",
        "s16le:-1",
        "s16le:+44100", "s16le:16777217", "s16le:99999999999999999999", "s16le:4e4", "le:1",
    ])
    func refusesTheRest(text: String) {
        #expect { try RawSound(parsing: text) } throws: { ($0 as? MediaError)?.code == .invalidArgument }
    }
}
