extension Check {
    static let startDifference = Check(
        "startDifference",
        "seconds from the start of the track that starts first to the start of the one that starts last",
        unit: "s", of: .file, standard: ValueTest(maximum: 0.1),
        example: Example(passes: "av.mp4", fails: "late-audio.mp4"), verdict: .difference(\.start, \.start))
}
