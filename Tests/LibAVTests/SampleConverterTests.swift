import LibAV
import MediaBase
import TestSupport
import Testing

/// Conversions against ffmpeg's, whose own use of libswresample has the same defaults.
@Suite struct SampleConverterTests {
    private func converter(
        _ format: SampleFormat, isPlanar: Bool = false, rate: Int = 48_000, _ layout: ChannelLayout = .stereo
    ) throws -> SampleConverter {
        try SampleConverter(to: format, isPlanar: isPlanar, sampleRate: rate, channelLayout: layout)
    }

    static let forms: [(SampleFormat, String)] = [
        (.uint8, "u8"), (.int16, "s16le"), (.int32, "s32le"), (.float32, "f32le"), (.float64, "f64le"),
    ]

    @Test(
        arguments: ["pcm-f32-stereo.wav", "pcm-s16-stereo.wav", "pcm-s24-stereo.wav", "mp3-vbr-stereo.mp3", "mp2.mp2"],
        forms)
    func formsAreFFmpegs(_ fixture: String, _ form: (format: SampleFormat, name: String)) throws {
        let got = try Media.sound(fixture, through: converter(form.format))
        #expect(try got == FFmpeg.pcm(Fixtures.path(fixture), format: form.name))
    }

    @Test(arguments: [("pcm-s16-mono.wav", 48_000), ("pcm-s16-mono.wav", 22_050), ("pcm-u8-mono.wav", 44_100)])
    func ratesAreFFmpegs(_ fixture: String, _ rate: Int) throws {
        let got = try Media.sound(fixture, through: converter(.int16, rate: rate, .mono))
        let wanted = try FFmpeg.run(
            ["-i", Fixtures.path(fixture), "-ar", "\(rate)", "-f", "s16le", "-"])
        #expect(got == wanted)
        let (before, after) = (
            try GoldenTable.pcm(fixture).number("frames"), try GoldenTable.pcm(fixture).number("rate")
        )
        #expect(abs(got.count / 2 - before * rate / after) <= 1)
    }

    @Test func mixingDownIsFFmpegs() throws {
        let got = try Media.sound("pcm-s16-5.1.wav", through: converter(.int16))
        let wanted = try FFmpeg.run(["-i", Fixtures.path("pcm-s16-5.1.wav"), "-ac", "2", "-f", "s16le", "-"])
        #expect(got == wanted)
        let lossy = try Media.sound("ac3-5.1.ac3", through: converter(.float32))
        // By way of a file without AC-3's own levels for mixing down, which ffmpeg heeds from version 8 on.
        let folder = try TemporaryFolder()
        let plain = folder.path("plain.wav")
        _ = try FFmpeg.run(["-i", Fixtures.path("ac3-5.1.ac3"), "-c:a", "pcm_f32le", plain])
        #expect(try lossy == FFmpeg.run(["-i", plain, "-ac", "2", "-f", "f32le", "-"]))
    }

    @Test func whatFitsAlreadyIsShared() throws {
        var made = try converter(.int16)
        try Media.frames(Media.file("flac-s16-stereo.flac")) { frame in
            let result = try made.convert(frame)
            func address(_ frame: borrowing Frame) -> UInt {
                frame.withSamples(plane: 0, in: 0..<frame.sampleCount) { span in
                    span.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
                }
            }
            #expect(address(result) == address(frame))
        }
        if case .some = try made.drain() { Issue.record("something was held") }
    }

    @Test func limitsAreChecked() throws {
        for rate in [0, -1, Limits.sampleRate + 1, Int.max] {
            #expect(mediaError { _ = try self.converter(.int16, rate: rate) }?.code == .invalidArgument)
        }
        for channels in [0, -1, Limits.channels + 1, Int.max] {
            let layout = ChannelLayout(channels: channels, name: "\(channels) channels")
            #expect(mediaError { _ = try self.converter(.int16, layout) }?.code == .limitExceeded)
        }
    }
}
