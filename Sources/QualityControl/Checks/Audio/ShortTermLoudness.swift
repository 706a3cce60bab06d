extension Check {
    static let shortTermLoudness = Check(
        "loudness.shortTermMaximum",
        "EBU Tech 3341: the loudest 3 s; windows advance by 10 ms",
        unit: "LUFS", of: .audio, example: Example("max: -22", passes: "qc-tone.wav", fails: "qc-steps.wav"),
        verdict: .audio { .level($0.shortTermMaximum?.loudness, at: $0.shortTermMaximum?.range) })
}
