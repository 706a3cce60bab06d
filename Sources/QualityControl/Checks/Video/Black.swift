internal import MediaAnalysis

extension Check {
    static let black = Check(
        runs: "black",
        "98 % of luma within the threshold's fraction of the way from black to white, as `blackdetect`",
        of: .video, threshold: 0.1, seconds: 2,
        example: Example("minDuration: 0.5", passes: "av.mp4", fails: "black-blurred-sharp.mp4"),
        measurement: BlackMeasurement.self)
}

private struct BlackMeasurement: VideoMeasurement {
    private var black: RunMeasurement

    init(_ request: QCRequest, timescale: Int32) { black = RunMeasurement(.black, request, timescale) }

    mutating func measure(_ frame: VideoFrame) {
        black.measure { frame.isBlack(threshold: $0.threshold) }
    }

    mutating func count(ticks: Int64, from start: Int64) { black.count(ticks: ticks) }

    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock) { track.runs += black.runs(clock) }
}
