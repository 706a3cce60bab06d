extension Check {
    static let illegalLuma = Check(
        runs: "illegalLuma",
        "fraction of luma outside −1 % to 103 %, EBU R 103",
        of: .video, threshold: 0.01, example: Example(passes: "qc-moving.mkv", fails: "qc-illegal.mkv"),
        measurement: .runs(of: { $0.illegalLuma }, store: { $0.pictures?.illegalLuma = $1 }))
}
