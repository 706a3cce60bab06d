import AssetKit
import TestSupport
import Testing

/// Overlays that move, grow and fade, and images as tracks, by their pixels; the expected ones are worked out by hand.
@Suite struct OverlayTests {
    private func time(_ value: Int64, _ scale: Int32 = 10) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private var whole: MediaTimeRange { MediaTimeRange(start: .zero, end: time(10)) }

    /// An asset of one second; its pictures are not shown, because no layer is theirs.
    private func asset(in folder: TemporaryFolder) throws -> Asset {
        let source = try Numbered("a.mp4", in: folder, source: 1, rate: "10", count: 10)
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        try composition.insertTimeRange(whole, of: source.track, in: source.asset, at: .zero, into: id)
        return Asset(composition: composition)
    }

    private func frames(
        in folder: TemporaryFolder, layers: [VideoComposition.Layer] = [],
        _ change: (inout VideoComposition) throws -> Void
    ) throws -> [PixelBuffer] {
        let asset = try asset(in: folder)
        var video = VideoComposition(
            renderSize: Dimensions(width: 96, height: 48), frameDuration: time(1),
            instructions: [.init(timeRange: whole, layers: layers)])
        try change(&video)
        let output = try VideoCompositionOutput(tracks: asset.loadNow(.tracks), videoComposition: video)
        let reader = try AssetReader(asset: asset)
        try reader.add(output)
        try reader.startReading()
        var pictures: [PixelBuffer] = []
        while let buffer = try output.nextSampleBuffer() { pictures.append(try #require(buffer.pixelBuffer)) }
        return pictures
    }

    /// The red values of a row.
    private func row(_ picture: PixelBuffer, _ y: Int) -> [UInt8] {
        let pixels = picture.packedPlane(0)
        return (0..<96).map { pixels[(y * 96 + $0) * 4] }
    }

    @Test func anOverlayMovesGrowsAndFadesIndependently() throws {
        let white = try Bitmap(width: 8, height: 8, filledWith: .white)
        let made = try frames(in: TemporaryFolder()) { video in
            var overlay = VideoComposition.Overlay(image: white, x: 4, y: 20)
            // 40 pixels to the right from the second frame to the seventh: 8 a frame.
            try overlay.offset.setRamp(
                from: .zero, to: PictureOffset(x: 40, y: 0), timeRange: MediaTimeRange(start: time(1), end: time(6)))
            // To twice the size from the sixth frame to the tenth: a quarter a frame.
            try overlay.scale.setRamp(from: 1, to: 2, timeRange: MediaTimeRange(start: time(5), end: time(9)))
            try overlay.opacity.setRamp(from: 1, to: 0, timeRange: MediaTimeRange(start: .zero, end: time(10)))
            video.overlays = [overlay]
        }
        #expect(made.count == 10)
        for (index, picture) in made.enumerated() {
            let moved = 8 * Double(min(max(index - 1, 0), 5))
            let scale = 1 + 0.25 * Double(min(max(index - 5, 0), 4))
            let left = 4 + moved - 4 * (scale - 1)
            let value = 255 * (1 - Double(index) / 10)
            for (y, isInside) in [(24, true), (20 - Int(4 * (scale - 1)) - 2, false)] {
                for (x, red) in row(picture, y).enumerated() {
                    // The part of the pixel that the overlay covers.
                    let part = max(0, min(Double(x) + 1, left + 8 * scale) - max(Double(x), left))
                    let wanted = isInside && part == 1 ? value : 0
                    guard part == 0 || part == 1 || !isInside else { continue }
                    #expect(abs(Double(red) - wanted) <= 1, "frame \(index), \(x), \(y)")
                }
            }
        }
    }

    /// A pattern of single pixels becomes grey in a quarter of its size, not black, white or stripes.
    @Test func overlaysAreScaledDownWithoutAliasing() throws {
        var pattern = try Bitmap(width: 64, height: 64, filledWith: .black)
        for y in 0..<64 { for x in 0..<64 where (x + y) % 2 == 0 { pattern[x, y] = .white } }
        let made = try frames(in: TemporaryFolder()) { video in
            var still = VideoComposition.Overlay(image: pattern)
            still.place = PictureRectangle(x: 4, y: 4, width: 16, height: 16)
            var shrinking = VideoComposition.Overlay(image: pattern, x: 24, y: -8)
            try shrinking.scale.setRamp(from: 0.25, to: 0.375, timeRange: whole)
            video.overlays = [still, shrinking]
        }
        for picture in made {
            for x in 6..<18 { #expect((120...136).contains(row(picture, 12)[x])) }
            for x in 50..<62 { #expect((120...136).contains(row(picture, 24)[x])) }
        }
    }

    @Test func anImageIsATrackOfItsOwn() throws {
        var image = try Bitmap(width: 16, height: 16, filledWith: .white)
        for y in 0..<16 { for x in 8..<16 { image[x, y] = .transparent } }
        var layer = VideoComposition.Layer(trackID: 100)
        try layer.transform.setRamp(
            from: .translation(x: 0, y: 8), to: .translation(x: 40, y: 8), timeRange: whole)
        var unknown = VideoComposition.Layer(trackID: 101)
        try unknown.opacity.set(0.5, at: .zero)
        let made = try frames(in: TemporaryFolder(), layers: [layer, unknown]) { $0.imageTracks = [100: image] }
        #expect(made.count == 10)
        for (index, picture) in made.enumerated() {
            let wanted = (0..<96).map { x -> UInt8 in (index * 4..<index * 4 + 8).contains(x) ? 255 : 0 }
            #expect(row(picture, 16) == wanted)
            #expect(row(picture, 4).allSatisfy { $0 == 0 })
        }
    }
}
