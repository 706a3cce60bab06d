/// Finds pictures that are shown twice, and places where one is missing, by how much each picture differs from the one
/// before.
///
/// It takes pictures in order and counts in ticks of the track's time base. What a picture is, is known when some more
/// have come.
package struct FrameCadence: Sendable, Hashable {
    /// Pictures that repeat the one before, while those around them move.
    package private(set) var repeats: RunFinder
    /// Pictures that moved on too far, while those around them move evenly.
    package private(set) var jumps: RunFinder

    private let stillness: Double
    private let jump: Double
    private var window: [Entry] = []
    /// How long the pictures that repeat one stay so far, and how many they are.
    private var stillTicks: Int64 = 0
    private var stillPictures = 0
    /// The difference of the last picture that moved.
    private var lastMotion: Double?

    private struct Entry: Sendable, Hashable {
        let ticks: Int64
        let difference: Double?
    }

    /// Pictures in a row that repeat one; more of them are a freeze.
    private static let maximumRepeats = 12
    /// How many times as much as the threshold pictures differ that move.
    private static let motion = 4.0
    /// Evenly moving neighbours differ from each other by this factor at most.
    private static let evenness = 1.35
    /// Differences of so many times the neighbours' are cuts.
    private static let cut = 4.0
    /// The least difference of pictures that move evenly.
    private static let minimumMotion = 0.002

    /// - Parameters:
    ///   - stillness: Pictures that differ by this part of full scale at most are the same.
    ///   - jump: How many times as much as its neighbours a picture differs that moved on too far.
    package init(stillness: Double, jump: Double) {
        repeats = RunFinder(minimum: 1)
        jumps = RunFinder(minimum: 1)
        self.stillness = stillness
        self.jump = jump
    }

    /// Takes the next picture.
    ///
    /// - Parameters:
    ///   - ticks: How long it is shown.
    ///   - difference: The mean difference of its luma from the picture before, as a part of full scale; `nil` where it
    ///     cannot be compared.
    package mutating func append(ticks: Int64, difference: Double?) {
        let ticks = max(0, ticks)
        addToRepeats(ticks, difference)
        window.append(Entry(ticks: ticks, difference: difference))
        if window.count == 5 {
            jumps.append(count: window[2].ticks, holds: isJump)
            window.removeFirst()
        } else if window.count < 3 {
            jumps.append(count: ticks, holds: false)
        }
    }

    /// Ends the track.
    package mutating func finish() {
        endStillness(before: nil)
        // The last two have not enough neighbours.
        for entry in window.dropFirst(2) { jumps.append(count: entry.ticks, holds: false) }
        window = []
    }

    private mutating func addToRepeats(_ ticks: Int64, _ difference: Double?) {
        if let difference, difference <= stillness {
            let (sum, overflow) = stillTicks.addingReportingOverflow(ticks)
            stillTicks = overflow ? .max : sum
            stillPictures += 1
            return
        }
        endStillness(before: difference)
        lastMotion = difference
        repeats.append(count: ticks, holds: false)
    }

    private mutating func endStillness(before next: Double?) {
        guard stillPictures > 0 else { return }
        let least = Self.motion * stillness
        let isRepeat = stillPictures <= Self.maximumRepeats && min(lastMotion ?? 0, next ?? 0) > least
        repeats.append(count: stillTicks, holds: isRepeat)
        (stillTicks, stillPictures) = (0, 0)
    }

    /// Whether the picture in the middle of the window moved on too far.
    private var isJump: Bool {
        guard let here = window[2].difference else { return false }
        let around = [0, 1, 3, 4].compactMap { window[$0].difference }
        guard around.count == 4, let least = around.min(), let most = around.max(), least >= Self.minimumMotion,
            most <= Self.evenness * least
        else { return false }
        let mean = around.reduce(0, +) / 4
        return here >= jump * mean && here <= Self.cut * mean
    }
}

/// How long pictures stay on screen: whether evenly, and how many are missing.
///
/// It counts in ticks of the track's time base. Times that are rounded to ticks differ by one, which is even. Memory is
/// bounded: beyond ``maximumLengths`` different lengths, further ones are only known to be others.
package struct FrameIntervals: Sendable, Hashable {
    /// Different lengths that are counted.
    package static let maximumLengths = 4096

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
        guard lengths[ticks] != nil || lengths.count < Self.maximumLengths else {
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
