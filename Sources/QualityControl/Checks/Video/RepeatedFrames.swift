internal import MediaAnalysis

extension Check {
    static let repeatedFrames = Check(
        runs: "repeatedFrames",
        "1 to 12 frames whose luma (one row in four) differs from the previous frame by at most the threshold, between others that change four times as much; more than 12 are a freeze",
        of: .video, threshold: 0.001, example: Example(passes: "qc-moving.mkv", fails: "qc-repeated.mkv"),
        measurement: .cadence({ FrameCadence(stillness: $0.threshold, jump: 2) }, { $0.repeats }))
}
