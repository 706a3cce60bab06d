extension Check {
    static let illegalColor = Check(
        runs: "illegalColor",
        "fraction of red, green or blue outside −5 % to 105 %, EBU R 103; on a grid of 128 by 72",
        of: .video, threshold: 0.01, example: Example(passes: "qc-moving.mkv", fails: "qc-illegal.mkv"),
        measurement: .runs(of: { $0.illegalColor }, store: { $0.pictures?.illegalColor = $1 }))
}
