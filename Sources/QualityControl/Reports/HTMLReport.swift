internal import AssetKit
internal import EmbeddedFiles
internal import Inspection
internal import MediaAnalysis
package import MediaBase
internal import Pictures

/// The results of a run as a self-contained HTML page without scripts, fonts or external images.
package struct HTMLReport {
    private var body = ""
    private var counts = (files: 0, failed: 0, warned: 0, errors: 0)
    private var spotCount = 0

    /// The maximum number of images in a page, regardless of the number of files.
    private static let maximumSpots = 512
    /// The maximum number of findings of a file.
    private static let maximumFindings = 1000

    /// Makes a page without files.
    package init() {}

    /// The section of one file.
    package struct Section: Sendable {
        /// The HTML element.
        package var text: String
        /// The HTML element without images; `nil` if it has none.
        package var textWithoutImages: String?
        /// The number of images.
        package var images: Int
        /// The verdict, or `error` for a file that could not be processed.
        package var status: String

        /// Creates a section from its parts.
        package init(text: String, textWithoutImages: String?, images: Int, status: String) {
            self.text = text
            self.textWithoutImages = textWithoutImages
            self.images = images
            self.status = status
        }
    }

    /// Adds the section of a file; without its images, if the page has too many.
    package mutating func add(_ section: Section) {
        counts.files += 1
        switch section.status {
        case QCReport.Verdict.fail.rawValue: counts.failed += 1
        case QCReport.Verdict.warn.rawValue: counts.warned += 1
        case Self.errorStatus: counts.errors += 1
        default: break
        }
        spotCount += section.images
        body += (spotCount > Self.maximumSpots ? section.textWithoutImages : nil) ?? section.text
    }

    private static let errorStatus = "error"

    /// Returns the section of a file.
    package static func section(of result: Result<QCReport, MediaError>, path: String) -> Section {
        switch result {
        case .failure(let error):
            return Section(
                text: section(path, errorStatus, "<p>\(VisibleText.markup(error.message))</p>\n"),
                textWithoutImages: nil,
                images: 0, status: errorStatus)
        case .success(let report):
            let images = report.illustrations?.spots.count ?? 0
            var plain = report
            plain.illustrations = nil
            return Section(
                text: section(path, report), textWithoutImages: images > 0 ? section(path, plain) : nil,
                images: images, status: report.verdict.rawValue)
        }
    }

    private static func section(_ path: String, _ report: QCReport) -> String {
        section(
            path, report.verdict.rawValue,
            "<p>Policy: \(VisibleText.markup(report.policy))</p>\n" + FindingsTimeline(report: report).svg
                + spots(report) + findings(report) + rules(report) + levels(report) + comparison(report))
    }

    /// The HTML text.
    package var text: String {
        EmbeddedFile.qcPage.text(replacing: [
            "summary": "\(counts.files) \(counts.files == 1 ? "file" : "files"): \(counts.failed) failed, "
                + "\(counts.warned) with warnings, \(counts.errors) not processed.",
            "files": body,
        ])
    }

    private static func section(_ path: String, _ status: String, _ inner: String) -> String {
        "<section>\n<h2>\(badge(status)) \(VisibleText.markup(path))</h2>\n\(inner)</section>\n"
    }

    private static func badge(_ status: String) -> String {
        let word = status == "notApplicable" ? "not applicable" : status
        return "<span class=\"\(status)\">\(word)</span>"
    }

    private static func clock(_ time: MediaTime?) -> String { time.map { "<time>\($0.clockText())</time>" } ?? "" }

    private static func timecode(_ text: String?) -> String { text.map { "<time>\($0)</time>" } ?? "" }

    /// Returns a table under a heading; without column names, it has no head.
    private static func table(_ title: String, intro: String = "", columns: [String] = [], _ rows: [[String]]) -> String
    {
        func row(_ cells: [String], _ tag: String) -> String {
            "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>"
        }
        // The head of a table is repeated on each printed page.
        let head = columns.isEmpty ? "" : "<thead>\(row(columns, "th"))</thead>\n"
        return "<h3>\(title)</h3>\n\(intro)<table>\n\(head)" + rows.map { row($0, "td") + "\n" }.joined() + "</table>\n"
    }

    private static func findings(_ report: QCReport) -> String {
        guard !report.findings.isEmpty else { return "<p>Nothing was found.</p>\n" }
        let rows = report.findings.prefix(maximumFindings).map { finding in
            [
                badge(finding.severity.rawValue), VisibleText.markup(finding.rule),
                finding.trackIndex.map(String.init) ?? "", clock(finding.start), clock(finding.end),
                timecode(finding.startTimecode), timecode(finding.endTimecode), VisibleText.markup(finding.message),
            ]
        }
        let more = report.findings.count - rows.count
        return table(
            "Findings", columns: ["", "Rule", "Track", "Start", "End", "Timecode", "End timecode", "What"], rows)
            + (more > 0 ? "<p>\(more) more are in the JSON.</p>\n" : "")
    }

    /// Returns images of the places that findings refer to.
    private static func spots(_ report: QCReport) -> String {
        guard let spots = report.illustrations?.spots, !spots.isEmpty else { return "" }
        return "<div class=\"spots\">\n"
            + spots.map { spot in
                let names = VisibleText.markup(spot.rules.joined(separator: ", "))
                let time = spot.time.clockText()
                return "<figure><img alt=\"\(names) at \(time)\" width=\"\(spot.width)\" height=\"\(spot.height)\" "
                    + "src=\"data:image/jpeg;base64,\(spot.jpeg.base64)\"><figcaption>\(time)<br>\(names)</figcaption>"
                    + "</figure>\n"
            }.joined() + "</div>\n"
    }

    private static func comparison(_ report: QCReport) -> String {
        guard let pictures = report.measurements.reference?.pictures else { return "" }
        func text(_ number: Double?, _ digits: Int) -> String {
            number.map { $0.text(decimals: digits) } ?? "same"
        }
        func row(_ name: String, _ scores: ReferenceMeasurements.Scores, _ digits: Int) -> [String] {
            let chroma = scores.chroma.map { text($0, digits) }.joined(separator: ", ")
            return [
                name, text(scores.luma, digits), chroma, text(scores.all, digits), text(scores.minimum, digits),
                clock(scores.worst),
            ]
        }
        return table(
            "Compared with the reference",
            intro: "<p>\(pictures.count) pictures, \(pictures.unpaired) without another one.</p>\n",
            columns: ["", "Luma", "Chroma", "All", "Worst", "At"],
            [row("PSNR, dB", pictures.psnr, 2), row("SSIM", pictures.ssim, 4)])
    }

    private static func rules(_ report: QCReport) -> String {
        table(
            "Rules",
            report.rules.map {
                [badge($0.status.rawValue), VisibleText.markup($0.id), VisibleText.markup($0.reason ?? "")]
            })
    }

    private static func levels(_ report: QCReport) -> String {
        let columns: [(name: String, value: (Measurements.Sound) -> Double?)] = [
            ("Integrated, LUFS", { $0.integratedLoudness }), ("Range, LU", { $0.loudnessRange }),
            ("Momentary, LUFS", { $0.momentaryMaximum?.loudness }),
            ("Short-term, LUFS", { $0.shortTermMaximum?.loudness }), ("True peak, dBTP", { $0.truePeak }),
        ]
        let rows = report.measurements.tracks.compactMap { track in
            track.sound.map { sound in
                ["\(track.trackIndex)"] + columns.map { $0.value(sound)?.text(decimals: 1) ?? "–" }
            }
        }
        return rows.isEmpty ? "" : table("Sound", columns: ["Track"] + columns.map(\.name), rows)
    }
}

/// An SVG drawing of the findings over time, below the waveform of the file, for embedding in a page.
struct FindingsTimeline {
    let report: QCReport

    /// The left edge and the width of the lanes, of a total width of 1000.
    private static let left = 180.0
    private static let width = 815.0
    private static let laneHeight = 22
    private static let waveHeight = 36
    /// The maximum numbers of rule lanes, of channels, and of marks in a lane.
    private static let maximumRules = 40
    private static let maximumChannels = 8
    private static let maximumMarks = 2000

    /// The drawing; empty if the file has no duration, or neither audio nor findings with a time.
    var svg: String {
        let timed = report.findings.filter { $0.start != nil }
        let ends = report.measurements.tracks.compactMap { ($0.sound?.duration ?? $0.pictures?.end)?.seconds }
        let sounds = report.measurements.tracks.filter { $0.outline?.frames ?? 0 > 0 }
        guard let length = ends.max(), length > 0, !timed.isEmpty || !sounds.isEmpty else { return "" }
        var shapes = ""
        var y = 0
        for track in sounds { shapes += waves(of: track, length, &y) }
        var names: [String] = []
        for finding in timed where names.count < Self.maximumRules && !names.contains(finding.rule) {
            names.append(finding.rule)
        }
        for name in names { shapes += lane(name, timed.filter { $0.rule == name }, length, &y) }
        shapes += axis(length, &y)
        return "<svg viewBox=\"0 0 1000 \(y)\" role=\"img\" aria-label=\"The sound, and where in time findings lie\">"
            + shapes + "</svg>\n"
    }

    private func x(_ seconds: Double, _ length: Double) -> Double {
        Self.left + Self.width * min(max(seconds / length, 0), 1)
    }

    private func text(_ number: Double) -> String { number.text(decimals: 1) }

    private func label(_ text: String, _ y: Int) -> String {
        "<text x=\"0\" y=\"\(y)\" font-size=\"12\">\(VisibleText.markup(String(text.prefix(26))))</text>"
    }

    // MARK: Audio

    private func waves(of track: Measurements.Track, _ length: Double, _ y: inout Int) -> String {
        guard let outline = track.outline, let rate = track.sound?.sampleRate, rate > 0 else { return "" }
        var shapes = ""
        for (channel, ranges) in outline.channels.prefix(Self.maximumChannels).enumerated() {
            shapes += label("Track \(track.trackIndex), channel \(channel + 1)", y + Self.waveHeight / 2 + 4)
            shapes +=
                "<rect x=\"\(text(Self.left))\" y=\"\(y)\" width=\"\(text(Self.width))\" height=\"\(Self.waveHeight - 2)\" "
                + "fill=\"#eef1f4\"/>"
            let seconds = Double(outline.step) / Double(rate)
            shapes += "<path fill=\"#3b6ea5\" d=\"\(outlinePath(ranges, seconds, length, y))\"/>"
            y += Self.waveHeight
        }
        return shapes
    }

    /// Returns a closed path along the highest samples and back along the lowest.
    private func outlinePath(_ ranges: [ClosedRange<Float>], _ step: Double, _ length: Double, _ y: Int) -> String {
        let columns = min(ranges.count, Int(Self.width))
        guard columns > 0 else { return "" }
        let middle = Double(y) + Double(Self.waveHeight - 2) / 2
        let half = Double(Self.waveHeight - 2) / 2
        func height(_ sample: Float) -> Double { middle - half * Double(min(max(sample, -1), 1)) }
        var (upper, lower) = ("", [String]())
        for column in 0..<columns {
            let part = ranges[
                column * ranges.count
                    / columns..<max(column * ranges.count / columns + 1, (column + 1) * ranges.count / columns)]
            let high = part.map(\.upperBound).max() ?? 0
            let low = part.map(\.lowerBound).min() ?? 0
            let place = text(x(Double(part.startIndex) * step, length))
            // Silence appears as a line about half a pixel thick.
            upper += (column == 0 ? "M" : "L") + place + " " + text(min(height(high), middle - 0.3))
            lower.append("L" + place + " " + text(max(height(low), middle + 0.3)))
        }
        let end = text(x(Double(ranges.count) * step, length))
        return upper + "L" + end + " " + text(middle) + lower.reversed().joined() + "Z"
    }

    // MARK: Findings

    private func lane(_ name: String, _ findings: [Finding], _ length: Double, _ y: inout Int) -> String {
        var shapes = label(name, y + 14)
        shapes +=
            "<rect x=\"\(text(Self.left))\" y=\"\(y + 2)\" width=\"\(text(Self.width))\" height=\"16\" fill=\"#eef1f4\"/>"
        for finding in findings.prefix(Self.maximumMarks) {
            let start = x(finding.start?.seconds ?? 0, length)
            let end = x(finding.end?.seconds ?? 0, length)
            let color = finding.severity == .fail ? "#c4232b" : "#c98a00"
            shapes +=
                "<rect x=\"\(text(min(start, Self.left + Self.width - 1.5)))\" y=\"\(y + 2)\" width=\""
                + "\(text(max(1.5, end - start)))\" height=\"16\" fill=\"\(color)\"><title>"
                + "\(VisibleText.markup(finding.message))</title></rect>"
        }
        y += Self.laneHeight
        return shapes
    }

    private func axis(_ length: Double, _ y: inout Int) -> String {
        var shapes = ""
        let axis = TimeAxis(secondsPerPixel: length / Self.width)
        for tick in axis.ticks(width: Int(Self.width), gap: 30, labelWidth: { 6 * $0.count }) {
            let place = Self.left + Double(tick.x)
            shapes += "<path d=\"M\(text(place)) \(y)v\(tick.label == nil ? 3 : 5)\" stroke=\"#57606a\"/>"
            guard let label = tick.label else { continue }
            let anchor = tick.x == 0 ? "start" : place > 970 ? "end" : "middle"
            shapes +=
                "<text x=\"\(text(place))\" y=\"\(y + 16)\" font-size=\"11\" text-anchor=\"\(anchor)\">\(label)</text>"
        }
        y += 20
        return shapes
    }
}

/// Small images of the places that findings refer to, for a page.
package struct Illustrations: Sendable {
    /// An image at one time.
    package struct Spot: Sendable {
        /// The time.
        package let time: MediaTime
        /// The rules with findings at this time.
        package let rules: [String]
        /// The JPEG file.
        package let jpeg: [UInt8]
        /// The size in pixels.
        package let width, height: Int
    }

    /// The images, in order of time.
    package let spots: [Spot]

    /// The maximum number of places shown, followed by the maximum size of an image.
    private static let maximumSpots = 16
    private static let size = Dimensions(width: 240, height: 180)

    /// Makes images of the first places, those of failures before those of warnings.
    ///
    /// Places of which no image can be made are omitted.
    init(_ asset: Asset, findings: [Finding]) {
        var places: [(time: MediaTime, rules: [String])] = []
        for finding in findings.filter({ $0.severity == .fail }) + findings.filter({ $0.severity == .warn }) {
            guard let start = finding.start else { continue }
            if let known = places.firstIndex(where: { $0.time == start }) {
                if !places[known].rules.contains(finding.rule) { places[known].rules.append(finding.rule) }
            } else if places.count < Self.maximumSpots {
                places.append((start, [finding.rule]))
            }
        }
        let generator = ImageGenerator(asset: asset)
        var configuration = ImageGenerator.Configuration()
        configuration.requestedTimeToleranceBefore = .zero
        configuration.requestedTimeToleranceAfter = .zero
        configuration.maximumSize = Self.size
        generator.configuration = configuration
        spots = places.sorted { $0.time < $1.time }.compactMap { place in
            guard let image = try? generator.generateNow(at: place.time).image,
                let jpeg = try? image.encoded(as: .jpeg, quality: 75)
            else { return nil }
            return Spot(time: place.time, rules: place.rules, jpeg: jpeg, width: image.width, height: image.height)
        }
    }
}
