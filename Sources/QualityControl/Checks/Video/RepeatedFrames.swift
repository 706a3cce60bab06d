internal import MediaAnalysis

extension Check {
    static let repeatedFrames = Check(
        runs: "repeatedFrames",
        "1 to 12 frames whose luma (one row in four) differs from the previous frame by at most the threshold, between others that change four times as much; more than 12 are a freeze",
        of: .video, threshold: 0.001, example: Example(passes: "qc-moving.mkv", fails: "qc-repeated.mkv"),
        measurement: RepeatedFramesMeasurement.self)
}

private struct RepeatedFramesMeasurement: VideoMeasurement {
    private let parameters: [QCRunParameters]
    private var cadences: [FrameCadence]
    private var motion: Double?

    init(_ request: QCRequest, timescale: Int32) {
        parameters = request.parameters(of: .repeatedFrames)
        cadences = parameters.map { FrameCadence(stillness: $0.threshold, jump: 2) }
    }

    mutating func measure(_ frame: VideoFrame) { motion = frame.motion }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in cadences.indices { cadences[index].append(ticks: ticks, difference: motion) }
    }

    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock) {
        for (index, parameters) in parameters.enumerated() {
            cadences[index].finish()
            track.runs.append(clock.runs(.repeatedFrames, parameters, cadences[index].repeats))
        }
    }
}
