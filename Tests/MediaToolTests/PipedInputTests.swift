import Foundation
import TestSupport
import Testing

/// What comes through a pipe gives what the file gives.
@Suite struct PipedInputTests {
    @Test(arguments: [
        "av.mp4", "late-audio.mp4", "fragmented.mp4", "mp3-lame.mp3", "flac-s16-stereo.flac", "h264-aac.mkv",
    ])
    func peaksAreThoseOfTheFile(fixture: String) throws {
        let arguments = ["waveform", "-o", "-", "--format", "dat", "--samples-per-pixel", "64"]
        let file = try Program.run(Program.mediatool, arguments + [Fixtures.path(fixture)])
        let pipe = try Program.run(
            "/bin/sh",
            ["-c", "cat \"$1\" | \"$0\" waveform - -o - --format dat --samples-per-pixel 64"]
                + [Program.mediatool, Fixtures.path(fixture)])
        #expect(file.status == 0 && pipe.status == 0)
        #expect(file.bytes.count > 100)
        #expect(pipe.bytes == file.bytes)
    }

    /// Two recordings of 3 s, one after the other: of a file it is known before reading that the clock jumps.
    @Test func peaksAfterAJumpOfTheClockAreThoseOfTheFile() throws {
        let folder = try TemporaryFolder()
        let one = try Fixtures.bytes("mpegts-10s.ts")
        let path = try folder.write("twice.ts", one + one)
        let arguments = ["waveform", "-o", "-", "--format", "dat", "--samples-per-pixel", "64"]
        let file = try Program.run(Program.mediatool, arguments + [path])
        let pipe = try Program.run(
            "/bin/sh",
            ["-c", "cat \"$1\" | \"$0\" waveform - -o - --format dat --samples-per-pixel 64", Program.mediatool, path])
        #expect(file.status == 0 && pipe.status == 0)
        let plain = try Program.run(Program.mediatool, arguments + [Fixtures.path("mpegts-10s.ts")])
        // Two bytes a pixel after a header of 20, and the last pixel of the first part is filled up.
        #expect(abs(file.bytes.count - 20 - 2 * (plain.bytes.count - 20)) <= 2)
        // Which stream starts first after the jump is not known when it is found: a frame's duration at most.
        #expect(abs(pipe.bytes.count - file.bytes.count) <= 2 * 48_000 / 64 / 25)
    }

    /// Reading all packets tells of a pipe what it tells of the file, apart from the name.
    @Test(arguments: ["mpegts-10s.ts", "aac.adts", "h264-aac.mkv"]) func aScanIsThatOfTheFile(fixture: String) throws {
        func report(_ name: String) throws -> [Substring] {
            let script = "cat \"$1\" | \"$0\" probe --scan --json \"$2\""
            let result = try Program.run("/bin/sh", ["-c", script, Program.mediatool, Fixtures.path(fixture), name])
            #expect(result.status == 0, "\(result.error)")
            return result.output.split(separator: "\n").filter { !$0.contains("\"path\"") }
        }
        #expect(try report("-") == report(Fixtures.path(fixture)))
    }

    @Test func imagesGoBackAndForth() throws {
        let folder = try TemporaryFolder()
        let result = try Program.run(
            "/bin/sh",
            [
                "-c", "cat \"$1\" | \"$0\" thumbs - --at 2,0.5,1 --width 16 -o \"$2/\"", Program.mediatool,
                try Fixtures.path("av.mp4"), folder.path,
            ])
        #expect(result.status == 0)
        #expect(try folder.names() == ["stdin-001.png", "stdin-002.png", "stdin-003.png"])
    }

    /// What needs the length of a pipe, or more than one way through it, gives the images of the file.
    @Test(
        arguments: [
            ["--every", "1"], ["--count", "3"], ["--keyframes"], ["--at", "50%,2.9"], ["--at", "30f"],
            ["--at", "1", "--best"],
        ], ["mpegts-10s.ts", "h264-aac.mkv"])
    func imagesAreThoseOfTheFile(times: [String], fixture: String) throws {
        func images(_ isPiped: Bool) throws -> [String: [UInt8]] {
            let folder = try TemporaryFolder()
            let (path, output) = (try Fixtures.path(fixture), ["-o", folder.path + "/{index}.png", "--width", "32"])
            let script = isPiped ? "cat \"$1\" | { shift; \"$0\" thumbs - \"$@\"; }" : "\"$0\" thumbs \"$@\""
            let result = try Program.run("/bin/sh", ["-c", script, Program.mediatool, path] + output + times)
            #expect(result.status == 0, "\(result.error)")
            var images: [String: [UInt8]] = [:]
            for name in try folder.names() { images[name] = try folder.bytes(name) }
            return images
        }
        let file = try images(false)
        #expect(try !file.isEmpty && images(true) == file)
    }

    @Test(arguments: [["--end", "50%"], ["--start", "10f"]], ["mpegts-10s.ts", "h264-aac.mkv"])
    func partsOfPeaksAreThoseOfTheFile(part: [String], fixture: String) throws {
        let script = " -o - --format dat --samples-per-pixel 64 \"$2\" \"$3\""
        let file = try Program.run(
            "/bin/sh",
            ["-c", "\"$0\" waveform \"$1\"" + script, Program.mediatool, Fixtures.path(fixture)] + part)
        let pipe = try Program.run(
            "/bin/sh",
            ["-c", "cat \"$1\" | \"$0\" waveform -" + script, Program.mediatool, Fixtures.path(fixture)] + part)
        #expect(file.status == 0 && pipe.status == 0, "\(pipe.error)")
        #expect(file.bytes.count > 100 && pipe.bytes == file.bytes)
    }

    /// A film whose header and first sample disagree is opened a second time, where it was kept.
    @Test func aPipeIsOpenedAgainWhereItWasKept() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("hlg.mp4")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=160x90:d=0.4", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-x264-params",
            "colorprim=bt2020:transfer=bt2020-10:colormatrix=bt2020nc:alternative-transfer=arib-std-b67", path,
        ])
        let result = try Program.run(
            "/bin/sh",
            ["-c", "cat \"$1\" | \"$0\" probe --select 'tracks[0].video.color.effective.transfer' -"]
                + [Program.mediatool, path])
        #expect(result.status == 0 && result.output == "arib-std-b67\n", "\(result.error)")
    }

    @Test func anEmptyPipeIsEmpty() throws {
        let result = try Program.run("/bin/sh", ["-c", ": | \"$0\" probe -", Program.mediatool])
        #expect(result.status == 2)
        #expect(result.errorLines == ["mediatool: -: is empty"])
    }

    private func probe(_ path: String, isPiped: Bool) throws -> [String: Any] {
        let script = isPiped ? "cat \"$1\" | \"$0\" probe --json -" : "\"$0\" probe --json \"$1\""
        let result = try Program.run("/bin/sh", ["-c", script, Program.mediatool, path])
        try #require(result.status == 0, "\(result.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
    }

    /// Only the length in bytes, and what follows from it, takes more than the header.
    @Test(arguments: [
        "crop.mkv", "h264-aac.mkv", "chapters.mkv", "qc-hidden-fields.mkv", "many-tracks.mkv", "flac.mkv",
    ])
    func matroskaSaysTheSame(fixture: String) throws {
        func told(isPiped: Bool) throws -> NSDictionary {
            var report = try probe(Fixtures.path(fixture), isPiped: isPiped)
            var container = try #require(report["container"] as? [String: Any])
            for key in ["sizeBytes", "bitRate"] { container[key] = nil }
            report["container"] = container
            report["path"] = nil
            return report as NSDictionary
        }
        let (file, pipe) = try (told(isPiped: false), told(isPiped: true))
        #expect(pipe == file, "\(pipe) \(file)")
    }

    /// A track list too far behind for a pipe's beginning to have it: what only that says is left out, not made up.
    @Test func whatIsNotKnownOfATrackIsLeftOut() throws {
        let folder = try TemporaryFolder()
        var bytes = try Fixtures.bytes("crop.mkv")
        // The segment, its length unknown, then a Void element of two megabytes.
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: [0x18, 0x53, 0x80, 0x67]) }) + 4
        bytes.replaceSubrange(place..<place + 8, with: [0x01] + [UInt8](repeating: 0xFF, count: 7))
        bytes.insert(contentsOf: [0xEC, 0x10, 0x20, 0, 0] + [UInt8](repeating: 0, count: 2 << 20), at: place + 8)
        let report = try probe(folder.write("far.mkv", bytes), isPiped: true)
        let track = try #require((report["tracks"] as? [[String: Any]])?.first)
        #expect(track["id"] == nil && track["index"] as? Int == 0)
        let video = try #require(track["video"] as? [String: Any])
        #expect(video["cleanAperture"] == nil)
    }
}
