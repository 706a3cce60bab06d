internal import MediaAnalysis
internal import MediaBase
internal import Pictures

/// A drawing of where in time findings lie, below the sound of the file, as SVG that stands in a page.
struct QCTimeline {
    let report: QCReport

    /// Where the lanes begin and how wide they are, of a thousand.
    private static let left = 180.0
    private static let width = 815.0
    private static let laneHeight = 22
    private static let waveHeight = 36
    /// Lanes of rules, channels, and marks in a lane at most.
    private static let mostRules = 40
    private static let mostChannels = 8
    private static let mostMarks = 2000

    /// The drawing; empty where nothing in the file has a place in time.
    var svg: String {
        let timed = report.findings.filter { $0.start != nil }
        let ends = report.measurements.tracks.compactMap { ($0.sound?.duration ?? $0.pictures?.end)?.seconds }
        let sounds = report.measurements.tracks.filter { $0.outline?.frames ?? 0 > 0 }
        guard let length = ends.max(), length > 0, !timed.isEmpty || !sounds.isEmpty else { return "" }
        var shapes = ""
        var y = 0
        for track in sounds { shapes += waves(of: track, length, &y) }
        var names: [String] = []
        for finding in timed where names.count < Self.mostRules && !names.contains(finding.rule) {
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

    private func text(_ number: Double) -> String { QCEvaluation.decimals(number, 1) }

    private func label(_ text: String, _ y: Int) -> String {
        "<text x=\"0\" y=\"\(y)\" font-size=\"12\">\(QCMarkup.escaped(String(text.prefix(26))))</text>"
    }

    // MARK: Sound

    private func waves(of track: QCMeasurements.Track, _ length: Double, _ y: inout Int) -> String {
        guard let outline = track.outline, let rate = track.sound?.sampleRate, rate > 0 else { return "" }
        var shapes = ""
        for (channel, ranges) in outline.channels.prefix(Self.mostChannels).enumerated() {
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

    /// A closed path along the highest samples and back along the lowest.
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
            // A line of half a pixel stands for silence.
            upper += (column == 0 ? "M" : "L") + place + " " + text(min(height(high), middle - 0.3))
            lower.append("L" + place + " " + text(max(height(low), middle + 0.3)))
        }
        let end = text(x(Double(ranges.count) * step, length))
        return upper + "L" + end + " " + text(middle) + lower.reversed().joined() + "Z"
    }

    // MARK: Findings

    private func lane(_ name: String, _ findings: [QCFinding], _ length: Double, _ y: inout Int) -> String {
        var shapes = label(name, y + 14)
        shapes +=
            "<rect x=\"\(text(Self.left))\" y=\"\(y + 2)\" width=\"\(text(Self.width))\" height=\"16\" fill=\"#eef1f4\"/>"
        for finding in findings.prefix(Self.mostMarks) {
            let start = x(finding.start?.seconds ?? 0, length)
            let end = x(finding.end?.seconds ?? 0, length)
            let color = finding.severity == .fail ? "#c4232b" : "#c98a00"
            shapes +=
                "<rect x=\"\(text(min(start, Self.left + Self.width - 1.5)))\" y=\"\(y + 2)\" width=\""
                + "\(text(max(1.5, end - start)))\" height=\"16\" fill=\"\(color)\"><title>"
                + "\(QCMarkup.escaped(finding.message))</title></rect>"
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
