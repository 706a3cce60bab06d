extension Check {
    static let lengthDifference = Check(
        "lengthDifference",
        "seconds from the end of the track that ends first to the end of the one that ends last",
        unit: "s", of: .file, standard: ValueTest(maximum: 0.1),
        example: Example(passes: "av.mp4", fails: "qc-short-sound.mkv"), verdict: .difference(\.duration, \.end))
}
