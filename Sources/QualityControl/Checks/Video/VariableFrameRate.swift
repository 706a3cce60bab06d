extension Check {
    static let variableFrameRate = Check(
        "variableFrameRate",
        "by timestamps: whether frame durations differ from the usual one by more than a tick",
        of: .video, standard: ValueTest(equals: .bool(false)), example: Example(passes: "av.mp4", fails: "vfr.mp4"),
        measurement: .frameTiming,
        verdict: .video { $0.isVariable.map { .bool($0, $0 ? "variable" : "constant") } })
}
