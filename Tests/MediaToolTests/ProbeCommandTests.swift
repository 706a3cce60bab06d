import Foundation
import TestSupport
import Testing

/// Runs the `probe` command.
///
/// Expected values are ffprobe's, or are worked out by hand from the command in `scripts/fixtures` that made the file.
@Suite struct ProbeCommandTests {
    private func probe(_ arguments: String...) throws -> Program.Result {
        try Program.run(Program.mediatool, ["probe"] + arguments)
    }

    private func object(_ arguments: String...) throws -> [String: Any] {
        let result = try Program.run(Program.mediatool, ["probe", "--json"] + arguments)
        try #require(result.status == 0, "\(result.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    private func track(_ index: Int, of report: [String: Any]) throws -> [String: Any] {
        let tracks = try #require(report["tracks"] as? [[String: Any]])
        try #require(tracks.indices.contains(index))
        return tracks[index]
    }

    @Test func theSampleMovieIsTurnedForDisplay() throws {
        let report = try object(Repository.sampleMovie)
        #expect(report["schemaVersion"] as? Int == 1)
        let container = try #require(report["container"] as? [String: Any])
        #expect(container["format"] as? String == "mov" && container["majorBrand"] as? String == "qt  ")
        #expect(container["fragmented"] as? Bool == false && container["indexFirst"] as? Bool == true)
        let duration = try #require(container["duration"] as? [String: Any])
        // ffprobe -show_entries format=duration
        #expect(duration["seconds"] as? Double == 11.52)
        let first = try track(0, of: report)
        #expect(first["type"] as? String == "video" && first["codec"] as? String == "h264")
        let video = try #require(first["video"] as? [String: Any])
        #expect(video["encodedSize"] as? [String: Int] == ["width": 320, "height": 180])
        #expect(video["displaySize"] as? [String: Int] == ["width": 180, "height": 320])
        // ffprobe counts against the clock and says -90.
        #expect(video["rotation"] as? Int == 90 && video["mirrored"] as? Bool == false)
        #expect(video["displayMatrix"] as? [Double] == [0, 1, 0, -1, 0, 0, 180, 0, 1])
        let audio = try #require(try track(1, of: report)["audio"] as? [String: Any])
        #expect(audio["sampleRate"] as? Int == 48000 && audio["channelLayout"] as? String == "stereo")
    }

    @Test func keysStandInTheSchemasOrder() throws {
        let text = try probe("--jsonl", Repository.sampleMovie).output
        let wanted = [
            "schemaVersion", "path", "container", "tracks", "id", "index", "type", "codec", "codecTag", "timeRange",
            "mediaDuration", "editList", "video", "encodedSize", "productionSize", "displaySize",
            "sampleAspectRatio", "displayAspectRatio", "displayMatrix", "rotation", "mirrored", "frameRate",
            "fieldOrder", "pixelFormat", "bitDepth", "color", "chapters", "warnings",
        ]
        var rest = text[...]
        for key in wanted {
            let place = try #require(rest.firstRange(of: "\"\(key)\":"), "no \(key) after the key before it")
            rest = rest[place.upperBound...]
        }
        #expect(text.filter { $0 == "\n" }.count == 1)
    }

    @Test(arguments: [("constant", "av.mp4"), ("variable", "vfr.mp4")])
    func frameRateIsConstantOrVariable(mode: String, fixture: String) throws {
        let video = try #require(try track(0, of: try object(try Fixtures.path(fixture)))["video"] as? [String: Any])
        let rate = try #require(video["frameRate"] as? [String: Any])
        #expect(rate["mode"] as? String == mode)
    }

    @Test func pixelsThatAreNotSquareWidenThePicture() throws {
        let first = try track(0, of: try object(try Fixtures.path("anamorphic.mp4")))
        let video = try #require(first["video"] as? [String: Any])
        // 180x144 with pixels of 64:45.
        #expect(video["productionSize"] as? [String: Int] == ["width": 256, "height": 144])
        #expect(video["sampleAspectRatio"] as? [String: Int] == ["num": 64, "den": 45])
        #expect(video["displayAspectRatio"] as? [String: Int] == ["num": 16, "den": 9])
    }

    @Test func aMirroredPictureIsFlippedBeforeItIsTurned() throws {
        let first = try track(0, of: try object(try Fixtures.path("mirrored.mp4")))
        let video = try #require(first["video"] as? [String: Any])
        #expect(video["mirrored"] as? Bool == true && video["rotation"] as? Int == 0)
    }

    @Test func theTimecodeSaysWhetherItDropsFrames() throws {
        let drop = try #require(try object(try Fixtures.path("timecode-df.mov"))["container"] as? [String: Any])
        #expect((drop["startTimecode"] as? String)?.contains(";") == true)
        let plain = try object(try Fixtures.path("timecode-25.mov"))
        let timecode = try #require(try track(0, of: plain)["timecode"] as? [String: Any])
        #expect(timecode["dropFrame"] as? Bool == false)
    }

    @Test(.enabled(if: Corpus.folder != nil)) func fragmentsLastAsLongAsTheirSamples() throws {
        let report = try object(try #require(Corpus.path("androidx/sample_fragmented.mp4")))
        let container = try #require(report["container"] as? [String: Any])
        // MediaInfo says 1068 ms; ffprobe 5.1 takes the header's 2^32-1 for a length.
        let seconds = try #require((container["duration"] as? [String: Any])?["seconds"] as? Double)
        #expect(abs(seconds - 1.068) < 0.001)
        #expect(container["fragmented"] as? Bool == true)
    }

    @Test func severalFilesAreAnArrayInTheirOrder() throws {
        let missing = "/nonexistent/a.mov"
        let result = try probe("--json", "--jobs", "3", Repository.sampleMovie, missing, Repository.sampleMovie)
        #expect(result.status == 2 && result.errorLines.count == 1)
        let objects = try #require(
            try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [[String: Any]])
        #expect(
            objects.compactMap { $0["path"] as? String } == [Repository.sampleMovie, missing, Repository.sampleMovie])
        let error = try #require(objects[1]["error"] as? [String: Any])
        #expect(error["code"] as? String == "notFound")
    }

    @Test func formatsAreFlagsByAnotherName() throws {
        let path = Repository.sampleMovie
        #expect(try probe("--format", "json", path).bytes == probe("--json", path).bytes)
        #expect(try probe("--format", "jsonl", path).bytes == probe("--jsonl", path).bytes)
        #expect(try probe("--format", "text", path).bytes == probe(path).bytes)
        #expect(try probe("--format", "text", "--json", path).status == 64)
        #expect(try probe().status == 64)
    }

    @Test func standardInputIsReadLikeAFile() throws {
        let movie = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Repository.sampleMovie)))
        let result = try Program.run(Program.mediatool, ["probe", "--jsonl", "-"], input: movie)
        #expect(result.status == 0 && result.output.contains(#""codec":"h264""#))
    }

    @Test func theTextTellsWhatPeopleLookFor() throws {
        let text = try probe(Repository.sampleMovie).output
        for part in ["h264 High", "320x180, turned 90°, shown 180x320", "25 fps constant", "48000 Hz, stereo"] {
            #expect(text.contains(part), "\(part)")
        }
    }
}
