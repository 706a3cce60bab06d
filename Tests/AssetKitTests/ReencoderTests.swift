import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

@Suite struct ReencoderTests {
    private let everything = MediaTimeRange(start: .zero, duration: .positiveInfinity)

    private func fast(_ codec: VideoOutputSettings.Codec) -> VideoOutputSettings {
        var settings = VideoOutputSettings(codec: codec)
        settings.speed = .fastest
        return settings
    }

    // MARK: Stored samples

    @Test(arguments: [
        ("av.mp4", "mov"), ("h264-bframes.mp4", "mov"), ("h264-bframes.mp4", "mp4"), ("vfr.mp4", "mov"),
        ("prores.mov", "mov"), ("hevc-10bit.mp4", "mp4"), ("mid-gop-edit.mp4", "mp4"), ("late-audio.mp4", "mp4"),
        ("late-video.mp4", "mov"), ("aac-5.1.m4a", "m4a"), ("alac.m4a", "mov"), ("rotated-90.mov", "mp4"),
        ("h264-opengop.mp4", "mov"), ("many-tracks.mp4", "mov"),
    ])
    func storedSamplesArriveUntouched(fixture: String, ending: String) throws {
        let source = try Fixtures.path(fixture)
        let file = try Written("o.\(ending)")
        let type = try #require(MediaFileType(pathExtension: ending))
        let asset = try Media.asset(fixture)
        try Reencoder(asset: asset, writer: file.writer(type), video: .copy, audio: .copy).runNow()
        // ffprobe moves pictures where an edit begins inside one; where that is, the copy's begins there.
        let isMoved = fixture == "mid-gop-edit.mp4"
        func listed(_ path: String, _ stream: String) throws -> [String] {
            try Written.packets(path, stream).map { isMoved ? String($0.drop { $0 != "," }) : $0 }
        }
        for stream in ["v:0", "a:0", "a:1"] {
            #expect(try listed(file.path, stream) == listed(source, stream), "\(stream)")
        }
        if isMoved {
            func shown(_ asset: Asset) throws -> [MediaTimeRange] {
                let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
                return try Media.all(output, of: asset).map(\.timeRange)
            }
            #expect(try shown(file.asset) == shown(asset))
        }
        let copies = try file.asset.loadNow(.tracks).filter { [.audio, .video].contains($0.mediaType) }
        let originals = try asset.loadNow(.tracks).filter { [.audio, .video].contains($0.mediaType) }
        for (copy, original) in zip(copies, originals) {
            #expect(copy.preferredTransform == original.preferredTransform)
            #expect(copy.isEnabled == original.isEnabled)
            let (end, wanted) = (copy.timeRange.end, original.timeRange.end)
            #expect(abs((end - wanted).seconds) < 0.0005, "\(copy.mediaType) ends at \(end), not \(wanted)")
        }
    }

    /// Containers keep PCM as one run: where the source has a hole the copy has silence, and nothing moves.
    @Test func aHoleInStoredPCMStaysAsLong() throws {
        let file = try Written("o.mov")
        let asset = try Media.asset("gap.mkv")
        try Reencoder(asset: asset, writer: file.writer(.mov), video: .leaveOut, audio: .copy).runNow()
        let track = try Media.track(asset, .audio)
        let settings = AudioSettings(sampleFormat: .int16)
        let last = try #require(try Media.all(TrackOutput(track: track, audioSettings: settings), of: asset).last)
        let (start, samples) = try file.sound()
        #expect(start == .zero)
        let end = try #require((last.presentationTime + last.duration).sampleIndex(rate: 48000))
        // Two channels; Matroska counts in milliseconds.
        #expect(abs(Int64(samples.count / 2) - end) <= 48)
        let original = try Written.sound(asset).samples
        let isSame = Array(samples.suffix(10000)) == Array(original.suffix(10000))
        #expect(isSame)
    }

    @Test func aCutInStoredSamplesShowsTheSamePictures() throws {
        let file = try Written("o.mp4")
        let asset = try Media.asset("h264-bframes.mp4")
        let original = try Media.track(asset, .video)
        let range = MediaTimeRange(start: MediaTime(value: 3, timescale: 10), end: MediaTime(value: 7, timescale: 10))
        let wanted = try Media.all(TrackOutput(track: original, videoSettings: VideoSettings()), of: asset, in: range)
        // Stored samples are read from the start, so that what the first one shown depends on is there.
        let reader = try AssetReader(asset: asset)
        let output = TrackOutput(track: original)
        try reader.add(output)
        try reader.startReading()
        let input = AssetWriterInput(copying: original)
        try file.write(.mp4, [input], from: range.start) { writer in
            try writer.endSession(atSourceTime: range.end)
            while let buffer = try output.nextSampleBuffer() { try input.appendNow(buffer) }
        }
        let track = try Media.track(file.asset, .video)
        let cut = try Media.all(TrackOutput(track: track, videoSettings: VideoSettings()), of: file.asset)
        #expect(cut.count == wanted.count)
        #expect(cut.first?.presentationTime == .zero)
        for (one, other) in zip(cut, wanted) {
            let isSame = one.pixelBuffer?.packedPlane(0) == other.pixelBuffer?.packedPlane(0)
            #expect(isSame, "\(one.presentationTime)")
        }
        #expect(track.timeRange.end == range.duration)
    }

    /// A range that begins in the midst of a group of pictures, from which nothing can be decoded.
    @Test func aRangeOfStoredSamplesBeginsWithWhatItNeeds() throws {
        let file = try Written("o.mp4")
        let asset = try Media.asset("h264-bframes.mp4")
        let original = try Media.track(asset, .video)
        let range = MediaTimeRange(start: MediaTime(value: 38, timescale: 25), end: MediaTime(value: 60, timescale: 25))
        let wanted = try Media.all(TrackOutput(track: original, videoSettings: VideoSettings()), of: asset, in: range)
        try Reencoder(
            asset: asset, writer: file.writer(.mp4), video: .copy, audio: .leaveOut, timeRange: range
        ).runNow()
        let track = try Media.track(file.asset, .video)
        let cut = try Media.all(TrackOutput(track: track, videoSettings: VideoSettings()), of: file.asset)
        #expect(cut.map(\.presentationTime) == wanted.map { $0.presentationTime - range.start })
        for (one, other) in zip(cut, wanted) {
            let isSame = one.pixelBuffer?.packedPlane(0) == other.pixelBuffer?.packedPlane(0)
            #expect(isSame, "\(one.presentationTime)")
        }
        // From the sync sample at 1 s on; ffmpeg shows the same.
        #expect(try file.probe("v:0", "packet=flags").first?.hasPrefix("K") == true)
        #expect(try Written.frameTimes(file.path).count == 22)
    }

    // MARK: Encoding anew

    @Test(arguments: [
        ("h264-bframes.mp4", "mov"), ("vfr.mp4", "mp4"), ("timecode-df.mov", "mov"), ("anamorphic.mp4", "mov"),
        ("rotated-90.mov", "mov"), ("mpegts-10s.ts", "mp4"), ("mid-gop-edit.mp4", "mov"), ("late-video.mp4", "mp4"),
        ("h264-aac.mkv", "mov"),
    ])
    func framesAndSoundKeepTheirPlaces(fixture: String, ending: String) throws {
        let file = try Written("o.\(ending)")
        let type = try #require(MediaFileType(pathExtension: ending))
        let asset = try Media.asset(fixture)
        var settings = fast(.h264)
        let original = try Media.track(asset, .video)
        let size = try #require(original.formatDescriptions.first?.video?.encodedSize)
        settings.dimensions = Dimensions(width: size.width / 4 * 2, height: size.height / 8 * 2)
        try Reencoder(
            asset: asset, writer: file.writer(type), video: .encode(settings),
            audio: .encode(AudioOutputSettings(codec: .alac))
        ).runNow()

        let copy = try Media.track(file.asset, .video)
        func times(_ asset: Asset, _ track: AssetTrack) throws -> [MediaTime] {
            try Media.all(TrackOutput(track: track, videoSettings: VideoSettings()), of: asset).map(\.presentationTime)
        }
        // A picture that is on screen at zero begins there.
        #expect(try times(file.asset, copy) == times(asset, original).map { max($0, .zero) })
        #expect(copy.timeRange.end == original.timeRange.end || fixture.hasSuffix("mkv") || fixture.hasSuffix("ts"))
        #expect(copy.preferredTransform == original.preferredTransform)
        #expect(copy.startTimecode == original.startTimecode)
        // The shape in which it is shown is the same, exactly.
        func shape(_ track: AssetTrack) -> Rational? {
            track.formatDescriptions.first?.video.flatMap { video in
                Rational(Int64(video.encodedSize.width), Int64(video.encodedSize.height))
                    .multiplied(by: video.sampleAspectRatio ?? .one)
            }
        }
        #expect(shape(copy) == shape(original))

        let tracks = try asset.loadNow(.tracks).filter { $0.mediaType == .audio }
        #expect(try file.asset.loadNow(.tracks).filter { $0.mediaType == .audio }.count == tracks.count)
        if !tracks.isEmpty {
            let (before, after) = (try Written.sound(asset), try file.sound())
            #expect(before.start == after.start)
            // Sound that is decoded to floating point has more than 16 bits.
            #expect(before.samples.count == after.samples.count)
            #expect(zip(before.samples, after.samples).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        }
    }

    @Test func aTrimMovesTheTimecodeAndCutsExactly() throws {
        let file = try Written("o.mov")
        let asset = try Media.asset("timecode-df.mov")
        let original = try Media.track(asset, .video)
        let frames = try Media.all(TrackOutput(track: original, videoSettings: VideoSettings()), of: asset)
        let range = MediaTimeRange(start: frames[7].presentationTime, end: frames[15].presentationTime)
        try Reencoder(
            asset: asset, writer: file.writer(.mov), video: .encode(fast(.proRes422HQ)), audio: .leaveOut,
            timeRange: range
        ).runNow()
        let copy = try Media.track(file.asset, .video)
        #expect(copy.timeRange.duration == range.duration)
        let cut = try Media.all(TrackOutput(track: copy, videoSettings: VideoSettings()), of: file.asset)
        #expect(cut.map(\.presentationTime) == frames[7..<15].map { $0.presentationTime - range.start })
        let rate = try Timecode.Rate(frameRate: Rational(30000, 1001), isDropFrame: true)
        let start = try #require(try asset.loadNow(.container).startTimecode)
        #expect(
            try file.asset.loadNow(.container).startTimecode
                == Timecode(start, rate: rate).advanced(byFrames: 7)?.description)
    }

    /// The first and last picture of a cut are the right ones, whatever refers to what in the source: ProRes HQ of a small
    /// picture differs from its source by little, and pictures of the fixture differ from each other by much.
    @Test(arguments: [(10, 30), (13, 14), (37, 75)])
    func aTrimShowsTheRightPictures(first: Int, end: Int) throws {
        let file = try Written("o.mov")
        let asset = try Media.asset("h264-bframes.mp4")
        let original = try Media.track(asset, .video)
        let frames = try Media.all(TrackOutput(track: original, videoSettings: VideoSettings()), of: asset)
        let last = end < frames.count ? frames[end].presentationTime : original.timeRange.end
        let range = MediaTimeRange(start: frames[first].presentationTime, end: last)
        try Reencoder(
            asset: asset, writer: file.writer(.mov), video: .encode(fast(.proRes422HQ)), audio: .leaveOut,
            timeRange: range
        ).runNow()
        let copy = try Media.track(file.asset, .video)
        let grey = VideoSettings(pixelFormat: .yuv420p)
        let cut = try Media.all(TrackOutput(track: copy, videoSettings: grey), of: file.asset)
        let wanted = try Media.all(TrackOutput(track: original, videoSettings: grey), of: asset)
        #expect(cut.count == end - first)
        func difference(_ one: SampleBuffer?, _ other: SampleBuffer?) -> Double {
            let (a, b) = (one?.pixelBuffer?.packedPlane(0) ?? [], other?.pixelBuffer?.packedPlane(0) ?? [0])
            guard a.count == b.count else { return .infinity }
            return Double(zip(a, b).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(a.count)
        }
        for (place, picture) in [(first, cut.first), (end - 1, cut.last)] {
            let own = difference(picture, wanted[place])
            for other in [place - 1, place + 1] where wanted.indices.contains(other) {
                #expect(own < difference(picture, wanted[other]) / 2, "picture \(place)")
            }
        }
    }

    /// QuickTime's muxer leaves names of tracks out, MPEG-4's writes them.
    @Test(arguments: ["mov", "mp4"])
    func namesOfTracksAreWritten(ending: String) throws {
        let file = try Written("o.\(ending)")
        let asset = try Media.asset("av.mp4")
        let job = try Reencoder(
            asset: asset, writer: file.writer(MediaFileType(rawValue: ending)), video: .copy, audio: .copy)
        for (place, input) in job.writer.inputs.enumerated() { input.name = "Track \(place), größer" }
        try job.runNow()
        let names = try file.asset.loadNow(.tracks).map { track in
            track.metadata.first { $0.name == "title" }?.value.text
        }
        #expect(names == ["Track 0, größer", "Track 1, größer"])
        #expect(try file.probe("v:0", "stream=codec_name") == ["h264"])
    }

    // MARK: The end

    @Test func cancellingAtAnyMomentLeavesNothing() throws {
        for round in 0..<50 {
            let file = try Written("o.mp4")
            let asset = try Media.asset("h264-aac.mkv")
            let job = try Reencoder(
                asset: asset, writer: file.writer(.mp4), video: .encode(fast(.h264)),
                audio: .encode(AudioOutputSettings(codec: .aac)))
            let cancel = Background {
                Thread.sleep(forTimeInterval: Double(round) * 0.006)
                job.cancel()
                job.cancel()
            }
            let code = errorCode { try job.runNow() }
            try cancel.value()
            job.cancel()
            #expect(code == .cancelled || code == nil)
            #expect(try file.folder.names() == (code == nil ? ["o.mp4"] : []))
            #expect(job.writer.status == (code == nil ? .completed : .cancelled))
        }
    }

    @Test func aCancelledTaskCancels() async throws {
        let file = try Written("o.mp4")
        let job = try Reencoder(
            asset: Media.asset("h264-aac.mkv"), writer: file.writer(.mp4), video: .encode(fast(.h264)),
            audio: .copy)
        let task = Task { try await job.run() }
        task.cancel()
        let result = await task.result
        #expect(throws: MediaError.self) { try result.get() }
        #expect(try file.folder.names() == [])
    }

    /// What may be replaced is not what is read, by whatever name.
    @Test(arguments: ["o.mp4", "link.mp4", "hard.mp4"]) func theInputIsNeverReplaced(name: String) throws {
        let folder = try TemporaryFolder()
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Fixtures.path("av.mp4"))))
        try folder.write("o.mp4", bytes)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.mp4"), withDestinationPath: "o.mp4")
        try FileManager.default.linkItem(atPath: folder.path("o.mp4"), toPath: folder.path("hard.mp4"))
        let job = try Reencoder(
            asset: Asset(path: FilePath(folder.path("o.mp4"))),
            writer: AssetWriter(path: FilePath(folder.path(name)), fileType: .mp4, overwrite: true),
            video: .copy, audio: .copy)
        let error = #expect(throws: MediaError.self) { try job.runNow() }
        #expect(error?.message.contains("--") == false, "\(error as Any)")
        #expect(try folder.bytes("o.mp4") == bytes && folder.names().count == 3)
    }

    @Test func aFailureOnOneSideEndsTheOther() throws {
        let file = try Written("o.mp4")
        var settings = AudioOutputSettings(codec: .aac)
        settings.encoderOptions = ["no_such_option": "1"]
        let job = try Reencoder(
            asset: Media.asset("av.mp4"), writer: file.writer(.mp4), video: .encode(fast(.h264)),
            audio: .encode(settings))
        #expect(errorCode { try job.runNow() } == .invalidArgument)
        #expect(job.writer.status == .failed)
        #expect(try file.folder.names() == [])
    }
}
