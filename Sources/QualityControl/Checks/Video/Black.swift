extension Check {
    static let black = Check(
        runs: "black",
        "98 % of luma within the threshold's fraction of the way from black to white, as `blackdetect`",
        of: .video, threshold: 0.1, seconds: 2,
        example: Example("minDuration: 0.5", passes: "av.mp4", fails: "black-blurred-sharp.mp4"),
        measurement: .runs { $0.isBlack(threshold: $1.threshold) })
}
