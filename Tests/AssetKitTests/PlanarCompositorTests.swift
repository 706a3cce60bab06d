import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import AssetKit

/// Frames that are mixed as luma and chroma, held against the same ones mixed as red, green and blue.
@Suite struct PlanarCompositorTests {
    private static let size = Dimensions(width: 128, height: 96)

    private func source(_ name: String, in folder: TemporaryFolder, luma: String, chroma: String) throws -> Asset {
        let path = folder.path(name)
        let tags = FFmpeg.colorTags(
            after: "format=yuv420p,geq=lum='\(luma)':cb='\(chroma)':cr='256-(\(chroma))'", matrix: "bt709",
            primaries: "bt709", transfer: "bt709", range: "tv")
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "color=c=black:s=\(Self.size):r=25:d=1", "-c:v", "libx264", "-qp", "0"] + tags
                + [path])
        return Asset(path: FilePath(path))
    }

    private func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 25) }

    /// The planes of each frame, asked for as luma and chroma or by way of red, green and blue.
    private func planes(_ frames: VideoComposition, of asset: Asset, planar: Bool) throws -> [[[UInt8]]] {
        let output = try VideoCompositionOutput(
            tracks: asset.loadNow(.tracks), videoSettings: planar ? VideoSettings(pixelFormat: .yuv420p) : nil,
            videoComposition: frames)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        var all: [[[UInt8]]] = []
        while let picture = try output.nextSampleBuffer()?.pixelBuffer {
            #expect(picture.pixelFormat == (planar ? .yuv420p : .rgba))
            let converted = try picture.converted(to: .yuv420p)
            all.append((0..<3).map { converted.packedPlane($0) })
        }
        return all
    }

    @Test func bothWaysGiveTheSame() throws {
        let folder = try TemporaryFolder()
        let first = try source("a.mp4", in: folder, luma: "60+X", chroma: "100+Y/2")
        let second = try source("b.mp4", in: folder, luma: "200-Y", chroma: "140-X/4")
        var composition = Composition()
        for asset in [first, second] {
            let id = try composition.addTrack(mediaType: .video)
            try composition.insertTimeRange(
                MediaTimeRange(start: .zero, duration: time(25)), of: Media.track(asset, .video), in: asset, at: .zero,
                into: id)
        }
        let asset = Asset(composition: composition)
        let whole = MediaTimeRange(start: .zero, duration: time(25))
        var front = VideoComposition.Layer(trackID: 2)
        try front.opacity.setRamp(from: 0, to: 1, timeRange: MediaTimeRange(start: time(5), end: time(15)))
        try front.opacity.setRamp(from: 1, to: 0, timeRange: MediaTimeRange(start: time(18), end: time(22)))
        var back = VideoComposition.Layer(trackID: 1)
        try back.opacity.setRamp(from: 1, to: 0, timeRange: MediaTimeRange(start: time(22), end: time(25)))
        var frames = VideoComposition(
            renderSize: Self.size, frameDuration: time(1),
            instructions: [.init(timeRange: whole, layers: [front, back])])
        var image = try Bitmap(width: 31, height: 17, filledWith: Color(red: 220, green: 120, blue: 40, alpha: 150))
        image = try Bitmap(width: 31, height: 17, bytes: image.bytes)
        var mark = VideoComposition.Overlay(image: image, x: 101, y: 9)
        mark.timeRange = MediaTimeRange(start: time(3), end: time(20))
        mark.fadeIn = time(4)
        frames.overlays = [mark, VideoComposition.Overlay(image: image, x: -7, y: 85)]
        let (found, wanted) = (
            try planes(frames, of: asset, planar: true), try planes(frames, of: asset, planar: false)
        )
        #expect(found.count == 25 && wanted.count == 25)
        for (frame, (one, other)) in zip(found, wanted).enumerated() {
            for plane in 0..<3 {
                let differences = zip(one[plane], other[plane]).map { abs(Int($0) - Int($1)) }
                // Chroma at the overlay's edges is of half the size in the one, and scaled to that in the other.
                let far = differences.count { $0 > (plane == 0 ? 2 : 4) }
                #expect(far <= (plane == 0 ? 0 : 130), "frame \(frame), plane \(plane): \(far) samples differ")
                #expect(differences.max() ?? 0 < (plane == 0 ? 3 : 60))
            }
        }
    }

    @Test func whatDoesNotFillTheFrameGoesTheOtherWay() throws {
        let folder = try TemporaryFolder()
        let asset = try source("a.mp4", in: folder, luma: "200", chroma: "128")
        var layer = VideoComposition.Layer(track: try Media.track(asset, .video))
        try layer.transform.set(.scale(x: 0.5, y: 1), at: .zero)
        let whole = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        let frames = VideoComposition(
            renderSize: Self.size, frameDuration: time(1), instructions: [.init(timeRange: whole, layers: [layer])])
        let luma = try #require(try planes(frames, of: asset, planar: true).first?.first)
        #expect(luma[10] > 195 && luma[100] < 20)
    }
}
