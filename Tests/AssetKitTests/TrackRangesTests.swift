import AssetKit
import SystemPackage
import TestSupport
import Testing

/// Several time ranges from one output.
@Suite struct TrackRangesTests {
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: start, timescale: 25), end: MediaTime(value: end, timescale: 25))
    }

    private func opened(
        _ fixture: String, _ type: MediaType, _ settings: (AssetTrack) -> TrackOutput, in first: MediaTimeRange
    ) throws -> (AssetReader, TrackOutput) {
        let asset = try Media.asset(fixture)
        let output = settings(try Media.track(asset, type))
        #expect(!output.supportsRandomAccess)
        output.supportsRandomAccess = true
        return (try Media.start(output, of: asset, in: first), output)
    }

    /// Frames by ffprobe's table: each range gives those that are on screen in it.
    @Test func framesOfEachRange() throws {
        let table = try FrameTable("h264-bframes.mp4")
        let (reader, output) = try opened(
            "h264-bframes.mp4", .video, { TrackOutput(track: $0, videoSettings: VideoSettings()) }, in: range(10, 12))
        let times = table.frames.map(\.time)
        func wanted(_ range: MediaTimeRange) -> [MediaTime] {
            times.enumerated().filter { place, time in
                let next = place + 1 < times.count ? times[place + 1] : .positiveInfinity
                return time < range.end && next > range.start
            }.map(\.element)
        }
        #expect(try output.remaining().map(\.presentationTime) == wanted(range(10, 12)))
        #expect(reader.status == .reading)
        // Back to the start, then two stretches in one call.
        for ranges in [[range(0, 3)], [range(4, 6), range(20, 22)], [range(21, 24)], []] {
            try output.reset(forReadingTimeRanges: ranges)
            let found = try output.remaining()
            #expect(found.map(\.presentationTime) == ranges.flatMap(wanted))
            for buffer in found {
                let place = try #require(times.firstIndex(of: buffer.presentationTime))
                #expect(buffer.isSync == table.frames[place].isKey)
            }
            #expect(reader.status == .reading)
        }
        output.markConfigurationAsFinal()
        #expect(reader.status == .completed)
        #expect(errorCode { try output.reset(forReadingTimeRanges: [range(0, 1)]) } == .invalidArgument)
        #expect(try output.nextSampleBuffer() == nil)
    }

    /// Sound to the sample: what a reader of its own gives, which AudioPipelineTests compares with ffmpeg.
    @Test(arguments: ["pcm-s16-stereo.wav", "av.mp4"]) func soundOfEachRange(fixture: String) throws {
        let settings = AudioSettings(sampleFormat: .int16)
        func bytes(_ buffers: [SampleBuffer]) -> [UInt8] {
            buffers.flatMap { buffer in
                buffer.audioBuffer?.withBytes { span in
                    (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
                } ?? []
            }
        }
        let (reader, output) = try opened(
            fixture, .audio, { TrackOutput(track: $0, audioSettings: settings) }, in: range(5, 10))
        _ = try output.remaining()
        let asset = try Media.asset(fixture)
        for ranges in [[range(30, 40)], [range(0, 7), range(7, 11), range(20, 21)]] {
            try output.reset(forReadingTimeRanges: ranges)
            let found = bytes(try output.remaining())
            var wanted: [UInt8] = []
            for range in ranges {
                wanted += bytes(
                    try Media.all(
                        TrackOutput(track: try Media.track(asset, .audio), audioSettings: settings), of: asset,
                        in: range))
            }
            #expect(found == wanted && !found.isEmpty)
        }
        output.markConfigurationAsFinal()
        #expect(reader.status == .completed)
    }

    @Test func othersGoOnMeanwhile() throws {
        let asset = try Media.asset("av.mp4")
        let reader = try AssetReader(asset: asset)
        let video = TrackOutput(track: try Media.track(asset, .video))
        let audio = TrackOutput(track: try Media.track(asset, .audio), audioSettings: AudioSettings())
        video.supportsRandomAccess = true
        try reader.add(video)
        try reader.add(audio)
        try reader.startReading()
        let all = try video.remaining().map(\.presentationTime)
        try video.reset(forReadingTimeRanges: [MediaTimeRange(start: .zero, duration: .positiveInfinity)])
        #expect(try video.nextSampleBuffer()?.presentationTime == all.first)
        let sound = try audio.remaining().count
        #expect(sound > 0)
        #expect(try video.remaining().map(\.presentationTime) == Array(all.dropFirst()))
        #expect(reader.status == .reading)
        video.markConfigurationAsFinal()
        #expect(reader.status == .completed)
    }

    @Test func misuseIsRefused() throws {
        let (reader, output) = try opened("av.mp4", .video, { TrackOutput(track: $0) }, in: range(0, 10))
        #expect(errorCode { try output.reset(forReadingTimeRanges: [range(0, 1)]) } == .invalidArgument)
        _ = try output.remaining()
        for ranges in [[range(5, 6), range(1, 2)], [range(1, 4), range(3, 5)], [.invalid]] {
            #expect(errorCode { try output.reset(forReadingTimeRanges: ranges) } == .invalidArgument)
        }
        try output.reset(forReadingTimeRanges: [range(0, 5)])
        #expect(errorCode { try output.reset(forReadingTimeRanges: [range(0, 1)]) } == .invalidArgument)
        reader.cancelReading()
        #expect(errorCode { try output.nextSampleBuffer() } == .cancelled)
        #expect(
            errorCode { try output.reset(forReadingTimeRanges: [range(0, 1)]) } == .cancelled
                || reader.status == .cancelled)

        let asset = try Media.asset("av.mp4")
        let plain = TrackOutput(track: try Media.track(asset, .video))
        let started = try Media.start(plain, of: asset)
        plain.supportsRandomAccess = true
        #expect(errorCode { try plain.nextSampleBuffer() } == .invalidArgument && started.status == .failed)
        let single = TrackOutput(track: try Media.track(asset, .video))
        let other = try Media.start(single, of: asset)
        _ = try single.remaining()
        #expect(other.status == .completed)
        #expect(errorCode { try single.reset(forReadingTimeRanges: [range(0, 1)]) } == .invalidArgument)
    }
}
