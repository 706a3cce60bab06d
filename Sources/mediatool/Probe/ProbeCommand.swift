import ArgumentParser
import AssetKit
import EmbeddedFiles
import JSONText
import MediaBase
import MediaJobs
import SystemCalls
import Threading

/// `mediatool probe`: prints the declared properties of files.
struct ProbeCommand: FilesCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Shows the declared properties of media files: container, tracks, chapters, metadata.",
        discussion: """
            Headers are read, and a few packets if a header is incomplete. Times are exact. If the clock of a file does \
            not start at zero (MPEG-TS, MPEG-PS), its times are shifted to zero, and the JSON has its first time stamp as \
            startTime. Properties that a file does not declare are omitted.

            Examples:
              mediatool probe interview.mov
              mediatool probe --json interview.mov
              mediatool probe --jsonl --jobs 4 *.mp4
              mediatool probe --scan --jobs 4 *.ts
              mediatool probe --select 'tracks[0].video.cleanApertureSize.width' \\
                  interview.mov
              mediatool probe - --json < stream.ts
            """)

    @Argument(help: ArgumentHelp("The files to read; '-' is standard input.", valueName: "file"))
    var files: [InputArgument] = []

    @Option(help: "The form of the result; 'json' and 'jsonl' are the same as the flags.")
    var format: Format?

    @Flag(help: "Read every packet, without decoding: exact counts, durations, spacing, bit rate over time, gaps.")
    var scan = false

    @Option(
        help: ArgumentHelp(
            "Print one value of the JSON for each file, such as 'tracks[0].video.encodedSize'. A string is printed "
                + "without quotes unless a flag for JSON is given.", valueName: "path"),
        transform: CommonArgument.selection)
    var select: JSONPath?

    @OptionGroup var output: OutputFormatOptions
    @OptionGroup var options: RunOptions

    /// The values of `--format`.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json, jsonl
    }

    mutating func validate() throws {
        switch format {
        case .text where output.isJSON: throw ValidationError("'--format text' excludes the flags for JSON.")
        case .json: output.json = true
        case .jsonl: output.jsonl = true
        case .text, nil: break
        }
        try output.validate()
        try checkNamedFiles()
    }

    var runOptions: RunOptions { options }
    var onlyPrints: Bool { output.schema }

    func checkFiles() throws { try output.checkFiles(files) }

    func run() throws {
        if output.schema { return try StandardOutput.write(EmbeddedFile.probeSchema.text) }
        var options = options
        options.wantedJobs = options.wantedJobs ?? availableProcessors()
        let run = FilesRun(files, output, options)
        let printer = ResultPrinter(form: run.form, selection: select, separatesFiles: true)
        throw try run(printer: printer) { [options, scan] _, file in
            try Self.probe(file, scans: scan, options: options)
        } warnings: { report in
            report.warnings
        } inspect: { result, _ in
            FileInspection(duration: try? result.get().container.duration)
        } lines: { report, path in
            ProbeText.lines(of: report, path: path)
        }
    }

    private static func probe(_ file: InputArgument, scans: Bool, options: RunOptions) throws -> ProbeReport {
        var assetOptions = options.assetOptions()
        // The header of a pipe is read again once the packets are known.
        (assetOptions.isPrecise, assetOptions.spoolsPipe) = (scans, scans)
        return try ProbeJob(asset: file.asset(assetOptions), scans: scans, isStrict: options.strict).run()
    }
}
