import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// When samples are asked for, and which of them are refused.
@Suite struct AssetWriterInputTests {
    // MARK: Asking for samples

    /// Feeds an input as the programming guide does, with a group that is left at the end, whatever that is.
    private final class Feeder: @unchecked Sendable {
        let group = DispatchGroup()
        /// What the last `append` threw.
        var error: MediaError?
        private var isFinished = false
        private var count = 0

        init(_ input: AssetWriterInput, _ next: @escaping @Sendable (Int) throws -> SampleBuffer?) {
            group.enter()
            input.requestMediaDataWhenReady(on: DispatchQueue(label: "feed")) { [self] in
                guard !isFinished else { return }
                while input.isReadyForMoreMediaData, !isFinished {
                    do {
                        if let buffer = try next(count) { try input.appendNow(buffer) } else { isFinished = true }
                        count += 1
                    } catch {
                        self.error = error as? MediaError
                        isFinished = true
                    }
                }
                guard isFinished else { return }
                input.markAsFinished()
                group.leave()
            }
        }

        var isDone: Bool { group.wait(timeout: .now() + 60) == .success }
    }

    private func picture(_ index: Int, _ pool: PixelBufferPool) throws -> SampleBuffer {
        SampleBuffer(
            picture: try Made.picture(UInt8(index % 200), from: pool),
            presentationTime: MediaTime(value: Int64(index), timescale: 25))
    }

    /// The guide's order: the request comes first, the session starts later, or the other way round.
    @Test(arguments: [0, 1, 2])
    func aRequestIsServedWhenTheSessionStarts(asked step: Int) throws {
        let file = try Written("v.mov")
        let writer = try file.writer(.mov)
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .mjpeg))
        try writer.add(input)
        let pool = try Made.pool()
        var feeder: Feeder?
        func ask() { feeder = Feeder(input) { index in index < 40 ? try self.picture(index, pool) : nil } }
        if step == 0 { ask() }
        try writer.startWriting()
        if step == 1 { ask() }
        try writer.startSession(atSourceTime: .zero)
        if step == 2 { ask() }
        #expect(feeder?.isDone == true)
        try writer.finishWritingNow()
        #expect(try Written.frameTimes(file.path).count == 40)
    }

    /// DNxHR has no pictures of 64 by 48, which is found out with the first one.
    @Test func whoeverFeedsLearnsThatAnEncoderFailed() throws {
        let file = try Written("v.mov")
        let writer = try file.writer(.mov)
        let inputs = [
            AssetWriterInput(videoSettings: VideoOutputSettings(codec: .dnxhrLB)),
            AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac)),
        ]
        for input in inputs { try writer.add(input) }
        let pool = try Made.pool()
        let feeders = [
            Feeder(inputs[0]) { try self.picture($0, pool) },
            Feeder(inputs[1]) { try Made.buffer(Made.noise(1000), at: $0 * 1000) },
        ]
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        for feeder in feeders {
            #expect(feeder.isDone)
            #expect(feeder.error?.code == .unsupported)
        }
        #expect(writer.status == .failed)
        #expect(errorCode { try writer.finishWritingNow() } == .unsupported)
        writer.cancelWriting()
        #expect(try file.folder.names() == [])
    }

    @Test(arguments: [0, 1, 2])
    func whoeverFeedsLearnsThatWritingWasCancelled(after step: Int) throws {
        let file = try Written("a.mov")
        let writer = try file.writer(.mov)
        let inputs = [
            AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm)), AssetWriterInput(mediaType: .audio),
        ]
        for input in inputs { try writer.add(input) }
        let feeders = inputs.map { input in
            Feeder(input) { place in
                input.settings == .stored
                    ? try Self.stored(place * 1000, count: 1000) : try Made.buffer(Made.noise(1000), at: place * 1000)
            }
        }
        if step > 0 { try writer.startWriting() }
        if step > 1 { try writer.startSession(atSourceTime: .zero) }
        writer.cancelWriting()
        for feeder in feeders {
            #expect(feeder.isDone)
            #expect(feeder.error?.code == .cancelled)
        }
    }

    /// One more call comes where none has thrown, and only one.
    @Test func aBlockIsCalledOnceAfterTheEnd() throws {
        let file = try Written("a.mov")
        let writer = try file.writer(.mov)
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        try writer.add(input)
        try writer.startWriting()
        let (queue, calls) = (DispatchQueue(label: "feed"), Calls())
        input.requestMediaDataWhenReady(on: queue) { calls.count += 1 }
        writer.cancelWriting()
        queue.sync {}
        Thread.sleep(forTimeInterval: 0.05)
        queue.sync {}
        #expect(calls.count == 1)
        #expect(input.isReadyForMoreMediaData)
        #expect(errorCode { try input.appendNow(Made.buffer([1], at: 0)) } == .cancelled)
    }

    private final class Calls: @unchecked Sendable { var count = 0 }

    // MARK: What is refused

    private static let pcm = FormatDescription(
        mediaType: .audio, codec: "pcm_s16le",
        audio: AudioFormat(sampleRate: 48000, channelLayout: .mono, sampleFormat: .int16, bitsPerSample: 16))

    private static func bytes(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    /// The same noise as stored samples.
    private static func stored(_ place: Int, count: Int) throws -> SampleBuffer {
        try SampleBuffer(
            stored: bytes(Made.noise(count, from: place)), formatDescription: pcm,
            presentationTime: .samples(place, at: 48000), duration: .samples(count, at: 48000), isSync: true)
    }

    @Test(arguments: [true, false], [true, false])
    func soundOutOfOrderIsRefused(isStored: Bool, isAsync: Bool) async throws {
        let file = try Written("a.mov")
        let writer = try file.writer(.mov)
        let input =
            isStored
            ? AssetWriterInput(mediaType: .audio) : AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        func append(_ run: Int) async throws {
            let place = run * 1000
            let buffer =
                isStored
                ? try Self.stored(place, count: 1000) : try Made.buffer(Made.noise(1000, from: place), at: place)
            if isAsync { try await input.append(buffer) } else { try input.appendNow(buffer) }
        }
        for (run, isInOrder) in [(0, true), (2, true), (1, false), (2, false), (0, false), (3, true)] {
            do throws(any Error) {
                try await append(run)
                #expect(isInOrder, "\(run)")
            } catch {
                #expect(!isInOrder && (error as? MediaError)?.code == .invalidArgument, "\(run) \(error)")
            }
        }
        try await writer.finishWriting()
        let wanted = Made.noise(1000) + [Int16](repeating: 0, count: 1000) + Made.noise(2000, from: 2000)
        #expect(try file.sound().samples == wanted)
    }

    /// Times rounded to a millisecond overlap by up to one: 44.1 samples.
    @Test(arguments: [1, 37, 999, 4096])
    func soundWithRoundedTimesIsTaken(count: Int) throws {
        let file = try Written("a.wav")
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        let samples = Made.noise(20 * count)
        try file.write(.wav, [input]) { _ in
            for place in stride(from: 0, to: samples.count, by: count) {
                let run = Array(samples[place..<place + count])
                let time = MediaTime.samples(place, at: 44100).converted(toTimescale: 1000)
                try input.appendNow(
                    SampleBuffer(
                        sound: AudioBuffer(interleaved: run, sampleRate: 44100, channelLayout: .mono),
                        presentationTime: time))
            }
        }
        #expect(try file.sound().samples == samples)
    }

    @Test func picturesOutOfOrderAreRefused() throws {
        let file = try Written("v.mov")
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .mjpeg))
        let pool = try Made.pool()
        try file.write(.mov, [input]) { _ in
            for (index, isInOrder) in [(0, true), (2, true), (2, false), (1, false), (0, false), (3, true)] {
                let code = errorCode { try input.appendNow(picture(index, pool)) }
                #expect(code == (isInOrder ? nil : .invalidArgument), "\(index)")
            }
        }
        #expect(try Written.frameTimes(file.path) == ["0.000000", "0.080000", "0.120000"])
    }

    /// Those of pictures with others between them come in the order of decoding, not of their times.
    @Test func storedPicturesAreCheckedByTheirDecodeTimes() throws {
        let asset = try Media.asset("av.mp4")
        let track = try Media.track(asset, .video)
        let samples = try Media.all(TrackOutput(track: track), of: asset)
        #expect(zip(samples, samples.dropFirst()).contains { $0.presentationTime > $1.presentationTime })
        let file = try Written("v.mov")
        try file.write(.mov, [AssetWriterInput(copying: track)]) { writer in
            let input = writer.inputs[0]
            for sample in samples.prefix(10) { try input.appendNow(sample) }
            #expect(errorCode { try input.appendNow(samples[4]) } == .invalidArgument)
            for sample in samples.dropFirst(10) { try input.appendNow(sample) }
        }
        #expect(try file.probe("v:0", "packet=size") == Written.packetSizes("av.mp4"))
    }

    @Test func samplesOfAnotherKindAreRefused() throws {
        let asset = try Media.asset("av.mp4")
        let (video, audio) = (try Media.track(asset, .video), try Media.track(asset, .audio))
        let pictures = try Media.all(TrackOutput(track: video), of: asset)
        let sounds = try Media.all(TrackOutput(track: audio), of: asset)
        let pool = try Made.pool()
        let file = try Written("v.mov")
        let inputs = [
            AssetWriterInput(mediaType: .video), AssetWriterInput(mediaType: .audio, sourceFormatHint: Self.pcm),
            AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac)),
            AssetWriterInput(videoSettings: VideoOutputSettings(codec: .mjpeg)),
        ]
        try file.write(.mov, inputs) { writer in
            let wrong: [(AssetWriterInput, SampleBuffer)] = [
                (inputs[0], sounds[0]), (inputs[0], try picture(0, pool)), (inputs[1], sounds[0]),
                (inputs[1], pictures[0]), (inputs[1], try Made.buffer([1, 2], at: 0)), (inputs[2], sounds[0]),
                (inputs[2], try picture(0, pool)), (inputs[3], pictures[0]), (inputs[3], try Made.buffer([1], at: 0)),
            ]
            for (place, (input, sample)) in wrong.enumerated() {
                #expect(errorCode { try input.appendNow(sample) } == .invalidArgument, "\(place)")
            }
            // What was refused did no harm.
            for picture in pictures { try inputs[0].appendNow(picture) }
            try inputs[1].appendNow(Self.stored(0, count: 100))
            try inputs[2].appendNow(Made.buffer(Made.noise(2000), at: 0))
            #expect(
                errorCode { try inputs[2].appendNow(Made.buffer(Made.noise(100), at: 2000, rate: 44100)) }
                    == .invalidArgument)
            try inputs[3].appendNow(picture(0, pool))
            #expect(writer.status == .writing)
        }
        #expect(
            try FFmpeg.probe(["-show_entries", "stream=codec_name", "-of", "csv=p=0", file.path])
                == ["h264", "pcm_s16le", "aac", "mjpeg"])
    }

    /// The first sample tells how an input without a hint is coded.
    @Test func whatTheFileCannotHoldIsRefusedWithTheFirstSample() throws {
        let asset = try Media.asset("av.mp4")
        let sounds = try Media.all(TrackOutput(track: Media.track(asset, .audio)), of: asset)
        let file = try Written("a.webm")
        let writer = try file.writer(.webm)
        let input = AssetWriterInput(mediaType: .audio)
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        #expect(errorCode { try input.appendNow(sounds[0]) } == .unsupported)
    }

    /// What a range of stored samples must not begin with, unless the stream has nothing else.
    @Test func aStoredTrackBeginsWithASyncSample() throws {
        let asset = try Media.asset("h264-bframes.mp4")
        let track = try Media.track(asset, .video)
        let buffers = try Media.all(TrackOutput(track: track), of: asset)
        let later = buffers.dropFirst(3).firstIndex(where: \.isSync)
        let sync = try #require(later)
        for begins in [true, false] {
            let file = try Written("v.mov")
            let input = AssetWriterInput(copying: track)
            if !begins { input.beginsWithSyncSample = false }
            try file.write(.mov, [input], from: buffers[sync - 2].presentationTime) { _ in
                for (place, buffer) in buffers.enumerated().dropFirst(sync - 2) {
                    let code = errorCode { try input.appendNow(buffer) }
                    // A refused sample does not fail the writer.
                    #expect(code == (begins && place < sync ? .invalidArgument : nil), "\(place)")
                }
            }
            let stored = try Media.all(TrackOutput(track: Media.track(file.asset, .video)), of: file.asset)
            #expect(stored.count == buffers.count - sync + (begins ? 0 : 2) && stored.first?.isSync == begins)
        }
    }

    /// A hint completes settings, and is checked before anything is encoded.
    @Test func hintsCompleteSettingsForEncoding() throws {
        let video = try Media.track(Media.asset("anamorphic.mp4"), .video).formatDescriptions.first
        let audio = try Media.track(Media.asset("pcm-s16-5.1.wav"), .audio).formatDescriptions.first
        let (pictures, sound) = (try #require(video), try #require(audio))
        func settings(_ input: AssetWriterInput) -> VideoOutputSettings? {
            if case .video(let settings) = input.settings { settings } else { nil }
        }
        let hinted = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264), sourceFormatHint: pictures)
        #expect(hinted.sourceFormatHint == pictures)
        #expect(settings(hinted)?.dimensions == pictures.video?.encodedSize)
        #expect(settings(hinted)?.pixelAspectRatio == pictures.video?.sampleAspectRatio)
        let small = Dimensions(width: 64, height: 48)
        let scaled = AssetWriterInput(
            videoSettings: VideoOutputSettings(codec: .h264, dimensions: small), sourceFormatHint: pictures)
        #expect(settings(scaled)?.dimensions == small && settings(scaled)?.pixelAspectRatio == nil)
        let spoken = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .flac), sourceFormatHint: sound)
        guard case .audio(let completed) = spoken.settings else { throw TestSupportError("no audio settings") }
        #expect(completed.sampleRate == 48000 && completed.channelLayout?.channels == 6)

        let file = try Written("v.mov")
        let writer = try AssetWriter(path: FilePath(file.path), fileType: .mov)
        #expect(writer.canAdd(hinted) && writer.canAdd(scaled))
        var odd = pictures
        odd.video?.encodedSize = Dimensions(width: 33, height: 31)
        var fast = AudioOutputSettings(codec: .aac)
        fast.bitRate = 2_000_000
        let refused = [
            AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264), sourceFormatHint: odd),
            AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264), sourceFormatHint: sound),
            AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac), sourceFormatHint: pictures),
            // More than two channels of 48 kHz have, but not more than six of 96 kHz.
            AssetWriterInput(audioSettings: fast, sourceFormatHint: sound),
        ]
        for input in refused {
            #expect(!writer.canAdd(input))
            #expect(errorCode { try writer.add(input) } == .invalidArgument)
        }
        #expect(writer.canAdd(AssetWriterInput(audioSettings: fast)))
    }

    // MARK: What is set too late, or makes no sense

    @Test func whatIsSetTooLateIsTold() throws {
        let file = try Written("a.wav")
        let writer = try file.writer(.wav)
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        try writer.add(input)
        try writer.startWriting()
        func message(_ body: () throws -> Void) -> String {
            do { try body() } catch { return (error as? MediaError)?.message ?? "" }
            return ""
        }
        writer.metadata = [MetadataItem(keySpace: .common, name: "title", value: .text("late"))]
        #expect(message { try writer.startSession(atSourceTime: .zero) }.hasPrefix("metadata was set too late"))
        #expect(writer.metadata.isEmpty)
        // It is told once, and nothing is lost.
        try writer.startSession(atSourceTime: .zero)
        input.transform = PictureTransform(matrix: [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x4000_0000])
        #expect(message { try input.appendNow(Made.buffer([1, 2, 3], at: 0)) }.hasPrefix("transform was set too late"))
        try input.appendNow(Made.buffer([1, 2, 3], at: 0))
        input.languageCode = "deu"
        #expect(message { try writer.finishWritingNow() }.hasPrefix("languageCode was set too late"))
        try writer.finishWritingNow()
        #expect(try file.sound().samples == [1, 2, 3])
    }

    @Test func valuesThatMakeNoSenseAreRefusedWhenAnInputIsAdded() throws {
        let file = try Written("a.mov")
        let writer = try file.writer(.mov)
        func video(_ codec: VideoOutputSettings.Codec, _ change: (inout VideoOutputSettings) -> Void)
            -> AssetWriterInput
        {
            var settings = VideoOutputSettings(codec: codec)
            change(&settings)
            return AssetWriterInput(videoSettings: settings)
        }
        func sound(_ settings: AudioOutputSettings) -> AssetWriterInput { AssetWriterInput(audioSettings: settings) }
        let wrong: [(AssetWriterInput, String)] = [
            (video(.h264) { $0.pixelFormat = PixelFormat(rawValue: "bogus") }, "bogus"),
            // Known, but nothing that prores is made of.
            (video(.proRes422) { $0.pixelFormat = .rgba }, "rgba"),
            (video(.h264) { $0.quality = 99 }, "99"), (video(.h264) { $0.bitRate = -1 }, "-1"),
            (video(.h264) { $0.dimensions = Dimensions(width: 63, height: 48) }, "63x48"),
            (video(.h264) { $0.profile = "bogus" }, "bogus"),
            // x264 would print these on standard error.
            (video(.h264) { ($0.profile, $0.quality) = ("main", 0) }, "main"),
            (video(.h264) { ($0.profile, $0.pixelFormat) = ("high", PixelFormat(rawValue: "yuv422p")) }, "yuv422p"),
            (video(.h264) { ($0.profile, $0.pixelFormat) = ("high", .yuv420p10) }, "yuv420p10le"),
            // 6144 bits in 1024 samples: 288 kb/s a channel at 48 kHz.
            (
                sound(AudioOutputSettings(codec: .aac, sampleRate: 48000, channelLayout: .mono, bitRate: 288_001)),
                "288001"
            ),
            (sound(AudioOutputSettings(codec: .aac, bitRate: -5)), "-5"),
            (sound(AudioOutputSettings(codec: .pcm, bitsPerSample: 12)), "12"),
            (
                sound(AudioOutputSettings(codec: .aac, channelLayout: ChannelLayout(channels: 2, name: "bogus"))),
                "bogus"
            ),
        ]
        for (input, value) in wrong {
            #expect(!writer.canAdd(input), "\(value)")
            let error = #expect(throws: MediaError.self) { try writer.add(input) }
            #expect(
                error?.code == .invalidArgument && error?.message.contains(value) == true, "\(value) \(error as Any)")
        }
        let right = AudioOutputSettings(codec: .aac, sampleRate: 48000, channelLayout: .mono, bitRate: 288_000)
        #expect(writer.canAdd(sound(right)))
        #expect(writer.canAdd(video(.h264) { ($0.profile, $0.quality) = ("high444", 0) }))
    }

    /// What is appended tells that the bit rate is more than there is; nothing is clamped in silence.
    @Test func aBitRateThatAACDoesNotHaveIsRefused() throws {
        let file = try Written("a.m4a")
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac, bitRate: 5_000_000))
        let error = #expect(throws: MediaError.self) {
            try file.write(.m4a, [input]) { _ in try input.appendNow(Made.buffer(Made.noise(48_000), at: 0)) }
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("5000000") == true)
        #expect(try file.folder.names() == [])
    }

    @Test func theErrorOfAnExistingFileSpeaksOfTheLibrary() throws {
        let file = try Written("a.wav")
        try file.folder.write("a.wav", [1])
        let error = #expect(throws: MediaError.self) { try file.writer(.wav) }
        #expect(error?.message.contains("overwrite: true") == true && error?.message.contains("--") == false)
    }
}

extension Written {
    /// The sizes of a fixture's video packets, by ffprobe.
    fileprivate static func packetSizes(_ fixture: String) throws -> [String] {
        try FFmpeg.probe([
            "-select_streams", "v:0", "-show_entries", "packet=size", "-of", "csv=p=0", Fixtures.path(fixture),
        ])
    }
}
