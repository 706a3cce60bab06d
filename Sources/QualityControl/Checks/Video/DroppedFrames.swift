internal import MediaAnalysis

extension Check {
    static let droppedFrames = Check(
        runs: "droppedFrames",
        "a frame that differs from the previous one by this multiple of what its four neighbours do, if those move evenly (within 35 %); from 4 times on it is a cut",
        of: .video, threshold: 1.6, in: "times", example: Example(passes: "qc-moving.mkv", fails: "qc-dropped.mkv"),
        measurement: .cadence({ FrameCadence(stillness: 0, jump: $0.threshold) }, { $0.jumps }))
}
