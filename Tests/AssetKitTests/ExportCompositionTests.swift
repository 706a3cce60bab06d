import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Exports of compositions with a video composition and a mix, looked at by ffmpeg.
@Suite struct ExportCompositionTests {
    private func time(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, end: end)
    }

    @Test func twoClipsATuneAndAWatermark() async throws {
        let file = try Written("out.mov")
        let first = try Numbered("a.mp4", in: file.folder, source: 1, rate: "25", count: 40)
        let second = try Numbered("b.mp4", in: file.folder, source: 2, rate: "24", count: 40, input: ["-ss", "0.2"])
        let noise = Made.noise(48000 * 3).map { $0 / 4 }
        let tune = try WrittenSound("tune.wav", in: file.folder, samples: noise, rate: 48000)
        var composition = Composition()
        let front = try composition.addTrack(mediaType: .video)
        let sound = try composition.addTrack(mediaType: .audio)
        let (one, two) = (time(1, 1), time(2, 1))
        try composition.insertTimeRange(
            range(time(1, 5), time(6, 5)), of: first.track, in: first.asset, at: .zero, into: front)
        try composition.insertTimeRange(range(.zero, one), of: second.track, in: second.asset, at: one, into: front)
        try composition.insertTimeRange(range(.zero, two), of: tune.track, in: tune.asset, at: .zero, into: sound)
        let asset = Asset(composition: composition)

        var layer = VideoComposition.Layer(trackID: front)
        try layer.transform.set(.translation(x: 0, y: 20), at: .zero)
        var mark = VideoComposition.Overlay(image: try Bitmap(width: 16, height: 8, filledWith: .white), x: 4, y: 4)
        mark.timeRange = range(.zero, one)
        var video = VideoComposition(
            renderSize: Dimensions(width: 192, height: 80), frameDuration: time(1, 30),
            instructions: [.init(timeRange: range(.zero, time(3, 1)), layers: [layer])])
        video.overlays = [mark]
        var volume = AudioMix.InputParameters(trackID: sound)
        try volume.volume.setRamp(from: 1, to: 0, timeRange: range(.zero, two))
        let session = ExportSession(asset: asset, preset: .proRes422LPCM)
        session.videoComposition = video
        session.audioMix = AudioMix([volume])
        session.shouldOptimizeForNetworkUse = true
        try await session.export(to: FilePath(file.path), as: .mov)
        #expect(session.state == .completed)

        #expect(try file.probe("v:0", "stream=codec_name,width,height,r_frame_rate") == ["prores,192,80,30/1"])
        #expect(try file.probe("v:0", "frame=pts_time").count == 60)
        let pixels = try FFmpeg.run(["-i", file.path, "-pix_fmt", "gray", "-f", "rawvideo", "-"])
        #expect(pixels.count == 60 * 192 * 80)
        for frame in 0..<60 {
            let moment = time(Int64(frame), 30)
            let row = Array(pixels[(frame * 80 + 40) * 192..<(frame * 80 + 41) * 192])
            let wanted =
                moment < one ? first.number(at: moment + time(1, 5)) : second.number(at: moment - one)
            #expect(Numbered.number(of: row) == wanted)
            #expect((pixels[(frame * 80 + 8) * 192 + 12] > 200) == (moment < one))
        }
        let samples = try FFmpeg.run(["-i", file.path, "-f", "f32le", "-"])
        #expect(samples.count == 96000 * 4)
        var worst: Float = 0
        for index in 0..<96000 {
            let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(samples[index * 4 + $1]) << ($1 * 8) }
            let wanted = Float(noise[index]) / 32768 * (1 - Float(index) / 96000)
            worst = max(worst, abs(Float(bitPattern: bits) - wanted))
        }
        #expect(worst < 1e-5)
        // The index lies before the media.
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let index = try #require(bytes.range(of: Data("moov".utf8)))
        let media = try #require(bytes.range(of: Data("mdat".utf8)))
        #expect(index.lowerBound < media.lowerBound)
    }

    @Test func samplesAsTheyAreAreNotComposited() async throws {
        let file = try Written("out.mov")
        let asset = try Media.asset("av.mp4")
        let session = ExportSession(asset: asset, preset: .passthrough)
        session.audioMix = AudioMix()
        await #expect(throws: MediaError.self) { try await session.export(to: FilePath(file.path), as: .mov) }
        let gap = ExportSession(asset: asset, preset: .highestQuality)
        gap.videoComposition = VideoComposition(
            renderSize: Dimensions(width: 64, height: 48), frameDuration: time(1, 25))
        await #expect(throws: MediaError.self) { try await gap.export(to: FilePath(file.path), as: .mov) }
        #expect(try file.folder.names().isEmpty)
    }

    /// Hands on a track's picture as it is.
    private struct PassThrough: VideoCompositor {
        func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer {
            guard let id = request.sourceTrackIDs.first, let picture = request.sourcePicture(ofTrack: id) else {
                throw MediaError(.invalidArgument, "there is no picture")
            }
            return picture
        }
    }

    /// Frames are BT.709 by their tags, whatever a compositor of the user's makes: here BT.601, and full range.
    @Test(arguments: [("smpte170m", "tv"), ("bt709", "pc")])
    func framesOfAnotherCompositorGetTheColorsOfTheirTags(matrix: String, range: String) async throws {
        let file = try Written("out.mov")
        let path = file.folder.path("in.mov")
        let tags = FFmpeg.colorTags(
            after: "scale=out_color_matrix=\(matrix):out_range=\(range),format=yuv420p", matrix: matrix,
            primaries: "bt709", transfer: "bt709", range: range)
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "color=c=0xC8281E:r=25:d=0.2:s=192x108,format=gbrp", "-c:v", "libx264", "-crf", "5"]
                + tags + [path])
        let asset = Asset(path: FilePath(path))
        let layer = VideoComposition.Layer(track: try Media.track(asset, .video))
        let whole = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        var video = VideoComposition(
            renderSize: Dimensions(width: 192, height: 108), frameDuration: time(1, 25),
            instructions: [.init(timeRange: whole, layers: [layer])])
        video.compositor = PassThrough()
        let session = ExportSession(asset: asset, preset: .highestQuality)
        session.videoComposition = video
        try await session.export(to: FilePath(file.path), as: .mov)
        let pixels = try FFmpeg.run(["-i", file.path, "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"])
        let middle = pixels.count / 6 * 3
        let isNear = zip(pixels[middle..<middle + 3].map(Int.init), [200, 40, 30]).allSatisfy { abs($0 - $1) <= 4 }
        #expect(isNear, "\(pixels[middle..<middle + 3])")
    }
}
