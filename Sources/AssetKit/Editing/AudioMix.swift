public import MediaBase

/// The volumes of several tracks that are mixed: `AVMutableAudioMix`.
///
/// ```swift
/// var parameters = AudioMix.InputParameters(track: music)
/// try parameters.setVolumeRamp(from: 1, to: 0.2, timeRange: speech)
/// output.audioMix = AudioMix([parameters])
/// ```
public struct AudioMix: Sendable, Hashable {
    /// The parameters of single tracks; tracks without parameters keep their volume.
    public var inputParameters: [InputParameters]

    /// Creates a mix from the parameters of single tracks.
    public init(_ inputParameters: [InputParameters] = []) { self.inputParameters = inputParameters }

    /// The volume of one track over time: `AVMutableAudioMixInputParameters`.
    ///
    /// Samples are multiplied by the volume; 1 keeps them unchanged.
    public struct InputParameters: Sendable, Hashable {
        /// The ID of the track: ``AssetTrack/id``.
        public let trackID: Int
        private var curve = RampCurve<Float>(before: 1)

        /// Creates parameters for a track at volume 1.
        public init(track: AssetTrack) { self.init(trackID: track.id) }

        /// Creates parameters for a track by its ID, at volume 1.
        public init(trackID: Int) { self.trackID = trackID }

        /// Sets the volume from a time on, until the next time at which it is set.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a volume that is negative or not finite, and
        ///   for a time within a ramp.
        public mutating func setVolume(_ volume: Float, at time: MediaTime) throws(MediaError) {
            try Self.check(volume)
            try curve.set(volume, at: time, what: "volume")
        }

        /// Ramps the volume linearly over a time range; the end value holds until the next time at which it is set.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a volume that is negative or not finite, for
        ///   an empty range, and if another ramp or volume lies within the range.
        public mutating func setVolumeRamp(
            from start: Float, to end: Float, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try curve.setRamp(from: start, to: end, in: timeRange, what: "volume")
        }

        /// Returns the volume at a time.
        public func volume(at time: MediaTime) -> Float { curve.value(at: time) }

        /// Returns the volume over samples `range`, in runs with linear change.
        func runs(over range: Range<Int64>, rate: Int32) -> [RampCurve<Float>.Run] {
            curve.runs(over: range, rate: rate)
        }

        private static func check(_ volume: Float) throws(MediaError) {
            guard volume.isFinite, volume >= 0 else {
                throw MediaError(.invalidArgument, "a volume of \(volume) makes no sense; give 0 or more")
            }
        }
    }
}

/// A value that can be interpolated.
protocol Rampable: Sendable, Hashable {
    /// Returns the value between this one and another: 0 returns this one, 1 the other.
    func mixed(with other: Self, _ part: Double) -> Self
}

extension Float: Rampable {
    func mixed(with other: Float, _ part: Double) -> Float {
        Float(Double(self) + (Double(other) - Double(self)) * part)
    }
}

/// A value over time, which is set at single times and ramps linearly over time ranges.
///
/// The value holds after each time it is set and after each ramp, until it is set again.
struct RampCurve<Value: Rampable>: Sendable, Hashable {
    /// A ramp, or a single time if start and end are the same.
    private struct Ramp: Sendable, Hashable {
        var start: MediaTime
        var end: MediaTime
        var from: Value
        var to: Value
    }

    private var ramps: [Ramp] = []
    /// The value before it is set for the first time.
    private let before: Value

    init(before: Value) { self.before = before }

    mutating func set(_ value: Value, at time: MediaTime, what: String) throws(MediaError) {
        try insert(Ramp(start: time, end: time, from: value, to: value), what)
    }

    mutating func setRamp(from: Value, to: Value, in range: MediaTimeRange, what: String) throws(MediaError) {
        guard range.isValid, !range.isEmpty, range.start.isNumeric, range.end.isNumeric else {
            throw MediaError(.invalidArgument, "\(range) is no time range for a ramp of \(what)")
        }
        try insert(Ramp(start: range.start, end: range.end, from: from, to: to), what)
    }

    private mutating func insert(_ ramp: Ramp, _ what: String) throws(MediaError) {
        guard ramp.start.isNumeric else {
            throw MediaError(.invalidArgument, "\(ramp.start) is no time to set a \(what) at")
        }
        // Setting the same time again replaces the earlier value.
        let place = firstIndex { $0.start > ramp.start || ($0.start == ramp.start && $0.end >= ramp.end) }
        if place < ramps.count, ramps[place].start == ramp.start, ramps[place].end == ramp.end {
            ramps.remove(at: place)
        }
        let (previous, next) = (ramps[..<place].last, place < ramps.count ? ramps[place] : nil)
        if let clash = [
            previous.flatMap { $0.end > ramp.start ? $0 : nil }, next.flatMap { $0.start < ramp.end ? $0 : nil },
        ]
        .compactMap({ $0 }).first {
            throw MediaError(
                .invalidArgument,
                "the \(what) is set twice between \(max(clash.start, ramp.start)) and "
                    + "\(min(clash.end, ramp.end)); ramps must not overlap")
        }
        ramps.insert(ramp, at: place)
    }

    /// Returns the index of the first ramp after a boundary, by a test that holds from some ramp on.
    private func firstIndex(where isBehind: (Ramp) -> Bool) -> Int {
        var (low, high) = (0, ramps.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(ramps[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    func value(at time: MediaTime) -> Value {
        guard let ramp = ramps[..<firstIndex { $0.start > time }].last else { return before }
        guard time < ramp.end else { return ramp.to }
        return ramp.from.mixed(with: ramp.to, Self.part(of: time, ramp))
    }

    private static func part(of time: MediaTime, _ ramp: Ramp) -> Double {
        (time - ramp.start).seconds / (ramp.end - ramp.start).seconds
    }
}

extension RampCurve where Value == Float {
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
            let ramp = next > 0 ? ramps[next - 1] : nil
            var border = next < ramps.count ? ramps[next].start : MediaTime.positiveInfinity
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
