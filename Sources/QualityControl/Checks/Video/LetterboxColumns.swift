internal import MediaAnalysis

extension Check {
    static let letterboxColumns = Check(
        "letterboxColumns",
        "dark columns at the sides, likewise",
        unit: "columns", of: .video, standard: ValueTest(maximum: 0),
        example: Example(passes: "qc-moving.mkv", fails: "qc-letterbox.mkv"), measurement: .bars,
        verdict: .video { $0.bars.map { .number(Double($0.left + $0.right), 0) } })
}
