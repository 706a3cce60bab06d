extension Check {
    static let headerMismatches = Check(
        "headerMismatches",
        "properties that the container declares differently from the coded media: picture size, sample rate, channels, duration (by more than 0.1 s and two frames), frame rate (0.5 %), colours, fields",
        of: .file, standard: ValueTest(maximum: 0), example: Example(passes: "av.mp4", fails: "qc-header.mp4"),
        measurement: .frameTiming,
        verdict: Verdict { check, measurements, test in
            guard let found = measurements.headerMismatches, !measurements.tracks.isEmpty else {
                return .notApplicable("the file has neither sound nor pictures that can be decoded")
            }
            guard !test.holds(for: .number(Double(found.count))) else { return .passed }
            if found.isEmpty { return .failed([check.violation("0", test)]) }
            return .failed(
                found.map {
                    Violation(
                        subject: $0.what, measured: $0.media, wanted: "the container's \($0.container)",
                        trackIndex: $0.trackIndex)
                })
        })
}
