import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// What holds for files as a whole, whatever is in their tracks.
@Suite struct AssetWriterFileTests {
    @Test func metadataAndChaptersAreWritten() throws {
        let file = try Written("a.m4a")
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac))
        let writer = try file.writer(.m4a)
        try writer.add(input)
        writer.metadata = [
            MetadataItem(keySpace: .iTunes, name: "title", value: .text("Titel")),
            MetadataItem(keySpace: .iTunes, name: "creation_time", value: .date("2021-02-03T04:05:06Z")),
        ]
        writer.chapters = (0..<2).map { index in
            Chapter(
                timeRange: MediaTimeRange(
                    start: MediaTime(value: Int64(index), timescale: 2), duration: MediaTime(value: 1, timescale: 2)),
                title: "Kapitel \(index)")
        }
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        try input.appendNow(Made.buffer(Made.noise(48_000), at: 0))
        try writer.finishWritingNow()
        #expect(writer.status == .completed)
        let metadata = try file.asset.loadNow(.metadata)
        #expect(metadata.first { $0.name == "title" }?.value.text == "Titel")
        #expect(metadata.first { $0.name == "creation_time" }?.value.text == "2021-02-03T04:05:06.000000Z")
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
                    try inputs[turn].appendNow(buffer)
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
                try inputs[track].appendNow(
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
        try input.appendNow(Made.buffer(Made.noise(100), at: 0))
        #expect(try file.folder.bytes("a.wav") == [1, 2, 3])
        try writer.finishWritingNow()
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
        #expect(errorCode { try input.appendNow(buffer) } == .invalidArgument)
        #expect(errorCode { try writer.startSession(atSourceTime: .zero) } == .invalidArgument)
        #expect(errorCode { try writer.finishWritingNow() } == .invalidArgument)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        #expect(errorCode { try writer.startSession(atSourceTime: .zero) } == .invalidArgument)
        input.markAsFinished()
        #expect(errorCode { try input.appendNow(buffer) } == .invalidArgument)
        // Nothing was appended.
        #expect(errorCode { try writer.finishWritingNow() } == .invalidArgument)
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
            errorCode {
                try file.write(.m4a, [input]) { _ in try input.appendNow(Made.buffer(Made.noise(9000), at: 0)) }
            }
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
                        try input.appendNow(
                            SampleBuffer(
                                picture: Made.picture(UInt8(index % 256), from: pool),
                                presentationTime: MediaTime(value: Int64(index), timescale: 25)))
                    }
                } == .cancelled)
            try cancel.value()
            #expect(writer.status == .cancelled)
            #expect(errorCode { try writer.finishWritingNow() } == .cancelled)
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
                    try? input.appendNow(SampleBuffer(picture: picture, presentationTime: time))
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

    /// A task that waits for room ends when it is cancelled, and what it appended is not written.
    @Test func cancellingATaskEndsItsAppend() async throws {
        let file = try Written("a.mov")
        let writer = try file.writer(.mov)
        let input = AssetWriterInput(audioSettings: AudioOutputSettings(codec: .pcm))
        try writer.add(input)
        try writer.startWriting()
        try writer.startSession(atSourceTime: .zero)
        let task = Task {
            // Far more than is ever taken before the task is cancelled.
            for run in 0..<10_000_000 { try await input.append(Made.buffer([1, 2, 3], at: 3 * run)) }
        }
        task.cancel()
        let error = await #expect(throws: MediaError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        writer.cancelWriting()
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
}
