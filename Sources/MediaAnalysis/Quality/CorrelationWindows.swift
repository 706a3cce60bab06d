/// How alike the channels of each pair are in windows of three seconds, each of which begins a second after the one before.
///
/// A window in which a channel's root mean square is below -60 dBFS tells nothing: noise has no phase. Windows of parts
/// are joined by ``append(_:)``, where each part but the last is whole seconds long.
package struct CorrelationWindows: Sendable, Hashable {
    /// Sums over the samples of a pair.
    package struct Sums: Sendable, Hashable {
        var left = 0.0
        var right = 0.0
        var leftSquares = 0.0
        var rightSquares = 0.0
        var products = 0.0

        mutating func add(_ other: Sums) {
            left += other.left
            right += other.right
            leftSquares += other.leftSquares
            rightSquares += other.rightSquares
            products += other.products
        }

        /// The correlation coefficient of Pearson, without the offsets; `nil` where a channel is constant.
        func correlation(count: Double) -> Double? {
            let product = products - left * right / count
            let variances = (leftSquares - left * left / count, rightSquares - right * right / count)
            // What is left of rounding is not signal.
            guard variances.0 > leftSquares * 1e-9, variances.1 > rightSquares * 1e-9 else { return nil }
            return min(1, max(-1, product / (variances.0 * variances.1).squareRoot()))
        }
    }

    /// Seconds of a window.
    package static let length = 3
    /// Windows that are kept, of twelve days of sound; later ones are not looked at.
    private static let mostWindows = 1 << 20
    /// The mean square below which a channel is too quiet.
    private static let quiet = 1e-6

    /// Samples a second; 0 where no windows are wanted.
    package let second: Int
    /// The seconds that belong to no complete set of windows yet, the pairs of each in order.
    private var seconds: [[Sums]] = []
    /// The second under way, and how many samples of it came.
    private var current: [Sums]
    private var filled = 0
    private var found: [[Float]]
    /// Whether nothing comes before, so that windows need not wait for it.
    private let isFirst: Bool

    init(pairs: Int, second: Int, isFirst: Bool) {
        self.second = max(0, second)
        self.isFirst = isFirst
        current = Array(repeating: Sums(), count: pairs)
        found = Array(repeating: [], count: pairs)
    }

    /// How many samples fit into the second under way.
    var room: Int { second > 0 ? second - filled : .max }

    /// Adds to the second under way.
    mutating func add(_ sums: Sums, toPair pair: Int) {
        if second > 0 { current[pair].add(sums) }
    }

    /// Says how many samples were added to each pair, at most ``room``.
    mutating func advance(by frames: Int) {
        guard second > 0 else { return }
        filled += frames
        guard filled >= second else { return }
        seconds.append(current)
        current = Array(repeating: Sums(), count: current.count)
        filled = 0
        if isFirst, seconds.count > 64 { settle() }
    }

    /// Takes samples of silence; after as many seconds as there may be windows, time is all that passes.
    mutating func advance(bySilence frames: Int64) {
        let most = Int64(Self.mostWindows + Self.length) * Int64(second)
        var left = frames <= most || second == 0 ? frames : most + (frames - most) % Int64(second)
        while left > 0, second > 0 {
            let step = min(left, Int64(room))
            advance(by: Int(step))
            left -= step
        }
    }

    /// Takes the windows of what comes next.
    mutating func append(_ next: CorrelationWindows) {
        guard next.second == second, next.current.count == current.count else { return }
        settle()
        if next.isFirst { found = next.found }
        seconds += next.seconds
        current = next.current
        filled = next.filled
        settle()
    }

    /// Makes windows of the seconds, of which the last two are kept for the windows to come.
    private mutating func settle() {
        guard seconds.count >= Self.length else { return }
        for start in 0...(seconds.count - Self.length) {
            for pair in found.indices where found[pair].count < Self.mostWindows {
                var sums = seconds[start][pair]
                for offset in 1..<Self.length { sums.add(seconds[start + offset][pair]) }
                let count = Double(second * Self.length)
                let isQuiet = min(sums.leftSquares, sums.rightSquares) < count * Self.quiet
                found[pair].append(isQuiet ? .nan : sums.correlation(count: count).map { Float($0) } ?? .nan)
            }
        }
        seconds.removeFirst(seconds.count - Self.length + 1)
    }

    /// The correlation of a pair in each window, the first of which begins at zero; not a number where it tells nothing.
    package func correlations(pair: Int) -> [Float] {
        var copy = self
        copy.settle()
        return copy.found.indices.contains(pair) ? copy.found[pair] : []
    }
}
