extension Check {
    static let referenceSSIM = Check(
        "reference.ssim",
        "mean SSIM (Wang et al. 2004) in windows of 8 by 8, as ffmpeg's `ssim`",
        of: .referenceVideo, example: Example("min: 0.99", passes: "h264-aac.mkv", fails: "qc-differs.mkv"),
        verdict: .reference { $0.compared?.ssim.all.map { .number($0, 6) } })
}
