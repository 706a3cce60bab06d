/// How good a picture is to show a video by: whether anything is to be seen, and how sharply.
///
/// Meant for comparing pictures of one video and one size; the numbers mean nothing by themselves.
package struct PictureQuality: Sendable, Hashable {
    /// Whether hardly anything is lit: at least 98 % of the pixels are at 32 of 255 or darker, as in ffmpeg's filter
    /// `blackframe`.
    package let isBlack: Bool
    /// The mean square of the Laplacian: how much a pixel differs from its four neighbours.
    ///
    /// Blur and fades lower it, one colour all over is 0.
    package let sharpness: Double

    /// Measures a picture.
    ///
    /// - Parameters:
    ///   - luma: Pixels in rows from the top, `width · height` of them; a picture that has fewer, or a side below 3, has
    ///     no sharpness.
    ///   - width: Pixels a row.
    ///   - height: Rows.
    package init(luma: Span<UInt8>, width: Int, height: Int) {
        var dark = 0
        for index in luma.indices where luma[index] <= 32 { dark &+= 1 }
        isBlack = dark * 100 >= luma.count * 98
        guard width >= 3, height >= 3, case let (count, overflow) = width.multipliedReportingOverflow(by: height),
            !overflow, count <= luma.count
        else {
            sharpness = 0
            return
        }
        var sum = 0
        for row in 1..<height - 1 {
            let (above, here, below) = ((row - 1) * width, row * width, (row + 1) * width)
            for x in 1..<width - 1 {
                let sides = Int(luma[here &+ x &- 1]) &+ Int(luma[here &+ x &+ 1])
                let ends = Int(luma[above &+ x]) &+ Int(luma[below &+ x])
                let laplacian = 4 &* Int(luma[here &+ x]) &- sides &- ends
                sum &+= laplacian &* laplacian
            }
        }
        sharpness = Double(sum) / Double((width - 2) * (height - 2))
    }

    /// Whether this picture is the better one: not black where the other is, else sharper.
    package func isBetter(than other: PictureQuality) -> Bool {
        isBlack == other.isBlack ? sharpness > other.sharpness : !isBlack
    }
}

/// Tells where one shot is cut to the next, from a small luma picture of every frame.
///
/// The measure is that of ffmpeg's filter `scdet`: the mean absolute difference from the frame before, in per cent of
/// 256, or by how much that differs from the same measure one frame earlier, whichever is less. So steady movement and
/// noise, whose differences are alike from frame to frame, count little, and a cut stands out. A flash counts as two cuts.
package struct SceneDetector: Sendable {
    /// From which score on a frame begins a shot, as `scdet` has it.
    package static let standardThreshold = 10.0

    private var previous: [UInt8] = []
    private var previousDifference = 0.0

    /// Begins before the first frame.
    package init() {}

    /// How much the next frame in presentation order differs from all that came before, 0…100.
    ///
    /// - Parameter luma: All pixels of the frame, as many as every time; where they are not, and for the first frame,
    ///   the score is 0.
    package mutating func score(of luma: Span<UInt8>) -> Double {
        let count = luma.count
        guard count > 0, previous.count == count else {
            previous = Self.copy(of: luma)
            previousDifference = 0
            return 0
        }
        var sum = 0
        do {
            let before = previous.span
            for index in 0..<count {
                let (new, old) = (luma[index], before[index])
                sum &+= Int(new > old ? new &- old : old &- new)
            }
        }
        previous = Self.copy(of: luma)
        let difference = Double(sum) * 100 / Double(count) / 256
        let change = abs(difference - previousDifference)
        previousDifference = difference
        return min(max(min(difference, change), 0), 100)
    }

    private static func copy(of luma: Span<UInt8>) -> [UInt8] {
        var copy = [UInt8](repeating: 0, count: luma.count)
        for index in luma.indices { copy[index] = luma[index] }
        return copy
    }
}
