internal import AssetKit
internal import MediaAnalysis

extension Check {
    static let freeze = Check(
        runs: "freeze",
        "mean difference over all planes from the frame that stays, as `freezedetect`, of two frames or more",
        of: .video, threshold: 0.001, seconds: 2,
        example: Example("minDuration: 0.5", passes: "qc-moving.mkv", fails: "qc-still.mkv"),
        measurement: VideoMeasurer { FreezeMeasurement($0) })
}

private struct FreezeMeasurement: VideoMeasurement {
    private let settings: VideoMeasurer.Settings
    private var detectors: [FreezeDetector]
    /// The frame at which the video last moved, for each set of parameters.
    private var references: [PixelBuffer?]
    private var isSame: [Bool]

    init(_ settings: VideoMeasurer.Settings) {
        self.settings = settings
        detectors = settings.parameters.map {
            FreezeDetector(minimum: $0.minimum(unitsPerSecond: Double(settings.timescale)))
        }
        references = Array(repeating: nil, count: detectors.count)
        isSame = Array(repeating: false, count: detectors.count)
    }

    mutating func measure(_ frame: VideoFrame) {
        for (index, parameters) in settings.parameters.enumerated() {
            isSame[index] = references[index].map { frame.isSame(as: $0, within: parameters.threshold) } ?? false
            if !isSame[index] { references[index] = frame.pixels }
        }
    }

    mutating func count(ticks: Int64, from start: Int64) {
        for index in detectors.indices { detectors[index].append(ticks: ticks, isSame: isSame[index]) }
    }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        track.runs += clock.runs(settings, detectors.map(\.result))
    }
}
