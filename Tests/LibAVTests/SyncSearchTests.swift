import Foundation
import TestSupport
import Testing

@testable import LibAV

/// Where frames begin is known by how the bytes were put together; ffmpeg makes the frames.
@Suite struct SyncSearchTests {
    /// A second of sound in frames alone, without tags.
    static func frames(_ arguments: [String]) throws -> [UInt8] {
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "sine=d=1:r=48000"] + arguments + ["-id3v2_version", "0", "-write_xing", "0", "-"])
    }

    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt32 = 19
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    @Test(arguments: [
        ("mp3", ["-f", "mp3"]), ("mp3", ["-ar", "22050", "-f", "mp3"]), ("mp3", ["-ar", "8000", "-f", "mp3"]),
        ("mp3", ["-ac", "2", "-c:a", "mp2", "-f", "mp2"]), ("aac", ["-f", "adts"]), ("ac3", ["-f", "ac3"]),
        ("ac3", ["-ar", "44100", "-b:a", "96k", "-f", "ac3"]), ("ac3", ["-ar", "32000", "-f", "ac3"]),
        ("eac3", ["-f", "eac3"]),
    ])
    func framesAreFoundBehindNoise(format: String, arguments: [String]) throws {
        let frames = try Self.frames(arguments)
        for junk in [1, 1000, 100_000] {
            let match = SyncSearch(Self.noise(junk) + frames, isWhole: true).first()
            #expect(match == SyncSearch.Match(format: format, offset: junk))
        }
        // Two frames are too few, also at the end.
        #expect(SyncSearch(Self.noise(1000) + frames.prefix(frames.count / 30), isWhole: false).first() == nil)
    }

    @Test func fewFramesSufficeAtTheEnd() throws {
        // MPEG-1 layer III, 128 kb/s, 48000 Hz: 144 · 128000 / 48000 = 384 bytes a frame.
        let frame = [0xFF, 0xFB, 0x94, 0xC4] + [UInt8](repeating: 0, count: 380)
        let three = frame + frame + frame
        #expect(SyncSearch([7] + three, isWhole: true).first() == SyncSearch.Match(format: "mp3", offset: 1))
        #expect(SyncSearch([7] + three, isWhole: false).first() == nil)
        #expect(SyncSearch([7] + frame + frame, isWhole: true).first() == nil)
        #expect(SyncSearch([7] + three + [UInt8](repeating: 7, count: 9), isWhole: true).first() == nil)
    }

    @Test(arguments: [("flac", "flac-s16-stereo.flac"), ("ogg", "vorbis.ogg"), ("ogg", "opus.opus")])
    func marksAreFound(format: String, fixture: String) throws {
        let bytes = try Self.noise(5000) + Fixtures.bytes(fixture)
        #expect(SyncSearch(bytes, isWhole: true).first() == SyncSearch.Match(format: format, offset: 5000))
    }

    @Test func noiseIsNothing() {
        for count in [0, 1, 7, 8, 1000, 1 << 20] {
            #expect(SyncSearch(Self.noise(count), isWhole: true).first() == nil)
            #expect(SyncSearch([UInt8](repeating: 0xFF, count: min(count, 5000)), isWhole: true).first() == nil)
        }
    }

    /// ID3v2.4.0, 3.1: seven bits of each byte; ten bytes of header.
    @Test func tagsAreMeasured() {
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 2]
        let bytes = tag + [UInt8](repeating: 0, count: 130) + [1, 2, 3]
        func length(_ bytes: [UInt8]) -> UInt64 {
            lengthOfID3Tags { Array(bytes.dropFirst(Int($0)).prefix(10)) }
        }
        #expect(length(bytes) == 140)
        #expect(length([1, 2, 3]) == 0)
        #expect(length(bytes.dropLast(3) + bytes) == 280)
    }
}
