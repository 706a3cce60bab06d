/// How long pictures stay on screen: whether evenly, and how many are missing.
///
/// It counts in ticks of the track's time base. Times that are rounded to ticks differ by one, which is even. Memory is
/// bounded: beyond ``mostLengths`` different lengths, further ones are only known to be others.
package struct FrameIntervals: Sendable, Hashable {
    /// Different lengths that are counted.
    package static let mostLengths = 4096

    private struct Length: Sendable, Hashable {
        var count: Int64 = 0
        let first: Int64
    }

    private var lengths: [Int64: Length] = [:]
    private var others = false

    /// Begins without pictures.
    package init() {}

    /// Takes a picture that stays from `start` for so many ticks, until another one follows.
    package mutating func append(start: Int64, ticks: Int64) {
        guard lengths[ticks] != nil || lengths.count < Self.mostLengths else {
            others = true
            return
        }
        lengths[ticks, default: Length(first: start)].count += 1
    }

    /// How long most pictures stay; `nil` where there are not two, or no time is that of half of them.
    package var usual: Int64? {
        let all = lengths.values.reduce(0) { $0 + $1.count }
        return commonest.flatMap { !others && 2 * $0.count >= all ? $0.length : nil }
    }

    /// The time for which more pictures stay than for any other, give or take a tick, and how many they are.
    private var commonest: (length: Int64, count: Int64)? {
        func weight(_ length: Int64) -> Int64 {
            (-1...1).reduce(0) { $0 + (lengths[length &+ Int64($1)]?.count ?? 0) }
        }
        return lengths.max { (weight($0.key), $0.value.count, $1.key) < (weight($1.key), $1.value.count, $0.key) }
            .map { ($0.key, weight($0.key)) }
    }

    /// Whether some picture stays for another time than usual, by more than a tick; `nil` where there are not two pictures.
    package var isVariable: Bool? {
        commonest.map { common in others || lengths.keys.contains { abs($0 &- common.length) > 1 } }
    }

    /// How many pictures would fit where one stays for 1.5 times the usual time or longer, and where the first is missing.
    ///
    /// `nil` where no time is usual.
    package var missing: (count: Int64, first: Range<Int64>?)? {
        guard let usual, usual > 0 else { return nil }
        var count: Int64 = 0
        var first: Range<Int64>?
        for (length, entry) in lengths where length > usual {
            let times = (Double(length) / Double(usual)).rounded()
            guard Double(length) >= 1.5 * Double(usual), times >= 2, times < 0x1p40 else { continue }
            count = count.addingReportingOverflow((Int64(times) - 1) * min(entry.count, 1 << 20)).partialValue
            let (end, overflow) = entry.first.addingReportingOverflow(length)
            if !overflow, entry.first < first?.lowerBound ?? .max { first = entry.first..<end }
        }
        return (count, first)
    }
}
