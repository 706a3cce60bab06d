import MediaBase
import Pictures

/// An overlay as luma and chroma of ITU-R BT.709, with a weight for each sample.
struct PlanarOverlay: Sendable {
    /// One plane of it.
    struct Plane: Sendable {
        /// Where it lies in the frame's plane.
        let (column, row): (Int, Int)
        let (width, height): (Int, Int)
        var samples: [UInt8]
        /// 65535 for opaque.
        var weights: [UInt16]
    }

    /// Luma and both chroma planes, those of half the size.
    let planes: [Plane]

    /// What of a picture lies in a frame of even sides; `nil` where nothing does.
    ///
    /// - Parameters:
    ///   - x: Its left edge in the frame.
    ///   - y: Its upper edge.
    init?(_ image: Bitmap, x: Int, y: Int, in size: Dimensions) {
        let (left, right) = (max(0, x), min(size.width, x + image.width))
        let (top, bottom) = (max(0, y), min(size.height, y + image.height))
        guard left < right, top < bottom else { return nil }
        var luma = Plane(left, top, right, bottom)
        // Chroma samples stand for squares of the frame, not of the overlay.
        var (blue, red) = (
            Plane(left / 2, top / 2, (right + 1) / 2, (bottom + 1) / 2),
            Plane(left / 2, top / 2, (right + 1) / 2, (bottom + 1) / 2)
        )
        var sums = [SIMD4<Float>](repeating: SIMD4(), count: blue.samples.count)
        let bytes = image.bytes.span
        for line in top..<bottom {
            for column in left..<right {
                let place = ((line - y) * image.width + column - x) * 4
                let (r, g, b) = (Float(bytes[place]), Float(bytes[place + 1]), Float(bytes[place + 2]))
                let alpha = bytes[place + 3]
                let value = 0.2126 * r + 0.7152 * g + 0.0722 * b
                let index = (line - top) * luma.width + column - left
                luma.samples[index] = Self.code(16 + value * 219 / 255)
                luma.weights[index] = UInt16(alpha) * 257
                let share = Float(alpha) / 255
                let chroma = SIMD4<Float>(
                    (b - value) / 1.8556 * share, (r - value) / 1.5748 * share, share, 0)
                sums[(line / 2 - blue.row) * blue.width + column / 2 - blue.column] += chroma
            }
        }
        for (index, sum) in sums.enumerated() where sum.z > 0 {
            blue.samples[index] = Self.code(128 + sum.x / sum.z * 224 / 255)
            red.samples[index] = Self.code(128 + sum.y / sum.z * 224 / 255)
            blue.weights[index] = UInt16(min(65535, sum.z / 4 * 65535))
            red.weights[index] = blue.weights[index]
        }
        planes = [luma, blue, red]
    }

    private static func code(_ value: Float) -> UInt8 { UInt8(min(255, max(0, value.rounded()))) }
}

extension PlanarOverlay.Plane {
    fileprivate init(_ left: Int, _ top: Int, _ right: Int, _ bottom: Int) {
        (column, row, width, height) = (left, top, right - left, bottom - top)
        samples = [UInt8](repeating: 0, count: width * height)
        weights = [UInt16](repeating: 0, count: width * height)
    }
}
