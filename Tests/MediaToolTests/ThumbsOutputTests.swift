import Foundation
import TestSupport
import Testing

/// What `thumbs` writes beside single PNG images; times are ffprobe's, pixels ffmpeg's.
@Suite struct ThumbsOutputTests {
    private struct Manifest: Decodable {
        struct Time: Decodable {
            var value: Int64
            var timescale: Int64
            var seconds: Double?
        }
        struct Sheet: Decodable, Equatable {
            var file: String
            var x, y, width, height: Int
        }
        struct Image: Decodable {
            var requested: Time
            var requestedText: String?
            var actual: Time?
            var file: String?
            var width, height: Int?
            var keyframe: Bool?
            var sheet: Sheet?
        }
        var vtt: String?
        var images: [Image]
        var actual: [Double?] { images.map(\.actual?.seconds) }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func thumbs(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, ["thumbs"] + arguments, folder: folder.path)
    }

    private func manifest(_ arguments: [String], status: Int32 = 0) throws -> Manifest {
        let result = try thumbs(["--json"] + arguments)
        #expect(result.status == status, "\(result.error)")
        return try JSONDecoder().decode(Manifest.self, from: Data(result.bytes))
    }

    private func pixels(_ name: String, size: String? = nil, crop: String? = nil) throws -> [UInt8] {
        var filter = "format=rgb24"
        if let crop { filter = "crop=\(crop):exact=1," + filter }
        return try FFmpeg.run(["-i", folder.path(name), "-vf", filter, "-f", "rawvideo", "-"])
    }

    private func meanDifference(_ first: [UInt8], _ second: [UInt8]) throws -> Double {
        try #require(first.count == second.count && !first.isEmpty)
        return Double(zip(first, second).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(first.count)
    }

    // MARK: - Formats and names

    @Test func jpegAndWebPShowThePictureOfThePNG() throws {
        let movie = try Fixtures.path("hevc-10bit.mp4")
        #expect(try thumbs(["--at", "1", "-o", "a.png", movie]).status == 0)
        #expect(try thumbs(["--at", "1", "--quality", "95", "-o", "a.jpg", movie]).status == 0)
        #expect(try thumbs(["--at", "1", "--quality", "95", "--format", "webp", "-o", "a.webp", movie]).status == 0)
        #expect(try folder.bytes("a.jpg").starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(try folder.bytes("a.webp").starts(with: "RIFF".utf8))
        let wanted = try pixels("a.png")
        #expect(try meanDifference(pixels("a.jpg"), wanted) < 2)
        // WebP's colours are always halved.
        #expect(try meanDifference(pixels("a.webp"), wanted) < 8)
    }

    @Test func qualityDecidesTheSize() throws {
        let sizes = try [10, 50, 90].map { quality in
            #expect(
                try thumbs(["--at", "1", "--quality", "\(quality)", "-o", "\(quality).jpg", Repository.sampleMovie])
                    .status == 0)
            return try folder.bytes("\(quality).jpg").count
        }
        #expect(sizes == sizes.sorted() && Set(sizes).count == 3)
    }

    @Test func namesSayTheFrame() throws {
        // 25 frames a second: 1.03 s is in frame 25.
        let result = try thumbs([
            "--at", "1.03,2f,-1", "-o", "{frame}.{ext}", "--format", "jpeg", Repository.sampleMovie,
        ])
        #expect(result.status == 2)
        #expect(try folder.names() == ["000002.jpg", "000025.jpg"])
    }

    @Test func aTimeThatTheFileDoesNotHaveIsNamedAsItWasWritten() throws {
        let manifest = try manifest(["--at", "9999f,1", "-o", "x/", Repository.sampleMovie], status: 2)
        #expect(manifest.images.map(\.requestedText) == ["9999f", nil])
    }

    @Test(arguments: [
        ["--at", "1", "--quality", "5"], ["--at", "1", "--format", "jpeg", "-o", "a.png"],
        ["--at", "1", "-o", "a.gif"],
        ["--at", "1", "--format", "gif"], ["--at", "1", "--quality", "0", "-o", "a.jpg"], ["--at", "1", "--crop"],
        ["--at", "1", "--exact-size", "8x8", "--width", "8"], ["--at", "1", "--grid", "2x2"],
        ["--sprite", "--contact-sheet"], ["--sprite", "--grid", "0x3"], ["--sprite", "-o", "-"],
        ["--sprite", "-o", "{seconds}.jpg"], ["--at", "1", "--vtt", "-"], ["--at", "1", "--vtt", "a.json"],
        ["--at", "1", "-o", "-", "--vtt", "a.vtt"], ["--sprite", "--no-header"], ["--keyframes", "--scenes"],
        ["--scenes=0"], ["--scenes=101"], ["--at", "1", "--best", "--tolerance", "1"], ["--sprite", "--gap", "-1"],
        ["--best", "--keyframes"],
        ["--at", "1", "--pad", "nocolor"], ["--keyframes", "--tolerance", "exact"],
    ])
    func usageErrors(arguments: [String]) throws {
        let result = try thumbs(arguments + [Repository.sampleMovie])
        #expect(result.status == 64, "\(result.error)")
        #expect(try folder.names().isEmpty)
    }

    // MARK: - Sizes

    @Test func exactSizesArePaddedOrCropped() throws {
        // Upright the movie is 180x320.
        let at = ["--at", "1", Repository.sampleMovie]
        #expect(try thumbs(["--exact-size", "320x160", "--pad", "#00ff00", "-o", "pad.png"] + at).status == 0)
        #expect(try thumbs(["--exact-size", "90x90", "--crop", "-o", "crop.png"] + at).status == 0)
        #expect(try thumbs(["--max-size", "90x160", "-o", "small.png"] + at).status == 0)
        let padded = try pixels("pad.png")
        try #require(padded.count == 320 * 160 * 3)
        #expect(Array(padded.prefix(3)) == [0, 255, 0] && Array(padded.suffix(3)) == [0, 255, 0])
        // 180x320 into 320x160 is 90x160, and stands in the middle.
        #expect(try pixels("pad.png", crop: "90:160:115:0") == pixels("small.png"))
        // 180x320 to a width of 90 is 90x160, of which 90 rows from the 35th on are shown.
        #expect(try pixels("crop.png") == pixels("small.png", crop: "90:90:0:35"))
    }

    // MARK: - When

    @Test func keyframesAreThoseOfFFprobe() throws {
        for fixture in ["h264-opengop.ts", "vfr.mp4", "h264-bframes.mp4", "av.mp4"] {
            let path = try Fixtures.path(fixture)
            let manifest = try manifest(["--keyframes", "-o", fixture + "/", path])
            #expect(manifest.actual == manifest.images.map(\.requested.seconds))
            #expect(manifest.images.allSatisfy { $0.keyframe == true })
            let times = try FFmpeg.probe([
                "-select_streams", "v:0", "-skip_frame", "nokey", "-show_entries", "frame=pts_time", "-of", "csv=p=0",
                path,
            ]).compactMap { Double($0.split(separator: ",").first ?? "") }
            let first = fixture.hasSuffix(".ts") ? times.first ?? 0 : 0
            #expect(manifest.actual.count == times.count && times.count > 1)
            for (own, wanted) in zip(manifest.actual, times) { #expect(abs((own ?? -1) - (wanted - first)) < 0.0001) }
        }
        let part = try manifest([
            "--keyframes", "--start", "0.5", "--end", "1.5", "-o", "p/", Fixtures.path("h264-bframes.mp4"),
        ])
        #expect(part.actual == [1])
    }

    @Test func scenesBeginAtTheCuts() throws {
        // The fixture is cut at frames 25, 45 and 75 of 25 a second.
        let shots = try Fixtures.path("shots.mp4")
        #expect(try manifest(["-o", "a/", "--scenes", shots]).actual == [0, 1, 1.8, 3])
        // ffmpeg's scdet gives the cuts 27.8, 34.6 and 22.3.
        #expect(try manifest(["-o", "b/", shots, "--scenes=30"]).actual == [0, 1.8])
        let part = try manifest(["-o", "c/", "--start", "1.5", "--end", "2.9", "--scenes", "10", shots])
        #expect(part.images.map(\.requested.seconds) == [1.5, 1.8])
    }

    @Test func bestIsNeitherBlackNorBlurred() throws {
        // The first second is black, the second one blurred, the third sharp.
        let movie = try Fixtures.path("black-blurred-sharp.mp4")
        let manifest = try manifest(["--at", "0.9,1.6,0.5,9", "--best", "-o", "x/", movie], status: 2)
        #expect(manifest.images.map(\.requested.seconds) == [0.9, 1.6, 0.5, 9])
        let actual = manifest.actual.map { $0 ?? -1 }
        #expect(actual[0] >= 1 && actual[1] >= 2 && actual[2] >= 1 && actual[3] == -1)
        // Never further away than a second, nor than half the spacing.
        #expect(actual[0] <= 1.9 && actual[1] <= 2.6 && actual[2] <= 1.5)
        let spaced = try self.manifest(["--count", "30", "--best", "-o", "y/", movie])
        #expect(zip(spaced.actual, spaced.images).allSatisfy { abs(($0 ?? 9) - ($1.requested.seconds ?? 0)) <= 0.09 })
    }

    // MARK: - Sheets and indices

    @Test func spritesTileAndTheirIndexFollowsTheFrames() throws {
        let movie = try Fixtures.path("vfr.mp4")
        let manifest = try manifest([
            "--sprite", "--every", "0.1", "--tolerance", "exact", "--grid", "4x3", "-o", "s/sprite {index}.jpg",
            "--vtt",
            "v/i.vtt", movie,
        ])
        #expect(manifest.vtt == "v/i.vtt" && manifest.images.allSatisfy { $0.file == nil && $0.sheet != nil })
        // The frames on screen at 0, 0.1, …, by ffprobe.
        let frames = try FFmpeg.probe([
            "-select_streams", "v:0", "-show_entries", "frame=pts", "-of", "csv=p=0", movie,
        ]).compactMap { Int64($0.split(separator: ",").first ?? "") }.sorted()
        // The last of 50 a second is shown until the movie ends, which versions of ffprobe put elsewhere.
        let length = (frames.last ?? 0) + 1800
        let shown = (0..<Int64(manifest.images.count)).compactMap { index in frames.last { $0 <= index * 9000 } }
        try #require(shown.count == manifest.images.count)
        #expect(manifest.images.map { ($0.actual?.value ?? 0) * 90000 / ($0.actual?.timescale ?? 1) } == shown)
        // Each distinct frame has a tile; 160x90 is already small enough.
        var distinct: [Int64] = []
        for (image, frame) in zip(manifest.images, shown) {
            if distinct.last != frame { distinct.append(frame) }
            let (sheet, tile) = ((distinct.count - 1) / 12, (distinct.count - 1) % 12)
            #expect(
                image.sheet
                    == .init(
                        file: "s/sprite 00\(sheet + 1).jpg", x: tile % 4 * 160, y: tile / 4 * 90, width: 160, height: 90
                    ))
        }
        try #require(distinct.count > 12)
        // Cues from frame to frame, in thousandths rounded half up, the last one to the end.
        let borders = (distinct + [length]).map { ($0 * 1000 + 45000) / 90000 }
        var text = "WEBVTT\n"
        for (index, (start, end)) in zip(borders, borders.dropFirst()).enumerated() {
            let place = "\(index % 12 % 4 * 160),\(index % 12 / 4 * 90),160,90"
            text += "\n\(clock(start)) --> \(clock(end))\n../s/sprite%2000\(index / 12 + 1).jpg#xywh=\(place)\n"
        }
        #expect(String(decoding: try folder.bytes("v/i.vtt"), as: UTF8.self) == text)
        // The picture at a place is the frame.
        #expect(try thumbs(["--at", "0.5", "-o", "one.png", movie]).status == 0)
        let place = try #require(manifest.images[5].sheet)
        try FileManager.default.copyItem(atPath: folder.path(place.file), toPath: folder.path("sheet.jpg"))
        let difference = try meanDifference(
            pixels("sheet.jpg", crop: "160:90:\(place.x):\(place.y)"), pixels("one.png"))
        #expect(difference < 12)
    }

    private func clock(_ ms: Int64) -> String {
        String(format: "%02d:%02d:%02d.%03d", ms / 3_600_000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000)
    }

    @Test func onlyColumnsMakeOneSheet() throws {
        let manifest = try manifest([
            "--sprite", "--grid", "3", "--every", "1", "--tolerance", "exact", "--width", "20", "-o", "a.webp",
            Repository.sampleMovie,
        ])
        // 11.52 s give 12 images of 20x36 (180x320 to a width of 20 is 35.6 high).
        #expect(Set(manifest.images.compactMap(\.sheet?.file)) == ["a.webp"])
        #expect(try pixels("a.webp").count == 60 * 36 * 4 * 3)
        // Twelve images need two sheets of nine, which cannot have one name.
        let refused = try thumbs([
            "--sprite", "--grid", "3x3", "--every", "1", "-o", "b.webp", Repository.sampleMovie,
        ])
        #expect(refused.status == 2 && refused.error.contains("{index}"))
    }

    @Test func contactSheetsHaveAHeaderAndTimes() throws {
        let result = try thumbs([
            "--contact-sheet", "--grid", "2x2", "--gap", "10", "--background", "white", "--width", "90", "-o", "c.png",
            Repository.sampleMovie,
        ])
        #expect(result.status == 0 && result.output.hasPrefix("c.png  210x") && result.output.contains("4 images"))
        let plain = try thumbs([
            "--contact-sheet", "--grid", "2x2", "--gap", "10", "--width", "90", "--no-header", "--no-timestamps", "-o",
            "p.png", "--images", "i/", Repository.sampleMovie,
        ])
        // 180x320 to a width of 90 is 90x160.
        #expect(plain.status == 0 && plain.output.hasSuffix("p.png  210x350  4 images\n"))
        #expect(try pixels("p.png", crop: "90:160:110:10") == pixels("i/sample-002.png"))
    }

    @Test func anIndexOfSingleImages() throws {
        let manifest = try manifest([
            "--at", "2,1", "-o", "{stem}-{index}.jpg", "--vtt", "{stem}.vtt", Repository.sampleMovie,
        ])
        #expect(manifest.vtt == "sample.vtt")
        #expect(
            String(decoding: try folder.bytes("sample.vtt"), as: UTF8.self) == """
                WEBVTT

                00:00:00.000 --> 00:00:02.000
                sample-002.jpg

                00:00:02.000 --> 00:00:11.520
                sample-001.jpg

                """)
    }

    @Test func strangeNamesComeThrough() throws {
        let name = "a{index}\n#%"
        try FileManager.default.copyItem(atPath: Repository.sampleMovie, toPath: folder.path(name + ".mov"))
        let result = try thumbs([
            "--sprite", "--count", "2", "--format", "jpeg", "-o", "o/", "--vtt", "o", name + ".mov",
        ])
        #expect(result.status == 0, "\(result.error)")
        #expect(try TemporaryFolder.names(in: folder.path("o")) == [name + "-sprite-001.jpg", name + ".vtt"])
        let index = String(decoding: try folder.bytes("o/\(name).vtt"), as: UTF8.self)
        #expect(index.contains("\na%7Bindex%7D%0A%23%25-sprite-001.jpg#xywh=0,0,90,160\n"))
        // One line each, whatever the name.
        #expect(result.output.split(separator: "\n").count == 2)
    }

    @Test func whatCannotBeWrittenIsSaidAndTheRestDelivered() throws {
        try folder.write("file", "no folder".utf8)
        let blocked = try thumbs(["--at", "1", "-o", "file/x.png", Repository.sampleMovie])
        #expect(blocked.status == 2 && blocked.errorLines.count == 1 && blocked.error.contains("file"))
        try folder.write("i.vtt", "mine".utf8)
        let kept = try thumbs(["--at", "1", "-o", "x/", "--vtt", "i.vtt", Repository.sampleMovie])
        #expect(kept.status == 2 && kept.errorLines.count == 1)
        #expect(try folder.names() == ["file", "i.vtt"])
        try folder.write("s-002.jpg", "mine".utf8)
        let sprite = try thumbs([
            "--sprite", "--grid", "2x1", "--count", "6", "-o", "s-{index}.jpg", "--json", Repository.sampleMovie,
        ])
        #expect(sprite.status == 2)
        let images = try JSONDecoder().decode(Manifest.self, from: Data(sprite.bytes)).images
        #expect(images.map(\.sheet?.file) == ["s-001.jpg", "s-001.jpg", nil, nil, "s-003.jpg", "s-003.jpg"])
        #expect(try folder.bytes("s-002.jpg") == Array("mine".utf8))
        let huge = try thumbs([
            "--sprite", "--grid", "1000x1", "--every", "0.01", "--exact-size", "100x10", "-o", "h{index}.webp",
            Repository.sampleMovie,
        ])
        let once = try thumbs([
            "--contact-sheet", "--count", "6", "--grid", "3", "-o", "file/x.png", Repository.sampleMovie,
        ])
        #expect(once.status == 2 && once.errorLines.count == 1)
        #expect(huge.status == 2 && huge.error.contains("too large for WEBP") && huge.errorLines.count == 1)
    }
}
