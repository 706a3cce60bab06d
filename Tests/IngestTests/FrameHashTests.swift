import AssetKit
import FileOutput
import Ingest
import Inspection
import SystemPackage
import TestSupport
import Testing

/// Hashes of frames against the output of ffmpeg's framemd5, line by line.
@Suite struct FrameHashTests {
    private static func hashes(_ path: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let output = try OutputFileSet(force: false, inputs: []).begin(FilePath(folder.path("hashes")))
        _ = try FrameHashJob(asset: Asset(path: path)).run(to: output)
        try output.commit()
        return lines(try folder.bytes("hashes"))
    }

    private static func lines(_ text: [UInt8]) -> [String] {
        String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The lines that ffmpeg writes, without the one that names its version.
    ///
    /// - Parameter audio: The options of the audio tracks.
    private static func wanted(_ path: String, _ audio: [String]) throws -> [String] {
        let text = try FFmpeg.run(
            ["-i", path, "-map", "0:V?", "-map", "0:a?", "-fps_mode", "passthrough", "-enc_time_base:v", "-1"] + audio
                + ["-f", "framemd5", "-"])
        return lines(text).filter { !$0.hasPrefix("#software") }
    }

    private static func audio(_ codec: String, _ rate: Int = 48_000, end: Int? = nil, track: Int? = nil) -> [String] {
        let place = track.map { ":a:\($0)" } ?? ":a"
        let cut = end.map { "atrim=end_sample=\($0)," } ?? ""
        return ["-filter" + place, cut + "asetnsamples=n=\(rate):p=0", "-codec" + place, codec]
    }

    /// The lines of a listing without one of their fields.
    private static func without(_ field: Int, _ lines: [String]) -> [String] {
        lines.map { line in
            var fields = line.split(separator: ",")
            if !line.hasPrefix("#"), fields.indices.contains(field) { fields.remove(at: field) }
            return fields.joined(separator: ",")
        }
    }

    @Test(arguments: [
        ("h264-bframes.mp4", audio("pcm_f32le")), ("h264-interlaced.mp4", audio("pcm_f32le")),
        ("prores.mov", audio("pcm_s16le")), ("hevc-10bit.mp4", audio("pcm_f32le")), ("mjpeg.avi", audio("pcm_s16le")),
        ("mpegts-10s.ts", audio("pcm_f32le")), ("timecode-df.mov", audio("pcm_f32le")),
        ("pcm-s16-5.1.wav", audio("pcm_s16le")), ("pcm-s24-stereo.wav", audio("pcm_s32le")),
        ("pcm-u8-mono.wav", audio("pcm_u8", 11_025)), ("pcm-f32-stereo.wav", audio("pcm_f32le")),
        ("pcm-s16be.aiff", audio("pcm_s16le")), ("flac-s16-stereo.flac", audio("pcm_s16le")),
        ("flac-s24-stereo.flac", audio("pcm_s32le")), ("aac.adts", audio("pcm_f32le", 44_100)),
        ("mp3-lame.mp3", audio("pcm_f32le", 44_100)), ("picture.png", []),
    ])
    func linesAreFFmpegs(_ fixture: String, _ audio: [String]) throws {
        let path = try Fixtures.path(fixture)
        #expect(try Self.hashes(path) == Self.wanted(path, audio))
    }

    /// ffmpeg 5.1 reads on where the edit list ends.
    @Test(arguments: ["av.mp4", "aac.m4a", "late-video.mp4"])
    func audioEndsWhereItsEditListSays(_ fixture: String) throws {
        let path = try Fixtures.path(fixture)
        let frames = try GoldenTable.pcm(fixture).number("frames")
        #expect(try Self.hashes(path) == Self.wanted(path, Self.audio("pcm_f32le", end: frames)))
    }

    /// Frames of a variable rate last until the next one; ffmpeg 5.1 gives each the length of the shortest.
    @Test func durationsAreThoseOnScreen() throws {
        let path = try Fixtures.path("vfr.mp4")
        let (found, wanted) = try (Self.hashes(path), Self.wanted(path, []))
        #expect(Self.without(3, found) == Self.without(3, wanted))
        func number(_ field: Int, _ lines: [String]) -> [Int] {
            lines.filter { !$0.hasPrefix("#") }.map { line in
                Int(line.split(separator: ",")[field].filter { $0 != " " }) ?? -1
            }
        }
        let times = number(2, wanted)
        let differences = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(Array(number(3, found).dropLast()) == differences)
        #expect(Set(differences).count > 1)
    }

    /// Matroska's times are milliseconds, from which the times of audio are counted exactly; holes are not filled.
    @Test(arguments: [("h264-aac.mkv", "pcm_f32le"), ("gap.mkv", "pcm_s16le")])
    func audioInMatroskaHasExactTimes(_ fixture: String, _ codec: String) throws {
        let path = try Fixtures.path(fixture)
        let (found, wanted) = try (Self.hashes(path), Self.wanted(path, Self.audio(codec)))
        #expect(Self.without(1, Self.without(1, found)) == Self.without(1, Self.without(1, wanted)))
    }

    /// Each track has portions of one second at its own rate.
    @Test func tracksOfSeveralRates() throws {
        let path = try Fixtures.path("many-tracks.mp4")
        let tracks = try Asset(path: path).loadNow(.tracks).filter { $0.mediaType == .audio }
        #expect(tracks.count > 1)
        let rates = try tracks.map { try #require($0.formatDescriptions.first?.audio?.sampleRate) }
        #expect(Set(rates).count > 1)
        let options = rates.enumerated().flatMap { Self.audio("pcm_f32le", $1, track: $0) }
        // The ends are a matter of the edit lists.
        func whole(_ lines: [String]) -> [String] {
            lines.filter { line in
                line.hasPrefix("#") || line.hasPrefix("0") || rates.contains { line.contains(" \($0), ") }
            }
        }
        #expect(try whole(Self.hashes(path)) == whole(Self.wanted(path, options)))
    }

    /// The number of threads, and other consumers of the same pass, change nothing.
    @Test func linesDoNotDependOnOthers() throws {
        let asset = Asset(path: try Fixtures.path("av.mp4"))
        func text(threads: Int, beside: Bool) throws -> [UInt8] {
            let folder = try TemporaryFolder()
            let outputs = OutputFileSet(force: false, inputs: [])
            let files = try [outputs.begin(FilePath(folder.path("a"))), outputs.begin(FilePath(folder.path("b")))]
            let pass = Pass(asset, threads: threads)
            let tracks = FrameHashes.tracks(of: try asset.loadNow(.tracks))
            let hashes = [FrameHashes(tracks, to: files[0])] + (beside ? [FrameHashes(tracks, to: files[1])] : [])
            for one in hashes { pass.join(one) }
            try pass.run()
            for one in hashes { try one.finish() }
            try outputs.commit()
            if beside { #expect(try folder.bytes("a") == folder.bytes("b")) }
            return try folder.bytes("a")
        }
        let alone = try text(threads: 1, beside: false)
        #expect(alone.count > 5000)
        #expect(try text(threads: 3, beside: false) == alone && text(threads: 2, beside: true) == alone)
    }

    @Test func aFileWithoutFramesIsAnError() throws {
        let folder = try TemporaryFolder()
        let outputs = OutputFileSet(force: false, inputs: [])
        let output = try outputs.begin(FilePath(folder.path("hashes")))
        try folder.write("words.srt", "1\n00:00:00,000 --> 00:00:01,000\nWords\n".utf8)
        _ = try FFmpeg.run(["-i", folder.path("words.srt"), folder.path("words.mkv")])
        let error = #expect(throws: MediaError.self) {
            try FrameHashJob(asset: Asset(path: folder.path("words.mkv"))).run(to: output)
        }
        #expect(error?.code == .noSuchTrack)
    }
}
