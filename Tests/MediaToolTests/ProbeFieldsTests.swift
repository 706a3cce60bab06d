import Foundation
import TestSupport
import Testing

/// Fields of `probe` that libavformat 5.1 does not tell.
///
/// Expected values are worked out by hand from `scripts/fixtures`, or written down from a hexadecimal dump.
@Suite struct ProbeFieldsTests {
    private func object(_ arguments: String...) throws -> [String: Any] { try object(all: arguments) }

    private func object(all arguments: [String]) throws -> [String: Any] {
        let result = try Program.run(Program.mediatool, ["probe", "--json", "--quiet"] + arguments)
        try #require(result.status == 0, "\(result.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    private func tracks(_ arguments: String...) throws -> [[String: Any]] {
        let result = try Program.run(Program.mediatool, ["probe", "--json", "--quiet"] + arguments)
        try #require(result.status == 0, "\(result.error)")
        let object = try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any]
        return try #require(object?["tracks"] as? [[String: Any]])
    }

    private func fraction(_ value: Any?) -> String {
        guard let value = value as? [String: Int], let num = value["num"], let den = value["den"] else { return "none" }
        return den == 1 ? "\(num)" : "\(num)/\(den)"
    }

    /// Broadcasters' HLG: the parameter set says BT.2020, a message in the samples says what is meant (ITU-T H.264, D.1.33).
    @Test(arguments: ["mp4", "mov", "mkv"]) func theFirstSampleMaySayMoreThanTheHeader(type: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("hlg." + type)
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=160x90:d=0.4", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-x264-params",
            "colorprim=bt2020:transfer=bt2020-10:colormatrix=bt2020nc:alternative-transfer=arib-std-b67", path,
        ])
        let video = try #require(try tracks(path).first?["video"] as? [String: Any])
        let color = try #require(video["color"] as? [String: Any])
        #expect((color["effective"] as? [String: Any])?["transfer"] as? String == "arib-std-b67")
        #expect((video["hdr"] as? [String: Any])?["transferFamily"] as? String == "HLG")
    }

    @Test func cleanAperturesCutWhatTheyShould() throws {
        // x, y, width, height by hand: x = offset + (64 - width)/2, y likewise with 48; then the whole pixels inside.
        let exact = [
            "4 4 56 40", "18 4 40 30", "7/2 7/2 57 41", "43/12 0 341/6 48", "-8 -6 80 60",
        ]
        let pixels = [[4, 4, 56, 40], [18, 4, 40, 30], [4, 4, 56, 40], [4, 0, 56, 48], [0, 0, 64, 48]]
        let sizes = [[56, 40], [40, 30], [57, 41], [57, 48], [64, 48], [64, 48], [64, 48]]
        let report = try object(try Fixtures.path("apertures.mov"))
        let tracks = try #require(report["tracks"] as? [[String: Any]])
        try #require(tracks.count == 7)
        for (place, track) in tracks.enumerated() {
            let video = try #require(track["video"] as? [String: Any])
            let size = try #require(video["cleanApertureSize"] as? [String: Int])
            #expect([size["width"], size["height"]] == sizes[place])
            #expect(video["productionSize"] as? [String: Int] == ["width": 64, "height": 48])
            guard place < exact.count else {
                // A zero denominator and a negative width.
                #expect(video["cleanAperture"] == nil)
                continue
            }
            let aperture = try #require(video["cleanAperture"] as? [String: Any])
            let rect = try #require(aperture["rect"] as? [String: Any])
            #expect(["x", "y", "width", "height"].map { fraction(rect[$0]) }.joined(separator: " ") == exact[place])
            let pixelRect = try #require(aperture["pixelRect"] as? [String: Int])
            #expect(["x", "y", "width", "height"].map { pixelRect[$0] } == pixels[place])
        }
        let warnings = try #require(report["warnings"] as? [String])
        #expect(warnings.count == 3)
        #expect(warnings.count { $0.contains("track 5") && $0.contains("beyond") } == 1)
        #expect(warnings.count { $0.contains("track 6") && $0.contains("denominator") } == 1)
        #expect(warnings.count { $0.contains("track 7") && $0.contains("no area") } == 1)
    }

    @Test func matroskaCropsAreCleanApertures() throws {
        let all = try tracks(try Fixtures.path("crop.mkv"))
        let track = try #require(all.first)
        #expect(track["id"] as? Int == 1)
        let video = try #require(track["video"] as? [String: Any])
        let aperture = try #require(video["cleanAperture"] as? [String: Any])
        #expect(aperture["pixelRect"] as? [String: Int] == ["x": 8, "y": 3, "width": 56, "height": 45])
        #expect(fraction(aperture["horizontalOffset"]) == "4" && fraction(aperture["verticalOffset"]) == "3/2")
        #expect(video["displaySize"] as? [String: Int] == ["width": 56, "height": 45])
        #expect(fraction(video["sampleAspectRatio"]) == "1")
    }

    @Test func timecodeTracksTellHowTheyCount() throws {
        let drop = try tracks(try Fixtures.path("timecode-df.mov"))
        let track = try #require(drop.first { $0["type"] as? String == "timecode" })
        let timecode = try #require(track["timecode"] as? [String: Any])
        #expect(timecode["start"] as? String == "01:00:00;00" && timecode["dropFrame"] as? Bool == true)
        // 107892 frames pass in an hour of drop-frame timecode at 29.97.
        #expect(timecode["frameNumber"] as? Int == 107_892 && timecode["framesPerSecond"] as? Int == 30)
        #expect(timecode["source"] as? String == "track")
    }

    @Test func primingAndRemainderAreTold() throws {
        func cut(_ fixture: String) throws -> [Int?] {
            let all = try tracks(try Fixtures.path(fixture))
            let track = try #require(all.first { $0["audio"] != nil })
            let audio = try #require(track["audio"] as? [String: Any])
            return [audio["priming"] as? Int, audio["remainder"] as? Int]
        }
        // ffmpeg's AAC encoder delays by 1024 samples and fills its last frame of 1024.
        let aac = try cut("aac.m4a")
        let remainder = try #require(aac[1])
        #expect(aac[0] == 1024 && (0..<1024).contains(remainder))
        // LAME: 576 of delay and the decoder's 529.
        #expect(try cut("mp3-lame.mp3")[0] == 1105)
        #expect(try cut("mp3-no-tag.mp3") == [nil, nil])
        // Opus: 6.5 ms at 48 kHz.
        #expect(try cut("opus.opus")[0] == 312)
    }

    @Test func aScanTellsFramesAndKeyframes() throws {
        let all = try tracks("--scan", try Fixtures.path("h264-bframes.mp4"))
        let track = try #require(all.first)
        let scan = try #require(track["scan"] as? [String: Any])
        let counted = try FFmpeg.probe([
            "-count_packets", "-select_streams", "v:0", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
            try Fixtures.path("h264-bframes.mp4"),
        ])
        #expect((scan["packetCount"] as? Int).map { "\($0)" } == counted.first)
        let durations = try #require(scan["frameDuration"] as? [String: [String: Any]])
        #expect(durations["minimum"]?["seconds"] as? Double == 0.04)
        #expect(durations["maximum"]?["seconds"] as? Double == 0.04)
        #expect(try tracks(try Fixtures.path("av.mp4")).allSatisfy { $0["scan"] == nil })
    }

    @Test(arguments: ["av.mp4", "mpegts-10s.ts", "h264-aac.mkv", "pcm-s16-mono.wav"])
    func timeScalesAreThoseOfTheTimeStamps(fixture: String) throws {
        let path = try Fixtures.path(fixture)
        let bases = try FFmpeg.probe(["-show_entries", "stream=time_base", "-of", "default=nw=1:nk=1", path])
        let scales = try tracks(path).map { ($0["timeScale"] as? Int).map { "1/\($0)" } ?? "none" }
        #expect(!scales.isEmpty && Array(bases.prefix(scales.count)).map { String($0) } == scales)
    }

    /// Frames of 1/50 s, of which most are left out, and of 1/25 s (`scripts/fixtures`).
    @Test func theShortestFrameIsTold() throws {
        func shortest(_ arguments: String...) throws -> Double? {
            let result = try Program.run(Program.mediatool, ["probe", "--json", "--quiet"] + arguments)
            let report = try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any]
            let video = (report?["tracks"] as? [[String: Any]])?.first?["video"] as? [String: Any]
            return (video?["minimumFrameDuration"] as? [String: Any])?["seconds"] as? Double
        }
        #expect(try shortest(try Fixtures.path("vfr.mp4")) == 0.02)
        #expect(try shortest(try Fixtures.path("av.mp4")) == 0.04)
        #expect(try shortest(try Fixtures.path("h264-aac.mkv")) == nil)
        #expect(try shortest("--scan", try Fixtures.path("h264-aac.mkv")) == 0.04)
        let text = try Program.run(Program.mediatool, ["probe", try Fixtures.path("vfr.mp4")]).output
        #expect(text.contains("each at least 0.02 s"))
    }

    @Test func aScanOfAPipeReadsItOnce() throws {
        let path = try Fixtures.path("mpegts-10s.ts")
        let piped = try Program.run(
            "/bin/sh",
            ["-c", "cat '\(path)' | '\(Program.mediatool)' probe --scan --select 'tracks[0].scan.packetCount' -"])
        let whole = try Program.run(
            Program.mediatool, ["probe", "--scan", "--select", "tracks[0].scan.packetCount", path])
        #expect(piped.status == 0 && piped.output == whole.output && !whole.output.isEmpty)
    }

    @Test func oneValueIsPrintedForScripts() throws {
        func select(_ path: String, _ arguments: String...) throws -> Program.Result {
            let file = try Fixtures.path("anamorphic.mp4")
            return try Program.run(Program.mediatool, ["probe", "--select", path, file] + arguments)
        }
        #expect(try select("tracks[0].video.cleanApertureSize.width").output == "256\n")
        #expect(try select("tracks[0].codec").output == "h264\n")
        #expect(try select("tracks[0].codec", "--jsonl").output == "\"h264\"\n")
        #expect(try select("tracks[0].video.sampleAspectRatio").output == "{\"num\":64,\"den\":45}\n")
        let missing = try select("tracks[0].audio")
        #expect(missing.status == 2 && missing.output.isEmpty && missing.errorLines.count == 1)
        #expect(try select("tracks[").status == 64)
    }

    @Test(arguments: ["--jsonl", "--array", "--json"])
    func oneValueOfEachFileStandsInItsPlace(form: String) throws {
        let (file, sound) = (try Fixtures.path("anamorphic.mp4"), try Fixtures.path("pcm-s16-mono.wav"))
        let result = try Program.run(
            Program.mediatool,
            ["probe", form, "--select", "tracks[0].video.encodedSize", file, "/nonexistent/a", sound, file])
        #expect(result.status == 2 && result.errorLines.count == 2)
        var values: [[String: Any]] = []
        if form == "--jsonl" {
            for line in result.output.split(separator: "\n") {
                values.append(try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]))
            }
        } else {
            values = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [[String: Any]])
        }
        try #require(values.count == 4)
        #expect(values[0] as? [String: Int] == ["width": 180, "height": 144])
        #expect(values[3] as? [String: Int] == ["width": 180, "height": 144])
        #expect(values[1]["path"] as? String == "/nonexistent/a")
        #expect((values[1]["error"] as? [String: String])?["code"] == "notFound")
        #expect(values[2]["path"] as? String == sound && values[2]["error"] != nil)
    }

    @Test func aFileThatBreaksOffTellsWhatThereIs() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: Repository.sampleMovie))
        let folder = try TemporaryFolder()
        let path = try folder.write("cut.mov", Array(whole.prefix(whole.count * 6 / 10)))
        let counted = try FFmpeg.probe([
            "-count_packets", "-select_streams", "v:0", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
            path,
        ])
        let result = try Program.run(Program.mediatool, ["probe", "--scan", "--json", path])
        let report = try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        let first = try #require((report["tracks"] as? [[String: Any]])?.first)
        let scan = try #require(first["scan"] as? [String: Any])
        let count = try #require(counted.first?.split(separator: ",").first)
        #expect((scan["packetCount"] as? Int).map { "\($0)" } == String(count))
        // ffprobe -show_entries format=duration of the whole file: 11.52; 288 frames at 25 a second.
        #expect(first["sampleCount"] as? Int == 288)
        let warnings = try #require(report["warnings"] as? [String])
        #expect(
            warnings.contains {
                $0.hasPrefix("the file breaks off: track 0 ends at ") && $0.contains(" instead of ")
                    && $0.hasSuffix("with \(count) of 288 samples")
            }, "\(warnings)")
    }

    @Test func moreFragmentsThanAreCountedLastAsTheIndexSays() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("many.mp4")
        // 6000 frames of 1/50 s, each in a fragment of its own: 120 s.
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=c=black:s=16x16:r=50:d=120", "-c:v", "mpeg4", "-movflags",
            "+frag_every_frame+global_sidx+default_base_moof+empty_moov", "-f", "mp4", path,
        ])
        let first = try #require(try tracks(path).first)
        #expect((first["mediaDuration"] as? [String: Any])?["seconds"] as? Double == 120)
        #expect(first["sampleCount"] == nil)
    }

    @Test func moreFragmentsThanAreCountedAreToldOf() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("many.mp4")
        // The same without an index: 120 s that only the fragments themselves tell.
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=c=black:s=16x16:r=50:d=120", "-c:v", "mpeg4", "-movflags",
            "+frag_every_frame+default_base_moof+empty_moov+skip_trailer", "-f", "mp4", path,
        ])
        func duration(_ arguments: String...) throws -> (seconds: Double?, isDoubted: Bool) {
            let report = try object(all: arguments + [path])
            let warnings = try #require(report["warnings"] as? [String])
            let duration = (report["container"] as? [String: Any])?["duration"] as? [String: Any]
            let isDoubted = warnings.contains { $0.hasPrefix("the duration is that of the fragments that were read") }
            return (duration?["seconds"] as? Double, isDoubted)
        }
        let counted = try duration()
        #expect((counted.seconds ?? 120) < 120 && counted.isDoubted)
        let read = try duration("--scan")
        #expect(read.seconds == 120 && !read.isDoubted)
        let allowed = try duration("--limit", "boxes=200000")
        #expect(allowed.seconds == 120 && !allowed.isDoubted)
    }

    @Test(.enabled(if: Corpus.folder != nil)) func fieldsInPacketsOfTheirOwnMakeFrames() throws {
        let path = try #require(Corpus.path("metadata-extractor/Sony_A7M3.mts"))
        let first = try #require(try tracks("--scan", path).first)
        let scan = try #require(first["scan"] as? [String: Any])
        // ffprobe -count_packets counts 26, ffprobe -count_frames 13.
        #expect(scan["packetCount"] as? Int == 26 && scan["frameCount"] as? Int == 13)
        #expect(first["sampleCount"] as? Int == 13)
    }

    @Test(.enabled(if: Corpus.folder != nil)) func camerasAndEditorsAgreeWithTheirDumps() throws {
        func video(_ name: String) throws -> [String: Any] {
            let path = try #require(Corpus.path(name))
            let all = try tracks(path)
            let track = try #require(all.first { $0["type"] as? String == "video" })
            return try #require(track["video"] as? [String: Any])
        }
        // clap 704/1 480/1 0/1 0/1, pasp 10:11, tapt clef 640x480, prof 0x028E8BA3 (654.545…), enof 720x480.
        let dv = try video("format-corpus/dv-ntsc-progressive.mov")
        #expect(dv["cleanApertureSize"] as? [String: Int] == ["width": 640, "height": 480])
        let sizes = try #require(dv["trackAperture"] as? [String: [String: Double]])
        #expect(sizes["clean"] == ["width": 640, "height": 480] && sizes["encoded"] == ["width": 720, "height": 480])
        #expect(sizes["production"] == ["width": Double(0x028E_8BA3) / 65536, "height": 480])
        // nclx says limited range, the pictures say full.
        let gopro = try video("gopro/max-heromode.mp4")
        #expect((gopro["color"] as? [String: Any])?["conflict"] as? Bool == true)
        // fiel 2 9 is top field first by Apple's TN2162, and the pictures' top_field_first is set.
        let xdcam = try video("format-corpus/xdcam-hd-1080i60.mov")
        #expect(xdcam["fieldOrder"] as? String == "tt")
    }

    @Test func metadataTellsItsVocabulary() throws {
        func spaces(_ fixture: String) throws -> [String: String] {
            let metadata = try object(try Fixtures.path(fixture))["metadata"] as? [[String: Any]]
            return try #require(metadata).reduce(into: [:]) { spaces, item in
                spaces[item["key"] as? String ?? ""] = item["keySpace"] as? String
            }
        }
        // ffmpeg writes the list of iTunes into M4A; the time of creation is a field of the movie's header.
        let tagged = try spaces("artwork.m4a")
        #expect(tagged["title"] == "iTunes" && tagged["artist"] == "iTunes" && tagged["track"] == "iTunes")
        #expect(try spaces("artwork.mp3")["title"] == "id3")
    }

    /// A file with a tag for its pictures' timecode, in which it has these words.
    private func matroska(rate: String, _ timecode: String) throws -> [String: Any] {
        let folder = try TemporaryFolder()
        let path = folder.path("t.mkv")
        _ = try FFmpeg.run([
            "-y", "-f", "lavfi", "-i", "testsrc=s=64x48:r=\(rate):d=0.5", "-c:v", "libx264", "-metadata",
            "TIMECODE=\(timecode)", "-metadata:s:v", "TIMECODE=\(timecode)", path,
        ])
        return try object(path)
    }

    @Test(arguments: [("25", "01:02:03:04"), ("30000/1001", "00:01:00;02")])
    func matroskaHasTimecodes(rate: String, text: String) throws {
        let report = try matroska(rate: rate, text)
        #expect((report["container"] as? [String: Any])?["startTimecode"] as? String == text)
        let track = try #require((report["tracks"] as? [[String: Any]])?.first)
        let timecode = try #require(track["timecode"] as? [String: Any])
        #expect(timecode["start"] as? String == text && timecode["source"] as? String == "metadata")
        #expect(timecode["dropFrame"] as? Bool == text.contains(";"))
        for metadata in [report["metadata"], track["metadata"]] {
            #expect((metadata as? [[String: Any]])?.contains { $0["key"] as? String == "TIMECODE" } == false)
        }
    }

    /// Frame 25 at 25 a second, drop-frame at 25, a number that drop-frame leaves out, and no timecode at all.
    @Test(arguments: [
        ("25", "01:02:03:25"), ("25", "01:02:03;04"), ("30000/1001", "00:01:00;01"), ("25", "01:02:03.040"),
    ])
    func aTagThatTheRateCannotHaveIsNoTimecode(rate: String, text: String) throws {
        let report = try matroska(rate: rate, text)
        #expect((report["container"] as? [String: Any])?["startTimecode"] == nil)
        let track = try #require((report["tracks"] as? [[String: Any]])?.first)
        #expect(track["timecode"] == nil)
        // It stays what it is: a tag.
        #expect((track["metadata"] as? [[String: Any]])?.contains { $0["value"] as? String == text } == true)
    }

    /// ffmpeg decodes 144033 samples of the first file; the second is cut out of it, with its clock, at 1 s.
    @Test func opusLastsAsLongAsItsSound() throws {
        func samples(_ path: String, _ option: String...) throws -> Int? {
            let track = try #require((try object(all: option + [path])["tracks"] as? [[String: Any]])?.first)
            let range = try #require(track["timeRange"] as? [String: [String: Any]])
            #expect(range["start"]?["value"] as? Int == 0)
            return (range["duration"]?["seconds"] as? Double).map { Int(($0 * 48_000).rounded()) }
        }
        let folder = try TemporaryFolder()
        let late = folder.path("late.opus")
        _ = try FFmpeg.run(["-ss", "1", "-copyts", "-i", try Fixtures.path("opus.opus"), "-c", "copy", late])
        for path in [try Fixtures.path("opus.opus"), late] {
            let decoded = try FFmpeg.run(["-i", path, "-f", "s16le", "-"]).count / 4
            #expect(try samples(path) == decoded && samples(path, "--scan") == decoded)
        }
        // Matroska's clock counts milliseconds.
        let webm = try Fixtures.path("opus.webm")
        let decoded = try FFmpeg.run(["-i", webm, "-f", "s16le", "-ac", "1", "-"]).count / 2
        let scanned = try #require(try samples(webm, "--scan"))
        #expect(abs(scanned - decoded) < 48)
    }

    /// The schema's order, by its text.
    @Test func theKeysOfPicturesAreInTheSchemasOrder() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("wide.mkv")
        // Pixels that are no squares make ffmpeg write DisplayWidth.
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=0.3", "-vf", "setsar=4/3", "-c:v", "libx264", path,
        ])
        let text = try Program.run(Program.mediatool, ["probe", "--json", path]).output
        let keys = text.split(separator: "\n").compactMap { line -> String? in
            line.hasPrefix("        \"") ? line.split(separator: "\"").dropFirst().first.map(String.init) : nil
        }
        let ofVideo = Array(keys.drop { $0 != "encodedSize" })
        let schema = try String(contentsOfFile: Repository.path("docs/schema/probe.json"), encoding: .utf8)
        let start = try #require(schema.range(of: "\n    \"video\": {")).upperBound
        let order = schema[start...].split(separator: "\n").prefix { $0 != "    }," }.compactMap { line -> String? in
            line.hasPrefix("        \"") ? line.split(separator: "\"").dropFirst().first.map(String.init) : nil
        }
        #expect(ofVideo.contains("containerDisplay") && ofVideo.count > 8)
        #expect(ofVideo == order.filter { ofVideo.contains($0) })
    }
}
