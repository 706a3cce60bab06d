internal import AssetKit
internal import MediaBase

/// Measures the video of one track, frame by frame in presentation order.
///
/// Times are counted in ticks of the track's time scale. The duration of a frame is known once the next one arrives.
struct VideoMeter {
    private let timescale: Int32
    private var measurements: [any VideoMeasurement] = []
    private var first: Int64?
    private var pending: (start: Int64, end: Int64)?
    private var previous: PixelBuffer?
    private var count: Int64 = 0
    private var size: Dimensions?
    private var lastSize: Dimensions?
    private var sizeChanges: Int64 = 0

    init(_ request: MeasurementRequest, timescale: Int32) {
        self.timescale = timescale
        var known: Set<String> = []
        for check in request.orderedChecks {
            guard let measurer = check.measurement, known.insert(measurer.sharedName ?? check.id).inserted else {
                continue
            }
            let parameters = request.parameters(of: check)
            measurements.append(
                measurer.make(.init(check: check.id, parameters: parameters, timescale: timescale)))
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
    mutating func finish(trackIndex: Int) -> Measurements.Track? {
        guard let first, let pending else { return nil }
        countPending(until: pending.end)
        let clock = VideoClock(timescale: timescale, first: first)
        var track = Measurements.Track(trackIndex: trackIndex, runs: [])
        track.pictures = Measurements.Pictures(
            count: count, start: clock.time(first), lastStart: clock.time(pending.start), end: clock.time(pending.end),
            size: size, sizeChanges: sizeChanges)
        for index in measurements.indices { measurements[index].finish(&track, clock) }
        return track
    }
}
