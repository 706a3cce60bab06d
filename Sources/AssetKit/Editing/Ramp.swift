public import MediaBase

/// A value that consists of numbers, each of which can change linearly.
public protocol Rampable: Sendable, Hashable {
    /// The numbers.
    var components: [Double] { get }
    /// Creates a value from as many numbers as ``components`` returns.
    init(components: [Double])
}

extension Float: Rampable {
    /// The number itself.
    public var components: [Double] { [Double(self)] }

    /// Creates the first of the numbers.
    public init(components: [Double]) { self.init(components.first ?? 0) }
}

/// A value over time, which is set at single times and changes linearly over time ranges.
///
/// ```swift
/// try parameters.volume.setRamp(from: 1, to: 0.2, timeRange: speech)
/// try layer.opacity.set(0.5, at: .zero)
/// ```
///
/// The value holds after each time at which it is set and after each ramp, until it is set again. Setting the same time
/// or the same range again replaces the earlier value.
public struct Ramp<Value: Rampable>: Sendable, Hashable {
    /// A ramp, or a single time if start and end are the same.
    private struct Step: Sendable, Hashable {
        var start: MediaTime
        var end: MediaTime
        var from: Value
        var to: Value
    }

    private var steps: [Step] = []
    /// The value before it is set for the first time.
    private let before: Value
    /// The name of the value in messages.
    private let name: String
    /// The allowed range of each number.
    private let limits: [ClosedRange<Double>]

    init(_ name: String, before: Value, limits: [ClosedRange<Double>]) {
        (self.name, self.before, self.limits) = (name, before, limits)
    }

    /// Sets the value from a time on, until the next time at which it is set.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a value that is not finite or outside its limits,
    ///   and for a time within a ramp.
    public mutating func set(_ value: Value, at time: MediaTime) throws(MediaError) {
        guard time.isNumeric else {
            throw MediaError(.invalidArgument, "\(time) is not a time at which a \(name) can be set")
        }
        try insert(Step(start: time, end: time, from: value, to: value))
    }

    /// Changes the value linearly over a time range; the end value holds until the next time at which it is set.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a value that is not finite or outside its limits,
    ///   for an empty range, and if another ramp or value lies within the range.
    public mutating func setRamp(from start: Value, to end: Value, timeRange: MediaTimeRange) throws(MediaError) {
        guard timeRange.isValid, !timeRange.isEmpty, timeRange.start.isNumeric, timeRange.end.isNumeric else {
            throw MediaError(.invalidArgument, "\(timeRange) is not a time range for a ramp of a \(name)")
        }
        try insert(Step(start: timeRange.start, end: timeRange.end, from: start, to: end))
    }

    private mutating func insert(_ step: Step) throws(MediaError) {
        for value in [step.from, step.to] {
            guard zip(value.components, limits).allSatisfy({ $0.isFinite && $1.contains($0) }) else {
                throw MediaError(.invalidArgument, "a \(name) of \(value) is outside its limits")
            }
        }
        let place = firstIndex { $0.start > step.start || ($0.start == step.start && $0.end >= step.end) }
        if place < steps.count, steps[place].start == step.start, steps[place].end == step.end {
            steps.remove(at: place)
        }
        let (previous, next) = (steps[..<place].last, place < steps.count ? steps[place] : nil)
        let clashes = [
            previous.flatMap { $0.end > step.start ? $0 : nil }, next.flatMap { $0.start < step.end ? $0 : nil },
        ]
        if let clash = clashes.compactMap(\.self).first {
            throw MediaError(
                .invalidArgument,
                "the \(name) is set twice between \(max(clash.start, step.start)) and "
                    + "\(min(clash.end, step.end)); ramps must not overlap")
        }
        steps.insert(step, at: place)
    }

    /// Returns the index of the first step after a boundary, by a test that holds from some step on.
    private func firstIndex(where isAfter: (Step) -> Bool) -> Int {
        var (low, high) = (0, steps.count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(steps[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Returns the value at a time.
    public func value(at time: MediaTime) -> Value {
        guard let step = steps[..<firstIndex { $0.start > time }].last else { return before }
        guard time < step.end else { return step.to }
        let part = Self.part(of: time, step)
        return Value(components: zip(step.from.components, step.to.components).map { $0 + ($1 - $0) * part })
    }

    /// Indicates whether no value was set.
    var isUnset: Bool { steps.isEmpty }

    private static func part(of time: MediaTime, _ step: Step) -> Double {
        (time - step.start).seconds / (step.end - step.start).seconds
    }
}

extension Ramp where Value == Float {
    /// A run of samples over which the value changes linearly.
    struct Run {
        var count: Int
        /// The value at the first sample, and the increment per sample.
        var first: Double
        var step: Double
    }

    /// Returns the value over samples `range` at `rate` per second, with sample n at n/rate.
    func runs(over range: Range<Int64>, rate: Int32) -> [Run] {
        var runs: [Run] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let time = MediaTime(value: place, timescale: rate)
            let next = firstIndex { $0.start > time }
            let ramp = next > 0 ? steps[next - 1] : nil
            var border = next < steps.count ? steps[next].start : MediaTime.positiveInfinity
            var (first, step) = (Double(ramp?.to ?? before), 0.0)
            if let ramp, time < ramp.end {
                border = min(border, ramp.end)
                step = Double(ramp.to - ramp.from) / ((ramp.end - ramp.start).seconds * Double(rate))
                first = Double(ramp.from) + Double(ramp.to - ramp.from) * Self.part(of: time, ramp)
            }
            let end = min(border.sampleIndex(rate: rate, rounding: .up) ?? range.upperBound, range.upperBound)
            runs.append(Run(count: Int(max(end, place + 1) - place), first: first, step: step))
            place = max(end, place + 1)
        }
        return runs
    }
}
