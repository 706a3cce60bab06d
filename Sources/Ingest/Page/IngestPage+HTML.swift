internal import Inspection
package import MediaBase
internal import Peaks

extension IngestPage {
    /// The maximum number of bytes of each part of the data, so that a page stays below 3 MB whatever its file holds.
    private enum Room {
        static let peaks = 768 << 10
        static let findings = 640 << 10
        static let cues = 256 << 10
        static let times = 128 << 10
        static let metadata = 192 << 10
        static let sentences = 32 << 10
        /// The number of characters of a text.
        static let text = 2000
    }

    /// Returns the page as one HTML file.
    ///
    /// Findings, chapters, scenes and metadata are limited in size: warnings are dropped before failures, and the page
    /// says how many are missing. Peaks are made coarser.
    package func html() throws(MediaError) -> String { try PageDocument.ingest.html(data()) }

    /// Returns the data that the page's script reads.
    func data() throws(MediaError) -> PageData {
        var data = PageData()
        try data.add("title", clipped(title))
        try data.add("fileName", clipped(fileName))
        try data.add("start", start.isNumeric ? start : .zero)
        try data.add("duration", max(0, seconds(start + duration)))
        try data.add("frameRate", frameRate.flatMap(Rate.init))
        try data.add("startTimecode", startTimecode)
        try data.add("proxy", proxy)
        try data.add("poster", poster)
        try addCues(to: &data)
        try addSound(to: &data)
        try addFindings(to: &data)
        try addTimes(to: &data)
        try addMetadata(to: &data)
        try data.add("verdict", verdict)
        try data.add("policy", policy.map(clipped))
        try data.add("loudness", loudness)
        let warnings = try PageData.fitting(warnings.map(clipped), bytes: Room.sentences)
        try data.add("warnings", warnings)
        try data.add("moreWarnings", self.warnings.count - warnings.count)
        try data.add("leftOut", PageData.fitting(leftOut, bytes: Room.sentences))
        return data
    }

    /// The time since the start of the time line; that is what the script counts in.
    private func seconds(_ time: MediaTime) -> Double {
        let passed = time - (start.isNumeric ? start : .zero)
        return passed.isNumeric ? passed.seconds : 0
    }

    private func clipped(_ text: String) -> String {
        text.count > Room.text ? text.prefix(Room.text) + "…" : text
    }

    private func addCues(to data: inout PageData) throws(MediaError) {
        var places: [String: Int] = [:]
        var sheets: [String] = []
        let rows = cues.map { cue in
            let place = places[cue.sheet] ?? sheets.count
            if place == sheets.count { sheets.append(cue.sheet) }
            places[cue.sheet] = place
            // As the script reads it: start, end, place of the sheet in the list, left, top, width, height.
            return [seconds(cue.start), seconds(cue.end)]
                + [place, cue.x, cue.y, cue.width, cue.height].map(Double.init)
        }
        let shown = try PageData.fitting(rows, bytes: Room.cues)
        try data.add("cues", shown)
        try data.add("sheets", PageData.fitting(sheets, bytes: Room.cues))
    }

    private func addSound(to data: inout PageData) throws(MediaError) {
        let values = sound.reduce(0) { $0 + $1.peaks.data.count }
        let factor = (values + Room.peaks - 1) / Room.peaks
        var rows: [SoundRow] = []
        for sound in sound {
            let peaks = factor > 1 ? try sound.peaks.coarser(by: factor) : sound.peaks
            let bytes = peaks.data.map { UInt8(bitPattern: Int8(clamping: peaks.bits == 8 ? $0 : $0 / 256)) }
            rows.append(
                SoundRow(
                    name: clipped(sound.name), start: seconds(sound.start), channels: peaks.channels,
                    pointsPerSecond: Double(peaks.sampleRate) * Double(peaks.spacing.points)
                        / Double(peaks.spacing.samples),
                    peaks: bytes.base64))
        }
        try data.add("sound", rows)
    }

    private func addFindings(to data: inout PageData) throws(MediaError) {
        let rows = findings.map { finding in
            FindingRow(
                start: finding.start.map(seconds), end: finding.end.map(seconds), rule: finding.rule,
                severity: finding.severity, message: clipped(finding.message), track: finding.track)
        }
        let bySeverity = rows.filter { $0.severity == .fail } + rows.filter { $0.severity != .fail }
        let shown = try PageData.fitting(bySeverity, bytes: Room.findings)
        // Those of the whole file come first.
        let ordered = shown.enumerated().sorted {
            ($0.element.start ?? -.infinity, $0.offset) < ($1.element.start ?? -.infinity, $1.offset)
        }
        try data.add("findings", ordered.map(\.element))
        try data.add("moreFindings", rows.count - shown.count)
    }

    private func addTimes(to data: inout PageData) throws(MediaError) {
        let rows = chapters.indices.map { index in
            let next = index + 1 < chapters.count ? chapters[index + 1].start : start + duration
            return ChapterRow(
                start: seconds(chapters[index].start), end: seconds(chapters[index].end ?? next),
                title: clipped(chapters[index].title))
        }
        let shown = try PageData.fitting(rows, bytes: Room.times)
        try data.add("chapters", shown)
        try data.add("moreChapters", rows.count - shown.count)
        let scenes = try PageData.fitting(sceneChanges.map(seconds), bytes: Room.times)
        try data.add("scenes", scenes)
        try data.add("moreScenes", sceneChanges.count - scenes.count)
    }

    private func addMetadata(to data: inout PageData) throws(MediaError) {
        var (room, more) = (Room.metadata, 0)
        var sections: [SectionRow] = []
        for section in metadata {
            let rows = section.rows.map { [clipped($0.key), clipped($0.value)] }
            let row = SectionRow(title: clipped(section.title), rows: try PageData.fitting(rows, bytes: room))
            room -= try PageData.json(row).count
            more += rows.count - row.rows.count
            if !row.rows.isEmpty { sections.append(row) }
        }
        try data.add("metadata", sections)
        try data.add("moreMetadata", more)
    }
}

// The rows as the script reads them; times are seconds from the start of the time line.

private struct Rate: Encodable {
    let num, den: Int64

    /// Returns `nil` for a rate at which no timecode counts.
    init?(_ rate: Rational) {
        guard let nominal = rate.rounded(), (1...1000).contains(nominal) else { return nil }
        (num, den) = (rate.num, rate.den)
    }
}

private struct SoundRow: Encodable {
    let name: String
    let start: Double
    let channels: Int
    let pointsPerSecond: Double
    let peaks: String
}

private struct FindingRow: Encodable {
    let start, end: Double?
    let rule: String
    let severity: IngestPage.Verdict
    let message: String
    let track: Int?
}

private struct ChapterRow: Encodable {
    let start, end: Double
    let title: String
}

private struct SectionRow: Encodable {
    let title: String
    let rows: [[String]]
}
