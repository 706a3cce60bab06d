internal import AssetKit
internal import Inspection
internal import MediaBase

// The comparisons of a proxy with its source: with the samples read during encoding, and with declared properties.

extension TranscodeChecks {
    /// Compares everything that a proxy keeps.
    mutating func compareWithSource(_ expected: Descriptions) throws(MediaError) {
        let container = try made.loadNow(.container)
        for (item, copy) in zip(written, found) {
            if copy.mediaType == .video {
                try compareTimes(item, copy)
                comparePictures(item, copy)
                compare("startTimecode", expected.startTimecode, container.startTimecode, of: item.source) {
                    $0 ?? "none"
                }
            } else {
                compareAudio(item, copy)
            }
            compareDescription(item.source, copy)
        }
        let metadata = try made.loadNow(.metadata)
        compare("dates", Self.date(expected.metadata), Self.date(metadata)) { $0 ?? "none" }
        let missing = expected.metadata.first { !$0.isHeld(by: metadata) }
        record(
            "metadata", missing == nil, missing.map { "\($0.name) \($0.value.text ?? "")" } ?? "all",
            missing == nil ? "all" : "another or none", of: nil)
        compare("chapters", expected.chapters.map(\.title), try made.loadNow(.chapters).map(\.title)) { "\($0.count)" }
        compare("indexFirst", true, container.isIndexFirst ?? true) { $0 ? "yes" : "no" }
    }
}

// MARK: - Times

extension TranscodeChecks {
    /// Converts a time of the source to the proxy's time line, clamped to the range.
    private func moved(_ time: MediaTime) -> MediaTime {
        max(.zero, min(time, plan.range.end) - plan.range.start)
    }

    private mutating func compareTimes(_ item: Written, _ copy: AssetTrack) throws(MediaError) {
        let (source, seen) = (item.source, item.seen)
        var frames = FrameTimes(made, track: copy, highest: .max, threads: plan.request.threads)
        let found = try frames.allTimes()
        compare("frameCount", seen.times.count, found.count, of: source) { "\($0)" }
        // The container counts in ticks.
        let wanted = seen.times.map { moved($0).converted(toTimescale: copy.naturalTimeScale) }
        let wrong = zip(wanted, found).enumerated().first { $1.0 != $1.1 }
        record(
            "frameTimes", wrong == nil && wanted.count == found.count,
            wrong.map { "picture \($0) at \($1.0)" } ?? "\(wanted.count) times",
            wrong.map { "it at \($1.1)" } ?? "\(found.count) times", of: source)
        compare(moved(seen.end), copy.timeRange.end, as: "duration", rate: 48000, of: source)
    }

    private mutating func compareAudio(_ item: Written, _ copy: AssetTrack) {
        guard let format = copy.formatDescriptions.first, let found = format.audio else { return }
        let (source, seen) = (item.source, item.seen)
        let stored = source.formatDescriptions.first?.audio
        let isAAC = format.codec == "aac" && seen.sampleRate > 0
        let layout = seen.channelLayout ?? stored?.channelLayout
        compare("audioChannels", layout?.channels, found.channels, of: source) { $0.map { "\($0)" } ?? "unknown" }
        // Mono tracks of a QuickTime file may be parts of one layout, whose speaker positions are unknown.
        if let layout, layout.channels != 1, case let written = isAAC ? layout.writtenAsAAC : layout,
            let name = written.knownName
        {
            compare("channelLayout", name, found.channelLayout.name, of: source) { $0 }
        }
        var end = seen.end
        // An edit list presents only a part of the stored samples.
        if seen.sampleRate == 0, !source.segments.isEmpty { end = min(end, source.timeRange.end) }
        let start = moved(seen.start)
        compare(start, copy.timeRange.start, as: "audioStart", rate: found.sampleRate, of: source)
        compare(moved(end), copy.timeRange.end, as: "audioEnd", rate: found.sampleRate, of: source)
    }

    /// Adds a check of times that may differ by one tick of a rate, because resampled audio is rounded.
    private mutating func compare(
        _ wanted: MediaTime, _ found: MediaTime, as name: String, rate: Int, of track: AssetTrack
    ) {
        let tick = MediaTime(value: 1, timescale: max(1, Int32(clamping: rate)))
        let isNear = wanted == found || (wanted - found).absoluteValue <= tick
        record(name, isNear, "\(wanted)", "\(found)", of: track)
    }
}

// MARK: - Formats and descriptions

extension TranscodeChecks {
    private mutating func comparePictures(_ item: Written, _ copy: AssetTrack) {
        let source = item.source
        let turn = plan.request.turn(of: source, in: plan.fileType)
        guard case .video(let settings) = item.input.settings, let found = copy.formatDescriptions.first?.video,
            let stored = source.formatDescriptions.first?.video, let original = try? stored.turned(by: turn)
        else { return }
        let ratio = { (format: VideoFormat) in format.sampleAspectRatio ?? .one }
        if plan.request.hasSquarePixels {
            compare("pixelAspect", .one, ratio(found), of: source) { "\($0)" }
        } else {
            compare("displayShape", original.displayShape, found.displayShape, of: source) { shape in
                shape.map { "\($0)" } ?? "unknown"
            }
        }
        compare("cleanAperture", settings.cleanAperture, found.cleanAperture, of: source) { aperture in
            aperture.map { "\($0.width) by \($0.height) at \($0.horizontalOffset), \($0.verticalOffset)" } ?? "none"
        }
        let transform = turn == .identity ? source.preferredTransform : .identity
        compare("rotation", transform.matrix, copy.preferredTransform.matrix, of: source) { "\($0)" }
        compareColor(settings, found, copy, of: source)
        if let wanted = settings.hdr?.valuesText {
            compare("hdr", wanted, found.hdr?.valuesText ?? "none", of: source) { $0 }
        }
    }

    private mutating func compareColor(
        _ settings: VideoOutputSettings, _ found: VideoFormat, _ copy: AssetTrack, of source: AssetTrack
    ) {
        guard let wanted = settings.writtenColor else { return }
        func text(_ color: ColorInfo) -> String {
            [color.primaries, color.transfer, color.matrix, color.range].map { $0 ?? "unknown" }.joined(separator: " ")
        }
        var actual = ColorInfo(container: copy.containerColor, stream: found.color)
        // Ignore properties that the source does not declare.
        if wanted.primaries == nil { actual.primaries = nil }
        if wanted.transfer == nil { actual.transfer = nil }
        if wanted.matrix == nil { actual.matrix = nil }
        // Limited range is the default.
        if actual.range == nil, wanted.range == "tv" { actual.range = "tv" }
        if wanted.range == nil || settings.codec.isLimitedRangeOnly { actual.range = wanted.range }
        record("color", text(wanted) == text(actual), text(wanted), text(actual), of: source)
    }

    private mutating func compareDescription(_ source: AssetTrack, _ copy: AssetTrack) {
        func language(_ track: AssetTrack) -> String { track.language?.lowercased() ?? "und" }
        compare("language", language(source), language(copy), of: source) { $0 }
        func name(_ track: AssetTrack) -> String? {
            track.metadata.first { $0.name == "title" }?.value.text
        }
        compare("name", name(source), name(copy), of: source) { $0 ?? "none" }
        if let date = Self.date(source.metadata) {
            compare("dates", date, Self.date(copy.metadata) ?? "none", of: source) { $0 }
        }
    }

    private static func date(_ metadata: [MetadataItem]) -> String? {
        metadata.first { $0.name == "creation_time" }?.value.text
    }
}

extension HDRInfo {
    /// The values of ST 2086 and CTA-861.3 in the units that files use, 1/50000 and 1/10000 cd/m²; `nil` if there are
    /// none.
    fileprivate var valuesText: String? {
        func ticks(_ value: Rational, _ unit: Int64) -> String {
            value.multiplied(by: Rational(unit))?.rounded().map { "\($0)" } ?? "?"
        }
        var parts: [String] = []
        if let display = masteringDisplay {
            let places = [display.red, display.green, display.blue, display.whitePoint].compactMap(\.self)
            parts += places.map { $0.map { ticks($0, 50000) }.joined(separator: ",") }
            if let darkest = display.minimumLuminance, let brightest = display.maximumLuminance {
                parts.append("\(ticks(darkest, 10000)) to \(ticks(brightest, 10000))")
            }
        }
        if let light = contentLightLevel, light.maximum != 0 || light.maximumFrameAverage != 0 {
            parts.append("light \(light.maximum)/\(light.maximumFrameAverage)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }
}

extension VideoFormat {
    /// The exact ratio of width to height of the visible part, in square pixels.
    fileprivate var displayShape: Rational? {
        let (width, height) =
            cleanAperture.map { ($0.width, $0.height) }
            ?? (Rational(Int64(encodedSize.width)), Rational(Int64(encodedSize.height)))
        return width.divided(by: height)?.multiplied(by: sampleAspectRatio ?? .one)
    }
}
