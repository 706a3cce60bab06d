internal import MediaAnalysis

extension Check {
    static let letterboxRows = Check(
        "letterboxRows",
        "dark rows at the top and bottom edges, sampled in one frame per second",
        unit: "rows", of: .video, standard: QCTest(maximum: 0),
        example: Example(passes: "qc-moving.mkv", fails: "qc-letterbox.mkv"), measurement: BarsMeasurement.self,
        verdict: .video { $0.bars.map { .number(Double($0.top + $0.bottom), 0) } })
}

/// Measures the dark rows and columns that all frames have in common, in one frame a second.
struct BarsMeasurement: VideoMeasurement {
    private let timescale: Int32
    private var bars: PictureBars?
    private var next: Int64 = .min

    init(_ request: QCRequest, timescale: Int32) { self.timescale = timescale }

    mutating func measure(_ frame: VideoFrame) {
        guard frame.start >= next, let found = frame.bars else { return }
        bars = bars?.common(with: found) ?? found
        next = frame.start.addingReportingOverflow(Int64(timescale)).partialValue
    }

    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock) {
        track.pictures?.bars = bars.map { .init(top: $0.top, bottom: $0.bottom, left: $0.left, right: $0.right) }
    }
}
