// The pages of `ingest` from a few lines of text, so that another program can say what they show. Tabs divide the fields.
//
//   title TEXT     name TEXT     start T     duration T     rate N/D     timecode TEXT     verdict TEXT     policy TEXT
//   proxy REFERENCE video|audio     poster REFERENCE     sprites FILE (WebVTT beside the page)     sound NAME FILE
//   finding START|- END|- RULE SEVERITY TRACK|- MESSAGE     chapter START TITLE     scene T
//   section TITLE     row KEY VALUE     warning TEXT     leftOut NAME REASON
//   loudness TRACK INTEGRATED RANGE MOMENTARY SHORT-TERM TRUE-PEAK
//   entry FOLDER NAME DURATION|- VERDICT|- POSTER|- PAGE|- WARNINGS ERROR|-
//
// Times are exact rationals. Lines with `entry` make a gallery.

import AssetKit
import Foundation
import Ingest
import MediaBase
import Peaks

struct PageScript {
    private var page = IngestPage(title: "", fileName: "", duration: .zero)
    private var gallery = IngestGallery(title: "")

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            try read(line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init))
        }
    }

    func html() throws -> String { gallery.entries.isEmpty ? try page.html() : try gallery.html() }

    private mutating func read(_ fields: [String]) throws {
        func field(_ place: Int) -> String { place < fields.count ? fields[place] : "" }
        func given(_ place: Int) -> String? { field(place) == "-" ? nil : field(place) }
        func time(_ place: Int) -> MediaTime? {
            given(place).flatMap { MediaTime($0.contains("/") ? $0 : $0 + "/1") }
        }
        let first = field(1)
        switch field(0) {
        case "title": (page.title, gallery.title) = (first, first)
        case "name": page.fileName = first
        case "start": page.start = time(1) ?? .zero
        case "duration": page.duration = time(1) ?? .zero
        case "rate": page.frameRate = Rational(first)
        case "timecode": page.startTimecode = first
        case "verdict": page.verdict = IngestPage.Verdict(rawValue: first)
        case "policy": page.policy = first
        case "proxy": page.proxy = .init(reference: first, kind: field(2) == "audio" ? .audio : .video)
        case "poster": page.poster = first
        case "sprites": page.cues = try Self.cues(String(contentsOfFile: first, encoding: .utf8))
        case "sound":
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: field(2))))
            page.sound.append(.init(name: first, peaks: try PeakFile.decode(bytes)))
        case "finding":
            page.findings.append(
                .init(
                    start: time(1), end: time(2), rule: field(3), severity: .init(rawValue: field(4)) ?? .warn,
                    message: field(6), track: Int(field(5))))
        case "chapter": page.chapters.append(.init(start: time(1) ?? .zero, title: field(2)))
        case "scene": page.sceneChanges.append(time(1) ?? .zero)
        case "section": page.metadata.append(.init(title: first, rows: []))
        case "row": page.metadata[page.metadata.count - 1].rows.append((first, field(2)))
        case "warning": page.warnings.append(first)
        case "leftOut": page.leftOut.append(.init(name: first, reason: field(2)))
        case "loudness":
            var row = IngestPage.Loudness(track: first)
            (row.integrated, row.range, row.momentary) = (Double(field(2)), Double(field(3)), Double(field(4)))
            (row.shortTerm, row.truePeak) = (Double(field(5)), Double(field(6)))
            page.loudness.append(row)
        case "entry":
            var entry = IngestGallery.Entry(folder: first, name: field(2))
            entry.duration = time(3)
            entry.verdict = given(4).flatMap { IngestPage.Verdict(rawValue: $0) }
            (entry.poster, entry.page) = (given(5), given(6))
            (entry.warnings, entry.error) = (Int(field(7)) ?? 0, given(8))
            gallery.entries.append(entry)
        default: fail("no such line: \(field(0))")
        }
    }

    /// The cues of a WebVTT file whose texts are `FILE#xywh=X,Y,W,H`.
    private static func cues(_ text: String) throws -> [IngestPage.Cue] {
        let lines = text.split(separator: "\n").map(String.init)
        return lines.indices.dropLast().compactMap { index in
            let times = lines[index].components(separatedBy: " --> ").map(milliseconds)
            let parts = lines[index + 1].components(separatedBy: "#xywh=")
            guard times.count == 2, parts.count == 2 else { return nil }
            let place = parts[1].split(separator: ",").compactMap { Int($0) }
            guard place.count == 4 else { return nil }
            return IngestPage.Cue(
                start: times[0], end: times[1], sheet: parts[0], x: place[0], y: place[1], width: place[2],
                height: place[3])
        }
    }

    private static func milliseconds(_ text: String) -> MediaTime {
        let parts = text.split { ":.".contains($0) }.compactMap { Int64($0) }
        guard parts.count == 4 else { return .invalid }
        return MediaTime(value: ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + parts[3], timescale: 1000)
    }
}
