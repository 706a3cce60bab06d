extension Check {
    static let channelSilence = Check(
        runs: "channelSilence",
        "one channel below the threshold",
        of: .audio, threshold: -60, in: "dBFS", seconds: 10,
        example: Example("minDuration: 0.4", passes: "qc-tone.wav", fails: "qc-muted.wav"))
}
