extension Check {
    static let dcOffset = Check(
        "dcOffset",
        "the largest mean of a channel's samples, relative to full scale 1",
        of: .audio, example: Example("max: 0.01", passes: "qc-tone.wav", fails: "qc-offset.wav"),
        verdict: .audio { $0.channels.map { abs($0.dcOffset) }.max().map { .number($0, 5) } })
}
