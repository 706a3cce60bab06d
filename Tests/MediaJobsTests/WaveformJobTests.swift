import AssetKit
import MediaBase
import Peaks
import SystemPackage
import TestSupport
import Testing

@testable import MediaJobs

@Suite struct WaveformJobTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(
        _ fixture: String, _ outputs: [WaveformOutput] = [], _ change: (inout WaveformOptions) throws -> Void = { _ in }
    ) throws -> WaveformReport {
        var options = WaveformOptions()
        try change(&options)
        return try WaveformJob(asset: Asset(path: FilePath(Fixtures.path(fixture))), options: options)
            .run(outputs, into: OutputFileSet(force: false, inputs: []))
    }

    private func peaks(_ name: String, _ level: Int = 256) -> WaveformOutput {
        output(name, .dat, .level(.samplesPerPixel(level)))
    }

    private func output(
        _ name: String, _ format: WaveformOutput.Format, _ scale: WaveformOutput.Scale
    ) -> WaveformOutput {
        WaveformOutput(path: FilePath(folder.path(name)), format: format, scale: scale)
    }

    /// ffmpeg's own interleaved samples as 16 bits, of a fixture that it decodes without cutting or filling.
    private func samples(_ fixture: String) throws -> [Int16] {
        let bytes = try FFmpeg.pcm(Fixtures.path(fixture))
        return stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
        }
    }

    /// Minimum and maximum of each group and channel, plainly.
    private func extrema(_ samples: [Int16], channels: Int, level: Int) -> [Int16] {
        stride(from: 0, to: samples.count, by: level * channels).flatMap { start -> [Int16] in
            let group = samples[start..<min(start + level * channels, samples.count)]
            return (0..<channels).flatMap { channel -> [Int16] in
                let own = stride(from: start + channel, to: group.endIndex, by: channels).map { group[$0] }
                return [own.min() ?? 0, own.max() ?? 0]
            }
        }
    }

    @Test(arguments: [("pcm-s16-stereo.wav", 2), ("pcm-s16-mono.wav", 1), ("pcm-s16-5.1.wav", 6), ("mp2.mp2", 2)])
    func peaksAreThoseOfFFmpegsSamples(fixture: String, channels: Int) throws {
        let report = try run(fixture, [peaks("a.dat", 64), peaks("b.dat", 256), peaks("c.dat", 100)]) {
            $0.channels = .split
        }
        #expect(report.outputErrors.isEmpty && report.damage.isEmpty)
        let samples = try samples(fixture)
        #expect(report.samples == Int64(samples.count / channels))
        for (name, level) in [("a.dat", 64), ("b.dat", 256), ("c.dat", 100)] {
            let written = try PeakFile.decode(folder.bytes(name))
            #expect(written.channels == channels && written.samplesPerPixel == level)
            #expect(written.data == extrema(samples, channels: channels, level: level))
        }
    }

    /// Point `k` begins at floor(`k` · rate / pixels a second), reckoned here in fractions of whole numbers.
    @Test func pointsASecondDoNotDrift() throws {
        let rate = Rational(333, 10)
        let report = try run(
            "pcm-s16-stereo.wav",
            [
                output("a.csv", .csv, .level(.pixelsPerSecond(rate))),
                output("a.dat", .dat, .level(.wholeSamplesNear(pixelsPerSecond: rate))),
                output("a.svg", .svg, .level(.pixelsPerSecond(rate))),
            ]
        ) { $0.channels = .split }
        let samples = try samples("pcm-s16-stereo.wav")
        let frames = samples.count / 2
        var lines: [[Int16]] = []
        var start = 0
        while start < frames {
            let end = min((lines.count + 1) * 48000 * 10 / 333, frames)
            lines.append(extrema(Array(samples[start * 2..<end * 2]), channels: 2, level: end - start))
            start = end
        }
        let text = String(decoding: try folder.bytes("a.csv"), as: UTF8.self)
        #expect(
            text.split(separator: "\n").map { $0.split(separator: ",").compactMap { Int16($0) } } == lines
                && lines.count == 100)
        // 48000 / 33.3 = 1441.44…
        #expect(try PeakFile.decode(folder.bytes("a.dat")).samplesPerPixel == 1441)
        let contents = report.outputs.map { try? $0.result.get() }
        #expect(contents.map { $0?.requestedPixelsPerSecond } == [rate, rate, rate])
        #expect(contents.map { $0?.pixelsPerSecond } == [rate, Rational(48000, 1441), rate])
        #expect(contents.map { $0?.points ?? $0?.width } == [100, 100, 100])
    }

    @Test func fittedOutputsHaveAllOfTheSound() throws {
        let report = try run(
            "pcm-s16-mono.wav",
            [output("a.csv", .csv, .fitted(width: 7)), output("a.json", .wavesurfer, .fitted(width: 1))])
        let samples = try samples("pcm-s16-mono.wav")
        let lines = String(decoding: try folder.bytes("a.csv"), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 7)
        let values = lines.flatMap { $0.split(separator: ",").compactMap { Int16($0) } }
        #expect(values.min() == samples.min() && values.max() == samples.max())
        let low = Double(try #require(samples.min())) / 32768
        let high = Double(try #require(samples.max())) / 32768
        let seconds = Double(samples.count) / Double(report.sampleRate)
        #expect(
            String(decoding: try folder.bytes("a.json"), as: UTF8.self)
                == "{\"peaks\":[[\(low),\(high)]],\"duration\":\(seconds)}\n")
    }

    @Test func aRangeIsThatPartOfTheWhole() throws {
        let report = try run("pcm-s16-stereo.wav", [peaks("a.dat", 64)]) {
            $0.channels = .split
            $0.start = try TimeExpression(parsing: "1000/48000")
            $0.end = try TimeExpression(parsing: "3001/48000")
        }
        #expect(report.start == MediaTime(value: 1000, timescale: 48000))
        #expect(report.duration == MediaTime(value: 2001, timescale: 48000))
        let part = Array(try samples("pcm-s16-stereo.wav")[2000..<6002])
        #expect(try PeakFile.decode(folder.bytes("a.dat")).data == extrema(part, channels: 2, level: 64))
    }

    /// `golden/pcm.tsv`: sample frames on the presentation's time line, and silence before them.
    @Test(arguments: ["late-audio.mp4", "gap.mkv", "av.mp4", "opus.opus", "mp3-lame.mp3"])
    func cutAndFilledAsThePresentationWants(fixture: String) throws {
        let row = try GoldenTable.pcm(fixture)
        let report = try run(fixture)
        #expect(try report.samples == Int64(row.number("frames")))
        #expect(try report.lateStart == Int64(max(0, row.number("lead"))))
        #expect(report.holes == (fixture == "gap.mkv" ? 144_029 - 120_163 : 0))
    }

    /// The priming that the encoders' headers state: 1024 for ffmpeg's AAC (ffprobe: start_pad), 312 for Opus
    /// (pre_skip), 576 + 529 for LAME.
    @Test(arguments: [("av.mp4", 1024), ("opus.opus", 312), ("mp3-lame.mp3", 1105), ("pcm-s16-mono.wav", 0)])
    func saysWhatIsCutBeforeZero(fixture: String, samples: Int64) throws {
        #expect(try run(fixture).cutBeforeZero == samples)
        #expect(try run(fixture) { $0.start = try TimeExpression(parsing: "0.5") }.cutBeforeZero == nil)
    }

    /// ffmpeg's muxer states the end of a page too late where a short block follows; no sample is missing there.
    @Test func vorbisBlocksOfChangingLengthAreNoHoles() throws {
        let path = folder.path("clicks.ogg")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "aevalsrc='eq(mod(n,308700),0)':s=44100:d=15", "-c:a", "libvorbis", "-q:a", "5", path,
        ])
        let report = try WaveformJob(asset: Asset(path: FilePath(path)), options: WaveformOptions())
            .run([], into: OutputFileSet(force: false, inputs: []))
        #expect(report.samples == 15 * 44100 && report.holes == 0)
    }

    @Test func aRangeInAHoleIsSilence() throws {
        let report = try run("late-audio.mp4") { $0.end = try TimeExpression(parsing: "1") }
        #expect(report.samples == 48000 && report.lateStart == 48000)
        #expect(report.channels.allSatisfy { $0.peakDBFS == -.infinity })
        let end = try run("gap.mkv") {
            $0.start = try TimeExpression(parsing: "1")
            $0.end = try TimeExpression(parsing: "1.2")
        }
        #expect(end.samples == 9600 && end.holes > 9000)
    }

    /// By hand from how `scripts/fixtures` makes it, and from ffmpeg's samples: 32767 and −32768 are full scale.
    @Test func loudness() throws {
        let report = try run("pcm-s16-clipped.wav")
        let samples = try samples("pcm-s16-clipped.wav")
        for (channel, loudness) in report.channels.enumerated() {
            let own = stride(from: channel, to: samples.count, by: 2).map { Int(samples[$0]) }
            #expect(loudness.clippedSamples == Int64(own.count { abs($0) >= 32767 }))
        }
        #expect(report.channels.contains { $0.clippedSamples > 0 })
        #expect(try run("pcm-s16-silent.wav").channels.map(\.rmsDBFS) == [-.infinity])
    }

    @Test func outsideAndEmptyRangesAreErrors() throws {
        func code(_ start: String?, _ end: String?) throws -> MediaError.Code? {
            do {
                _ = try run("pcm-s16-mono.wav", [peaks("never.dat")]) {
                    $0.start = try start.map { try TimeExpression(parsing: $0) }
                    $0.end = try end.map { try TimeExpression(parsing: $0) }
                }
                return nil
            } catch let error as MediaError { return error.code }
        }
        #expect(try code("100", nil) == .outOfRange)
        #expect(try code("-1", nil) == .outOfRange)
        #expect(try code("50%", "25%") == .invalidArgument)
        #expect(try code(nil, "0") == .invalidArgument)
        #expect(try code("1f", nil) == .invalidArgument)
        #expect(try folder.names().isEmpty)
    }

    @Test func oneOutputThatFailsLeavesTheOthers() throws {
        try folder.write("taken.dat", [1])
        let report = try run("pcm-s16-mono.wav", [peaks("taken.dat"), peaks("free.dat")])
        #expect(report.outputErrors.map(\.code) == [.alreadyExists])
        #expect(try folder.names() == ["free.dat", "taken.dat"])
        #expect(try folder.bytes("taken.dat") == [1])
        #expect { try run("pcm-s16-mono.wav", [peaks("taken.dat")]) } throws: {
            ($0 as? MediaError)?.code == .alreadyExists
        }
    }

    @Test func damageIsToldAndStrictRefusesIt() throws {
        let report = try run("damaged.mp4", [peaks("a.dat")])
        #expect(!report.damage.isEmpty && report.damage.packets > 0)
        #expect(!report.damage.ranges.isEmpty && report.damage.ranges.allSatisfy { $0.duration > .zero })
        #expect { try run("damaged.mp4", [peaks("b.dat")]) { $0.isStrict = true } } throws: {
            ($0 as? MediaError)?.code == .damaged
        }
        #expect(try folder.names() == ["a.dat"])
    }

    @Test func onlySoundHasAWaveform() {
        #expect { try run("video-only.mp4") } throws: { ($0 as? MediaError)?.code == .noSuchTrack }
    }
}
