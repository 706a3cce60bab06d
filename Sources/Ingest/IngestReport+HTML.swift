internal import Inspection
package import MediaBase

extension IngestReport {
    /// Returns the report as one self-contained HTML page without scripts.
    package func html() throws(MediaError) -> String {
        try PageDocument.report(
            title: VisibleText.markup(path),
            body: Self.totals(totals)
                + Self.table(
                    "Causes of failures", "causes", ["Number", "Part", "Cause", "Folders"],
                    causes.map { cause in
                        let part = cause.part.isEmpty ? "whole file" : cause.part
                        return [
                            "\(cause.count)", VisibleText.markup(part),
                            VisibleText.markup("\(cause.code): \(cause.message)"),
                            Self.names(cause.folders, more: cause.count - cause.folders.count),
                        ]
                    })
                + Self.table(
                    "Slowest", "slowest", ["Work", "Media", "Folder"],
                    slowest.map { slow in
                        [
                            duration(slow.seconds), slow.mediaSeconds.map(duration) ?? "",
                            VisibleText.markup(slow.folder),
                        ]
                    }))
    }

    /// The names and texts of the totals.
    private var totals: [(name: String, text: String)] {
        [
            ("Files", "\(files)"), ("Complete", "\(complete)"), ("Incomplete", "\(incomplete)"),
            ("Failed", "\(failed)"),
            ("Unfinished", "\(unfinished)"), ("Media", duration(mediaSeconds)),
            ("Size", QuantityText.bytes(Int64(sizeBytes))), ("Work", duration(workSeconds)),
        ] + verdicts.sorted { $0.key < $1.key }.map { ("Verdict \($0.key)", "\($0.value)") }
    }

    private static func totals(_ totals: [(name: String, text: String)]) -> String {
        "<dl>\n"
            + totals.map {
                "<div><dt>\(VisibleText.markup($0.name))</dt><dd>\(VisibleText.markup($0.text))</dd></div>\n"
            }
            .joined()
            + "</dl>\n"
    }

    /// Returns a table of cells of HTML, with a heading; nothing without rows.
    private static func table(_ title: String, _ name: String, _ head: [String], _ rows: [[String]]) -> String {
        func row(_ cells: [String], _ tag: String) -> String {
            "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>\n"
        }
        return rows.isEmpty
            ? ""
            : "<h2>\(title)</h2>\n<table class=\"\(name)\">\n<thead>\(row(head, "th"))</thead>\n<tbody>\n"
                + rows.map { row($0, "td") }.joined() + "</tbody>\n</table>\n"
    }

    private static func names(_ names: [String], more: Int) -> String {
        (names.map { "<span>\(VisibleText.markup($0))</span>" } + (more > 0 ? ["<em>and \(more) more</em>"] : []))
            .joined(separator: " ")
    }
}
