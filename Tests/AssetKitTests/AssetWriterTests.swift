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
                try input.feed(Made.buffer(run, at: start))
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
            try input.feed(Made.buffer(Array(samples[..<8_000]), at: 0))
            try input.feed(Made.buffer(Array(samples[10_000...]), at: 10_000))
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
        try file.write(type, [input]) { _ in try input.feed(Made.buffer(samples, at: 0)) }
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
        try file.write(type, [input]) { _ in try input.feed(Made.buffer(samples, at: 7_777)) }
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
        try file.write(.m4a, [input]) { _ in try input.feed(Made.buffer(Made.noise(48_000), at: 0)) }
        #expect(
            try file.probe("a:0", "stream=codec_name,sample_rate,channels,channel_layout") == ["aac,44100,2,stereo"])
        #expect(try file.asset.loadNow(.duration) == .samples(44_100, at: 44_100))
    }

    // MARK: Pictures

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
                try input.feed(
                    SampleBuffer(
                        picture: Made.picture(UInt8(40 * index + 40), from: pool),
                        presentationTime: MediaTime(value: Int64(time), timescale: 25)))
            }
        }
        // 1/10 s is 2.5 ticks: the picture of 2/25 is on screen there.
        #expect(try Written.frameTimes(file.path) == ["0.000000", "0.060000", "0.100000"])
        let grey = try FFmpeg.run(["-i", file.path, "-vsync", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-"])
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
        input.transform = DisplayTransform(matrix: [0, 0x10000, 0, -0x10000, 0, 0, 48 << 16, 0, 0x4000_0000])
        input.languageCode = "deu"
        input.name = "Kamera A"
        input.startTimecode = "01:02:03;04"
        input.nominalFrameRate = Rational(30000, 1001)
        let pool = try Made.pool()
        try file.write(.mov, [input]) { writer in
            for index in 0..<5 {
                try input.feed(
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
        #expect(track.preferredTransform.rotation == 90)
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
                try input.feed(SampleBuffer(picture: picture, presentationTime: time))
            }
        }
        #expect(try Written.frameTimes(file.path).count == 30)
    }

    // MARK: The file as a whole

    @Test func metadataAndChaptersAreWritten() throws {
        let file = try Written("a.m4a")
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac))
        let writer = try file.writer(.m4a)
        try writer.add(input)
        writer.metadata = [
            MetadataItem(keySpace: .iTunes, identifier: "title", value: .text("Titel")),
            MetadataItem(keySpace: .iTunes, identifier: "creation_time", value: .date("2021-02-03T04:05:06Z")),
        ]
        writer.chapters = (0..<2).map { index in
            Chapter(
                timeRange: MediaTimeRange(
                    start: MediaTime(value: Int64(index), timescale: 2), duration: MediaTime(value: 1, timescale: 2)),
                title: "Kapitel \(index)")
        }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try input.feed(Made.buffer(Made.noise(48_000), at: 0))
        try writer.finishWriting()
        #expect(writer.status == .completed)
        let metadata = try file.asset.loadNow(.metadata)
        #expect(metadata.first { $0.identifier == "title" }?.value.text == "Titel")
        #expect(metadata.first { $0.identifier == "creation_time" }?.value.text == "2021-02-03T04:05:06.000000Z")
        #expect(try file.asset.loadNow(.chapters).compactMap(\.title) == ["Kapitel 0", "Kapitel 1"])
    }

    /// The fixture with its sound and pictures encoded, fed in one of several orders.
    private func fed(_ order: Int, _ file: Written) throws -> [UInt8] {
        let asset = try Media.asset("av.mp4")
        let outputs = [
            TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings(pixelFormat: .yuv420p)),
            TrackOutput(track: try Media.track(asset, .audio), audioSettings: AudioSettings()),
        ]
        let reader = try AssetReader(asset: asset)
        for output in outputs { try reader.add(output) }
        try reader.startReading()
        var video = VideoOutputSettings(codec: .h264)
        video.speed = .fastest
        let inputs = [
            AssetWriterInput(videoSettings: video, like: outputs[0].track),
            AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac), like: outputs[1].track),
        ]
        try file.write(.mp4, inputs) { _ in
            var open = [0, 1]
            while !open.isEmpty {
                let turn = order == 0 ? open[0] : order == 1 ? open[open.count - 1] : open.removeFirst()
                if order == 2 { open.append(turn) }
                if let buffer = try outputs[turn].nextSampleBuffer() {
                    try inputs[turn].feed(buffer)
                } else {
                    inputs[turn].markAsFinished()
                    open.removeAll { $0 == turn }
                }
            }
        }
        return try file.folder.bytes("o.mp4")
    }

    @Test func theOrderOfFeedingDoesNotMatter() throws {
        let files = try (0..<3).map { try fed($0, try Written("o.mp4")) }
        #expect(files[0] == files[1] && files[0] == files[2])
        #expect(files[0].count > 1000)
    }

    @Test func whatWaitsLongWaitsInAFile() throws {
        let format = FormatDescription(
            mediaType: .audio, codec: "pcm_s16le",
            audio: AudioFormat(sampleRate: 48000, channelLayout: .mono, sampleFormat: .int16, bitsPerSample: 16))
        let count = 1 << 19
        // 48 MB of one track before the first sample of the other, and in turn.
        func file(_ inTurn: Bool) throws -> [UInt8] {
            let file = try Written("a.mov")
            let inputs = (0..<2).map { _ in AssetWriterInput(mediaType: .audio, sourceFormatHint: format) }
            func feed(_ track: Int, _ place: Int) throws {
                let bytes = [UInt8](repeating: UInt8(100 * track + place), count: 2 * count)
                try inputs[track].feed(
                    SampleBuffer(
                        stored: bytes, formatDescription: format, presentationTime: .samples(place * count, at: 48000),
                        duration: .samples(count, at: 48000), isSync: true))
            }
            try file.write(.mov, inputs) { _ in
                if inTurn {
                    for place in 0..<48 { for track in 0..<2 { try feed(track, place) } }
                } else {
                    for track in 0..<2 { for place in 0..<48 { try feed(track, place) } }
                }
            }
            return try file.folder.bytes("a.mov")
        }
        let (inTurn, oneByOne) = (try file(true), try file(false))
        #expect(inTurn.count > 96 << 20)
        #expect(inTurn == oneByOne)
    }

    @Test func anExistingFileStaysUnlessItMayBeReplaced() throws {
        let file = try Written("a.wav")
        try file.folder.write("a.wav", [1, 2, 3])
        #expect(errorCode { try file.writer(.wav) } == .alreadyExists)
        let writer = try file.writer(.wav, overwrite: true)
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try input.feed(Made.buffer(Made.noise(100), at: 0))
        #expect(try file.folder.bytes("a.wav") == [1, 2, 3])
        try writer.finishWriting()
        #expect(try file.folder.bytes("a.wav").count == 244)
        #expect(try file.folder.names() == ["a.wav"])
    }

    @Test func whatAContainerCannotHoldIsRefused() throws {
        let file = try Written("a.mp4")
        func refusal(_ type: MediaFileType, _ input: AssetWriterInput) throws -> MediaError.Code? {
            let writer = try file.writer(type)
            #expect(!writer.canAdd(input))
            return errorCode { try writer.add(input) }
        }
        #expect(try refusal(.mp4, AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))) == .unsupported)
        #expect(try refusal(.webm, AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac))) == .unsupported)
        #expect(try refusal(.wav, AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264))) == .unsupported)
        let vorbis = FormatDescription(mediaType: .audio, codec: "vorbis")
        #expect(try refusal(.mov, AssetWriterInput(mediaType: .audio, sourceFormatHint: vorbis)) == .unsupported)
        #expect(try file.folder.names() == [])
    }

    @Test func callsInTheWrongOrderAreErrors() throws {
        let file = try Written("a.wav")
        let writer = try file.writer(.wav)
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        #expect(errorCode { try writer.startWriting() } == .invalidArgument)
        try writer.add(input)
        #expect(errorCode { try writer.add(input) } == .invalidArgument)
        let buffer = try Made.buffer([1], at: 0)
        #expect(errorCode { try input.feed(buffer) } == .invalidArgument)
        #expect(errorCode { try writer.startSession(atSourceTime: .zero) } == .invalidArgument)
        #expect(errorCode { try writer.finishWriting() } == .invalidArgument)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        #expect(errorCode { try writer.startSession(atSourceTime: .zero) } == .invalidArgument)
        input.markAsFinished()
        #expect(errorCode { try input.feed(buffer) } == .invalidArgument)
        // Nothing was appended.
        #expect(errorCode { try writer.finishWriting() } == .invalidArgument)
        #expect(writer.status == .failed)
        #expect(try file.folder.names() == [])
    }

    @Test func anAdaptorIsAloneOnItsInput() throws {
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264))
        let size = Dimensions(width: 64, height: 48)
        _ = try PixelBufferAdaptor(input: input, dimensions: size, pixelFormat: .yuv420p)
        #expect(
            errorCode { try PixelBufferAdaptor(input: input, dimensions: size, pixelFormat: .yuv420p) }
                == .invalidArgument)
        let sound = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac))
        #expect(
            errorCode { try PixelBufferAdaptor(input: sound, dimensions: size, pixelFormat: .yuv420p) }
                == .invalidArgument)
    }

    @Test func anEncoderTellsOfOptionsItDoesNotHave() throws {
        let file = try Written("a.m4a")
        var settings = AudioOutputSettings(codec: .aac)
        settings.encoderOptions = ["no_such_option": "1"]
        let input = AssetWriterInput(audioSettings: settings)
        #expect(
            errorCode { try file.write(.m4a, [input]) { _ in try input.feed(Made.buffer(Made.noise(9000), at: 0)) } }
                == .invalidArgument)
        #expect(try file.folder.names() == [])
    }

    @Test func cancellingLeavesNothing() throws {
        for round in 0..<12 {
            let file = try Written("v.mov")
            let writer = try file.writer(.mov)
            let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264))
            try writer.add(input)
            let cancel = Background {
                Thread.sleep(forTimeInterval: Double(round) * 0.004)
                writer.cancelWriting()
                writer.cancelWriting()
            }
            #expect(
                errorCode {
                    try writer.startWriting()
                    try writer.startSession(atSourceTime: .zero)
                    let pool = try Made.pool()
                    for index in 0... {
                        try input.feed(
                            SampleBuffer(
                                picture: Made.picture(UInt8(index % 256), from: pool),
                                presentationTime: MediaTime(value: Int64(index), timescale: 25)))
                    }
                } == .cancelled)
            try cancel.value()
            #expect(writer.status == .cancelled)
            #expect(errorCode { try writer.finishWriting() } == .cancelled)
            #expect(try file.folder.names() == [])
        }
    }

    @Test func mediaIsAskedForWhenThereIsRoom() async throws {
        let file = try Written("v.mov")
        let writer = try file.writer(.mov)
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .mjpeg))
        let other = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        try writer.add(input)
        try writer.add(other)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let pool = try Made.pool()
        let count = Counter()
        await withCheckedContinuation { continuation in
            input.requestMediaDataWhenReady(on: DispatchQueue(label: "feed")) {
                while input.isReadyForMoreMediaData {
                    let index = count.next()
                    guard index < 50, let picture = try? Made.picture(UInt8(index), from: pool) else {
                        input.markAsFinished()
                        continuation.resume()
                        return
                    }
                    let time = MediaTime(value: Int64(index), timescale: 25)
                    try? input.feed(SampleBuffer(picture: picture, presentationTime: time))
                }
            }
        }
        for start in stride(from: 0, to: 96_000, by: 1600) {
            try await other.append(Made.buffer(Made.noise(1600), at: start))
        }
        try await writer.finishWriting()
        #expect(try Written.frameTimes(file.path).count == 50)
        #expect(try file.sound().samples.count == 96_000)
    }
}

/// Counts up, from any thread.
private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var value = -1

    func next() -> Int {
        lock.withLock {
            value += 1
            return value
        }
    }

    /// The next picture lies behind the session's end, up to which the one before is shown.
    @Test func aPictureOfOpenDurationLastsToTheSessionsEnd() throws {
        let file = try Written("a.mov")
        let pool = try Made.pool()
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .mjpeg))
        try file.write(.mov, [input]) { writer in
            try writer.endSession(atSourceTime: MediaTime(value: 5, timescale: 1))
            for second in [0, 10] as [Int64] {
                try input.feed(
                    SampleBuffer(
                        picture: Made.picture(90, from: pool), presentationTime: MediaTime(value: second, timescale: 1))
                )
            }
        }
        #expect(try file.asset.loadNow(.duration) == MediaTime(value: 5, timescale: 1))
        #expect(try FFmpeg.probe(["-show_entries", "format=duration", "-of", "csv=p=0", file.path]) == ["5.000000"])
    }

    @Test(arguments: [(VideoOutputSettings.Codec.h264, 52), (.mjpeg, Int.max), (.vp9, -1)])
    func aQualityOutsideTheCodecsIsRefused(codec: VideoOutputSettings.Codec, quality: Int) throws {
        let file = try Written("a.mkv")
        var settings = VideoOutputSettings(codec: codec)
        settings.quality = quality
        let input = AssetWriterInput(videoSettings: settings)
        #expect(throws: MediaError.self) {
            try file.write(.mkv, [input]) { _ in
                try input.feed(
                    SampleBuffer(
                        picture: Made.picture(90, from: Made.pool()), presentationTime: .zero,
                        duration: MediaTime(value: 1, timescale: 25)))
            }
        }
    }

    /// A task that waits for room ends when it is cancelled, and what it appended is not written.
    @Test func cancellingATaskEndsItsAppend() async throws {
        let file = try Written("a.mov")
        let writer = try file.writer(.mov)
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let sound = try Made.buffer(Made.noise(1000), at: 0)
        let task = Task {
            // Far more than is ever taken before the task is cancelled.
            for _ in 0..<10_000_000 { try await input.append(sound) }
        }
        task.cancel()
        await #expect(throws: MediaError.self) { try await task.value }
        writer.cancelWriting()
    }
}
