internal import AssetKit
internal import MediaAnalysis

extension Check {
    static let freeze = Check(
        runs: "freeze",
        "mean difference over all planes from the frame that stays, as `freezedetect`",
        of: .video, threshold: 0.001, seconds: 2,
        example: Example("minDuration: 0.5", passes: "qc-moving.mkv", fails: "qc-still.mkv"),
        measurement: FreezeMeasurement.self)
}

private struct FreezeMeasurement: VideoMeasurement {
    private let parameters: [QCRunParameters]
    private var detectors: [FreezeDetector]
    /// The frame at which the video last moved, for each set of parameters.
    private var references: [PixelBuffer?]
    private var isSame: [Bool]

    init(_ request: QCRequest, timescale: Int32) {
        parameters = request.parameters(of: .freeze)
        detectors = parameters.map { FreezeDetector(minimum: $0.minimum(unitsPerSecond: Double(timescale))) }
        references = parameters.map { _ in nil }
        isSame = parameters.map { _ in false }
    }

    mutating func measure(_ frame: VideoFrame) {
        for (index, parameters) in parameters.enumerated() {
            isSame[index] = references[index].map { frame.isSame(as: $0, within: parameters.threshold) } ?? false
            if !isSame[index] { references[index] = frame.pixels }
        }
    }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in detectors.indices { detectors[index].append(ticks: ticks, isSame: isSame[index]) }
    }

    mutating func finish(_ track: inout QCMeasurements.Track, _ clock: VideoClock) {
        track.runs += zip(parameters, detectors).map { clock.runs(.freeze, $0, $1.result) }
    }
}
