/// Finds repeated frames and gaps with a missing frame, from the difference between each frame and the previous one.
///
/// Frames are added in order, and durations are in ticks of the track's time base. A frame is classified only after
/// some later frames have arrived.
package struct FrameCadence: Sendable, Hashable {
    /// The frames that repeat the previous one while the frames around them move.
    package private(set) var repeats: RunFinder
    /// The frames that moved on too far while the frames around them move evenly.
    package private(set) var jumps: RunFinder

    private let stillness: Double
    private let jump: Double
    private var window: [Entry] = []
    /// The duration and number of repeated frames in the current still period.
    private var stillTicks: Int64 = 0
    private var stillPictures = 0
    /// The difference of the last frame that moved.
    private var lastMotion: Double?

    private struct Entry: Sendable, Hashable {
        let ticks: Int64
        let difference: Double?
    }

    /// The maximum number of consecutive repeats; more are a freeze.
    private static let maximumRepeats = 12
    /// The factor by which the difference of a moving frame must exceed the threshold.
    private static let motion = 4.0
    /// The maximum factor between the differences of evenly moving neighbours.
    private static let evenness = 1.35
    /// The factor of the neighbours' differences above which a difference is a cut.
    private static let cut = 4.0
    /// The minimum difference of frames that move evenly.
    private static let minimumMotion = 0.002

    /// Creates a finder.
    ///
    /// - Parameters:
    ///   - stillness: The maximum difference, as a fraction of full scale, at which frames are the same.
    ///   - jump: The factor of its neighbours' differences from which a frame has moved on too far.
    package init(stillness: Double, jump: Double) {
        repeats = RunFinder(minimum: 1)
        jumps = RunFinder(minimum: 1)
        self.stillness = stillness
        self.jump = jump
    }

    /// Adds the next frame.
    ///
    /// - Parameters:
    ///   - ticks: The duration of the frame.
    ///   - difference: The mean difference of its luma from the previous frame, as a fraction of full scale; `nil` if
    ///     it cannot be compared.
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
        // The last two frames do not have enough neighbours.
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

    /// True if the frame in the middle of the window moved on too far.
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

/// Collects frame durations, to show whether they are even and how many frames are missing.
///
/// Durations are in ticks of the track's time base. Times rounded to ticks differ by up to one, which counts as even.
/// Memory is bounded: beyond ``maximumLengths`` different durations, further ones are only noted as others.
package struct FrameIntervals: Sendable, Hashable {
    /// The maximum number of different durations that are counted.
    package static let maximumLengths = 4096

    private struct Length: Sendable, Hashable {
        var count: Int64 = 0
        let first: Int64
    }

    private var lengths: [Int64: Length] = [:]
    private var others = false

    /// Creates an object without frames.
    package init() {}

    /// Adds a frame that stays from `start` for `ticks`, until the next frame follows.
    package mutating func append(start: Int64, ticks: Int64) {
        guard lengths[ticks] != nil || lengths.count < Self.maximumLengths else {
            others = true
            return
        }
        lengths[ticks, default: Length(first: start)].count += 1
    }

    /// The usual duration of a frame; `nil` if there are fewer than two frames, or no duration applies to at least half
    /// of them.
    package var usual: Int64? {
        let all = lengths.values.reduce(0) { $0 + $1.count }
        return commonest.flatMap { !others && 2 * $0.count >= all ? $0.length : nil }
    }

    /// The duration that more frames have than any other, within one tick, and the number of those frames.
    private var commonest: (length: Int64, count: Int64)? {
        func weight(_ length: Int64) -> Int64 {
            (-1...1).reduce(0) { $0 + (lengths[length &+ Int64($1)]?.count ?? 0) }
        }
        return lengths.max { (weight($0.key), $0.value.count, $1.key) < (weight($1.key), $1.value.count, $0.key) }
            .map { ($0.key, weight($0.key)) }
    }

    /// True if the duration of some frame differs from the usual one by more than a tick; `nil` for fewer than two
    /// frames.
    package var isVariable: Bool? {
        commonest.map { common in others || lengths.keys.contains { abs($0 &- common.length) > 1 } }
    }

    /// The number of missing frames and the time range of the first gap.
    ///
    /// A frame that lasts 1.5 times the usual duration or longer leaves a gap. `nil` if there is no usual duration.
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
