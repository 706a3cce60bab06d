import AssetKit
import MediaBase
import MediaJobs

/// What `export` tells a person.
enum ExportText {
    /// The presets, one a line.
    static var presets: String {
        let presets = ExportSession.Preset.allCases
        let width = presets.map(\.rawValue.count).max() ?? 0
        return presets.map { preset in
            preset.rawValue + String(repeating: " ", count: width - preset.rawValue.count + 2) + preset.summary + "\n"
        }.joined()
    }

    /// One line on a file that was written.
    static func text(of report: ExportReport) -> String {
        var parts: [String] = []
        if let timeline = report.timeline {
            parts.append("\(timeline.clips) clips of \(timeline.mediaFiles) files")
        }
        if let video = report.video { parts.append("\(video.codec) \(video.encodedSize)") }
        if !report.audio.isEmpty {
            parts.append(
                report.audio.map { "\($0.codec) \($0.channelLayout ?? "\($0.channels) channels")" }
                    .joined(separator: " + "))
        }
        if let video = report.video { parts.append("\(video.frameCount) frames") }
        parts.append("\(report.duration.seconds) s")
        parts.append(QuantityText.bytes(report.sizeBytes))
        if report.copied { parts.append("copied") }
        if let timecode = report.startTimecode { parts.append("from \(timecode)") }
        if !report.leftOut.isEmpty {
            let tracks = report.leftOut.map { "\($0.trackIndex) (\($0.type))" }.joined(separator: ", ")
            parts.append("without track \(tracks)")
        }
        return report.output.displayPath + ": " + parts.joined(separator: ", ")
    }
}
