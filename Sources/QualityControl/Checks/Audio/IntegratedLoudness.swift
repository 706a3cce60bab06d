extension Check {
    static let integratedLoudness = Check(
        "loudness.integrated",
        "ITU-R BS.1770-5: K-weighted, 400 ms blocks overlapping by 75 %, gates at −70 LUFS and −10 LU",
        unit: "LUFS", of: .audio,
        example: Example("min: -23.5, max: -22.5", passes: "qc-tone.wav", fails: "qc-steps.wav"),
        verdict: .audio { .level($0.integratedLoudness) })
}
