extension Check {
    static let dualMono = Check(
        "dualMono",
        "whether the channels of a pair differ by at most −80 dBFS",
        of: .audio, standard: ValueTest(equals: .bool(false)),
        example: Example(passes: "pcm-s16-stereo.wav", fails: "qc-tone.wav"),
        verdict: .audio { sound in
            guard !sound.pairs.isEmpty else { return nil }
            let isSame = sound.pairs.contains { pair in
                pair.highestDifference <= 0.0001 && sound.channels[pair.channels[0]].samplePeak != nil
            }
            return .bool(isSame, isSame ? "both channels are the same" : "channels differ")
        })
}
