extension Check {
    static let referenceWorstPSNR = Check(
        "reference.psnrMinimum",
        "PSNR of the frame that differs most",
        unit: "dB", of: .referenceVideo, example: Example("min: 40", passes: "h264-aac.mkv", fails: "qc-differs.mkv"),
        verdict: .reference {
            $0.compared.map { .number($0.psnr.minimum ?? .infinity, 2, at: $0.psnr.worstPlace) }
        })
}
