internal import MediaAnalysis

extension Check {
    static let droppedFrames = Check(
        runs: "droppedFrames",
        "a frame that differs from the previous one by this multiple of what its four neighbours do, if those move evenly (within 35 %); from 4 times on it is a cut",
        of: .video, threshold: 1.6, in: "times", example: Example(passes: "qc-moving.mkv", fails: "qc-dropped.mkv"),
        measurement: DroppedFramesMeasurement.self)
}

private struct DroppedFramesMeasurement: VideoMeasurement {
    private let parameters: [QCRunParameters]
    private var cadences: [FrameCadence]
    private var motion: Double?

    init(_ request: QCRequest, timescale: Int32) {
        parameters = request.parameters(of: .droppedFrames)
        cadences = parameters.map { FrameCadence(stillness: 0, jump: $0.threshold) }
    }

    mutating func measure(_ frame: VideoFrame) { motion = frame.motion }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in cadences.indices { cadences[index].append(ticks: ticks, difference: motion) }
    }

    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock) {
        for (index, parameters) in parameters.enumerated() {
            cadences[index].finish()
            track.runs.append(clock.runs(.droppedFrames, parameters, cadences[index].jumps))
        }
    }
}
