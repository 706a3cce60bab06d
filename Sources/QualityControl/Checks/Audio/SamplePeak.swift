extension Check {
    static let samplePeak = Check(
        "samplePeak",
        "the highest sample",
        unit: "dBFS", of: .audio, example: Example("max: -1", passes: "qc-tone.wav", fails: "pcm-s16-clipped.wav"),
        verdict: .audio { $0.highest(\.samplePeak, at: \.samplePeakRange) })
}
