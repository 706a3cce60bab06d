import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Gaps of compositions are black, whoever reads them: a reader, an image generator, an export.
@Suite struct CompositionGapsTests {
    private func time(_ value: Int64, _ scale: Int32 = 25) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }

    /// Frames 0 and 1 are a gap, 2 to 11 are frames 5 to 14 of a source, 12 to 14 are a gap, 15 to 18 are frames 0 to 3,
    /// 19 and 20 a gap.
    private func composition(in folder: TemporaryFolder) throws -> (Composition, track: Int, numbers: [Int]) {
        let source = try Numbered("a.mp4", in: folder, source: 1, rate: "25", count: 20)
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        try composition.insertTimeRange(range(5, 15), of: source.track, in: source.asset, at: time(2), into: id)
        try composition.insertTimeRange(range(0, 4), of: source.track, in: source.asset, at: time(15), into: id)
        try composition.insertEmptyTimeRange(range(19, 21), intoTrack: id)
        let numbers = [0, 0] + (5..<15).map { 256 + $0 } + [0, 0, 0] + (0..<4).map { 256 + $0 } + [0, 0]
        return (composition, id, numbers)
    }

    @Test func aReaderDeliversBlackFrames() throws {
        let folder = try TemporaryFolder()
        let (composition, _, numbers) = try composition(in: folder)
        let asset = Asset(composition: composition)
        let track = try Media.track(asset, .video)
        // ffmpeg's black in the same formats.
        for format in ["yuv420p", "rgba", "yuv422p10le", "nv12"] {
            let size = "\(NumberedPictures.width)x\(NumberedPictures.height)"
            let black = try FFmpeg.run([
                "-f", "lavfi", "-i", "color=c=black:s=\(size):r=25,format=yuv420p,format=\(format)", "-frames:v", "1",
                "-f",
                "rawvideo", "-",
            ])
            let settings = VideoSettings(pixelFormat: PixelFormat(rawValue: format))
            let frames = try Media.all(TrackOutput(track: track, videoSettings: settings), of: asset)
            #expect(frames.map(\.presentationTime) == (0..<21).map { time($0) })
            #expect(frames.map(\.duration) == Array(repeating: time(1), count: 21))
            for (frame, number) in zip(frames, numbers) {
                let picture = try #require(frame.pixelBuffer)
                let bytes = (0..<picture.planeCount).flatMap { picture.packedPlane($0) }
                #expect((bytes == black) == (number == 0))
            }
        }
        // As decoded, from within a gap.
        let part = try Media.all(
            TrackOutput(track: track, videoSettings: VideoSettings()), of: asset,
            in: MediaTimeRange(start: time(27, 50), end: time(16)))
        #expect(part.map(\.presentationTime) == [time(13), time(14), time(15)])
        #expect(part.compactMap(\.pixelBuffer).map(Numbered.number(of:)) == [0, 0, 256])
        #expect(part.allSatisfy { $0.pixelBuffer?.pixelFormat == .yuv420p })
    }

    @Test func anExportHasBlackFrames() async throws {
        let file = try Written("out.mov")
        let (composition, _, numbers) = try composition(in: file.folder)
        let session = ExportSession(asset: Asset(composition: composition), preset: .proRes422LPCM)
        try await session.export(to: FilePath(file.path), as: .mov)
        #expect(try NumberedPictures.rows(file.path).map { NumberedPictures.number(of: $0) } == numbers)
        #expect(try Written.frameTimes(file.path).compactMap(Double.init) == (0..<21).map { Double($0) / 25 })
        #expect(try file.probe("v:0", "stream=duration") == ["0.840000"])
    }

    @Test func imagesOfGapsAreBlackButNotAsLayers() throws {
        let folder = try TemporaryFolder()
        let (composition, id, numbers) = try composition(in: folder)
        let asset = Asset(composition: composition)
        let generator = ImageGenerator(asset: asset)
        for tolerance in [MediaTime.zero, .positiveInfinity] {
            generator.configuration.requestedTimeToleranceBefore = tolerance
            generator.configuration.requestedTimeToleranceAfter = tolerance
            for (index, number) in numbers.enumerated() where number == 0 {
                let image = try generator.generateNow(at: time(Int64(index) * 2 + 1, 50))
                #expect(image.actualTime == time(Int64(index)) && image.duration == time(1))
                let black = try Bitmap(width: Numbered.size.width, height: Numbered.size.height, filledWith: .black)
                #expect(image.image.bytes == black.bytes)
            }
            #expect(try generator.generateNow(at: time(21)).actualTime == time(20))
        }
        // A layer is transparent in its gaps.
        var instruction = VideoComposition.Instruction(timeRange: range(0, 21), layers: [.init(trackID: id)])
        instruction.backgroundColor = Color(red: 255, green: 0, blue: 0)
        generator.videoComposition = VideoComposition(
            renderSize: Numbered.size, frameDuration: time(1), instructions: [instruction])
        for (index, number) in numbers.enumerated() {
            let pixel = try generator.generateNow(at: time(Int64(index))).image[40, 20]
            #expect((pixel == Color(red: 255, green: 0, blue: 0)) == (number == 0))
        }
    }
}
