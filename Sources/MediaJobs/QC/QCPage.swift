internal import EmbeddedFiles
package import MediaBase

/// The results of a run as one page of HTML that needs nothing else: no script, no font, no picture from elsewhere.
package struct QCPage {
    private var body = ""
    private var counts = (files: 0, failed: 0, warned: 0, errors: 0)
    private var spotCount = 0

    /// Pictures in a page at most, of however many files.
    private static let mostSpots = 512

    /// Begins without files.
    package init() {}

    /// Adds what came of a file.
    package mutating func add(_ result: Result<QCReport, MediaError>, path: String) {
        counts.files += 1
        switch result {
        case .failure(let error):
            counts.errors += 1
            body += section(path, "error", "<p>\(QCMarkup.escaped(error.message))</p>\n")
        case .success(let report):
            if report.verdict == .fail { counts.failed += 1 }
            if report.verdict == .warn { counts.warned += 1 }
            var report = report
            spotCount += report.illustrations?.spots.count ?? 0
            if spotCount > Self.mostSpots { report.illustrations = nil }
            body += section(
                path, report.verdict.rawValue,
                "<p>Policy: \(QCMarkup.escaped(report.policy))</p>\n" + QCTimeline(report: report).svg
                    + spots(report) + findings(report) + rules(report) + levels(report) + comparison(report))
        }
    }

    /// The whole page.
    package var text: String {
        EmbeddedFile.qcPage.text(replacing: [
            "summary": "\(counts.files) \(counts.files == 1 ? "file" : "files"): \(counts.failed) failed, "
                + "\(counts.warned) with warnings, \(counts.errors) not processed.",
            "files": body,
        ])
    }

    private func section(_ path: String, _ status: String, _ inner: String) -> String {
        "<section>\n<h2>\(badge(status)) \(QCMarkup.escaped(path))</h2>\n\(inner)</section>\n"
    }

    private func badge(_ status: String) -> String {
        let word = status == "notApplicable" ? "not applicable" : status
        return "<span class=\"\(status)\">\(word)</span>"
    }

    private func clock(_ time: MediaTime?) -> String { time.map { "<time>\($0.clockText())</time>" } ?? "" }

    private func timecode(_ text: String?) -> String { text.map { "<time>\($0)</time>" } ?? "" }

    private func row(_ cells: [String], tag: String = "td") -> String {
        let row = "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>"
        // The head of a table stands on each page that it is printed on.
        return (tag == "th" ? "<thead>\(row)</thead>" : row) + "\n"
    }

    private func findings(_ report: QCReport) -> String {
        guard !report.findings.isEmpty else { return "<p>Nothing was found.</p>\n" }
        let rows = report.findings.prefix(1000).map { finding in
            row([
                badge(finding.severity.rawValue), QCMarkup.escaped(finding.rule),
                finding.trackIndex.map(String.init) ?? "", clock(finding.start), clock(finding.end),
                timecode(finding.startTimecode), timecode(finding.endTimecode), QCMarkup.escaped(finding.message),
            ])
        }
        let more = report.findings.count > 1000 ? "<p>\(report.findings.count - 1000) more are in the JSON.</p>\n" : ""
        return "<h3>Findings</h3>\n<table>\n"
            + row(["", "Rule", "Track", "Start", "End", "Timecode", "End timecode", "What"], tag: "th") + rows.joined()
            + "</table>\n"
            + more
    }

    /// Pictures of the places that findings are about.
    private func spots(_ report: QCReport) -> String {
        guard let spots = report.illustrations?.spots, !spots.isEmpty else { return "" }
        return "<div class=\"spots\">\n"
            + spots.map { spot in
                let names = QCMarkup.escaped(spot.rules.joined(separator: ", "))
                let time = spot.time.clockText()
                return "<figure><img alt=\"\(names) at \(time)\" width=\"\(spot.width)\" height=\"\(spot.height)\" "
                    + "src=\"data:image/jpeg;base64,\(base64(spot.jpeg))\"><figcaption>\(time)<br>\(names)</figcaption>"
                    + "</figure>\n"
            }.joined() + "</div>\n"
    }

    private func comparison(_ report: QCReport) -> String {
        guard let pictures = report.measurements.reference?.pictures else { return "" }
        func text(_ number: Double?, _ digits: Int) -> String {
            number.map { QCEvaluation.decimals($0, digits) } ?? "same"
        }
        func cells(_ name: String, _ scores: QCReferenceMeasurements.Scores, _ digits: Int) -> String {
            let chroma = scores.chroma.map { text($0, digits) }.joined(separator: ", ")
            return row([
                name, text(scores.luma, digits), chroma, text(scores.all, digits), text(scores.minimum, digits),
                clock(scores.worst),
            ])
        }
        return "<h3>Compared with the reference</h3>\n<p>\(pictures.count) pictures, \(pictures.unpaired) without "
            + "another one.</p>\n<table>\n" + row(["", "Luma", "Chroma", "All", "Worst", "At"], tag: "th")
            + cells("PSNR, dB", pictures.psnr, 2) + cells("SSIM", pictures.ssim, 4) + "</table>\n"
    }

    private func rules(_ report: QCReport) -> String {
        "<h3>Rules</h3>\n<table>\n"
            + report.rules.map {
                row([badge($0.status.rawValue), QCMarkup.escaped($0.id), QCMarkup.escaped($0.reason ?? "")])
            }.joined() + "</table>\n"
    }

    private func levels(_ report: QCReport) -> String {
        let rows = report.measurements.tracks.compactMap { track -> String? in
            guard let sound = track.sound else { return nil }
            func text(_ number: Double?) -> String { number.map { QCEvaluation.decimals($0, 1) } ?? "–" }
            return row([
                "\(track.trackIndex)", text(sound.integratedLoudness), text(sound.loudnessRange),
                text(sound.momentaryMaximum?.loudness), text(sound.shortTermMaximum?.loudness), text(sound.truePeak),
            ])
        }
        guard !rows.isEmpty else { return "" }
        return "<h3>Sound</h3>\n<table>\n"
            + row(
                ["Track", "Integrated, LUFS", "Range, LU", "Momentary, LUFS", "Short-term, LUFS", "True peak, dBTP"],
                tag: "th") + rows.joined() + "</table>\n"
    }
}
