internal import MediaAnalysis
internal import MediaBase

extension Check {
    static let duplicateFrames = Check(
        "duplicateFrames",
        "frames that are bit-identical to the one before",
        unit: "frames", of: .video, standard: ValueTest(maximum: 0),
        example: Example(passes: "qc-moving.mkv", fails: "qc-repeated.mkv"),
        measurement: VideoMeasurer { _ in DuplicateMeasurement() },
        verdict: .stored("duplicateFrames"))
}

private struct DuplicateMeasurement: VideoMeasurement {
    private var total: Int64 = 0
    private var isDuplicate = false
    /// The runs of frames identical to the preceding frame, with the number of frames.
    private var runs: [(start: Int64, end: Int64, count: Int64)] = []

    mutating func measure(_ frame: VideoFrame) {
        isDuplicate = frame.previous.map { frame.isSame(as: $0, within: 0) } ?? false
        if isDuplicate { total += 1 }
    }

    mutating func count(ticks: Int64, from start: Int64) {
        guard isDuplicate else { return }
        let end = start.addingClamped(ticks)
        if let last = runs.last, last.end == start {
            runs[runs.count - 1] = (last.start, end, last.count + 1)
        } else if runs.count < RunFinder.maximumRuns {
            runs.append((start, end, 1))
        }
    }

    func finish(_ track: inout Measurements.Track, _ clock: VideoClock) {
        track.pictures?.duplicates = total
        let places = runs.map { run in
            MeasuredValue.Place(
                range: clock.range(run.start..<run.end),
                text: run.count == total ? nil : "\(run.count) of \(total) frames")
        }
        track.values["duplicateFrames"] = .number(Double(total), 0, at: places)
    }
}
