extension Check {
    static let silence = Check(
        runs: "silence",
        "all channels below the threshold, as ffmpeg's `silencedetect`",
        of: .audio, threshold: -60, in: "dBFS", seconds: 2,
        example: Example("minDuration: 0.4", passes: "qc-tone.wav", fails: "pcm-s16-silent.wav"))
}
