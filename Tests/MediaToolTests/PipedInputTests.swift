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

    @Test func anEmptyPipeIsEmpty() throws {
        let result = try Program.run("/bin/sh", ["-c", ": | \"$0\" probe -", Program.mediatool])
        #expect(result.status == 2)
        #expect(result.errorLines == ["mediatool: -: is empty"])
    }
}
