internal import Inspection
internal import JSONText
package import MediaBase
internal import QualityControl
package import SystemPackage

/// The results of a library put together, in the order of the JSON: `ingest report`.
package struct IngestReport: Encodable, Sendable {
    private let schemaVersion = 1
    /// The folder.
    package let path: String
    /// The number of folders.
    package let files: Int
    /// The number of folders in each state.
    package let complete, incomplete, failed, unfinished: Int
    /// The number of folders with each verdict.
    package let verdicts: [String: Int]
    /// The duration of all files together, in seconds.
    package let mediaSeconds: Double
    /// The size of all files together.
    package let sizeBytes: Int
    /// The seconds of work.
    package let workSeconds: Double
    /// The causes of failures, the most frequent first.
    package let causes: [Cause]
    /// The files that took longest.
    package let slowest: [Slow]

    /// A cause of failures.
    package struct Cause: Encodable, Sendable {
        /// The part that failed; empty for a file that failed as a whole.
        package let part: String
        /// The code of the error.
        package let code: String
        /// The message of the first one.
        package let message: String
        /// The number of failures.
        package var count: Int
        /// The folders of some of them.
        package var folders: [String]
    }

    /// A file that took long.
    package struct Slow: Encodable, Sendable {
        /// The folder.
        package let folder: String
        /// The seconds of work.
        package let seconds: Double
        /// The duration of the file in seconds; `nil` if it is not known.
        package let mediaSeconds: Double?
    }

    /// The most folders that are named for a cause, and the most slow files.
    private static let named = 10

    /// Puts the results of a library together.
    package init(_ library: IngestLibrary, at path: FilePath) {
        self.path = path.string
        let items = library.items
        files = items.count
        func count(_ state: IngestLibrary.State) -> Int { items.count { $0.state == state } }
        (complete, incomplete) = (count(.complete), count(.incomplete))
        (failed, unfinished) = (count(.failed), count(.unfinished))
        verdicts = Dictionary(grouping: items.compactMap(\.verdict), by: \.self).mapValues(\.count)
        mediaSeconds = items.compactMap(\.duration).reduce(0) { $0 + $1.seconds }
        sizeBytes = items.compactMap(\.sizeBytes).reduce(0, +)
        workSeconds = items.compactMap(\.seconds).reduce(0, +)
        var causes: [Cause] = []
        for item in items {
            for failure in item.failures {
                let place = causes.firstIndex { $0.part == failure.part && $0.code == failure.code }
                if let place {
                    causes[place].count += 1
                    if causes[place].folders.count < Self.named { causes[place].folders.append(item.folder.string) }
                } else {
                    causes.append(
                        Cause(
                            part: failure.part, code: failure.code, message: failure.message, count: 1,
                            folders: [item.folder.string]))
                }
            }
        }
        self.causes = causes.sorted { $0.count > $1.count }
        slowest = items.filter { $0.seconds != nil }.sorted { ($0.seconds ?? 0) > ($1.seconds ?? 0) }
            .prefix(Self.named).map {
                Slow(folder: $0.folder.string, seconds: $0.seconds ?? 0, mediaSeconds: $0.duration?.seconds)
            }
    }

    /// The report as lines.
    package var lines: [String] {
        var lines = [
            "\(files) files: \(complete) complete, \(incomplete) incomplete, \(failed) failed, \(unfinished) unfinished",
            "\(hours(mediaSeconds)) of media, \(QuantityText.bytes(Int64(sizeBytes))), \(hours(workSeconds)) of work",
        ]
        if !verdicts.isEmpty {
            let counts = verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            lines.append("verdicts: " + counts.joined(separator: ", "))
        }
        for cause in causes {
            let part = cause.part.isEmpty ? "" : "\(cause.part): "
            lines.append("  \(cause.count)  \(part)\(cause.code): \(cause.message)")
            for folder in cause.folders { lines.append("       \(folder)") }
        }
        if !slowest.isEmpty { lines.append("slowest:") }
        for slow in slowest { lines.append("  \(decimal(slow.seconds)) s  \(slow.folder)") }
        return lines
    }

    private func hours(_ seconds: Double) -> String {
        seconds < 3600 ? "\(decimal(seconds / 60)) min" : "\(decimal(seconds / 3600)) h"
    }

    private func decimal(_ number: Double) -> String { number.text(decimals: 1) }
}

extension IngestReport {
    /// Returns the report as one self-contained HTML page without scripts.
    package func html() throws(MediaError) -> String {
        func row(_ cells: [String], _ tag: String = "td") -> String {
            "<tr>" + cells.map { "<\(tag)>\(Self.escaped($0))</\(tag)>" }.joined() + "</tr>\n"
        }
        func table(_ title: String, _ head: [String], _ rows: [[String]]) -> String {
            rows.isEmpty
                ? ""
                : "<h2>\(title)</h2>\n<table>\n<thead>\(row(head, "th"))</thead>\n" + rows.map { row($0) }.joined()
                    + "</table>\n"
        }
        let totals =
            [
                ["Files", "\(files)"], ["Complete", "\(complete)"], ["Incomplete", "\(incomplete)"],
                ["Failed", "\(failed)"], ["Unfinished", "\(unfinished)"], ["Media", hours(mediaSeconds)],
                ["Size", QuantityText.bytes(Int64(sizeBytes))], ["Work", hours(workSeconds)],
            ] + verdicts.sorted { $0.key < $1.key }.map { ["Verdict \($0.key)", "\($0.value)"] }
        let body =
            table("Totals", ["What", "Number"], totals)
            + table(
                "Causes of failures", ["Number", "Part", "Cause", "Folders"],
                causes.map { cause in
                    let more = cause.count - cause.folders.count
                    let folders = cause.folders.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
                    return ["\(cause.count)", cause.part, "\(cause.code): \(cause.message)", folders]
                })
            + table(
                "Slowest", ["Seconds", "Media", "Folder"],
                slowest.map { [decimal($0.seconds), $0.mediaSeconds.map(hours) ?? "", $0.folder] })
        return try PageDocument.report(title: Self.escaped(path), body: body)
    }

    private static func escaped(_ text: String) -> String {
        VisibleText.line(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
