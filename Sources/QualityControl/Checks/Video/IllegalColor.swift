extension Check {
    static let illegalColor = Check(
        runs: "illegalColor",
        "fraction of red, green or blue outside −5 % to 105 %, EBU R 103; on a grid of 128 by 72",
        of: .video, threshold: 0.01, example: Example(passes: "qc-moving.mkv", fails: "qc-illegal.mkv"),
        measurement: IllegalColorMeasurement.self)
}

private struct IllegalColorMeasurement: VideoMeasurement {
    private var runs: RunMeasurement
    private var highest: Double?

    init(_ request: QCRequest, timescale: Int32) { runs = RunMeasurement(.illegalColor, request, timescale) }

    mutating func measure(_ frame: VideoFrame) {
        let part = frame.illegalColor
        runs.measure { (part ?? 0) > $0.threshold }
        highest = [highest, part].compactMap(\.self).max()
    }

    mutating func count(ticks: Int64, from start: Int64) { runs.count(ticks: ticks) }

    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock) {
        track.pictures?.illegalColor = highest
        if highest != nil { track.runs += runs.runs(clock) }
    }
}
