internal import MediaBase

extension Check {
    static let referenceSoundOffset = Check(
        "reference.soundOffset",
        "seconds by which the audio is later or earlier, by correlation of the first 40 s, up to 10 s",
        unit: "s", of: .referenceAudio,
        example: Example("max: 0.02", passes: "audio-only.mp4", fails: "qc-differs.mkv"),
        verdict: .reference {
            $0.sound.map {
                .number(
                    abs($0.offset?.seconds ?? .infinity), 4,
                    words: $0.offset == nil ? "not to be found, as the two are alike nowhere" : nil)
            }
        })
}
