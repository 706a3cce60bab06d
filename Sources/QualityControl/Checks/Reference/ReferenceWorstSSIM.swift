extension Check {
    static let referenceWorstSSIM = Check(
        "reference.ssimMinimum",
        "SSIM of the frame that differs most",
        of: .referenceVideo, example: Example("min: 0.99", passes: "h264-aac.mkv", fails: "qc-differs.mkv"),
        verdict: .reference { reference in
            reference.compared.flatMap { compared in
                compared.ssim.minimum.map { .number($0, 6, at: compared.ssim.worstPlace) }
            }
        })
}
