import AssetKit
import Testing

/// Values that are set at times and change linearly over ranges; the expected ones are worked out by hand.
@Suite struct RampTests {
    private func time(_ tenths: Int64) -> MediaTime { MediaTime(value: tenths, timescale: 10) }
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: time(start), end: time(end))
    }

    private let layer = VideoComposition.Layer(trackID: 1)

    @Test func aValueHoldsUntilItIsSetAgain() throws {
        var opacity = layer.opacity
        try opacity.set(0.5, at: time(10))
        try opacity.setRamp(from: 0, to: 1, timeRange: range(20, 40))
        try opacity.set(0.25, at: time(50))
        for (tenths, wanted) in [
            (0, 1), (9, 1), (10, 0.5), (19, 0.5), (20, 0), (25, 0.25), (39, 0.95), (40, 1), (49, 1), (50, 0.25),
            (99, 0.25),
        ] as [(Int64, Float)] {
            #expect(opacity.value(at: time(tenths)) == wanted, "at \(tenths) tenths")
        }
    }

    @Test func eachNumberChangesLinearly() throws {
        var transform = layer.transform
        try transform.setRamp(
            from: .identity, to: PictureTransform(a: 3, b: 4, c: -4, d: 5, tx: 6, ty: 8), timeRange: range(0, 20))
        #expect(
            transform.value(at: time(10)) == PictureTransform(a: 2, b: 2, c: -2, d: 3, tx: 3, ty: 4))
        var crop = layer.cropRectangle
        try crop.setRamp(
            from: PictureRectangle(x: 0, y: 2, width: 4, height: 8),
            to: PictureRectangle(x: 4, y: 0, width: 0, height: 4), timeRange: range(0, 40))
        #expect(crop.value(at: time(10)) == PictureRectangle(x: 1, y: 1.5, width: 3, height: 7))
    }

    @Test func theSameTimeOrRangeReplacesTheEarlierValue() throws {
        var opacity = layer.opacity
        try opacity.set(0.5, at: time(10))
        try opacity.set(0.75, at: time(10))
        try opacity.setRamp(from: 0, to: 1, timeRange: range(20, 40))
        try opacity.setRamp(from: 1, to: 0, timeRange: range(20, 40))
        #expect(opacity.value(at: time(15)) == 0.75 && opacity.value(at: time(25)) == 0.75)
    }

    /// Limits of the value, and overlaps.
    @Test func whatIsRefused() throws {
        func code(_ body: () throws -> Void) -> MediaError.Code? {
            do { try body() } catch { return (error as? MediaError)?.code }
            return nil
        }
        var (volume, opacity) = (AudioMix.InputParameters(trackID: 1).volume, layer.opacity)
        var (transform, crop) = (layer.transform, layer.cropRectangle)
        try volume.set(20, at: .zero)
        #expect(code { try volume.set(-1, at: .zero) } == .invalidArgument)
        #expect(code { try volume.set(.infinity, at: .zero) } == .invalidArgument)
        #expect(code { try opacity.set(1.5, at: .zero) } == .invalidArgument)
        #expect(code { try opacity.set(.nan, at: .zero) } == .invalidArgument)
        #expect(code { try opacity.set(1, at: .positiveInfinity) } == .invalidArgument)
        #expect(code { try opacity.setRamp(from: 0, to: 1, timeRange: range(5, 5)) } == .invalidArgument)
        #expect(code { try transform.set(.scale(x: .nan, y: 1), at: .zero) } == .invalidArgument)
        let rectangle = PictureRectangle(x: 0, y: 0, width: -1, height: 1)
        #expect(code { try crop.set(rectangle, at: .zero) } == .invalidArgument)
        try opacity.setRamp(from: 0, to: 1, timeRange: range(10, 20))
        for overlap in [range(0, 11), range(15, 16), range(19, 30), range(5, 25)] {
            #expect(code { try opacity.setRamp(from: 0, to: 1, timeRange: overlap) } == .invalidArgument)
        }
        #expect(code { try opacity.set(1, at: time(15)) } == .invalidArgument)
        try opacity.setRamp(from: 1, to: 0, timeRange: range(20, 30))
    }
}
