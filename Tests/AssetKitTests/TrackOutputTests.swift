import AssetKit
import TestSupport
import Testing

/// Several outputs of one reader, pulled in every order, and the asynchronous face.
@Suite struct TrackOutputTests {
    /// What a buffer delivers, to compare by.
    private struct Delivered: Equatable, Sendable {
        var time: MediaTime
        var duration: MediaTime
        var bytes: [UInt8]

        init(_ buffer: SampleBuffer) {
            time = buffer.presentationTime
            duration = buffer.duration
            switch buffer.content {
            case .picture(let picture): bytes = (0..<picture.planeCount).flatMap { picture.packedPlane($0) }
            case .sound(let sound): bytes = sound.withBytes { span in span.withUnsafeBytes { Array($0) } }
            case .stored(let sample): bytes = sample.withBytes { span in span.withUnsafeBytes { Array($0) } }
            }
        }
    }

    private func outputs(_ asset: Asset) throws -> [TrackOutput] {
        let (video, audio) = (try Media.track(asset, .video), try Media.track(asset, .audio))
        return [
            TrackOutput(track: video, videoSettings: VideoSettings()),
            TrackOutput(track: audio, audioSettings: AudioSettings(sampleFormat: .int16)),
            TrackOutput(track: audio),
            TrackOutput(track: audio, audioSettings: AudioSettings(sampleFormat: .float32, isPlanar: false)),
        ]
    }

    @Test func oneTrackIsReadInOneLine() async throws {
        let asset = try Media.asset("av.mp4")
        let track = try Media.track(asset, .audio)
        let range = MediaTimeRange(
            start: MediaTime(value: 1, timescale: 4), duration: MediaTime(value: 1, timescale: 2))
        let reader = try AssetReader(asset: asset)
        reader.timeRange = range
        let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
        try reader.add(output)
        try reader.startReading()
        var expected: [Delivered] = []
        while let buffer = try output.nextSampleBuffer() { expected.append(Delivered(buffer)) }
        #expect(!expected.isEmpty)

        let form = TrackOutput.Settings.audio(AudioSettings(sampleFormat: .int16))
        var delivered: [Delivered] = []
        for try await buffer in try await asset.samples(of: track, as: form, in: range) {
            delivered.append(Delivered(buffer))
        }
        #expect(delivered == expected)
        let blocking = try asset.samplesNow(of: track, as: form, in: range)
        delivered = []
        while let buffer = try blocking.nextSampleBuffer() { delivered.append(Delivered(buffer)) }
        #expect(delivered == expected && blocking.damage.isEmpty)
        // A track of another asset.
        let other = try Media.track(try Media.asset("h264-bframes.mp4"), .video)
        #expect(throws: MediaError.self) { try asset.samplesNow(of: other, as: .video(VideoSettings())) }
    }

    private func started(_ fixture: String, in range: MediaTimeRange?) throws -> (AssetReader, [TrackOutput]) {
        let asset = try Media.asset(fixture)
        let reader = try AssetReader(asset: asset)
        if let range { reader.timeRange = range }
        let outputs = try outputs(asset)
        for output in outputs { try reader.add(output) }
        try reader.startReading()
        return (reader, outputs)
    }

    /// Each output read alone.
    private func alone(_ fixture: String, in range: MediaTimeRange?) throws -> [[Delivered]] {
        try outputs(Media.asset(fixture)).indices.map { index in
            let asset = try Media.asset(fixture)
            return try Media.all(outputs(asset)[index], of: asset, in: range).map(Delivered.init)
        }
    }

    static let fixtures = ["av.mp4", "h264-aac.mkv", "mpegts-10s.ts", "late-video.mp4", "mjpeg.avi"]
    static let middle = MediaTimeRange(
        start: MediaTime(value: 4, timescale: 3), end: MediaTime(value: 7, timescale: 3))

    @Test(arguments: fixtures, [nil, middle]) func orderDoesNotMatter(_ fixture: String, _ range: MediaTimeRange?)
        throws
    {
        let wanted = try alone(fixture, in: range)
        // A reader that reads elsewhere may begin decoding elsewhere, and AAC's noise then differs: compare places.
        func isEqual(_ got: [[Delivered]]) -> Bool {
            guard range != nil else { return got == wanted }
            return got.map { $0.map(\.time) } == wanted.map { $0.map(\.time) } && got[0] == wanted[0]
                && got[2] == wanted[2]
        }
        let (first, oneAfterTheOther) = try started(fixture, in: range)
        #expect(isEqual(try oneAfterTheOther.map { try $0.remaining().map(Delivered.init) }))
        #expect(first.status == .completed)

        let (second, inTurn) = try started(fixture, in: range)
        var got = [[Delivered]](repeating: [], count: inTurn.count)
        var isOver = [Bool](repeating: false, count: inTurn.count)
        while isOver.contains(false) {
            for (index, output) in inTurn.enumerated() where !isOver[index] {
                if let buffer = try output.nextSampleBuffer() {
                    got[index].append(Delivered(buffer))
                } else {
                    isOver[index] = true
                }
            }
        }
        #expect(isEqual(got))
        #expect(second.status == .completed)
    }

    @Test(arguments: fixtures) func threadsGetTheSameBytes(_ fixture: String) throws {
        let wanted = try alone(fixture, in: nil)
        let (reader, outputs) = try started(fixture, in: nil)
        let pulls = outputs.map { output in Background { try output.remaining().map(Delivered.init) } }
        #expect(try pulls.map { try $0.value() } == wanted)
        #expect(reader.status == .completed)
    }

    @Test func buffersOutliveTheirReader() throws {
        var buffers: [SampleBuffer] = []
        do { buffers = try Media.all(outputs(Media.asset("av.mp4"))[0], of: Media.asset("av.mp4")) }
        #expect(try md5(buffers.compactMap(\.pixelBuffer)) == FrameTable("av.mp4").sums())
    }

    @Test func theSequenceGivesTheSame() async throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        let output = try outputs(asset)[1]
        try reader.add(output)
        try reader.startReading()
        var got: [Delivered] = []
        for try await buffer in output.sampleBuffers { got.append(Delivered(buffer)) }
        #expect(try got == alone("av.mp4", in: nil)[1])
        #expect(reader.status == .completed)
    }

    @Test func cancellingTheTaskCancelsTheReader() async throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        let output = try outputs(asset)[0]
        try reader.add(output)
        try reader.startReading()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task { () -> MediaError.Code? in
            do {
                for try await _ in output.sampleBuffers {
                    begin.yield()
                    // Goes on once it is cancelled.
                    try? await Task.sleep(for: .seconds(60))
                }
                return nil
            } catch {
                return (error as? MediaError)?.code
            }
        }
        for await _ in begun { break }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(reader.status == .cancelled)
    }
}
