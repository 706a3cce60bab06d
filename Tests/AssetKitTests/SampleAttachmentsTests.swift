import AssetKit
import TestSupport
import Testing

/// Values that callers attach to buffers.
@Suite struct SampleAttachmentsTests {
    private func sound(_ count: Int = 4) throws -> SampleBuffer {
        let audio = try AudioBuffer(
            interleaved: [Int16](repeating: 7, count: count), sampleRate: 8000, channelLayout: .mono)
        return SampleBuffer(sound: audio, presentationTime: MediaTime(value: 3, timescale: 4))
    }

    @Test func areAttachedAndRemoved() throws {
        let plain = try sound()
        #expect(plain.attachedValues.isEmpty && plain.attachments.isEmpty)
        let values: [String: SampleBuffer.Attachment] = [
            "take": .init(.integer(12)), "good": .init(.flag(true)), "gain": .init(.number(-3.5), propagates: false),
            "scene": .init(.text("会議")), "raw": .init(.data([1, 2])), "clock": .init(.time(.zero), propagates: false),
        ]
        var buffer = plain
        for (key, value) in values { buffer = buffer.attaching(value, forKey: key) }
        #expect(buffer.attachedValues == values && plain.attachedValues.isEmpty)
        // The samples are the same memory, the times the same.
        #expect(buffer.audioBuffer === plain.audioBuffer && buffer.timeRange == plain.timeRange)
        buffer = buffer.attaching(nil, forKey: "take").attaching(.init(.flag(false)), forKey: "good")
        #expect(buffer.attachedValues["take"] == nil && buffer.attachedValues["good"]?.value == .flag(false))
    }

    @Test func onlySomePropagate() throws {
        let source = try sound().attaching(.init(.text("a")), forKey: "kept")
            .attaching(.init(.text("b"), propagates: false), forKey: "own")
        let target = try sound(8).attaching(.init(.text("old")), forKey: "kept").attaching(
            .init(.flag(true)), forKey: "x")
        let result = source.propagatingAttachments(to: target)
        #expect(
            result.attachedValues == ["kept": .init(.text("a")), "x": .init(.flag(true))]
                && result.audioBuffer === target.audioBuffer)
    }

    /// What is marked as not shown is kept for others, and hidden by the edit list.
    @Test func marksReachTheWriter() throws {
        let folder = try TemporaryFolder()
        let asset = try Media.asset("h264-bframes.mp4")
        let track = try Media.track(asset, .video)
        let buffers = try Media.all(TrackOutput(track: track), of: asset)
        let writer = try AssetWriter(path: .init(folder.path("out.mov")), fileType: .mov)
        let input = AssetWriterInput(copying: track)
        try writer.add(input)
        try writer.startWriting()
        let shown = MediaTime(value: 1, timescale: 2)
        try writer.startSession(atSourceTime: shown)
        for buffer in buffers {
            try input.appendNow(buffer.presentationTime < shown ? buffer.marked(.isNotShown) : buffer)
        }
        input.markAsFinished()
        try writer.finishWritingNow()
        let frames = try FFmpeg.probe([
            "-count_frames", "-show_entries", "stream=nb_read_frames,nb_frames", "-of", "csv=p=0",
            folder.path("out.mov"),
        ])
        let hidden = buffers.count { $0.presentationTime < shown }
        #expect(frames.first?.split(separator: ",").compactMap { Int($0) } == [buffers.count, buffers.count - hidden])
    }

    @Test func layoutsAreCheckedWhereTheyAreNamed() throws {
        // Channels by ffmpeg -layouts.
        let layouts: [(ChannelLayout, String)] = [
            (.mono, "FC"), (.stereo, "FL+FR"), (.twoPointOne, "FL+FR+LFE"), (.threePointZero, "FL+FR+FC"),
            (.fourPointZero, "FL+FR+FC+BC"), (.quadraphonic, "FL+FR+BL+BR"), (.fivePointZero, "FL+FR+FC+BL+BR"),
            (.fivePointZeroSide, "FL+FR+FC+SL+SR"), (.fivePointOne, "FL+FR+FC+LFE+BL+BR"),
            (.fivePointOneSide, "FL+FR+FC+LFE+SL+SR"), (.sixPointOne, "FL+FR+FC+LFE+BC+SL+SR"),
            (.sevenPointOne, "FL+FR+FC+LFE+BL+BR+SL+SR"), (.sevenPointOneWide, "FL+FR+FC+LFE+BL+BR+FLC+FRC"),
        ]
        for (layout, channels) in layouts {
            #expect(try ChannelLayout(named: layout.name) == layout)
            #expect(try ChannelLayout(named: channels) == layout, "\(channels)")
            #expect(layout.channels == channels.split(separator: "+").count)
        }
        for name in ["bogus", "", "5.1(", "FL+XX"] {
            #expect(errorCode { try ChannelLayout(named: name) } == .invalidArgument, "\(name)")
        }
    }
}
