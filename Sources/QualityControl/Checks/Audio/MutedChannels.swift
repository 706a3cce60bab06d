extension Check {
    static let mutedChannels = Check(
        "mutedChannels",
        "channels that never exceed −60 dBFS while others do; low-frequency effects excluded",
        of: .audio, standard: ValueTest(maximum: 0), example: Example(passes: "qc-tone.wav", fails: "qc-muted.wav"),
        verdict: .audio { sound in
            let muted = sound.channels.indices.filter {
                (sound.channels[$0].samplePeak ?? -.infinity) <= -60 && sound.channels[$0].weight > 0
            }
            let count = muted.count == sound.channels.count ? 0 : muted.count
            let names = muted.map { "\($0 + 1)" }.joined(separator: ", ")
            return .number(
                Double(count), 0, words: count == 0 ? "none" : "channel \(names) of \(sound.channels.count)")
        })
}
