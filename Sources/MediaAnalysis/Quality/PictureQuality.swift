/// Rates a frame as a still picture for a video: is anything visible, and how sharp is it.
///
/// Intended for comparing frames of one video at the same size; the numbers have no absolute meaning.
package struct PictureQuality: Sendable, Hashable {
    /// True if the frame is nearly black: at least 98 % of its pixels are 32 of 255 or darker, as in ffmpeg's filter
    /// `blackframe`.
    package let isBlack: Bool
    /// The mean square of the Laplacian, which is the difference between a pixel and its four neighbours.
    ///
    /// Blur and fades lower it; a frame of a single colour has 0.
    package let sharpness: Double

    /// Measures a frame.
    ///
    /// - Parameters:
    ///   - luma: The pixels in rows from the top, `width · height` of them. A frame with fewer pixels, or with a side
    ///     below 3, has a sharpness of 0.
    ///   - width: The number of pixels per row.
    ///   - height: The number of rows.
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

    /// Returns true if this frame is better: it is not black while the other is, or else it is sharper.
    package func isBetter(than other: PictureQuality) -> Bool {
        isBlack == other.isBlack ? sharpness > other.sharpness : !isBlack
    }
}

/// Detects cuts between shots from a small luma picture of every frame.
///
/// The measure is that of ffmpeg's filter `scdet`: the mean absolute difference from the previous frame, in per cent of
/// 256, or the change of that difference since the previous frame, whichever is smaller. Steady motion and noise have
/// similar differences from frame to frame and therefore score low, while a cut stands out. A flash counts as two cuts.
package struct SceneDetector: Sendable {
    /// The score from which a frame starts a shot, as in `scdet`.
    package static let standardThreshold = 10.0

    private var previous: [UInt8] = []
    private var previousDifference = 0.0

    /// Creates a detector without frames.
    package init() {}

    /// Returns the score of the next frame in presentation order, 0…100, which grows with its difference from earlier
    /// frames.
    ///
    /// - Parameter luma: All pixels of the frame, the same number each time. For the first frame, and if the number
    ///   changes, the score is 0.
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
