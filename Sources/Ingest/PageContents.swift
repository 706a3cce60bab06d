internal import JSONText
internal import MediaBase
internal import Peaks
internal import SystemPackage

/// Makes the page of a file from the outputs in its folder.
struct PageContents {
    private let folder: FilePath
    private let records: [IngestRecord]
    private let probe: JSONValue?

    /// - Parameters:
    ///   - folder: The folder of the outputs.
    ///   - records: The outputs that are made.
    init(_ folder: FilePath, _ records: [IngestRecord]) {
        self.folder = folder
        self.records = records
        probe = Self.json("probe", folder, records)
    }

    /// Returns the page.
    ///
    /// - Parameters:
    ///   - input: The file that was read.
    ///   - results: The results of all parts.
    func page(of input: IngestIdentity, _ results: [IngestResult]) throws(MediaError) -> IngestPage {
        let name = FilePath(input.path).lastComponent?.string ?? input.path
        var page = IngestPage(title: title ?? name, fileName: name, duration: duration)
        let video = tracks.first { $0["type"]?.string == "video" }
        page.frameRate = video.flatMap(Self.constantRate)
        page.startTimecode =
            video?["startTimecode"]?.string ?? probe?["container"]?["startTimecode"]?.string
        page.proxy = file(ofKind: "proxy").map { .init(reference: $0, kind: .video) }
        page.poster = file(ofKind: "poster")
        if let index = file(ofKind: "spriteIndex") { page.cues = try cues(index) }
        page.sound = try sound()
        page.chapters = (probe?["chapters"]?.elements ?? []).compactMap(Self.chapter)
        page.sceneChanges = (Self.json("scenes", folder, records)?["scenes"]?.elements ?? []).compactMap(\.time)
            .filter { $0 > .zero }
        page.metadata = sections
        addChecks(to: &page)
        for result in results {
            switch result.outcome {
            case .made(let record):
                for warning in record.warnings where !page.warnings.contains(warning) { page.warnings.append(warning) }
            case .leftOut(let reason): page.leftOut.append(.init(name: result.part.rawValue, reason: reason))
            case .failed(let error): page.leftOut.append(.init(name: result.part.rawValue, reason: error.message))
            }
        }
        return page
    }

    // MARK: Files

    private func file(ofKind kind: String) -> String? {
        records.lazy.flatMap(\.outputs).first { $0.kind == kind }?.file
    }

    private static func json(_ kind: String, _ folder: FilePath, _ records: [IngestRecord]) -> JSONValue? {
        guard let file = records.lazy.flatMap(\.outputs).first(where: { $0.kind == kind })?.file,
            let bytes = try? IngestState.bytes(of: folder.appending(file))
        else { return nil }
        return try? JSONReader.parse(bytes)
    }

    /// Returns the waveforms: of each file the coarsest level.
    private func sound() throws(MediaError) -> [IngestPage.Sound] {
        let outputs = records.flatMap(\.outputs).filter { $0.kind == "peaks" }
        var sounds: [IngestPage.Sound] = []
        // The first level has the track's plain name.
        for output in outputs where !output.file.hasPrefix("peaks-") || output.file.hasPrefix("peaks-track") {
            let peaks = try PeakFile.decode(IngestState.bytes(of: folder.appending(output.file)))
            let track = output.file.split(separator: ".")[0].split(separator: "-").last { $0.hasPrefix("track") }
            sounds.append(.init(name: track.map(String.init) ?? "audio", peaks: peaks, start: output.start ?? .zero))
        }
        return sounds
    }

    /// Returns the cues of a WebVTT file that this program wrote.
    private func cues(_ name: String) throws(MediaError) -> [IngestPage.Cue] {
        let text = String(decoding: try IngestState.bytes(of: folder.appending(name)), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return zip(lines, lines.dropFirst()).compactMap { times, target in
            let parts = target.split(separator: "#xywh=")
            let numbers = parts.count == 2 ? parts[1].split(separator: ",").compactMap { Int($0) } : []
            let bounds = times.split(separator: " ").filter { $0 != "-->" }.compactMap(Self.cueTime)
            guard numbers.count == 4, bounds.count == 2 else { return nil }
            return IngestPage.Cue(
                start: bounds[0], end: bounds[1], sheet: String(parts[0]), x: numbers[0], y: numbers[1],
                width: numbers[2], height: numbers[3])
        }
    }

    /// Returns the time `HH:MM:SS.mmm` of a cue.
    private static func cueTime(_ text: Substring) -> MediaTime? {
        let parts = text.split(whereSeparator: { $0 == ":" || $0 == "." }).compactMap { Int64($0) }
        guard parts.count == 4 else { return nil }
        return MediaTime(value: ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + parts[3], timescale: 1000)
    }

    // MARK: Declared properties

    private var tracks: [JSONValue] { probe?["tracks"]?.elements ?? [] }

    private var duration: MediaTime {
        probe?["container"]?["duration"]?.time
            ?? records.lazy.flatMap(\.outputs).compactMap(\.duration).max() ?? .zero
    }

    private var title: String? {
        let items = probe?["metadata"]?.elements ?? []
        return items.first { $0["key"]?.string == "title" }?["value"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func constantRate(of track: JSONValue) -> Rational? {
        guard let rate = track["video"]?["frameRate"], rate["mode"]?.string != "variable",
            let nominal = rate["average"] ?? rate["nominal"], let number = nominal["num"]?.integer,
            let divisor = nominal["den"]?.integer, number > 0, divisor > 0
        else { return nil }
        return Rational(Int64(number), Int64(divisor))
    }

    private static func chapter(_ value: JSONValue) -> IngestPage.Chapter? {
        guard let start = value["timeRange"]?["start"]?.time else { return nil }
        let length = value["timeRange"]?["duration"]?.time
        return IngestPage.Chapter(
            start: start, end: length.map { start + $0 }, title: value["title"]?.string ?? "")
    }

    /// The properties of the file and its tracks, and its metadata.
    private var sections: [IngestPage.Section] {
        guard let probe else { return [] }
        var sections = [IngestPage.Section(title: "File", rows: Self.rows(of: probe["container"]))]
        for track in tracks {
            let type = track["type"]?.string ?? "data"
            let index = track["index"]?.integer ?? 0
            sections.append(
                IngestPage.Section(
                    title: "Track \(index): \(type)", rows: Self.rows(of: track) + Self.rows(of: track[type])))
        }
        let items = (probe["metadata"]?.elements ?? []).compactMap { item -> (key: String, value: String)? in
            guard let key = item["key"]?.string, let value = item["value"].flatMap(Self.text) else { return nil }
            return (key, value)
        }
        if !items.isEmpty { sections.append(IngestPage.Section(title: "Metadata", rows: items)) }
        return sections
    }

    /// Returns the members of an object that have a short text.
    private static func rows(of value: JSONValue?) -> [(key: String, value: String)] {
        guard case .object(let object)? = value else { return [] }
        return object.members.compactMap { member in text(member.value).map { (member.key, $0) } }
    }

    /// Returns a value as text; `nil` for objects that are neither a time, a ratio nor a size, and for lists of them.
    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): return text
        case .number(let text): return text
        case .bool(let flag): return flag ? "yes" : "no"
        case .array(let array):
            let texts = array.elements.compactMap(\.string)
            return texts.isEmpty || texts.count < array.elements.count ? nil : texts.joined(separator: ", ")
        case .object:
            if let time = value.time { return time.clockText() }
            if let width = value["width"]?.integer, let height = value["height"]?.integer {
                return "\(width)x\(height)"
            }
            guard let number = value["num"]?.integer, let divisor = value["den"]?.integer else { return nil }
            return divisor == 1 ? "\(number)" : "\(number)/\(divisor)"
        default: return nil
        }
    }

    // MARK: Quality control

    private func addChecks(to page: inout IngestPage) {
        guard let checks = Self.json("qc", folder, records) else { return }
        page.verdict = checks["verdict"]?.string.flatMap(IngestPage.Verdict.init)
        page.policy = checks["policy"]?.string
        page.findings = (checks["findings"]?.elements ?? []).compactMap { finding in
            guard let rule = finding["rule"]?.string, let message = finding["message"]?.string,
                let severity = finding["severity"]?.string.flatMap(IngestPage.Verdict.init)
            else { return nil }
            return IngestPage.Finding(
                start: finding["start"]?.time, end: finding["end"]?.time, rule: rule, severity: severity,
                message: message, track: finding["trackIndex"]?.integer)
        }
        for track in checks["measurements"]?["tracks"]?.elements ?? [] {
            guard let sound = track["sound"] else { continue }
            var row = IngestPage.Loudness(track: "track \(track["trackIndex"]?.integer ?? 0)")
            row.integrated = sound["integratedLoudness"]?.number
            row.range = sound["loudnessRange"]?.number
            row.momentary = sound["momentaryMaximum"]?["loudness"]?.number
            row.shortTerm = sound["shortTermMaximum"]?["loudness"]?.number
            row.truePeak = sound["truePeak"]?.number
            page.loudness.append(row)
        }
    }
}
