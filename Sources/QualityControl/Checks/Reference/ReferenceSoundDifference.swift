extension Check {
    static let referenceSoundDifference = Check(
        "reference.soundDifference",
        "level of the difference once both are aligned, in dB relative to the reference's audio",
        unit: "dB", of: .referenceAudio,
        example: Example("max: -20", passes: "audio-only.mp4", fails: "qc-differs.mkv"),
        verdict: .reference { $0.sound.map { .number($0.difference ?? -.infinity, 1) } })
}
