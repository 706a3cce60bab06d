extension Check {
    static let momentaryLoudness = Check(
        "loudness.momentaryMaximum",
        "EBU Tech 3341: the loudest 400 ms; windows advance by 10 ms",
        unit: "LUFS", of: .audio, example: Example("max: -22", passes: "qc-tone.wav", fails: "qc-steps.wav"),
        verdict: .audio { .level($0.momentaryMaximum?.loudness, at: $0.momentaryMaximum?.range) })
}
