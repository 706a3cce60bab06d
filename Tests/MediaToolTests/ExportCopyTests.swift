import Foundation
import TestSupport
import Testing

/// Copies of parts into files that keep less than the source's, held against what ffmpeg decodes of both.
@Suite struct ExportCopyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func export(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, ["export", "--force", "--quiet"] + arguments, folder: folder.path)
    }

    private func report(_ arguments: [String]) throws -> CopyReport { try CopyReport(of: arguments, in: folder) }

    /// Six seconds of noise in 16 bits at 48 kHz.
    private func noise(_ name: String, _ codec: [String]) throws -> String {
        let path = folder.path(name)
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "anoisesrc=r=48000:d=6:seed=3:a=0.4", "-ac", "1"] + codec + [path])
        return path
    }

    @Test func linearPCMIsCutToTheSample() throws {
        let source = try noise("n.wav", ["-c:a", "pcm_s16le"])
        let report = try report([source, "-o", "o.wav", "--start", "0.51", "--end", "1.2"])
        #expect(report.audio.first?.delivered.start.seconds == 0.51)
        #expect(report.audio.first?.delivered.storedFrom == nil && report.warnings.isEmpty)
        #expect(try FFmpeg.pcm(folder.path("o.wav")) == Array(try FFmpeg.pcm(source)[24480 * 2..<57600 * 2]))
    }

    /// A part has another length and another sum than the header of the whole says.
    @Test func aPartOfFLACSaysNothingOfTheWhole() throws {
        let source = try noise("n.flac", ["-c:a", "flac"])
        let report = try report([source, "-o", "o.flac", "--start", "1.51", "--end", "4.6"])
        let start = try #require(report.audio.first?.delivered.start.seconds)
        #expect(start > 1.51 && report.warnings.count == 1)
        let (whole, part) = (try FFmpeg.pcm(source), try FFmpeg.pcm(folder.path("o.flac")))
        let first = Int((start * 48000).rounded()) * 2
        #expect(!part.isEmpty && part == Array(whole[first..<first + part.count]))
        // STREAMINFO lies behind the signature and its own header: total samples, then the sum.
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("o.flac"))))
        #expect(bytes[8 + 14..<8 + 34].allSatisfy { $0 == 0 })
    }

    /// The first packet begins before zero by the codec's delay, and holds most of a packet's sound.
    @Test(arguments: ["o.mkv", "o.ogg"]) func opusKeepsItsFirstPacket(output: String) throws {
        let source = try noise("n.mkv", ["-c:a", "libopus"])
        let report = try report([source, "-o", output])
        #expect(report.audio.first?.delivered.start.seconds == 0)
        let (whole, copy) = (try FFmpeg.pcm(source), try FFmpeg.pcm(folder.path(output)))
        #expect(copy.count >= whole.count && Array(copy[..<whole.count]) == whole)
    }

    @Test func packetsWithoutLengthsGoIntoNoWAV() throws {
        let source = try noise("n.m4a", ["-c:a", "aac"])
        let result = try export([source, "-o", "o.wav", "--copy"])
        #expect(result.status == 2 && result.error.contains("cannot hold aac"), "\(result.error)")
    }

    /// Ticks of 1/25 s cannot tell of a start at half of one.
    @Test func aCoarseClockKeepsTracksInStep() throws {
        let path = folder.path("coarse.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=3", "-f", "lavfi", "-i", "sine=d=3:r=48000", "-c:v",
            "libx264",
            "-g", "5", "-bf", "0", "-c:a", "pcm_s16le", "-video_track_timescale", "25", path,
        ])
        let result = try export([path, "-o", "o.mov", "--copy", "--start", "1.5"])
        #expect(result.status == 0, "\(result.error)")
        // The picture of 1.48 is on screen at the start, that of 1.52 comes 20 ms later.
        let times = try FFmpeg.probe([
            "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0", folder.path("o.mov"),
        ]).compactMap { Double($0.prefix { $0 != "," }) }
        #expect(times.contains { abs($0 - 0.02) < 0.0005 }, "\(times.prefix(8))")
    }

    @Test func whatAnEditListPutsTogetherIsNotCopied() throws {
        let path = folder.path("two.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=4", "-c:v", "libx264", "-g", "5", "-bf", "0", path,
        ])
        // One edit becomes two that do not follow each other: the entry is written twice, with another media time.
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let name = Array("elst".utf8)
        let place = try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == name })
        // Entries are 12 bytes long behind version, flags and count; the box grows into every box around it.
        let entry = Array(bytes[place + 12..<place + 24])
        var second = entry
        second[6] = 0x40
        bytes.insert(contentsOf: second, at: place + 24)
        bytes[place + 11] = 2
        for box in ["elst", "edts", "trak", "moov"] {
            let name = Array(box.utf8)
            let at = try #require(bytes.indices.dropLast(4).first { Array(bytes[$0..<$0 + 4]) == name })
            let size = bytes[at - 4..<at].reduce(0) { $0 << 8 | UInt32($1) } + 12
            for byte in 0..<4 { bytes[at - 4 + byte] = UInt8(truncatingIfNeeded: size >> (24 - 8 * UInt32(byte))) }
        }
        let edited = folder.path("edited.mov")
        try Data(bytes).write(to: URL(fileURLWithPath: edited))
        let result = try export([edited, "-o", "o.mov", "--copy"])
        #expect(result.status == 2 && result.error.contains("put together of 2 parts"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("o.mov")))
    }

    @Test func matroskaGetsTurnedPictures() throws {
        let turned = try Fixtures.path("rotated-90.mov")
        #expect(try export([turned, "-o", "o.mkv", "--speed", "fastest", "--audio", "none"]).status == 0)
        func sides(_ path: String) throws -> [Substring] {
            try FFmpeg.probe(["-select_streams", "v:0", "-show_entries", "stream=width,height", "-of", "csv=p=0", path])
                .first?.split(separator: ",").prefix(2).map { $0 } ?? []
        }
        #expect(try sides(turned).reversed() == sides(folder.path("o.mkv")))
        let copy = try report([turned, "-o", "c.mkv", "--audio", "none"])
        #expect(copy.warnings.contains { $0.contains("turn is lost") })
    }

    @Test func matroskasTagsGetTheirNames() throws {
        let path = folder.path("tags.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=d=1", "-c:a", "flac", "-metadata", "ARTIST=Somebody", "-metadata",
            "MAJOR_BRAND=isom", path,
        ])
        #expect(try export([path, "-o", "o.m4a"]).status == 0)
        let tags = try FFmpeg.probe(["-show_entries", "format_tags", "-of", "default=nw=1", folder.path("o.m4a")])
        #expect(tags.contains("TAG:artist=Somebody"), "\(tags)")
        #expect(!tags.contains { $0.contains("MAJOR_BRAND") })
    }

    /// Matroska's first pictures come without decode times, from which an edit list is counted.
    @Test(arguments: [[], ["--start", "0.03"]]) func allPicturesOfMatroskaAreShown(range: [String]) throws {
        let source = try Fixtures.path("h264-aac.mkv")
        _ = try report([source, "-o", "o.mp4"] + range)
        func pictures(_ path: String, _ more: [String] = []) throws -> [UInt8] {
            try FFmpeg.run(["-i", path, "-map", "0:v", "-fps_mode", "passthrough"] + more + ["-f", "framemd5", "-"])
        }
        func sums(_ table: [UInt8]) -> [Substring] {
            String(decoding: table, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { $0.split(separator: ",").last }
        }
        let all = sums(try pictures(source))
        // The first begins at 0 or at 0.021 s, as ffmpeg's version has it, and lasts 40 ms.
        let copied = sums(try pictures(folder.path("o.mp4")))
        #expect(all.count == 75 && copied == all)
    }

    /// AVI keeps no times at which pictures are shown, which matter where they are reordered.
    @Test func aCopyThatCannotKnowTheTimesIsRefused() throws {
        let source = folder.path("b.avi")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "testsrc=s=64x48:d=1", "-c:v", "mpeg4", "-bf", "2", source])
        let result = try export([source, "-o", "o.mov", "--copy"])
        #expect(result.status == 2 && result.error.contains("encode it"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("o.mov")))
    }
}
