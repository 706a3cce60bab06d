import AssetKit
import MediaBase
import SystemPackage
import TestSupport
import Testing

@testable import Inspection

@Suite struct TrackSelectorTests {
    @Test func readsItsForms() throws {
        #expect(try TrackSelector(parsing: "3") == .index(3))
        #expect(try TrackSelector(parsing: "a:1") == .ordinal(.audio, 1))
        #expect(try TrackSelector(parsing: "v:0") == .ordinal(.video, 0))
        #expect(try TrackSelector(parsing: "s:2") == .ordinal(.subtitle, 2))
        #expect(try TrackSelector(parsing: "id:5") == .id(5))
        #expect(try TrackSelector(parsing: "id:0x101") == .id(257))
        for text in ["3", "a:1", "v:0", "s:2", "d:0", "id:5"] {
            #expect(try TrackSelector(parsing: text).description == text)
        }
    }

    @Test(arguments: [
        "", "-1", "+1", "a", "a:", ":1", "a:-1", "x:0", "id:", "id:0x", "id:-0x1", "1:2", "a:1:2", "1.5", "٣",
    ])
    func refusesAllElse(text: String) {
        #expect { try TrackSelector(parsing: text) } throws: { error in
            let error = error as? MediaError
            return error?.code == .invalidArgument && error?.message.contains("a:1") == true
        }
    }

    /// `ffprobe -show_entries stream=index,codec_type,id many-tracks.mp4`: 0 and 1 video, 2 and 3 audio, 4 subtitle;
    /// ids from 1 on.
    @Test func findsTracks() throws {
        let tracks = try Asset(path: FilePath(Fixtures.path("many-tracks.mp4"))).loadNow(.tracks)
        func index(_ text: String, _ type: MediaType = .audio) throws -> Int {
            try TrackSelector(parsing: text).track(of: type, in: tracks).index
        }
        #expect(try index("3") == 3)
        #expect(try index("a:0") == 2)
        #expect(try index("a:1") == 3)
        #expect(try index("id:3") == 2)
        #expect(try index("v:1", .video) == 1)
        #expect(try TrackSelector.standardTrack(of: .audio, in: tracks).index == 2)
        #expect(try TrackSelector.standardTrack(of: .video, in: tracks).index == 0)
        for text in ["9", "a:2", "id:99", "0", "v:0"] {
            #expect { try index(text) } throws: { error in
                let error = error as? MediaError
                return error?.code == .noSuchTrack && error?.message.contains("3 (audio)") == true
            }
        }
        #expect(throws: MediaError.self) { try TrackSelector.standardTrack(of: .timecode, in: tracks) }
        #expect(throws: MediaError.self) { try TrackSelector.standardTrack(of: .audio, in: []) }
    }
}
