import Foundation
import TestSupport
import Testing

/// Files that are shorter than they say, begin with something else, or give nothing: every command tells of it.
@Suite struct TruncationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ arguments: [String]) throws -> Program.Result {
        try Program.run(Program.mediatool, arguments, folder: folder.path)
    }

    private func damage(_ path: String) throws -> [String: Any] {
        let result = try run(["waveform", "--json", path])
        let report = try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any]
        return try #require(report?["damage"] as? [String: Any], "\(result.error)")
    }

    /// Three seconds of pictures and sound; `nil` for sound alone.
    private func make(_ name: String, video: String?, _ arguments: [String]) throws -> String {
        let path = folder.path(name)
        let pictures = ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=25:d=3"]
        let sound = ["-f", "lavfi", "-i", "sine=d=3:r=48000"]
        _ = try FFmpeg.run(
            (video == nil ? [] : pictures) + sound + (video.map { ["-c:v", $0, "-g", "5", "-bf", "0"] } ?? [])
                + arguments + [path])
        return path
    }

    static let containers: [(name: String, video: String?, arguments: [String])] = [
        ("a.avi", "mpeg4", ["-c:a", "pcm_s16le"]), ("a.mxf", "mpeg2video", ["-c:a", "pcm_s16le"]),
        ("a.flv", "flv1", ["-c:a", "libmp3lame", "-ar", "44100"]), ("a.asf", "wmv2", ["-c:a", "wmav2"]),
        ("a.wma", nil, ["-c:a", "wmav2"]), ("a.mkv", "mpeg4", ["-c:a", "flac"]), ("a.mp4", "libx264", ["-c:a", "aac"]),
        ("faststart.mp4", "libx264", ["-c:a", "aac", "-movflags", "faststart"]),
        ("a.wav", nil, []), ("a.aiff", nil, []), ("a.caf", nil, []), ("a.flac", nil, []), ("a.tta", nil, []),
        ("a.wv", nil, []), ("a.mp3", nil, []),
        ("indexed.mp4", "libx264", ["-c:a", "aac", "-movflags", "dash+global_sidx+frag_keyframe"]),
    ]

    @Test(arguments: containers.indices) func everyContainer(index: Int) throws {
        let (name, video, arguments) = Self.containers[index]
        let whole = try make(name, video: video, arguments)
        for command in [["waveform", "--json"], ["export", "-o", "whole.mkv", "--copy"]] {
            let result = try run(command + ["--strict", whole])
            #expect(result.status == 0 && !result.error.contains("breaks off"), "\(result.error)")
        }
        guard name != "a.mp4" else { return }
        let bytes = try folder.bytes(name)
        let cut = try folder.write("cut-" + name, bytes.prefix(bytes.count * 6 / 10))
        let told = try run(["waveform", "-o", "cut.dat", cut])
        #expect(told.status == 0 && told.error.contains("the file breaks off before its end"), "\(told.error)")
        #expect(try damage(cut)["truncated"] as? Bool == true)
        #expect(try run(["waveform", "-o", "strict.dat", "--strict", cut]).status == 2)
        let copied = try run(["export", "--copy", "-o", "cut.mkv", cut])
        // MXF says nothing of when pictures are shown but in its index, which comes last.
        #expect(copied.status == 2 || copied.error.contains("the file breaks off before its end"), "\(copied.error)")
        #expect(try run(["export", "--copy", "-o", "strict.mkv", "--strict", cut]).status == 2)
        #expect(try run(["qc", "--strict", cut]).status == 2)
        let scan = try run(["probe", "--scan", cut])
        #expect(scan.error.contains("the file breaks off"), "\(scan.error)")
        #expect(try !run(["probe", "--scan", whole]).error.contains("breaks off"))
        // Where the header names a place in the file, that shows without reading on.
        if ![".flac", ".tta", ".wv"].contains(where: name.hasSuffix) {
            let probed = try run(["probe", cut])
            #expect(probed.error.contains("the file breaks off before its end"), "\(probed.error)")
        }
        #expect(try !run(["probe", whole]).error.contains("breaks off"))
        if video != nil {
            let late = try run(["thumbs", "--at", "2.8", "-o", "late.png", cut])
            #expect(late.error.contains("the file breaks off before its end") || late.status == 2, "\(late.error)")
        }
        #expect(try !folder.names().contains { $0.hasPrefix("strict") })
    }

    /// The lengths are ffprobe's: of the whole file, and of the packets that are left.
    @Test func whatIsMissingIsTold() throws {
        _ = try make("a.mxf", video: "mpeg2video", ["-c:a", "pcm_s16le"])
        let bytes = try folder.bytes("a.mxf")
        let cut = try folder.write("cut.mxf", bytes.prefix(bytes.count / 2))
        let lines = try FFmpeg.probe([
            "-select_streams", "a:0", "-show_entries", "packet=pts_time,duration_time,flags", "-of", "csv=p=0", cut,
        ])
        // The last packet may be torn.
        let ends = lines.map { line -> Double in
            let cells = line.split(separator: ",")
            return (Double(cells[0]) ?? 0) + (Double(cells[1]) ?? 0)
        }
        let warning = try run(["waveform", "-o", "a.dat", cut]).error
        let last = try #require(ends.last)
        let told = ends.suffix(2).contains { end in
            let text = "\((end * 1000).rounded() / 1000)"
            return warning.contains("the container says 3 s, \(text) s could be read")
        }
        #expect(last < 2 && told, "\(warning) \(ends.suffix(3))")
    }

    /// A fragmented file that ends between two fragments: only `mehd` says that there is more (ISO/IEC 14496-12, 8.8.2).
    @Test func fragmentsThatAreMissingAreTold() throws {
        _ = try make(
            "f.mp4", video: "mpeg4", ["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov+default_base_moof"])
        var bytes = try folder.bytes("f.mp4")
        func place(_ type: String, from start: Int = 0) -> Int? {
            (start..<bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual(type.utf8) }
        }
        func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        func big(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        let moov = try #require(place("moov"))
        let mvex = try #require(place("mvex"))
        let scale = number(try #require(place("mvhd")) + 16)
        // Three seconds, in a box of 16 bytes at the beginning of mvex.
        let mehd = big(16) + Array("mehd".utf8) + big(0) + big(3 * scale)
        for box in [mvex, moov] { bytes.replaceSubrange(box - 4..<box, with: big(number(box - 4) + 16)) }
        bytes.insert(contentsOf: mehd, at: mvex + 4)
        let whole = try folder.write("whole.mp4", bytes)
        #expect(try run(["waveform", "--json", "--strict", whole]).status == 0)
        var fragments: [Int] = []
        while let next = place("moof", from: (fragments.last ?? 0) + 8) { fragments.append(next) }
        #expect(fragments.count > 4)
        let cut = try folder.write("cut.mp4", bytes.prefix(fragments[fragments.count / 2] - 4))
        let told = try run(["waveform", "--json", cut])
        #expect(told.status == 0 && told.error.contains("the file breaks off"), "\(told.error)")
        #expect(try run(["waveform", "--json", "--strict", cut]).status == 2)
    }

    /// The tag counts frames: 0x0001 alone of its flags says so.
    ///
    /// Bytes, which others count too, are left out.
    @Test func anMP3WhoseTagCountsFramesIsTold() throws {
        _ = try make("a.mp3", video: nil, ["-id3v2_version", "0"])
        var bytes = try folder.bytes("a.mp3")
        let tag = try #require(
            (0..<200).first {
                bytes[$0..<$0 + 4].elementsEqual("Info".utf8) || bytes[$0..<$0 + 4].elementsEqual("Xing".utf8)
            })
        #expect(bytes[tag + 7] == 0x0F)
        bytes[tag + 7] = 0x01
        bytes.replaceSubrange(tag + 12..<tag + 156, with: [UInt8](repeating: 0, count: 144))
        let whole = try folder.write("whole.mp3", bytes)
        let result = try run(["waveform", "--json", "--strict", whole])
        #expect(result.status == 0, "\(result.error)")
        let cut = try folder.write("cut.mp3", bytes.prefix(bytes.count / 2))
        let told = try run(["waveform", "--json", cut])
        #expect(told.status == 0 && told.error.contains("the file breaks off"), "\(told.error)")
        #expect(try run(["waveform", "--json", "--strict", cut]).status == 2)
    }

    /// A comment block that says that it is longer than it is: what comes then is read as a block without end.
    ///
    /// ffmpeg gives no frame either.
    @Test func aTrackThatGivesNothingIsDamaged() throws {
        _ = try make("a.flac", video: nil, [])
        var bytes = try folder.bytes("a.flac")
        #expect(bytes[42] & 0x7F == 4)
        // To the second frame, whose mark looks like the last block of all, and a very long one.
        let mark = try #require((10_000..<bytes.count - 1).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xF8 })
        bytes.replaceSubrange(43..<46, with: [16, 8, 0].map { UInt8(truncatingIfNeeded: (mark - 46) >> $0) })
        let path = try folder.write("lying.flac", bytes)
        #expect(try Program.run("ffmpeg", ["-v", "error", "-i", path, "-f", "s16le", "-"]).bytes.isEmpty)
        for command in [["waveform", "-o", "o.dat"], ["export", "-o", "o.wav"], ["export", "--copy", "-o", "o.mka"]] {
            let result = try run(command + ["--force", path])
            #expect(result.status == 2 && result.errorLines.count == 1, "\(result.error)")
            #expect(
                result.error.contains("\(path): not one sample of track 0 (audio) could be read"), "\(result.error)")
        }
        let json = try run(["waveform", "--json", path])
        #expect(json.status == 2 && json.output.contains(#""code": "damaged""#), "\(json.output)")
        #expect(try folder.names().sorted() == ["a.flac", "lying.flac"])
        // The same of a movie that is cut off before its first sample.
        _ = try make("m.mp4", video: "mpeg4", ["-c:a", "aac", "-movflags", "faststart"])
        let movie = try folder.bytes("m.mp4")
        let media = try #require((0..<movie.count - 4).first { movie[$0..<$0 + 4].elementsEqual("mdat".utf8) })
        let cut = try folder.write("cut.mp4", movie.prefix(media + 4))
        #expect(try run(["waveform", "-o", "o.dat", cut]).status == 2)
        // A track that says itself that it is empty is none of these.
        #expect(try run(["waveform", "--json", Fixtures.path("pcm-s16-silent.wav")]).status == 0)
    }

    @Test(arguments: [
        ("mp3", ["-id3v2_version", "0"]), ("adts", []), ("ac3", []), ("eac3", []), ("flac", []), ("opus", []),
    ])
    func whatComesBeforeTheMediaIsPassedOver(ending: String, arguments: [String]) throws {
        let whole = try make("a." + ending, video: nil, arguments)
        var state: UInt32 = 7
        let junk = (0..<100_000).map { _ -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        let path = try folder.write("junk." + ending, junk + folder.bytes("a." + ending))
        #expect(try run(["waveform", "-o", "whole.dat", "-o", "whole.json", whole]).error.isEmpty)
        let told = try run(["waveform", "-o", "junk.dat", "-o", "junk.json", path])
        let warning = "100000 bytes before the first frame"
        #expect(told.status == 0 && told.error.contains(warning), "\(told.error)")
        #expect(try folder.bytes("junk.dat") == folder.bytes("whole.dat"))
        #expect(try damage(path)["skippedBytes"] as? Int == 100_000)
        // As many samples as ffmpeg decodes of the file without what comes before it, but for what it does not cut.
        let samples = try FFmpeg.pcm(whole).count / 2
        let report = try JSONSerialization.jsonObject(with: Data(run(["waveform", "--json", path]).bytes))
        let counted = try #require((report as? [String: Any])?["samples"] as? Int)
        #expect(abs(counted - samples) <= 2048, "\(counted) \(samples)")
        #expect(try run(["waveform", "-o", "strict.dat", "--strict", path]).status == 2)
        #expect(try run(["probe", path]).error.contains(warning))
        let piped = try Program.run(
            Program.mediatool, ["waveform", "-o", folder.path("piped.dat"), "-"], input: folder.bytes("junk." + ending))
        #expect(piped.status == 0 && piped.error.contains(warning), "\(piped.error)")
        let pipe = try Program.run(
            "bash", ["-c", #"cat "$0" | "$1" waveform -o "$2" -"#, path, Program.mediatool, folder.path("pipe.dat")])
        #expect(pipe.status == 0 && pipe.error.contains(warning), "\(pipe.error)")
        #expect(try folder.bytes("pipe.dat") == folder.bytes("whole.dat"))
    }

    /// Tags belong to the file, whatever they hold.
    @Test func tagsAreNotPassedOver() throws {
        let artwork = try run(["probe", Fixtures.path("artwork.mp3")])
        #expect(artwork.status == 0 && artwork.error.isEmpty, "\(artwork.error)")
        // A tag larger than what is looked at to recognise a format.
        let frames = try Fixtures.bytes("mp3-no-tag.mp3")
        let size = 3 << 20
        let tag = Array("ID3".utf8) + [4, 0, 0] + [21, 14, 7, 0].map { UInt8(truncatingIfNeeded: size >> $0 & 0x7F) }
        let path = try folder.write("tagged.mp3", tag + [UInt8](repeating: 0, count: size) + frames)
        let result = try run(["waveform", "--json", path])
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
    }
}
