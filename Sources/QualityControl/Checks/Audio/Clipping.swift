extension Check {
    static let clipping = Check(
        runs: "clipping",
        "consecutive samples at the largest code (1.0 in floating point), and flat tops of one value below it",
        of: .audio, threshold: 3, in: "samples", example: Example(passes: "qc-tone.wav", fails: "pcm-s16-clipped.wav"))
}
