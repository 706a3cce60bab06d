import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite struct AssetWriterTests {
    // MARK: Sound

    @Test(arguments: [
        (MediaFileType.wav, AudioOutputSettings(codec: .pcm)), (.caf, AudioOutputSettings(codec: .pcm)),
        (.aiff, AudioOutputSettings(codec: .pcm)), (.mov, AudioOutputSettings(codec: .pcm)),
        (.flac, AudioOutputSettings(codec: .flac)), (.mkv, AudioOutputSettings(codec: .flac)),
        (.mp4, AudioOutputSettings(codec: .flac)), (.m4a, AudioOutputSettings(codec: .alac)),
        (.mov, AudioOutputSettings(codec: .alac)),
    ])
    func losslessSoundComesBackBitByBit(type: MediaFileType, settings: AudioOutputSettings) throws {
        let file = try Written("a.\(type)")
        let input = AssetWriterInput(audioSettings: settings)
        let samples = Made.noise(30_001)
        try file.write(type, [input]) { _ in
            // Runs of odd lengths.
            for start in stride(from: 0, to: samples.count, by: 997) {
                let run = Array(samples[start..<min(samples.count, start + 997)])
                try input.appendNow(Made.buffer(run, at: start))
            }
        }
        #expect(try file.sound().samples == samples)
        // Matroska keeps durations in milliseconds.
        if type != .mkv { #expect(try file.asset.loadNow(.duration) == .samples(30_001, at: 48000)) }
        let other = try FFmpeg.run(["-i", file.path, "-f", "s16le", "-"])
        #expect(other == samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
    }

    @Test(arguments: [(MediaFileType.wav, AudioOutputSettings.Codec.pcm), (.m4a, .alac), (.mkv, .flac)])
    func aSessionCutsToTheSampleAndHolesAreSilence(type: MediaFileType, codec: AudioOutputSettings.Codec) throws {
        let file = try Written("a.\(type)")
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: codec))
        let samples = Made.noise(20_000)
        try file.write(type, [input], from: .samples(1_234, at: 48000)) { writer in
            try writer.endSession(atSourceTime: .samples(18_001, at: 48000))
            try input.appendNow(Made.buffer(Array(samples[..<8_000]), at: 0))
            try input.appendNow(Made.buffer(Array(samples[10_000...]), at: 10_000))
        }
        let expected = samples[1_234..<8_000] + Array(repeating: 0, count: 2_000) + samples[10_000..<18_001]
        #expect(try file.sound().samples == Array(expected))
    }

    @Test(arguments: [MediaFileType.m4a, .mp4, .mov, .mkv, .webm, .ogg])
    func lossySoundLiesWhereItWasPut(type: MediaFileType) throws {
        let codec: AudioOutputSettings.Codec = [.webm, .mkv, .ogg].contains(type) ? .opus : .aac
        let file = try Written("a.\(type)")
        let input = AssetWriterInput(
            audioSettings: AudioOutputSettings(codec: codec, channelLayout: .mono, bitRate: 96_000))
        // Clicks: a few samples of full scale in silence.
        var samples = [Int16](repeating: 0, count: 96_000)
        let clicks = [20_000, 50_003, 90_010]
        for click in clicks { for index in 0..<3 { samples[click + index] = 30_000 } }
        try file.write(type, [input]) { _ in try input.appendNow(Made.buffer(samples, at: 0)) }
        let (start, read) = try file.sound()
        #expect(start == .zero)
        for click in clicks {
            let near = click - 400..<click + 400
            let peak = near.max { abs(Int(read[$0])) < abs(Int(read[$1])) }
            #expect(abs((peak ?? 0) - (click + 1)) <= 1, "\(type) \(click)")
        }
        // An edit list ends the sound exactly; Matroska's time stamps are of a millisecond.
        if type.rawValue.hasPrefix("m"), type != .mkv {
            #expect(read.count == samples.count)
            #expect(try file.asset.loadNow(.duration) == .samples(96_000, at: 48000))
        }
    }

    @Test(arguments: [MediaFileType.m4a, .mov])
    func aLateStartStaysLate(type: MediaFileType) throws {
        let file = try Written("a.\(type)")
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .alac))
        let samples = Made.noise(10_000)
        try file.write(type, [input]) { _ in try input.appendNow(Made.buffer(samples, at: 7_777)) }
        let (start, read) = try file.sound()
        #expect(start == .samples(7_777, at: 48000))
        #expect(read == samples)
        #expect(try file.asset.loadNow(.duration) == .samples(17_777, at: 48000))
    }

    @Test func theExampleOfTheGuideWorks() throws {
        let file = try Written("a.m4a")
        let input = AssetWriterInput(
            audioSettings: AudioOutputSettings(codec: .aac, sampleRate: 44100, channelLayout: .stereo, bitRate: 128_000)
        )
        try file.write(.m4a, [input]) { _ in try input.appendNow(Made.buffer(Made.noise(48_000), at: 0)) }
        #expect(
            try file.probe("a:0", "stream=codec_name,sample_rate,channels,channel_layout") == ["aac,44100,2,stereo"])
        #expect(try file.asset.loadNow(.duration) == .samples(44_100, at: 44_100))
    }

    // MARK: Pictures

    /// Encoders with a log of their own would print past libav's.
    @Test func encodersPrintNothingOnStandardError() throws {
        let text = try StandardError.captured {
            for codec in [VideoOutputSettings.Codec.h264, .hevc, .vp9, .av1] {
                let file = try Written("v.mkv")
                var settings = VideoOutputSettings(codec: codec)
                settings.speed = .fastest
                let input = AssetWriterInput(videoSettings: settings)
                let adaptor = try PixelBufferAdaptor(
                    input: input, dimensions: Dimensions(width: 64, height: 64), pixelFormat: .yuv420p)
                try file.write(.mkv, [input]) { _ in
                    for frame in 0..<5 {
                        try adaptor.append(
                            Made.picture(UInt8(16 + frame), from: adaptor.pixelBufferPool),
                            withPresentationTime: MediaTime(value: Int64(frame), timescale: 25))
                    }
                }
            }
        }.lowercased()
        // Other tests run meanwhile.
        for name in ["x264", "x265", "svt", "vpx", "[info]"] { #expect(!text.contains(name), "\(text)") }
    }

    @Test(arguments: [
        (MediaFileType.mov, VideoOutputSettings.Codec.h264), (.mp4, .h264), (.mkv, .h264), (.mp4, .hevc),
        (.mov, .proRes422Proxy), (.mov, .proRes4444), (.mov, .dnxhrLB), (.mov, .dnxhrHQX), (.mov, .mjpeg),
        (.webm, .vp9), (.mp4, .av1),
    ])
    func picturesKeepTheirTimes(type: MediaFileType, codec: VideoOutputSettings.Codec) throws {
        let file = try Written("v.\(type)")
        var settings = VideoOutputSettings(codec: codec)
        settings.speed = .fastest
        // DNxHR wants pictures of some size.
        settings.dimensions = Dimensions(width: 256, height: 192)
        let input = AssetWriterInput(videoSettings: settings)
        let adaptor = try PixelBufferAdaptor(
            input: input, dimensions: Dimensions(width: 64, height: 48), pixelFormat: .yuv420p)
        // Milliseconds, which Matroska can hold too; not evenly spaced.
        let times = (0..<24).map { 40 * $0 + ($0 % 3 == 1 ? 7 : 0) }
        try file.write(type, [input]) { _ in
            for time in times {
                try adaptor.append(
                    Made.picture(UInt8(16 + time % 200), from: adaptor.pixelBufferPool),
                    withPresentationTime: MediaTime(value: Int64(time), timescale: 1000))
            }
        }
        let read = try Written.frameTimes(file.path).compactMap(Double.init).map { Int(($0 * 1000).rounded()) }
        #expect(read == times)
        let track = try Media.track(file.asset, .video)
        #expect(track.timeRange.start == .zero)
        #expect(track.formatDescriptions.first?.codec == codec.codecName)
        if type != .mkv, type != .webm {
            let ours = try Media.all(TrackOutput(track: track, videoSettings: VideoSettings()), of: file.asset)
            #expect(ours.map(\.presentationTime) == times.map { MediaTime(value: Int64($0), timescale: 1000) })
        }
    }

    @Test func aSessionShowsThePictureOfItsStartFromZeroOn() throws {
        let file = try Written("v.mov")
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .mjpeg))
        let pool = try Made.pool()
        try file.write(.mov, [input], from: MediaTime(value: 1, timescale: 10)) { _ in
            for (index, time) in [0, 2, 4, 5].enumerated() {
                try input.appendNow(
                    SampleBuffer(
                        picture: Made.picture(UInt8(40 * index + 40), from: pool),
                        presentationTime: MediaTime(value: Int64(time), timescale: 25)))
            }
        }
        // 1/10 s is 2.5 ticks: the picture of 2/25 is on screen there.
        #expect(try Written.frameTimes(file.path) == ["0.000000", "0.060000", "0.100000"])
        let grey = try FFmpeg.run([
            "-i", file.path, "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-",
        ])
        let means = stride(from: 0, to: grey.count, by: 64 * 48).map { Int(grey[$0]) }
        #expect(zip(means, [80, 120, 160]).allSatisfy { abs($0 - $1) <= 20 }, "\(means)")
    }

    @Test func shapeTurnAndColoursAreWritten() throws {
        let file = try Written("v.mov")
        var settings = VideoOutputSettings(codec: .h264)
        settings.pixelAspectRatio = Rational(16, 15)
        settings.cleanAperture = try CleanAperture(
            width: Rational(60), height: Rational(45), horizontalOffset: Rational(-1, 2),
            in: Dimensions(width: 64, height: 48))
        settings.color = ColorInfo(primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv")
        let input = AssetWriterInput(videoSettings: settings)
        input.transform = PictureTransform.translation(x: 48, y: 0).rotated(by: .pi / 2)
        input.languageCode = "deu"
        input.name = "Kamera A"
        input.startTimecode = "01:02:03;04"
        input.nominalFrameRate = Rational(30000, 1001)
        let pool = try Made.pool()
        try file.write(.mov, [input]) { writer in
            for index in 0..<5 {
                try input.appendNow(
                    SampleBuffer(
                        picture: Made.picture(100, from: pool),
                        presentationTime: MediaTime(value: Int64(index * 1001), timescale: 30000)))
            }
        }
        let track = try Media.track(file.asset, .video)
        let video = try #require(track.formatDescriptions.first?.video)
        #expect(video.sampleAspectRatio == Rational(16, 15))
        #expect(video.cleanAperture == settings.cleanAperture)
        #expect(video.color.matrix == "bt709" && track.containerColor?.primaries == "bt709")
        #expect(track.preferredTransform == PictureTransform(a: 0, b: 1, c: -1, d: 0, tx: 48, ty: 0))
        #expect(track.language == "ger" || track.language == "deu")
        // libavformat 5.1 writes names of tracks, but does not read them.
        #expect(try String(decoding: file.folder.bytes("v.mov"), as: UTF8.self).contains("nameKamera A"))
        #expect(track.trackAperture?.clean == TrackAperture.Size(width: Rational(64), height: Rational(45)))
        #expect(track.trackAperture?.encoded == TrackAperture.Size(width: Rational(64), height: Rational(48)))
        #expect(try file.asset.loadNow(.container).startTimecode == "01:02:03;04")
        #expect(try file.asset.loadNow(.container).isIndexFirst == true)
        #expect(track.timeRange.duration == MediaTime(value: 5005, timescale: 30000))
    }

    /// Appending takes microseconds and encoding such pictures milliseconds, so they have to wait somewhere.
    @Test func moreWaitsForTheEncoderWhenTheSourceCannot() throws {
        let file = try Written("v.mov")
        var settings = VideoOutputSettings(codec: .h264)
        settings.speed = .slow
        let input = AssetWriterInput(videoSettings: settings)
        input.expectsMediaDataInRealTime = true
        let pool = try PixelBufferPool(dimensions: Dimensions(width: 1280, height: 720), pixelFormat: .yuv420p)
        let picture = try Made.picture(90, from: pool)
        try file.write(.mov, [input]) { _ in
            for index in 0..<30 {
                #expect(input.isReadyForMoreMediaData, "\(index)")
                let time = MediaTime(value: Int64(index), timescale: 25)
                try input.appendNow(SampleBuffer(picture: picture, presentationTime: time))
            }
        }
        #expect(try Written.frameTimes(file.path).count == 30)
    }

    /// The next picture lies behind the session's end, up to which the one before is shown.
    @Test func aPictureOfOpenDurationLastsToTheSessionsEnd() throws {
        let file = try Written("a.mov")
        let pool = try Made.pool()
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .mjpeg))
        try file.write(.mov, [input]) { writer in
            try writer.endSession(atSourceTime: MediaTime(value: 5, timescale: 1))
            for second in [0, 10] as [Int64] {
                try input.appendNow(
                    SampleBuffer(
                        picture: Made.picture(90, from: pool), presentationTime: MediaTime(value: second, timescale: 1))
                )
            }
        }
        #expect(try file.asset.loadNow(.duration) == MediaTime(value: 5, timescale: 1))
        #expect(try FFmpeg.probe(["-show_entries", "format=duration", "-of", "csv=p=0", file.path]) == ["5.000000"])
    }

    // libswscale reads no such samples. The thread that scales fails, and the one that encodes must not wait for it.
    @Test func aPictureThatCannotBeConvertedFailsTheWriter() throws {
        let file = try Written("v.mov")
        let pool = try PixelBufferPool(
            dimensions: Dimensions(width: 64, height: 48), pixelFormat: PixelFormat(rawValue: "nv20le"))
        let picture = try Made.picture(90, from: pool)
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264))
        #expect(throws: MediaError.self) {
            try file.write(.mov, [input]) { _ in
                for index in 0..<20 {
                    let time = MediaTime(value: Int64(index), timescale: 25)
                    try input.appendNow(SampleBuffer(picture: picture, presentationTime: time))
                }
            }
        }
    }

    @Test(arguments: [(VideoOutputSettings.Codec.h264, 52), (.mjpeg, Int.max), (.vp9, -1)])
    func aQualityOutsideTheCodecsIsRefused(codec: VideoOutputSettings.Codec, quality: Int) throws {
        let file = try Written("a.mkv")
        var settings = VideoOutputSettings(codec: codec)
        settings.quality = quality
        let input = AssetWriterInput(videoSettings: settings)
        #expect(throws: MediaError.self) {
            try file.write(.mkv, [input]) { _ in
                try input.appendNow(
                    SampleBuffer(
                        picture: Made.picture(90, from: Made.pool()), presentationTime: .zero,
                        duration: MediaTime(value: 1, timescale: 25)))
            }
        }
    }
}

// MARK: - Sessions that begin anywhere

extension AssetWriterTests {
    /// The rule by hand: L is the pictures' timescale times the least whole number that makes it 48,000 or more, the start
    /// is rounded to 1/L, and each time is the source's less that.
    @Test(
        arguments: [
            (30_000, 1001, MediaTime(value: 2_982_983_333, timescale: 1_000_000_000), 60_000, 178_979),
            (30_000, 1001, MediaTime(value: 6_405_743_780, timescale: 2_147_428_619), 60_000, 178_979),
            (8_797, 351, MediaTime(value: 12_345_679, timescale: 10_000_000), 52_782, 65_163),
            (1_000_000_000, 33_366_667, MediaTime(value: 30_031, timescale: 30_000), 1_000_000_000, 1_001_033_333),
            (14_112_000, 470_871, MediaTime(value: 1, timescale: 3), 14_112_000, 4_704_000),
            (90_000, 3003, MediaTime(value: 1, timescale: .max), 90_000, 0),
        ] as [(Int32, Int64, MediaTime, Int64, Int64)])
    func aSessionMayBeginAnywhere(
        scale: Int32, frame: Int64, start: MediaTime, fine: Int64, wanted: Int64
    ) throws {
        let file = try Written("v.mp4")
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264))
        let pool = try Made.pool()
        try file.write(.mp4, [input], from: start) { _ in
            for number in 0..<Int64(130) {
                let time = MediaTime(value: number * frame, timescale: scale)
                try input.appendNow(SampleBuffer(picture: Made.picture(90, from: pool), presentationTime: time))
            }
        }
        let step = fine / Int64(scale)
        let times = (0..<Int64(130)).map { $0 * frame * step - wanted }
        let first = try #require(times.lastIndex { $0 <= 0 })
        // Whole ticks of the finest clock; ffprobe's own are counted in the track's.
        let lines = try FFmpeg.probe([
            "-select_streams", "v:0", "-show_entries", "stream=time_base:frame=pts", "-of", "csv=p=0", file.path,
        ])
        let base = try #require(lines.last.flatMap { Rational(String($0.prefix { $0 != "," })) })
        let read = lines.dropLast().compactMap { line in
            Int64(line.prefix { $0 != "," }).flatMap {
                Rational($0).multiplied(by: base)?.multiplied(by: Rational(fine))
            }
        }
        #expect(read == times[first...].map { Rational(max(0, $0)) })
    }

    @Test(arguments: [MediaFileType.wav, .m4a])
    func aSessionWithoutAnEndCutsItsStartToTheSample(type: MediaFileType) throws {
        let codec: AudioOutputSettings.Codec = type == .wav ? .pcm : .alac
        let samples = Made.noise(48_000)
        // At a sample, between two, at the buffer's last sample; all in one buffer that straddles the start.
        for (start, first) in [
            (MediaTime(value: 1, timescale: 2), 24_000), (MediaTime(value: 1_000_001, timescale: 96_000_000), 501),
            (MediaTime(value: 47_999, timescale: 48_000), 47_999),
        ] {
            let file = try Written("a.\(type)")
            let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: codec))
            try file.write(type, [input], from: start) { _ in try input.appendNow(Made.buffer(samples, at: 0)) }
            let read = try file.sound()
            #expect(read.start == .zero)
            #expect(read.samples == Array(samples[first...]), "\(start)")
        }
    }
}
