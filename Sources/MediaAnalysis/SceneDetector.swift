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
