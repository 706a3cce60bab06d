package import MediaBase

/// The findings of a run as comma-separated values (RFC 4180), with a line for each.
package enum QCCSV {
    /// The names of the columns, with a line break.
    package static let header =
        "path,status,rule,severity,track,channel,start,end,startSeconds,endSeconds,timecode,endTimecode,"
        + "measured,wanted,message\r\n"

    /// The lines of a file: its findings, or one that says that it passes or why it could not be processed.
    package static func lines(of result: Result<QCReport, MediaError>, path: String) -> String {
        switch result {
        case .failure(let error):
            line([path, "error"] + Array(repeating: "", count: 12) + [error.message])
        case .success(let report) where report.findings.isEmpty:
            line([path, report.verdict.rawValue] + Array(repeating: "", count: 13))
        case .success(let report):
            report.listedFindings.map { finding in
                line([
                    path, report.verdict.rawValue, finding.rule, finding.severity.rawValue,
                    finding.trackIndex.map(String.init) ?? "", finding.channel.map(String.init) ?? "",
                    finding.start?.description ?? "", finding.end?.description ?? "",
                    finding.start.map { "\($0.seconds)" } ?? "", finding.end.map { "\($0.seconds)" } ?? "",
                    finding.startTimecode ?? "", finding.endTimecode ?? "", finding.measured, finding.wanted,
                    finding.message,
                ])
            }.joined()
        }
    }

    /// The names of the columns of ``frames(_:path:)``, with a line break.
    package static let frameHeader =
        "path,frame,time,seconds,psnrLuma,psnrCb,psnrCr,psnr,ssimLuma,ssimCb,ssimCr,ssim\r\n"

    /// A line for each compared picture; a PSNR where nothing differs is `inf`, and what a picture in grey has not is
    /// empty.
    package static func frames(_ frames: [QCReferenceMeasurements.Frame], path: String) -> String {
        var text = ""
        for (number, frame) in frames.enumerated() {
            let psnr = frame.psnr.map { $0.isFinite ? QCEvaluation.decimals($0, 4) : "inf" }
            let ssim = frame.similarities.map { QCEvaluation.decimals(Double($0), 6) }
            func columns(_ values: [String]) -> [String] {
                values.count >= 4 ? values : [values.first ?? "", "", "", values.last ?? ""]
            }
            text += line(
                [path, "\(number)", frame.time.description, "\(frame.time.seconds)"] + columns(psnr) + columns(ssim))
        }
        return text
    }

    private static func line(_ cells: [String]) -> String {
        cells.map(VisibleText.cell).joined(separator: ",") + "\r\n"
    }
}
