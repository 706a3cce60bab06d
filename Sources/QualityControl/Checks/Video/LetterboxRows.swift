internal import MediaAnalysis

extension Check {
    static let letterboxRows = Check(
        "letterboxRows",
        "dark rows at the top and bottom edges, sampled in one frame per second",
        unit: "rows", of: .video, standard: ValueTest(maximum: 0),
        example: Example(passes: "qc-moving.mkv", fails: "qc-letterbox.mkv"), measurement: .bars,
        verdict: .video { $0.bars.map { .number(Double($0.top + $0.bottom), 0) } })
}

extension VideoMeasurer {
    /// Measures the bars for both letterbox checks.
    static let bars = VideoMeasurer(shared: "bars") { BarsMeasurement(timescale: $0.timescale) }
}

/// Measures the dark rows and columns that all frames have in common, in one frame a second.
private struct BarsMeasurement: VideoMeasurement {
    private let timescale: Int32
    private var bars: PictureBars?
    private var next: Int64 = .min

    init(timescale: Int32) { self.timescale = timescale }

    mutating func measure(_ frame: VideoFrame) {
        guard frame.start >= next, let found = frame.bars else { return }
        bars = bars?.common(with: found) ?? found
        next = frame.start.addingReportingOverflow(Int64(timescale)).partialValue
    }

    mutating func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        track.pictures?.bars = bars
    }
}
