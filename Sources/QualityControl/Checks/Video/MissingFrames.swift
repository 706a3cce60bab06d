internal import MediaAnalysis

extension Check {
    static let missingFrames = Check(
        "missingFrames",
        "by timestamps: the number of frames that would fit where one stays at least 1.5 times as long as usual",
        unit: "frames", of: .video, standard: ValueTest(maximum: 0),
        example: Example(passes: "qc-moving.mkv", fails: "qc-missing.mkv"),
        missing: "the file has no pictures, or none that stay for a usual time",
        measurement: .frameTiming,
        verdict: .video { pictures in
            pictures.missing.map {
                .number(Double($0), 0, at: pictures.firstMissing.map { [.init(range: $0)] } ?? [])
            }
        })
}

extension VideoMeasurer {
    /// Measures the regularity of frames, for all checks that judge by time stamps.
    static let frameTiming = VideoMeasurer(shared: "frameTiming") { _ in FrameTimingMeasurement() }
}

/// Measures the durations of frames by their time stamps.
private struct FrameTimingMeasurement: VideoMeasurement {
    private var intervals = FrameIntervals()
    /// The last interval, which is dropped at the end: the duration of the last frame is only declared by the container.
    private var last: (start: Int64, ticks: Int64)?

    mutating func measure(_ frame: VideoFrame) {}

    mutating func count(ticks: Int64, from start: Int64) {
        if let last { intervals.append(start: last.start, ticks: last.ticks) }
        last = (start, ticks)
    }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        let missing = intervals.missing
        track.pictures?.usualDuration = intervals.usual.map(clock.time)
        track.pictures?.isVariable = intervals.isVariable
        track.pictures?.missing = missing?.count
        track.pictures?.firstMissing = missing?.first.map(clock.range)
    }
}
