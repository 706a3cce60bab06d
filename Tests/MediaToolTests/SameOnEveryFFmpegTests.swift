import Foundation
import TestSupport
import Testing

/// What versions of FFmpeg do differently, and mediatool does in one way.
@Suite struct SameOnEveryFFmpegTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func report(_ arguments: String...) throws -> [String: Any] {
        let result = try Program.run(Program.mediatool, arguments + ["--json", "--quiet"], folder: folder.path)
        try #require(result.status == 0, "\(result.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    private func date(_ holder: Any?) throws -> String? {
        let items = try #require((holder as? [String: Any])?["metadata"] as? [[String: Any]])
        return items.first { $0["key"] as? String == "creation_time" }?["value"] as? String
    }

    /// The content of an element of Matroska by its path of IDs, in the first place where it is found.
    private func element(_ path: [[UInt8]], in bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        guard let wanted = path.first else { return [bytes] }
        var (found, place): ([ArraySlice<UInt8>], Int) = ([], bytes.startIndex)
        while place < bytes.endIndex {
            let idLength = bytes[place].leadingZeroBitCount + 1
            guard idLength <= 4, place + idLength < bytes.endIndex else { break }
            let id = Array(bytes[place..<place + idLength])
            place += idLength
            let sizeLength = bytes[place].leadingZeroBitCount + 1
            guard sizeLength <= 8, place + sizeLength <= bytes.endIndex else { break }
            var size = Int(bytes[place]) & ((1 << (8 - sizeLength)) - 1)
            for byte in bytes[place + 1..<place + sizeLength] { size = size << 8 | Int(byte) }
            place += sizeLength
            let end = min(bytes.endIndex, place + size)
            if id == wanted { found += element(Array(path.dropFirst()), in: bytes[place..<end]) }
            place = end
        }
        return found
    }

    private static let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]
    private static let track: [[UInt8]] = [segment, [0x16, 0x54, 0xAE, 0x6B], [0xAE]]
    private static let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]

    /// A block's time is that of its samples and the delay (RFC 9559, 5.1.4.1.25.5): the first packet begins with the priming,
    /// so that it lies at 0, and the second 20 ms later.
    @Test(arguments: ["mkv", "webm"]) func theDelayOfOpusIsAddedOnce(type: String) throws {
        _ = try report(
            "export", try Fixtures.path("pcm-s16-stereo.wav"), "-o", "o.\(type)", "--audio-codec", "opus")
        let bytes = try folder.bytes("o.\(type)")
        let delay = try #require(element(Self.track + [[0x56, 0xAA]], in: bytes[...]).first)
        let nanoseconds = delay.reduce(0) { $0 << 8 | Int($1) }
        #expect((1_000_000...40_000_000).contains(nanoseconds))
        let clusters = element([Self.segment, Self.cluster], in: bytes[...])
        let first = try #require(clusters.first)
        let start = try #require(element([[0xE7]], in: first).first).reduce(0) { $0 << 8 | Int($1) }
        let blocks = element([[0xA3]], in: first).prefix(3).map { block -> Int in
            let place = block.startIndex
            return start + Int(Int16(bitPattern: UInt16(block[place + 1]) << 8 | UInt16(block[place + 2])))
        }
        #expect(blocks == [0, 20, 40])
    }

    /// Players know a delay of Opus alone.
    @Test func otherSoundHasNoDelayInMatroska() throws {
        _ = try report("export", try Fixtures.path("pcm-s16-stereo.wav"), "-o", "o.mkv", "--audio-codec", "aac")
        let bytes = try folder.bytes("o.mkv")
        #expect(element(Self.track + [[0x86]], in: bytes[...]).map { String(decoding: $0, as: UTF8.self) } == ["A_AAC"])
        #expect(element(Self.track + [[0x56, 0xAA]], in: bytes[...]).isEmpty)
    }

    /// An image sequence has a still picture beside its track, which is none.
    @Test func stillPicturesBesideASequenceAreNoTracks() throws {
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=5:d=2", "-c:v", "libaom-av1", "-cpu-used", "8", "-f", "avif",
            folder.path("a.avif"),
        ])
        let tracks = try #require(try report("probe", "a.avif")["tracks"] as? [[String: Any]])
        #expect(tracks.count == 1)
        #expect(tracks.first?["sampleCount"] as? Int == 10)
        let rate = (tracks.first?["video"] as? [String: Any])?["frameRate"] as? [String: Any]
        #expect(rate?["average"] as? [String: Int] == ["num": 5, "den": 1])
    }

    /// The header's date, not what a named key says, nor both.
    @Test func datesAreThoseOfTheHeaders() throws {
        let path = folder.path("d.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=5:d=1", "-c:v", "mpeg4", "-metadata",
            "creation_time=2020-01-02T03:04:05Z", "-movflags", "use_metadata_tags", path,
        ])
        var bytes = try folder.bytes("d.mov")
        let header = try #require(bytes.indices.first { bytes[$0...].starts(with: "mvhd".utf8) })
        // Seconds since 1904, behind version and flags: one day later.
        let seconds: UInt32 = 3_660_779_045
        #expect(bytes[header + 8..<header + 12].reduce(0) { $0 << 8 | UInt32($1) } == seconds)
        for place in 0..<4 {
            bytes[header + 8 + place] = UInt8(truncatingIfNeeded: (seconds + 86400) >> (24 - 8 * place))
        }
        try folder.write("d.mov", bytes)
        let found = try report("probe", "d.mov")
        #expect(try date(found) == "2020-01-03T03:04:05.000000Z")
        #expect(try date((found["tracks"] as? [Any])?.first) == "2020-01-02T03:04:05.000000Z")
    }

    /// 3 s of two channels of 32 bits at 48000 Hz are 1,152,000 bytes, in blocks of 4096.
    @Test func packetsOfPCMAreOfOneSize() throws {
        let tracks = try #require(
            try report("probe", "--scan", try Fixtures.path("pcm-s32-stereo.wav"))["tracks"] as? [[String: Any]])
        #expect((tracks.first?["scan"] as? [String: Any])?["packetCount"] as? Int == 282)
    }

    /// Whole bits of the file by its duration, cut and not rounded.
    @Test func bitRatesAreWorkedOut() throws {
        let container = try #require(try report("probe", try Fixtures.path("vfr.mp4"))["container"] as? [String: Any])
        let duration = try #require((container["duration"] as? [String: Any])?["seconds"] as? Double)
        let size = try #require(container["sizeBytes"] as? Int)
        let rate = try #require(container["bitRate"] as? Int)
        #expect(Double(rate) * duration <= Double(size * 8) && Double(size * 8) < Double(rate + 1) * duration)
    }

    /// A GIF ends with its trailer; what comes after that is none of it.
    @Test func aGIFWithoutItsTrailerBreaksOff() throws {
        let bytes = try Fixtures.bytes("gif.gif")
        #expect(bytes.suffix(2) == [0, 0x3B])
        let cases: [(name: String, bytes: [UInt8], isTruncated: Bool)] = [
            ("whole.gif", bytes, false), ("more.gif", bytes + [0, 0, 0], false),
            ("open.gif", Array(bytes.dropLast()), true), ("half.gif", Array(bytes.prefix(bytes.count / 2)), true),
        ]
        for (name, bytes, isTruncated) in cases {
            try folder.write(name, bytes)
            let warnings = try #require(try report("probe", name)["warnings"] as? [String])
            #expect(warnings.contains { $0.contains("breaks off") } == isTruncated, "\(name): \(warnings)")
        }
    }
}
