internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// Measures a property of a track's video for one check, or for several that share it.
protocol VideoMeasurement: SendableMetatype {
    /// Makes a measurement with the parameters of a request.
    ///
    /// - Parameter timescale: The number of ticks per second.
    init(_ request: QCRequest, timescale: Int32)

    /// Measures the next frame, in presentation order.
    mutating func measure(_ frame: VideoFrame)

    /// Counts the frame measured last, once its duration is known.
    mutating func count(ticks: Int64, from start: Int64)

    /// Writes the results to a track.
    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock)
}

extension VideoMeasurement {
    mutating func count(ticks: Int64, from start: Int64) {}
}

/// Finds the runs of frames that meet a criterion, for each set of a check's parameters.
struct RunMeasurement {
    private let check: Check
    private let parameters: [QCRunParameters]
    private var finders: [RunFinder]
    private var holds: [Bool] = []

    init(_ check: Check, _ request: QCRequest, _ timescale: Int32) {
        self.check = check
        parameters = request.parameters(of: check)
        finders = parameters.map { RunFinder(minimum: $0.minimum(unitsPerSecond: Double(timescale))) }
    }

    mutating func measure(_ criterion: (QCRunParameters) -> Bool) { holds = parameters.map(criterion) }

    mutating func count(ticks: Int64) {
        for index in finders.indices { finders[index].append(count: ticks, holds: holds[index]) }
    }

    func runs(_ clock: VideoClock) -> [QCMeasurements.Runs] {
        zip(parameters, finders).map { clock.runs(check, $0, $1) }
    }
}

/// Converts ticks of a video track to times.
struct VideoClock {
    let timescale: Int32
    /// The time at which the first frame is shown, from which runs are counted.
    let first: Int64

    func time(_ ticks: Int64) -> MediaTime { MediaTime(value: ticks, timescale: timescale) }

    func range(_ ticks: Range<Int64>) -> QCMeasurements.Range {
        .init(start: time(ticks.lowerBound), end: time(ticks.upperBound))
    }

    func runs(_ check: Check, _ parameters: QCRunParameters, _ finder: RunFinder) -> QCMeasurements.Runs {
        func place(_ ticks: Int64) -> MediaTime { time(first.addingReportingOverflow(ticks).partialValue) }
        return QCMeasurements.Runs(
            check: check.id, threshold: parameters.threshold, minimumDuration: parameters.minimumSeconds,
            count: finder.count, total: time(finder.total),
            ranges: finder.runs.map { .init(start: place($0.lowerBound), end: place($0.upperBound)) })
    }
}

/// Measures the video of one track, frame by frame in presentation order.
///
/// Times are counted in ticks of the track's time scale. The duration of a frame is known once the next one arrives.
struct QCPictureMeter {
    private let timescale: Int32
    private var measurements: [any VideoMeasurement] = []
    private var first: Int64?
    private var pending: (start: Int64, end: Int64)?
    private var previous: PixelBuffer?
    private var count: Int64 = 0
    private var size: Dimensions?
    private var lastSize: Dimensions?
    private var sizeChanges: Int64 = 0

    init(_ request: QCRequest, timescale: Int32) {
        self.timescale = timescale
        var known: Set<ObjectIdentifier> = []
        for check in CheckRegistry.all where request.checks.contains(check) {
            guard let type = check.measurement, known.insert(ObjectIdentifier(type)).inserted else { continue }
            measurements.append(type.init(request, timescale: timescale))
        }
    }

    /// Measures the next frame; samples without a decoded frame are ignored.
    mutating func append(_ sample: SampleBuffer) throws(MediaError) {
        guard let pixels = sample.pixelBuffer,
            let start = sample.presentationTime.sampleIndex(rate: timescale, rounding: .halfAwayFromZero)
        else { return }
        let end = sample.timeRange.end.sampleIndex(rate: timescale, rounding: .halfAwayFromZero) ?? start
        countPending(until: start)
        let frame = try VideoFrame(pixels, start: start, previous: previous)
        for index in measurements.indices { measurements[index].measure(frame) }
        previous = frame.pixels
        if let lastSize, lastSize != pixels.dimensions { sizeChanges += 1 }
        lastSize = pixels.dimensions
        size = size ?? lastSize
        if first == nil { first = start }
        count += 1
        pending = (start, max(start, end))
    }

    private mutating func countPending(until end: Int64) {
        guard let start = pending?.start else { return }
        let ticks = max(0, end.subtractingReportingOverflow(start).partialValue)
        for index in measurements.indices { measurements[index].count(ticks: ticks, from: start) }
    }

    /// Finishes the track; returns `nil` if there were no frames.
    mutating func finish(trackIndex: Int) -> QCMeasurements.Track? {
        guard let first, let pending else { return nil }
        countPending(until: pending.end)
        let clock = VideoClock(timescale: timescale, first: first)
        var track = QCMeasurements.Track(trackIndex: trackIndex, runs: [])
        track.pictures = QCMeasurements.Pictures(
            count: count, start: clock.time(first), lastStart: clock.time(pending.start), end: clock.time(pending.end),
            size: size, sizeChanges: sizeChanges)
        for index in measurements.indices { measurements[index].finish(&track, clock) }
        return track
    }
}
