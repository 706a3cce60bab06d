extension Check {
    static let illegalLuma = Check(
        runs: "illegalLuma",
        "fraction of luma outside −1 % to 103 %, EBU R 103",
        of: .video, threshold: 0.01, example: Example(passes: "qc-moving.mkv", fails: "qc-illegal.mkv"),
        measurement: IllegalLumaMeasurement.self)
}

private struct IllegalLumaMeasurement: VideoMeasurement {
    private var runs: RunMeasurement
    private var highest: Double?

    init(_ request: QCRequest, timescale: Int32) { runs = RunMeasurement(.illegalLuma, request, timescale) }

    mutating func measure(_ frame: VideoFrame) {
        let part = frame.illegalLuma
        runs.measure { (part ?? 0) > $0.threshold }
        highest = [highest, part].compactMap(\.self).max()
    }

    mutating func count(ticks: Int64, from start: Int64) { runs.count(ticks: ticks) }

    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock) {
        track.pictures?.illegalLuma = highest
        if highest != nil { track.runs += runs.runs(clock) }
    }
}
