import MediaBase
import MediaJobs

/// A report for a person.
enum QCText {
    /// Findings of one rule that are printed.
    private static let mostFindings = 8

    /// The verdict, what was found, and what does not apply.
    static func lines(of report: QCReport, path: String) -> [String] {
        var lines = ["\(path): \(report.verdict.rawValue) (policy \(report.policy))"]
        let findingsOfRules = Dictionary(grouping: report.findings, by: \.rule)
        for rule in report.rules {
            let findings = findingsOfRules[rule.id] ?? []
            for finding in findings.prefix(mostFindings) {
                let end = finding.endTimecode.flatMap { $0 == finding.startTimecode ? nil : " to \($0)" } ?? ""
                let timecode = finding.startTimecode.map { " [\($0)\(end)]" } ?? ""
                lines.append("  \(finding.severity.rawValue)  \(finding.rule): \(finding.message)\(timecode)")
            }
            let count = rule.findingCount ?? 0
            if count > Int64(mostFindings) {
                lines.append(
                    "  …     \(rule.id): \(count - Int64(mostFindings)) more, \(count) in all; --json lists them")
            }
        }
        for rule in report.rules where rule.status == .notApplicable {
            lines.append("  not applicable  \(rule.id): \(rule.reason ?? "")")
        }
        for track in report.measurements.tracks {
            guard let sound = track.sound else { continue }
            func text(_ number: Double?, _ unit: String) -> String {
                number.map { decimal($0) + " " + unit } ?? "none"
            }
            lines.append(
                "  track \(track.trackIndex): loudness \(text(sound.integratedLoudness, "LUFS")), range "
                    + "\(text(sound.loudnessRange, "LU")), true peak \(text(sound.truePeak, "dBTP"))")
        }
        lines += comparison(report.measurements.reference)
        return lines
    }

    private static func comparison(_ reference: QCReferenceMeasurements?) -> [String] {
        var lines: [String] = []
        if let pictures = reference?.pictures {
            func text(_ name: String, _ scores: QCReferenceMeasurements.Scores, _ digits: Int, _ unit: String) -> String
            {
                let place = scores.worst.map { " at \($0.clockText())" } ?? ""
                return
                    "\(name) \(decimal(scores.all, digits))\(unit) (worst \(decimal(scores.minimum, digits))\(place))"
            }
            lines.append(
                pictures.count == 0
                    ? "  pictures: none compared"
                    : "  pictures: \(pictures.count) compared, "
                        + (pictures.psnr.worst == nil
                            ? "nothing differs"
                            : "\(text("PSNR", pictures.psnr, 2, " dB")), \(text("SSIM", pictures.ssim, 4, ""))"))
        }
        if let sound = reference?.sound {
            let offset = sound.offset.map { "\(decimal($0.seconds, 4)) s later" } ?? "alike nowhere"
            lines.append(
                "  sound: \(offset), correlation \(decimal(sound.correlation, 3)), difference "
                    + (sound.difference.map { "\(decimal($0)) dB" } ?? "none"))
        }
        return lines
    }

    /// All checks with their defaults.
    static var checks: String {
        QCCheck.allCases.map { check in
            let facts = check.facts
            var line = "\(check.rawValue)\n    \(facts.definition)"
            if !facts.unit.isEmpty, facts.run == nil { line += "; in \(facts.unit)" }
            if let run = facts.run {
                line += "\n    threshold: \(run.threshold), minDuration: \(run.minimumSeconds)"
            }
            return line + "\n"
        }.joined()
    }

    private static func decimal(_ number: Double?, _ digits: Int = 1) -> String {
        number.map { QCEvaluation.decimals($0, digits) } ?? "infinite"
    }
}
