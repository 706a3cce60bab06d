internal import MediaAnalysis
internal import MediaBase

/// Measures a property of a track's video for one check, or for several that share it.
protocol VideoMeasurement {
    /// Measures the next frame, in presentation order.
    mutating func measure(_ frame: VideoFrame)

    /// Counts the frame measured last, once its duration is known.
    mutating func count(ticks: Int64, from start: Int64)

    /// Writes the results to a track.
    mutating func finish(_ track: inout Measurements.Track, _ clock: VideoClock)
}

extension VideoMeasurement {
    mutating func count(ticks: Int64, from start: Int64) {}
}

/// Makes the measurement of video that a check needs.
struct VideoMeasurer: Sendable {
    /// The name under which several checks share one measurement; `nil` if only one check needs it.
    let sharedName: String?
    let make: @Sendable (Settings) -> any VideoMeasurement

    /// The settings of a measurement.
    struct Settings {
        /// The name of the check.
        let check: String
        /// The parameter sets of a check that finds runs.
        let parameters: [RunParameters]
        /// The number of ticks per second.
        let timescale: Int32
    }

    init(shared name: String? = nil, _ make: @escaping @Sendable (Settings) -> any VideoMeasurement) {
        sharedName = name
        self.make = make
    }

    /// Finds runs of frames that meet a criterion.
    static func runs(_ criterion: @escaping @Sendable (VideoFrame, RunParameters) -> Bool) -> VideoMeasurer {
        VideoMeasurer { RunMeasurement($0, criterion) }
    }

    /// Finds runs of frames of which a larger fraction than the threshold has a property.
    ///
    /// - Parameter store: Stores the largest fraction; `nil` if no frame has one.
    static func runs(
        of fraction: @escaping @Sendable (VideoFrame) -> Double?,
        store: @escaping @Sendable (inout Measurements.Track, Double?) -> Void
    ) -> VideoMeasurer {
        VideoMeasurer { FractionMeasurement($0, fraction, store) }
    }

    /// Finds frames that break the cadence of movement.
    ///
    /// - Parameter found: Returns the runs that the check is about.
    static func cadence(
        _ cadence: @escaping @Sendable (RunParameters) -> FrameCadence,
        _ found: @escaping @Sendable (FrameCadence) -> RunFinder
    ) -> VideoMeasurer {
        VideoMeasurer { CadenceMeasurement($0, cadence, found) }
    }
}

/// Finds the runs of frames that meet a criterion, for each set of a check's parameters.
private struct RunMeasurement: VideoMeasurement {
    private let settings: VideoMeasurer.Settings
    private let criterion: (VideoFrame, RunParameters) -> Bool
    private var finders: [RunFinder]
    private var holds: [Bool] = []

    init(_ settings: VideoMeasurer.Settings, _ criterion: @escaping (VideoFrame, RunParameters) -> Bool) {
        self.settings = settings
        self.criterion = criterion
        finders = settings.parameters.map { RunFinder(minimum: $0.minimum(unitsPerSecond: Double(settings.timescale))) }
    }

    mutating func measure(_ frame: VideoFrame) { holds = settings.parameters.map { criterion(frame, $0) } }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in finders.indices { finders[index].append(count: ticks, holds: holds[index]) }
    }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        track.runs += clock.runs(settings, finders)
    }
}

/// Finds the runs of frames of which too large a fraction has a property, and the largest fraction.
private struct FractionMeasurement: VideoMeasurement {
    private var runs: RunMeasurement
    private let fraction: (VideoFrame) -> Double?
    private let store: (inout Measurements.Track, Double?) -> Void
    private var highest: Double?

    init(
        _ settings: VideoMeasurer.Settings, _ fraction: @escaping (VideoFrame) -> Double?,
        _ store: @escaping (inout Measurements.Track, Double?) -> Void
    ) {
        self.fraction = fraction
        self.store = store
        runs = RunMeasurement(settings) { (fraction($0) ?? 0) > $1.threshold }
    }

    mutating func measure(_ frame: VideoFrame) {
        runs.measure(frame)
        highest = [highest, fraction(frame)].compactMap(\.self).max()
    }

    mutating func count(ticks: Int64, from start: Int64) { runs.count(ticks: ticks, from: start) }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        store(&track, highest)
        if highest != nil { runs.finish(&track, clock) }
    }
}

/// Finds the frames that break the cadence of movement, for each set of a check's parameters.
private struct CadenceMeasurement: VideoMeasurement {
    private let settings: VideoMeasurer.Settings
    private let found: (FrameCadence) -> RunFinder
    private var cadences: [FrameCadence]
    private var motion: Double?

    init(
        _ settings: VideoMeasurer.Settings, _ cadence: (RunParameters) -> FrameCadence,
        _ found: @escaping (FrameCadence) -> RunFinder
    ) {
        self.settings = settings
        self.found = found
        cadences = settings.parameters.map(cadence)
    }

    mutating func measure(_ frame: VideoFrame) { motion = frame.motion }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in cadences.indices { cadences[index].append(ticks: ticks, difference: motion) }
    }

    mutating func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        for index in cadences.indices { cadences[index].finish() }
        track.runs += clock.runs(settings, cadences.map(found))
    }
}

/// Converts ticks of a video track to times.
struct VideoClock {
    let timescale: Int32
    /// The time at which the first frame is shown, from which runs are counted.
    let first: Int64

    func time(_ ticks: Int64) -> MediaTime { MediaTime(value: ticks, timescale: timescale) }

    func range(_ ticks: Range<Int64>) -> Measurements.Range {
        .init(start: time(ticks.lowerBound), end: time(ticks.upperBound))
    }

    /// Returns the runs that were found with each parameter set of a check.
    func runs(_ settings: VideoMeasurer.Settings, _ finders: [RunFinder]) -> [Measurements.Runs] {
        func place(_ ticks: Int64) -> MediaTime { time(first.addingReportingOverflow(ticks).partialValue) }
        return zip(settings.parameters, finders).map { parameters, finder in
            Measurements.Runs(
                check: settings.check, threshold: parameters.threshold, minimumDuration: parameters.minimumSeconds,
                count: finder.count, total: time(finder.total),
                ranges: finder.runs.map { .init(start: place($0.lowerBound), end: place($0.upperBound)) })
        }
    }
}
