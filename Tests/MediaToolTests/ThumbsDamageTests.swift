import Foundation
import TestSupport
import Testing

/// Damage, hostile sizes, full disks, and what is left behind then.
@Suite struct ThumbsDamageTests {
    private struct Manifest: Decodable {
        struct Time: Decodable {
            var seconds: Double?
        }
        struct Image: Decodable {
            var actual: Time?
            var width, height: Int?
            var error: Failure?
        }
        struct Damage: Decodable, Equatable {
            var packets: Int
            var truncated: Bool
        }
        struct Failure: Decodable {
            var code, message: String
        }
        var images: [Image]?
        var damage: Damage?
        var error: Failure?
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

    /// The same with files of at most `blocks` times 512 bytes allowed.
    private func limited(_ blocks: Int, _ arguments: [String]) throws -> Program.Result {
        let script = #"ulimit -f "$0" && exec "$@""#
        return try Program.run(
            "sh", ["-c", script, "\(blocks)", Program.mediatool, "thumbs"] + arguments, folder: folder.path)
    }

    // MARK: - Damage

    @Test(arguments: [1, 2, 3]) func whatTheDecoderPatchedUpIsDamage(_ threads: Int) throws {
        // 3000 bytes of zeros are in the first second; ffprobe gives the frames there decode_error_flags.
        let common = ["--tolerance", "exact", "--width", "32", "--threads", "\(threads)"]
        let hurt = try manifest(common + ["--count", "5", "-o", "a/", Fixtures.path("damaged.ts")])
        #expect(hurt.damage == .init(packets: 2, truncated: false) && hurt.images?.count == 5)
        let sound = try manifest(common + ["--count", "5", "-o", "b/", Fixtures.path("mpegts-10s.ts")])
        #expect(sound.damage == nil)
    }

    @Test func strictLeavesNothingWhereAnythingIsDamaged() throws {
        let damaged = try Fixtures.path("damaged.ts")
        let result = try thumbs(["--strict", "--count", "5", "--tolerance", "exact", damaged])
        #expect(result.status == 2 && result.errorLines.count == 1 && result.error.contains("--strict"))
        #expect(result.output.isEmpty)
        let json = try manifest(["--strict", "--sprite", "--vtt", "i.vtt", damaged], status: 2)
        #expect(json.error?.code == "damaged" && json.images == nil)
        #expect(try folder.names().isEmpty)
        // What is not looked at does not count, and a time outside is no damage.
        let whole = try thumbs(["--strict", "--at", "0.1,99", "-o", "a{index}.png", damaged])
        #expect(whole.status == 2 && whole.output.hasPrefix("a001.png  160x90"))
        #expect(try folder.names() == ["a001.png"])
        let piped = try thumbs(["--strict", "--at", "0.1", "-o", "-", damaged])
        #expect(piped.status == 0)
        #expect(try piped.bytes == folder.bytes("a001.png"))
    }

    @Test(arguments: ["exact", "0.1"]) func whatWasCutOffIsDamaged(_ tolerance: String) throws {
        // By ffmpeg the last picture that can be decoded is at 0.8 s or before; by the header the track lasts 3 s.
        let path = try Fixtures.path("truncated.mp4")
        let times = try FFmpeg.probe([
            "-select_streams", "v", "-show_entries", "frame=best_effort_timestamp_time", "-of", "csv=p=0", path,
        ]).compactMap { Double($0.prefix { $0 != "," }) }
        let last = try #require(times.last)
        try #require(last > 0.5 && last < 1)
        let cut = try manifest(
            ["--tolerance", tolerance, "--at", "0.2,\(last + 0.039),1.5,2.9,end", "-o", "a/", path], status: 2)
        let images = try #require(cut.images)
        #expect(images.prefix(2).allSatisfy { $0.actual != nil })
        #expect(images.suffix(3).map(\.error?.code) == ["damaged", "damaged", "damaged"])
        if tolerance == "exact" { #expect(images.prefix(2).map(\.actual?.seconds) == [0.2, last]) }
        #expect(cut.damage?.truncated == true)
    }

    /// Several codec threads read further ahead than one, and where they come to the file's end is no fact about the images.
    @Test(arguments: ["exact", "keyframe"]) func whatIsToldOfABreakDoesNotDependOnThreads(_ tolerance: String) throws {
        let path = try Fixtures.path("truncated.mp4")
        let times = ["0.1", "0.3,0.5", "0.1,0.6", "0.64", "0.68", "0.72", "0.76", "0.1,2"]
        for at in times {
            var first: String?
            for threads in [1, 2, 3, 8] {
                let result = try thumbs([
                    "--json", "--force", "--tolerance", tolerance, "--at", at, "--threads", "\(threads)", "-o", "a/",
                    path,
                ])
                let told = result.output + result.error
                #expect(told == first ?? told, "\(at), \(threads) threads")
                first = first ?? told
            }
        }
    }

    // MARK: - What libav aborts on

    /// Cut anywhere, and with one packet garbled: what several codec threads make of that must not end the program.
    @Test(arguments: [
        ("a.avi", ["mpeg4", "-bf", "2"]), ("b.avi", ["msmpeg4v2"]), ("a.mkv", ["mpeg4"]), ("a.flv", ["flv1"]),
    ])
    func damagedPicturesNeverEndTheProgram(_ name: String, _ codec: [String]) throws {
        let source = ["-f", "lavfi", "-i", "testsrc2=size=176x144:rate=25:duration=3", "-c:v"]
        _ = try FFmpeg.run(source + codec + ["-q:v", "4", "-g", "30", "-threads", "1", folder.path(name)])
        let whole = try folder.bytes(name)
        for part in 3...8 {
            var cut = Array(whole.prefix(whole.count * part / 9))
            let place = cut.count * 2 / 3
            cut.replaceSubrange(place..<place + 40, with: [UInt8](repeating: 0xA5, count: 40))
            try folder.write("cut-" + name, cut)
            for arguments in [["--at", "end"], ["--count", "4", "--tolerance", "exact"]] {
                let result = try thumbs(arguments + ["--threads", "2", "--force", "-o", "o/", "cut-" + name])
                #expect(result.signal == nil && [0, 2].contains(result.status), "\(result.error)")
            }
            let measured = try Program.run(
                Program.mediatool, ["qc", "--json", "cut-" + name], folder: folder.path)
            #expect(measured.signal == nil && [0, 1, 2].contains(measured.status), "\(measured.error)")
        }
    }

    // MARK: - Sizes

    /// libavcodec makes a WebP's picture before it refuses what follows; with several threads that ended the program.
    @Test func aPictureWhosePacketIsRefusedAfterItWasMadeIsDamaged() throws {
        let path = folder.path("a.webp")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=96x64:d=1", "-frames:v", "1", "-c:v", "libwebp", "-update", "1", path,
        ])
        #expect(try thumbs([path, "--at", "0", "-o", "whole.png"]).status == 0)
        let whole = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let ruined = try folder.write("ruined.webp", whole + [UInt8](repeating: 0xFF, count: 3000))
        #expect(try manifest([ruined, "--at", "0", "-o", "ruined.png"]).damage?.packets == 1)
        #expect(try folder.bytes("ruined.png") == folder.bytes("whole.png"))
    }

    @Test func aSizeThatChangesInMidStreamIsThatOfEachImage() throws {
        let path = try Fixtures.path("size-change.ts")
        let images = try #require(try manifest(["--at", "1.5,0.5", "-o", "a/", path]).images)
        // By ffprobe: 160x90 up to 1 s, then 96x128; a frame is shown for 0.04 s.
        #expect(images.map(\.width) == [96, 160] && images.map(\.height) == [128, 90])
        #expect(images.map(\.actual?.seconds) == [1.48, 0.48])
        let sheet = try thumbs(["--sprite", "--count", "4", "--grid", "2", "--tolerance", "exact", "-o", "s.png", path])
        #expect(sheet.output == "s.png  320x180  4 images\n")
    }

    @Test(arguments: [(30000, 30000), (0, 0), (2_147_483_647, 2_147_483_647)])
    func sizesBeyondTheLimitAreNamed(_ width: UInt32, _ height: UInt32) throws {
        func box(_ kind: String, _ data: [UInt8]) -> [UInt8] {
            bigEndian(UInt32(data.count)) + Array(kind.utf8) + data + [0, 0, 0, 0]
        }
        let header = bigEndian(width) + bigEndian(height) + [8, 2, 0, 0, 0]
        try folder.write(
            "a.png",
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + box("IHDR", header)
                + box("IDAT", [0x78, 0x9C, 3, 0, 0, 0, 0, 1]) + box("IEND", []))
        // The other file of the run is done.
        let result = try thumbs(["--at", "0", "-o", "{stem}-x.png", "--quiet", "a.png", Repository.sampleMovie])
        #expect(result.status == 2 && result.errorLines.count == 1 && result.error.contains("268435456 pixels"))
        #expect(try folder.names() == ["a.png", "sample-x.png"])
    }

    private func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    @Test func alphaThatLiesBesideVP9IsShown() throws {
        let movie = try Fixtures.path("vp9-alpha.webm")
        #expect(try thumbs(["--at", "0.5", "-o", "a.png", movie]).status == 0)
        func alpha(_ arguments: [String]) throws -> [UInt8] {
            try FFmpeg.run(
                arguments + ["-vf", "alphaextract", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-"])
        }
        let wanted = try alpha(["-c:v", "libvpx-vp9", "-ss", "0.48", "-i", movie])
        let got = try alpha(["-i", folder.path("a.png")])
        try #require(got.count == wanted.count && Set(wanted).count > 10)
        #expect(got == wanted)
    }

    // MARK: - Outputs

    @Test func whatFitsOnAFullDiskIsDelivered() throws {
        // Black at first, sharp at the end: a PNG of some hundred bytes, and one of many thousand.
        let movie = try Fixtures.path("black-blurred-sharp.mp4")
        let result = try limited(8, ["--at", "0.5,2.5", "-o", "a{index}.png", movie])
        #expect(result.status == 2 && result.errorLines.count == 1 && result.error.contains("a002.png"))
        #expect(try folder.names() == ["a001.png"])
    }

    @Test func sheetsAndTheirIndexComeTogetherOrNotAtAll() throws {
        let sprite = ["--sprite", "--count", "9", "--grid", "3x1", "-o", "s{index}.png", "--vtt", "i.vtt"]
        let movie = Repository.sampleMovie
        let full = try limited(1, sprite + [movie])
        #expect(full.status == 2 && full.errorLines.count == 1 && full.output.isEmpty)
        #expect(try folder.names().isEmpty)
        try folder.write("s002.png", "mine".utf8)
        let taken = try thumbs(sprite + [movie])
        #expect(taken.status == 2 && taken.errorLines.count == 1 && taken.error.contains("s002.png"))
        #expect(try folder.names() == ["s002.png"])
        #expect(try folder.bytes("s002.png") == Array("mine".utf8))
        #expect(try thumbs(sprite + ["--force", movie]).status == 0)
        #expect(try folder.names() == ["i.vtt", "s001.png", "s002.png", "s003.png"])
        let index = try folder.bytes("i.vtt")
        let again = try thumbs(sprite + ["-o", "t{index}.png", movie])
        #expect(again.status == 2 && again.errorLines.count == 1 && again.error.contains("i.vtt"))
        #expect(try folder.names().count == 4)
        #expect(try folder.bytes("i.vtt") == index)
    }

    @Test func timesOutsideSayWhereTheTrackEnds() throws {
        let result = try thumbs(["--at", "10:00:05:00,150%", "-o", "a/", try Fixtures.path("timecode-25.mov")])
        #expect(
            result.errorLines.map { $0.split(separator: ": ").dropFirst(2).joined(separator: ": ") }
                == [
                    "10:00:05:00: 00:00:05.000 is after the end at 00:00:01.000",
                    "150%: 00:00:01.500 is after the end at 00:00:01.000",
                ])
    }

    // MARK: - Fields

    @Test func deinterlacingTakesTheCombAway() throws {
        let movie = try Fixtures.path("h264-interlaced.mp4")
        #expect(try thumbs(["--at", "1", "-o", "comb.png", movie]).status == 0)
        #expect(try thumbs(["--at", "1", "-o", "whole.png", "--deinterlace", movie]).status == 0)
        func gray(_ input: [String]) throws -> [UInt8] {
            try FFmpeg.run(input + ["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-"])
        }
        func comb(_ picture: [UInt8]) -> Int {
            let row = 160
            return (row..<picture.count - row).reduce(0) {
                $0 + abs(2 * Int(picture[$1]) - Int(picture[$1 - row]) - Int(picture[$1 + row]))
            }
        }
        let (before, after) = (try gray(["-i", folder.path("comb.png")]), try gray(["-i", folder.path("whole.png")]))
        try #require(before.count == 160 * 96 && after.count == before.count)
        // ffmpeg's yadif, which looks at the frames before and after too.
        let yadif = try gray(["-i", movie, "-vf", "select=gte(t\\,0.999),yadif=deint=all"])
        #expect(comb(after) * 10 < comb(before) * 8)
        #expect(comb(after) * 10 < comb(yadif) * 11)
        #expect(zip(after, yadif).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } < 4 * after.count)
        // What is no interlaced picture stays as it is.
        let progressive = try Fixtures.path("h264-bframes.mp4")
        #expect(try thumbs(["--at", "1", "-o", "p1.png", progressive]).status == 0)
        #expect(try thumbs(["--at", "1", "-o", "p2.png", "--deinterlace", progressive]).status == 0)
        #expect(try folder.bytes("p1.png") == folder.bytes("p2.png"))
    }
}
