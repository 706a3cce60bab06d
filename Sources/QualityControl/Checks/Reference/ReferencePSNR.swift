extension Check {
    static let referencePSNR = Check(
        "reference.psnr",
        "PSNR in dB of all frames together, components weighted by their number of samples, as ffmpeg's `psnr`",
        unit: "dB", of: .referenceVideo, example: Example("min: 40", passes: "h264-aac.mkv", fails: "qc-differs.mkv"),
        verdict: .reference { $0.compared.map { .number($0.psnr.all ?? .infinity, 2) } })
}
