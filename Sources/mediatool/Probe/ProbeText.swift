import MediaBase
import MediaJobs

/// A probe report for a person: the container first, then one block a track, in two columns.
///
/// Only what people look for first is in it; the JSON has everything.
enum ProbeText {
    /// The report's lines.
    static func lines(of report: ProbeReport, path: String) -> [String] {
        var lines = [path]
        lines += rows(of: report.container, metadata: report.metadata).map { row($0, $1, indent: 2) }
        for track in report.tracks {
            lines.append("")
            lines.append(row("#\(track.index) \(track.type)", heading(of: track), indent: 2))
            lines += rows(of: track).map { row($0, $1, indent: 4) }
        }
        lines += list(
            "chapters",
            report.chapters.map { chapter in
                [chapter.timeRange.start?.clockText(), chapter.title].compactMap(\.self).joined(separator: "  ")
            })
        lines += list(
            "attachments",
            report.attachments.map { attachment in
                let parts = [attachment.fileName, attachment.mimeType, QuantityText.bytes(Int64(attachment.sizeBytes))]
                return "#\(attachment.trackIndex)  " + parts.compactMap(\.self).joined(separator: ", ")
            })
        lines += list(
            "programs",
            report.programs.map { program in
                let tracks = program.trackIndices.map { "#\($0)" }.joined(separator: " ")
                let parts = [program.name, tracks, program.duration?.clockText()]
                return "\(program.number)  " + parts.compactMap(\.self).joined(separator: "  ")
            })
        return lines
    }

    /// A name and what stands for it, the second column beginning at the same place in all lines.
    private static func row(_ name: String, _ value: String, indent: Int) -> String {
        let start = String(repeating: " ", count: indent) + name
        return start + String(repeating: " ", count: max(2, 18 - start.count)) + value
    }

    private static func list(_ name: String, _ entries: [String]) -> [String] {
        entries.isEmpty ? [] : ["", "  " + name] + entries.map { "    " + $0 }
    }

    private static func rows(
        of container: ContainerReport, metadata: [MetadataReport]
    ) -> [(name: String, value: String)] {
        let brand = container.majorBrand.map { "brand " + $0.trimmingBlanks }
        let layout = [
            container.fragmented == true ? "fragmented" : nil,
            container.indexFirst.map { $0 ? "index first" : "index last" },
        ]
        let format = ([container.format, brand] + layout).compactMap(\.self).joined(separator: ", ")
        let size = [container.sizeBytes.map(QuantityText.bytes), container.bitRate.map(QuantityText.bitRate)]
        var rows: [(name: String, value: String)] = [("format", format)]
        rows.append(("duration", container.duration.map { $0.clockText() } ?? "unknown"))
        if let start = container.startTime, start != .zero { rows.append(("start", start.clockText())) }
        let sizeText = size.compactMap(\.self).joined(separator: ", ")
        if !sizeText.isEmpty { rows.append(("size", sizeText)) }
        if let timecode = container.startTimecode { rows.append(("timecode", timecode)) }
        for item in metadata {
            if let value = item.value { rows.append((item.key, value.displayed)) }
        }
        return rows
    }
}

extension MetadataReport.Value {
    /// The value as it is read.
    fileprivate var displayed: String {
        switch self {
        case .text(let text): text
        case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
        }
    }
}

extension String {
    /// Without blanks at its end.
    fileprivate var trimmingBlanks: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
