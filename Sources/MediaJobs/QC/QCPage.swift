package import MediaBase

/// The results of a run as one page of HTML that needs nothing else: no script, no font, no picture from elsewhere.
package struct QCPage {
    private var body = ""
    private var counts = (files: 0, failed: 0, warned: 0, errors: 0)

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
            body += section(
                path, report.verdict.rawValue,
                "<p>Policy: \(QCMarkup.escaped(report.policy))</p>\n" + timeline(report) + findings(report)
                    + rules(report) + levels(report))
        }
    }

    /// The whole page.
    package var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Quality control</title>
        <style>
        body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; margin: 2rem auto; max-width: 62rem; padding: 0 1rem }
        h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; overflow-wrap: anywhere } h3 { font-size: 1rem }
        section { border-top: 2px solid #d0d7de; padding-top: .5rem; margin-top: 2rem }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
        th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #d8dee4 }
        td { overflow-wrap: anywhere }
        .pass, .warn, .fail, .error, .notApplicable { border-radius: .3rem; padding: .05rem .45rem; font-weight: 600 }
        .pass { background: #d7f2dd; color: #0b4a1c } .warn { background: #fdeec2; color: #5a3d00 }
        .fail, .error { background: #fbd9d9; color: #7a0d12 } .notApplicable { background: #e7eaee; color: #3d444d }
        svg { width: 100%; height: auto; display: block; margin: .5rem 0 }
        @media print { body { margin: 0; max-width: none } tr, svg { break-inside: avoid } * { print-color-adjust: exact } }
        </style>
        </head>
        <body>
        <h1>Quality control</h1>
        <p>\(counts.files) \(counts.files == 1 ? "file" : "files"): \(counts.failed) failed, \(counts.warned) with \
        warnings, \(counts.errors) not processed.</p>
        \(body)</body>
        </html>

        """
    }

    private func section(_ path: String, _ status: String, _ inner: String) -> String {
        "<section>\n<h2>\(badge(status)) \(QCMarkup.escaped(path))</h2>\n\(inner)</section>\n"
    }

    private func badge(_ status: String) -> String {
        let word = status == "notApplicable" ? "not applicable" : status
        return "<span class=\"\(status)\">\(word)</span>"
    }

    private func row(_ cells: [String], tag: String = "td") -> String {
        "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>\n"
    }

    private func findings(_ report: QCReport) -> String {
        guard !report.findings.isEmpty else { return "<p>Nothing was found.</p>\n" }
        let rows = report.findings.prefix(1000).map { finding in
            row([
                badge(finding.severity.rawValue), QCMarkup.escaped(finding.rule),
                finding.trackIndex.map(String.init) ?? "", finding.start?.clockText() ?? "",
                finding.end?.clockText() ?? "", finding.startTimecode ?? "", QCMarkup.escaped(finding.message),
            ])
        }
        let more = report.findings.count > 1000 ? "<p>\(report.findings.count - 1000) more are in the JSON.</p>\n" : ""
        return "<h3>Findings</h3>\n<table>\n"
            + row(["", "Rule", "Track", "Start", "End", "Timecode", "What"], tag: "th") + rows.joined() + "</table>\n"
            + more
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

    /// Where in time the findings lie: a line for each rule that has some.
    private func timeline(_ report: QCReport) -> String {
        let timed = report.findings.filter { $0.start != nil }
        let ends = report.measurements.tracks.compactMap { ($0.sound?.duration ?? $0.pictures?.end)?.seconds }
        guard let length = ends.max(), length > 0, !timed.isEmpty else { return "" }
        var names: [String] = []
        for finding in timed where !names.contains(finding.rule) && names.count < 40 { names.append(finding.rule) }
        var shapes = ""
        for (line, name) in names.enumerated() {
            let y = line * 22
            shapes +=
                "<text x=\"0\" y=\"\(y + 14)\" font-size=\"12\">\(QCMarkup.escaped(String(name.prefix(24))))</text>"
            shapes += "<rect x=\"180\" y=\"\(y + 2)\" width=\"820\" height=\"16\" fill=\"#eef1f4\"/>"
            for finding in timed.prefix(2000) where finding.rule == name {
                let start = min(max((finding.start?.seconds ?? 0) / length, 0), 1)
                let end = min(max((finding.end?.seconds ?? 0) / length, start), 1)
                let color = finding.severity == .fail ? "#c4232b" : "#c98a00"
                let x = QCEvaluation.decimals(180 + 820 * start, 2)
                let width = QCEvaluation.decimals(max(1.5, 820 * (end - start)), 2)
                shapes += "<rect x=\"\(x)\" y=\"\(y + 2)\" width=\"\(width)\" height=\"16\" fill=\"\(color)\"/>"
            }
        }
        let height = names.count * 22
        return
            "<svg viewBox=\"0 0 1000 \(height)\" role=\"img\" aria-label=\"Where in time the findings lie\">\(shapes)</svg>\n"
    }
}
