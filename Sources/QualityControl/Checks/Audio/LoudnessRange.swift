extension Check {
    static let loudnessRange = Check(
        "loudness.range",
        "EBU Tech 3342: 10th to 95th percentile of 3 s windows every 100 ms, gates at −70 LUFS and −20 LU",
        unit: "LU", of: .audio, example: Example("max: 5", passes: "qc-tone.wav", fails: "qc-steps.wav"),
        verdict: .audio { $0.loudnessRange.map { .number($0, 1) } })
}
