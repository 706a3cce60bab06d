import MediaBase
import MediaJobs

/// What `proxy` tells a person.
enum ProxyText {
    /// The presets, one a line.
    static var presets: String {
        let width = ProxyPreset.all.map(\.name.count).max() ?? 0
        return ProxyPreset.all.map { preset in
            preset.name + String(repeating: " ", count: width - preset.name.count + 2) + preset.summary + "\n"
        }.joined()
    }

    /// One line on a proxy that was written.
    static func text(of report: ProxyReport) -> String {
        var parts = [
            "\(report.video.codec) \(report.video.encodedSize)", "\(report.video.frameCount) frames",
            QuantityText.bytes(report.sizeBytes),
        ]
        if !report.audio.isEmpty {
            parts.insert(
                report.audio.map { "\($0.codec) \($0.channelLayout ?? "\($0.channels) channels")" }
                    .joined(separator: " + "), at: 1)
        }
        if let timecode = report.startTimecode { parts.append("from \(timecode)") }
        if !report.leftOut.isEmpty {
            let tracks = report.leftOut.map { "\($0.trackIndex) (\($0.type))" }.joined(separator: ", ")
            parts.append("without track \(tracks)")
        }
        return report.output.displayPath + ": " + parts.joined(separator: ", ")
    }
}
