import ArgumentParser
import Ingest
import Inspection
import JSONText
import MediaBase
import MediaJobs
import SystemPackage

/// `mediatool ingest gallery`: writes the page of a folder of ingested files.
struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery",
        abstract: "Writes a page with the posters, lengths and verdicts of all files that were ingested into a folder.",
        usage: "mediatool ingest gallery <folder> [--title <text>] [--force]",
        discussion: """
            Example:
              mediatool ingest gallery library/
                  writes library/index.html, whose cards lead to the files' own pages
            """)

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"))
    var folder: PathArgument

    @Option(help: ArgumentHelp("The title. (default: the folder's name)", valueName: "text"))
    var title: String?

    @Flag(help: "Replace the page if it exists.")
    var force = false

    func run() throws {
        let path = folder.path
        let title = title.map(RawArguments.displayed) ?? path.absolute.lastComponent?.string ?? path.displayPath
        let library = try IngestLibrary(path)
        let page = path.appending("index.html")
        try OutputFileSet(force: force, inputs: []).put(
            Array(try library.gallery(title: title).html().utf8), at: page)
        let count = library.items.count
        try StandardOutput.write(
            StandardOutput.text(of: ["\(page.displayPath): \(count == 1 ? "1 file" : "\(count) files")"]))
    }
}

/// `mediatool ingest report`: puts the results of many files together.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Puts the results of all files that were ingested into a folder together: totals, failures, slowest.",
        usage: "mediatool ingest report <folder> [--json] [--html <path>] [--force]",
        discussion: """
            Examples:
              mediatool ingest report library/
              mediatool ingest report library/ --json
              mediatool ingest report library/ --html report.html
            """)

    @Argument(help: ArgumentHelp("The folder.", valueName: "folder"))
    var folder: PathArgument

    @Flag(help: "Print the report as JSON.")
    var json = false

    @Option(help: ArgumentHelp("Write the report as one page of HTML.", valueName: "path"))
    var html: PathArgument?

    @Flag(help: "Replace the page if it exists.")
    var force = false

    func run() throws {
        let report = IngestReport(try IngestLibrary(folder.path), at: folder.path)
        if let html {
            try OutputFileSet(force: force, inputs: []).put(Array(try report.html().utf8), at: html.path)
        }
        if json {
            try StandardOutput.write(try OrderedJSONEncoder(layout: .pretty).encode(report) + [UInt8(ascii: "\n")])
        } else {
            try StandardOutput.write(StandardOutput.text(of: report.lines))
        }
    }
}
