extension Check {
    static let referenceUnpairedFrames = Check(
        "reference.unpairedFrames",
        "frames of either file without a counterpart shown at the same time",
        unit: "frames", of: .referenceVideo, standard: ValueTest(maximum: 0),
        example: Example(passes: "h264-aac.mkv", fails: "qc-differs.mkv"),
        verdict: .reference { $0.pictures.map { .number(Double($0.unpaired), 0) } })
}
