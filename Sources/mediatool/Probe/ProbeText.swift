import MediaBase
import MediaJobs

/// Formats a probe report as readable text in two columns: first the container, then one block per track.
///
/// The text contains only the most important values; the JSON contains everything.
enum ProbeText {
    /// Returns the lines of a report.
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

    /// Returns a line with a name and a value, with the values of all lines aligned.
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
    /// The value as readable text.
    fileprivate var displayed: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
        }
    }
}

extension String {
    /// The string without trailing blanks.
    fileprivate var trimmingBlanks: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}

extension ProbeText {
    /// Returns a track's first line: codec with profile and level, tag, language, roles.
    static func heading(of track: TrackReport) -> String {
        let codec = track.codec ?? track.codecTag ?? "unknown codec"
        // MPEG-2's levels are words, others are numbers.
        let level = track.levelName.map { $0.first?.isNumber == true ? "L" + $0 : $0 }
        let profile = [track.profile, level].compactMap(\.self).joined(separator: "@")
        let tag = track.codecTag.flatMap { $0 == codec ? nil : "(\($0))" }
        var parts = [[codec, profile.isEmpty ? nil : profile, tag].compactMap(\.self).joined(separator: " ")]
        if let language = track.language, language != "und" { parts.append(language) }
        if let title = track.metadata.first(where: { $0.key == "title" })?.value {
            parts.append("“\(title.displayed)”")
        }
        parts += track.dispositions.map { $0.replacing("_", with: " ") }
        if track.enabled == false { parts.append("disabled") }
        return parts.joined(separator: ", ")
    }

    /// Returns a track's other lines.
    static func rows(of track: TrackReport) -> [(name: String, value: String)] {
        var rows: [(name: String, value: String)] = []
        func add(_ name: String, _ values: [String?]) {
            let text = values.compactMap(\.self).joined(separator: ", ")
            if !text.isEmpty { rows.append((name, text)) }
        }
        if let video = track.video {
            add("size", sizes(of: video))
            let varies = video.frameRate?.mode == "variable"
            let shortest = varies ? video.minimumFrameDuration.flatMap { Rational($0) } : nil
            add(
                "rate",
                [
                    video.frameRate.flatMap(rateText), track.sampleCount.map { "\($0) frames" },
                    shortest.map { "each at least \(QuantityText.decimal($0, places: 6)) s" },
                ])
            add(
                "pixels",
                [
                    video.pixelFormat, video.bitDepth.map { "\($0) bits" },
                    (video.fieldOrder ?? video.fields?.stream).flatMap { fieldOrders[$0] },
                    video.fields?.conflict == true ? "container and stream disagree" : nil,
                ])
            add("color", colors(of: video))
        }
        if let audio = track.audio {
            add(
                "sound",
                [
                    audio.sampleRate.map { "\($0) Hz" }, audio.channelLayout ?? audio.channels.map { "\($0) channels" },
                    audio.bitsPerSample.map { "\($0) bits" },
                ])
            add(
                "cut",
                [
                    audio.priming.flatMap { $0 > 0 ? "\($0) samples before" : nil },
                    audio.remainder.flatMap { $0 > 0 ? "\($0) samples after" : nil },
                ])
        }
        add("time", [timeText(track.timeRange), track.bitRate.map(QuantityText.bitRate)])
        if let scan = track.scan { add("scan", scanText(scan)) }
        if let edits = track.editList { add("edits", edits.map(editText)) }
        add(
            "timecode",
            [
                track.timecode?.start, track.timecode?.framesPerSecond.map { "\($0) frames a second" },
                track.timecode?.reel.map { "reel " + $0 },
            ])
        add("formats", [track.formats.map { formats in formats.map(formatText).joined(separator: "; ") }])
        return rows
    }

    private static func sizes(of video: VideoReport) -> [String?] {
        let aspect = video.sampleAspectRatio.flatMap { $0 == .one ? nil : "pixel aspect \($0.num):\($0.den)" }
        let clean = video.cleanAperture.map { aperture in
            let rect = aperture.pixelRect
            return "clean aperture \(rect.size) at \(rect.x),\(rect.y)"
        }
        let turned = video.rotation.flatMap { $0 == 0 ? nil : "turned \($0)°" }
        let mirrored = video.mirrored == true ? "mirrored" : nil
        let shown = video.displaySize == video.encodedSize ? nil : "shown \(video.displaySize)"
        let shape = video.displayAspectRatio.map { "\($0.num):\($0.den)" }
        return ["\(video.encodedSize)", aspect, clean, mirrored, turned, shown, shape]
    }

    private static func rateText(_ rate: FrameRateReport) -> String? {
        // For a variable rate, the average is the most useful; the nominal rate is then the clock that all frames fit.
        let number = rate.mode == "variable" ? rate.average ?? rate.nominal : rate.nominal ?? rate.average
        guard let number else { return rate.mode }
        let doubt = rate.isEstimate == true && rate.mode != "variable" ? " (estimate)" : ""
        return QuantityText.decimal(number) + " fps" + (rate.mode.map { " \($0)" } ?? "") + doubt
    }

    private static func colors(of video: VideoReport) -> [String?] {
        let color = video.color?.effective
        let names = [color?.primaries, color?.transfer, color?.matrix].compactMap(\.self)
        // All three usually have the same name.
        let name = Set(names).count == 1 ? names.first : names.joined(separator: "/")
        let range = color?.range.map { $0 == "pc" ? "full range" : "limited range" }
        var hdr = video.hdr?.transferFamily
        if hdr == "PQ", video.hdr?.masteringDisplay != nil { hdr = "PQ with mastering display" }
        if video.hdr?.hdr10Plus == true { hdr = [hdr, "HDR10+"].compactMap(\.self).joined(separator: ", ") }
        let vision = video.hdr?.dolbyVision.map { "Dolby Vision profile \($0.profile)" }
        let conflict = video.color?.conflict == true ? "container and stream disagree" : nil
        return [name.flatMap { $0.isEmpty ? nil : $0 }, range, hdr, vision, conflict]
    }

    private static func timeText(_ range: TimeRangeReport) -> String? {
        guard let duration = range.duration else { return range.start.map { "from \($0.clockText())" } }
        guard let start = range.start, start != .zero else { return duration.clockText() }
        return "\(duration.clockText()) from \(start.clockText())"
    }

    private static func editText(_ edit: EditReport) -> String {
        let duration = edit.segmentDuration.map { $0.clockText() } ?? "?"
        guard let start = edit.mediaTime else { return "\(duration) empty" }
        return "\(duration) from \(start.clockText())"
            + (edit.rate == .one ? "" : " at \(QuantityText.decimal(edit.rate))x")
    }

    private static func scanText(_ scan: ScanReport) -> [String?] {
        func text(_ time: MediaTime) -> String { Rational(time).map { QuantityText.decimal($0, places: 6) } ?? "?" }
        let lengths = scan.frameDuration.map { spread in
            spread.minimum == spread.maximum
                ? "each \(text(spread.minimum)) s" : "each \(text(spread.minimum)) to \(text(spread.maximum)) s"
        }
        let keys = scan.keyframes.map { keys in
            "\(keys.count) keyframes" + (keys.maximumFrames.map { ", at most \($0) frames apart" } ?? "")
        }
        let gaps = scan.gapCount > 0 ? "\(scan.gapCount) gaps" : nil
        let damaged = scan.corruptCount > 0 ? "\(scan.corruptCount) damaged" : nil
        return [
            "\(scan.packetCount) packets", scan.frameCount.flatMap { $0 == scan.packetCount ? nil : "\($0) frames" },
            lengths, keys,
            scan.bitRate.map { "at most " + QuantityText.bitRate($0.maximum) },
            gaps,
            damaged,
        ]
    }

    private static func formatText(_ format: FormatReport) -> String {
        let rate = format.sampleRate.flatMap { $0 > 0 ? "\($0) Hz" : nil }
        return [format.codec ?? format.codecTag, format.encodedSize.map { "\($0)" }, rate].compactMap(\.self)
            .joined(separator: " ")
    }

    private static let fieldOrders: [FieldOrder: String] = [
        .progressive: "progressive", .interlaced: "interlaced", .topFieldFirst: "interlaced, top field first",
        .bottomFieldFirst: "interlaced, bottom field first",
        .topFieldStoredFirst: "interlaced, top field stored first and bottom shown first",
        .bottomFieldStoredFirst: "interlaced, bottom field stored first and top shown first",
    ]
}
