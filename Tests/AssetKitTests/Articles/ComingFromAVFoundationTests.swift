import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The listings of "Coming from AVFoundation": what stands in the article is compiled, and does what it says.
@Suite struct ComingFromAVFoundationTests {
    private static let files = ["Times", "Assets", "Editing", "Reading", "Writing", "Tandem", "Metadata"]

    @Test func theCodeIsWhatIsCompiled() throws {
        let text = try String(
            contentsOfFile: Repository.path("Sources/AssetKit/AssetKit.docc/ComingFromAVFoundation.md"),
            encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        let sources = try Self.files.map { name in
            let path = Repository.path("Tests/AssetKitTests/Articles/\(name)OfAVFoundation.swift")
            // What is imported stands above the first listing.
            let parts = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n\n")
            return parts.dropFirst().joined(separator: "\n\n")
        }
        #expect(blocks.joined(separator: "\n") == sources.joined(separator: "\n"))
        for number in 1...28 where number != 22 && number != 24 {
            #expect(blocks.contains { $0.contains("/// \(number)") }, "listing \(number)")
        }
    }

    private let second = MediaTime(value: 1, timescale: 1)

    /// Media that ffmpeg makes from a description of its picture, its sound or both.
    private func made(_ folder: TemporaryFolder, _ name: String, video: String? = nil, audio: String? = nil) throws
        -> Asset
    {
        let inputs = [video, audio].compactMap { $0 }.flatMap { ["-f", "lavfi", "-i", $0] }
        let path = folder.path(name)
        _ = try FFmpeg.run(inputs + ["-c:v", "qtrle", "-pix_fmt", "rgb24", "-c:a", "pcm_s16le", path])
        return Asset(path: path)
    }

    /// What ffprobe says of the streams of a file, line by line.
    private func probe(_ path: String, _ entries: String) throws -> [String] {
        try FFmpeg.probe(["-show_entries", entries, "-of", "csv=p=0", path])
    }

    // MARK: 1 to 7

    @Test func times() throws {
        let times = try arithmeticOfTimes()
        #expect(
            times.sum == MediaTime(value: 105, timescale: 1) && times.difference == MediaTime(value: 95, timescale: 1))
        #expect(times.converted.value == 220_500 && times.converted.timescale == 44_100)
        #expect(times.copy == MediaTime(value: 5, timescale: 1))
        let ranges = try arithmeticOfRanges()
        #expect(ranges.end == MediaTime(value: 4, timescale: 1))
        #expect(ranges.union == MediaTimeRange(start: second, end: MediaTime(value: 7, timescale: 1)))
    }

    @Test func propertiesAndTheirStatus() async throws {
        let url = URL(fileURLWithPath: try Fixtures.path("mp3-no-tag.mp3"))
        #expect(try await openPrecisely(url).load(.providesPreciseDurationAndTiming))
        #expect(try await Asset(url: url).load(.providesPreciseDurationAndTiming) == false)
        let asset = try Media.asset("av.mp4")
        #expect(await durationStatus(of: asset) == "loaded: \(try asset.loadNow(.duration).seconds) s")
        #expect(await durationStatus(of: Asset(path: "/nowhere/at/all.mov")).hasPrefix("failed"))
        let unwanted = try Media.asset("av.mp4")
        unwanted.cancelLoading()
        #expect(await durationStatus(of: unwanted) == "cancelled")
    }

    @Test func stillImages() async throws {
        let table = try FrameTable("h264-bframes.mp4")
        let asset = try Media.asset("h264-bframes.mp4")
        let still = try #require(try await stillAtTheMiddle(of: asset))
        // Any sync sample will do, as in AVFoundation.
        #expect(table.frames.contains { $0.isKey && $0.time == still.actualTime })
        #expect(still.image.width > 0)
        #expect(try await stillAtTheMiddle(of: Media.asset("pcm-s16-mono.wav")) == nil)

        let generator = ImageGenerator(asset: asset)
        generator.configuration.requestedTimeToleranceBefore = .zero
        generator.configuration.requestedTimeToleranceAfter = .zero
        let times = [table.frames[3].time, table.frames[10].time, MediaTime(value: 1000, timescale: 1)]
        let lines = await stills(of: generator, at: times)
        let shown = lines.prefix(2).map { line in line.components(separatedBy: ": ").compactMap { MediaTime($0) } }
        #expect(shown == [[times[0], times[0]], [times[1], times[1]]])
        #expect(lines.count == 3 && lines.last == "\(times[2]): \(MediaError.Code.outOfRange)")
        let task = Task { await stills(of: generator, at: Array(repeating: times[0], count: 300)) }
        task.cancel()
        let rest = await task.value
        #expect(rest.count == 300 && rest.last?.hasSuffix("cancelled") == true)
    }

    @Test func exporting() async throws {
        let folder = try TemporaryFolder()
        let target = FilePath(folder.path("part.mov"))
        let range = MediaTimeRange(start: second, duration: second)
        #expect(try await export(range, of: Media.asset("av.mp4"), to: target) == .completed)
        // A second at 25 frames a second.
        #expect(try probe(target.string, "stream=codec_name,nb_frames").first == "h264,25")
        guard case .failed(let error) = try await export(range, of: Media.asset("av.mp4"), to: target) else {
            throw TestSupportError("replaced a file")
        }
        #expect(error.code == .alreadyExists)
    }

    // MARK: 8 to 13, 15, 16

    private func tracks(_ type: MediaType, _ asset: Asset) throws -> [AssetTrack] {
        try asset.loadNow(.tracks).filter { $0.mediaType == type }
    }

    @Test func compositions() throws {
        let clips = try ["av.mp4", "video-only.mp4"].map { try Media.track(Media.asset($0), .video) }
        let sounds = try [Media.track(Media.asset("av.mp4"), .audio)]
        let composition = try joined(clips, and: sounds)
        let lengths = clips.map(\.timeRange.duration)
        #expect(composition.tracks.map(\.mediaType) == [.video, .audio])
        #expect(composition.tracks[0].segments.map(\.timeRange.duration) == lengths)
        #expect(composition.duration == max(lengths[0] + lengths[1], sounds[0].timeRange.duration))
        let end = composition.tracks[0].segments[1].timeRange.start
        #expect(end == lengths[0])
    }

    /// A constant level under a ramp is the ramp.
    @Test func volumeRamps() throws {
        let folder = try TemporaryFolder()
        let asset = try made(folder, "level.wav", audio: "aevalsrc=0.5:s=8000:d=2")
        let audio = try tracks(.audio, asset)
        let length = MediaTime(value: 2, timescale: 1)
        let output = try mixOutput(of: audio, with: fadeOut(of: audio, over: length))
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        var samples: [Float] = []
        while let buffer = try output.nextSampleBuffer() {
            buffer.audioBuffer?.withSamples(of: Float.self) { span in
                for place in span.indices { samples.append(span[place]) }
            }
        }
        #expect(samples.count == 16_000)
        for place in stride(from: 0, to: 16_000, by: 500) {
            #expect(abs(samples[place] - 0.5 * (1 - Float(place) / 16_000)) < 0.001, "\(place)")
        }
    }

    private func frames(_ asset: Asset, _ composition: VideoComposition) throws -> [[UInt8]] {
        let output = try compositedOutput(of: tracks(.video, asset), by: composition)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        var frames: [[UInt8]] = []
        while let buffer = try output.nextSampleBuffer() { frames.append(buffer.pixelBuffer?.packedPlane(0) ?? []) }
        return frames
    }

    @Test func compositedFrames() throws {
        let folder = try TemporaryFolder()
        let asset = try made(folder, "white.mov", video: "color=white:s=32x16:r=10:d=2")
        let size = Dimensions(width: 32, height: 16)
        let length = MediaTime(value: 2, timescale: 1)
        var red = redFrames(of: size, for: length)
        let plain = try frames(asset, red)
        #expect(plain.count == 60)
        // Alpha, red, green, blue.
        #expect(plain.allSatisfy { $0 == Array(repeating: [255, 255, 0, 0], count: 512).flatMap { $0 } })

        let blue = try Bitmap(width: 8, height: 4, filledWith: Color(red: 0, green: 0, blue: 255))
        try watermark(blue, on: &red)
        let marked = try #require(try frames(asset, red).first)
        func pixel(_ x: Int, _ y: Int) -> [Int] { marked[(y * 32 + x) * 4..<(y * 32 + x) * 4 + 4].map { Int($0) } }
        #expect(pixel(7, 8) == [255, 255, 0, 0] && pixel(16, 8) == [255, 255, 0, 0])
        for (value, wanted) in zip(pixel(8, 8), [255, 127, 0, 128]) { #expect(abs(value - wanted) <= 1) }

        let track = try Media.track(asset, .video)
        let range = MediaTimeRange(start: .zero, duration: length)
        let fading = VideoComposition(
            renderSize: size, frameDuration: MediaTime(value: 1, timescale: 10),
            instructions: [try fading(track, over: range, in: size)])
        let levels = try frames(asset, fading).map { Int($0[1]) }
        #expect(levels.count == 20)
        for (place, level) in levels.enumerated() {
            #expect(abs(Double(level) - 255 * (1 - Double(place) / 20)) < 3, "\(place): \(level)")
        }
    }

    @Test func theWholeFilm() async throws {
        let folder = try TemporaryFolder()
        let white = try made(folder, "white.mov", video: "color=white:s=64x32:r=25:d=1")
        let green = try made(folder, "green.mov", video: "color=lime:s=64x32:r=25:d=1")
        let tone = try made(folder, "tone.wav", audio: "sine=r=48000:d=3")
        let target = FilePath(folder.path("film.mov"))
        let (first, next) = (try Media.track(white, .video), try Media.track(green, .video))
        try await film(of: first, next, sound: Media.track(tone, .audio), to: target)
        let streams = try probe(target.string, "stream=codec_name,width,height,nb_frames")
        #expect(streams.first == "h264,64,32,60" && streams.last?.hasPrefix("aac") == true, "\(streams)")
        #expect(try Asset(path: target).loadNow(.container).isIndexFirst == true)
        let pixels = try FFmpeg.run(["-i", target.string, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
        func pixel(_ frame: Int) -> [Int] { (0..<3).map { Int(pixels[frame * 64 * 32 * 3 + 16 * 64 * 3 + 96 + $0]) } }
        // White fades over a second; then green.
        for (frame, wanted) in [(0, [255, 255, 255]), (15, [128, 128, 128]), (45, [0, 255, 0])] {
            for (value, wanted) in zip(pixel(frame), wanted) { #expect(abs(value - wanted) < 12, "frame \(frame)") }
        }
        // Half as loud as the source.
        func level(_ path: String) throws -> Double {
            let sound = try FFmpeg.run(["-i", path, "-t", "2", "-f", "f32le", "-ac", "1", "-"])
            let squares = stride(from: 0, to: sound.count - 3, by: 4).map { place in
                let value = sound[place..<place + 4].withUnsafeBytes { $0.loadUnaligned(as: Float.self) }
                return Double(value * value)
            }
            return (squares.reduce(0, +) / Double(squares.count)).squareRoot()
        }
        #expect(abs(try level(target.string) / level(folder.path("tone.wav")) - 0.5) < 0.02)
        let turned = try Media.track(Media.asset("rotated-90.mov"), .video)
        await #expect(throws: MediaError.self) {
            try await film(of: first, turned, sound: Media.track(tone, .audio), to: FilePath(folder.path("no.mov")))
        }
    }

    // MARK: 14, 17 to 26

    @Test func linearPCM() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("stereo.wav")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "anoisesrc=r=44100:d=1:seed=1", "-ac", "2", "-c:a", "pcm_s16le", path])
        let asset = Asset(path: path)
        let samples = try pcm(of: Media.track(asset, .audio), in: asset)
        let wanted = try FFmpeg.run(["-i", path, "-f", "s16le", "-"])
        #expect(samples.withUnsafeBytes { Array($0) } == wanted && samples.count == 88_200)
    }

    @Test func halfOfTheSound() async throws {
        let folder = try TemporaryFolder()
        let source = try made(folder, "tone.wav", audio: "sine=r=44100:d=4")
        let target = folder.path("half.mov")
        let (writer, input) = try #require(try aacWriter(to: FilePath(target)))
        let output = TrackOutput(
            track: try Media.track(source, .audio), audioSettings: AudioSettings(sampleFormat: .int16))
        let reader = try Media.start(output, of: source)
        let half = MediaTimeRange(start: second, duration: second * 2)
        try await writeSession(half, with: writer) {
            try await copySamples(from: output, to: input, on: DispatchQueue(label: "sound"))
        }
        #expect(reader.status == .completed && writer.status == .completed)
        #expect(try probe(target, "stream=codec_name,sample_rate,channels").first == "aac,44100,2")
        let sound = try FFmpeg.run(["-i", target, "-f", "s16le", "-ac", "1", "-"])
        #expect(abs(sound.count / 2 - 88_200) <= 1024, "\(sound.count / 2)")
    }

    @Test func oneTrackUnchanged() async throws {
        let folder = try TemporaryFolder()
        let source = try Media.asset("rotated-90.mov")
        let track = try Media.track(source, .video)
        let target = folder.path("copy.mov")
        let writer = try AssetWriter(path: FilePath(target), fileType: .mov)
        let input = AssetWriterInput(mediaType: .video, sourceFormatHint: track.formatDescriptions.first)
        carryOver(track, title: "A title", to: writer, input)
        try writer.add(input)
        let output = TrackOutput(track: track)
        let reader = try Media.start(output, of: source)
        try await writeSession(track.timeRange, with: writer) {
            try await copySamples(from: output, to: input, on: DispatchQueue(label: "video"))
        }
        #expect(reader.status == .completed)
        func hashes(_ path: String) throws -> [String] {
            try FFmpeg.probe([
                "-select_streams", "v", "-show_entries", "packet=size,data_hash", "-show_data_hash", "md5", "-of",
                "csv=p=0", path,
            ])
        }
        #expect(try hashes(target) == hashes(Fixtures.path("rotated-90.mov")))
        #expect(try probe(target, "format_tags=com.apple.quicktime.title") == ["A title"])
        #expect(try Media.track(Asset(path: target), .video).preferredTransform == track.preferredTransform)
    }

    @Test func picturesMadeByCode() async throws {
        let folder = try TemporaryFolder()
        let target = folder.path("greys.mov")
        let writer = try AssetWriter(path: FilePath(target), fileType: .mov)
        let input = AssetWriterInput(videoSettings: VideoOutputSettings(codec: .proRes422))
        let adaptor = try PixelBufferAdaptor(
            input: input, dimensions: Dimensions(width: 64, height: 32), pixelFormat: .gray)
        try writer.add(input)
        try await writeSession(MediaTimeRange(start: .zero, duration: second), with: writer) {
            try appendPictures(20, greys: { UInt8(20 + 10 * $0) }, to: adaptor)
        }
        let pixels = try FFmpeg.run(["-i", target, "-f", "rawvideo", "-pix_fmt", "gray", "-"])
        #expect(pixels.count == 25 * 64 * 32 || pixels.count == 20 * 64 * 32)
        for frame in 0..<20 {
            #expect(abs(Int(pixels[frame * 64 * 32 + 1000]) - (20 + 10 * frame)) < 6, "frame \(frame)")
        }
    }

    @Test func timedMetadata() async throws {
        let folder = try TemporaryFolder()
        let target = folder.path("live.mov")
        let asset = try Media.asset("av.mp4")
        let track = try Media.track(asset, .video)
        let writer = try AssetWriter(path: FilePath(target), fileType: .mov)
        let video = AssetWriterInput(copying: track)
        try writer.add(video)
        let time = MediaTime(value: 900, timescale: 600)
        let still = try stillImageTime(at: time, describing: video, in: writer)
        try await writeSession(MediaTimeRange(start: .zero, duration: second * 3), with: writer) {
            for buffer in try Media.all(TrackOutput(track: track), of: asset) { try video.appendNow(buffer) }
            video.markAsFinished()
            try await still.append()
            still.input.markAsFinished()
        }
        #expect(try probe(target, "stream=codec_tag_string").map { $0.prefix(4) } == ["avc1", "mebx"])
        let groups = try await readTimedMetadata(of: Asset(path: target))
        #expect(groups.map(\.timeRange.start) == [time] && groups.first?.items.map(\.value) == [.integer(0)])
    }

    @Test func theTandem() async throws {
        let folder = try TemporaryFolder()
        let asset = try Media.asset("av.mp4")
        let target = folder.path("tandem.mov")
        try folder.write("tandem.mov", [1, 2, 3])
        let range = MediaTimeRange(start: second, duration: second)
        try await Tandem(asset, in: range, to: FilePath(target)).run(from: range.start)
        let streams = try probe(target, "stream=codec_name,width,height,nb_frames")
        #expect(streams.contains("h264,160,90,25") && streams.contains { $0.hasPrefix("aac") }, "\(streams)")
        // Clean aperture and pixel aspect are carried over.
        let apertures = try Media.asset("apertures.mov")
        let shaped = folder.path("shaped.mov")
        try await Tandem(
            apertures, in: MediaTimeRange(start: .zero, duration: .positiveInfinity), to: FilePath(shaped)
        ).run(from: .zero)
        let (source, copy) = (
            try Media.track(apertures, .video).formatDescriptions.first?.video,
            try Media.track(Asset(path: shaped), .video).formatDescriptions.first?.video
        )
        #expect(copy?.cleanAperture == source?.cleanAperture && source?.cleanAperture != nil)
        #expect(copy?.sampleAspectRatio == source?.sampleAspectRatio)
    }

    @Test(arguments: [0, 1, 5, 20, 60, 150]) func theTandemCancelled(afterMilliseconds wait: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("tandem.mov")
        let whole = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        let tandem = try await Tandem(Media.asset("h264-aac.mkv"), in: whole, to: FilePath(path))
        if wait == 0 { tandem.cancel() }
        let task = Task { try await tandem.run(from: .zero) }
        try await Task.sleep(for: .milliseconds(wait))
        tandem.cancel()
        tandem.cancel()
        let result = await task.result
        tandem.cancel()
        switch result {
        case .success: #expect(try Asset(path: path).loadNow(.tracks).count == 2)
        case .failure(let error):
            #expect((error as? MediaError)?.code == .cancelled)
            #expect(try folder.names().isEmpty)
        }
        if wait == 0 { #expect(throws: MediaError.self) { try result.get() } }
    }

    @Test func settingsByTheAssistant() throws {
        let asset = try Media.asset("av.mp4")
        let (fileType, inputs) = assistedInputs(
            for: .size960x540, video: try Media.track(asset, .video), audio: try Media.track(asset, .audio))
        let folder = try TemporaryFolder()
        let writer = try AssetWriter(path: FilePath(folder.path("out.mov")), fileType: fileType)
        #expect(fileType == .mov && inputs.allSatisfy { writer.canAdd($0) })
        guard case .video(let settings) = inputs[0].settings else { throw TestSupportError("no video settings") }
        // Never larger than the source.
        #expect(settings.codec == .h264 && settings.dimensions == Dimensions(width: 160, height: 90))
        #expect(inputs.allSatisfy { $0.sourceFormatHint != nil })
    }

    @Test func bitmapsOfSamples() throws {
        let folder = try TemporaryFolder()
        let asset = try Media.asset("video-only.mp4")
        let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
        let reader = try Media.start(output, of: asset)
        let buffer = try #require(try output.nextSampleBuffer())
        let path = folder.path("picture.png")
        try folder.write("picture.png", #require(try png(of: buffer)))
        let pixels = try FFmpeg.run(["-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"])
        #expect(try pixels == buffer.pixelBuffer?.bitmap().bytes)
        withExtendedLifetime(reader) {}
    }
}
