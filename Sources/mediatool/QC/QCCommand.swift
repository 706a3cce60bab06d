import ArgumentParser
import AssetKit
import EmbeddedFiles
import Inspection
import Isolation
import MediaBase
import MediaJobs
import QualityControl
import SystemCalls
import SystemPackage
import Threading

/// `mediatool qc`: checks files against a policy.
struct QCCommand: FilesCommand {
    static let configuration = CommandConfiguration(
        commandName: "qc",
        abstract: "Checks media files against a policy: their declared properties, their video and their audio.",
        discussion: """
            A policy is a YAML file of rules, or one that comes with the program: content (the default), web, ebu-r128, \
            reference. Everything is measured in one pass over each file. The exit code is 0 if all files pass, 1 if \
            something fails, 2 if a file could not be processed. docs/qc.md describes how to write policies.

            Examples:
              mediatool qc interview.mov
              mediatool qc --policy ebu-r128 --fail-on warn *.wav
              mediatool qc --policy delivery.yml --junit qc.xml --html qc.html *.mov
              mediatool qc --json --policy delivery.yml interview.mov
              mediatool qc --proxy-of interview.mov interview-proxy.mov
              mediatool qc --reference master.mov --frames psnr.csv encoded.mp4
              mediatool qc --list-checks
            """)

    @Argument(help: ArgumentHelp("The files to check; '-' is standard input.", valueName: "file"))
    var files: [InputArgument] = []

    @Option(
        help: ArgumentHelp("A policy in YAML, or the name of one that comes with the program.", valueName: "policy"))
    var policy: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Check that each file is a proxy of this one: tracks, channels, frames, times, rate, timecode. Without a "
                + "policy, nothing else is checked.", valueName: "source"))
    var proxyOf: InputArgument?

    @Option(
        help: ArgumentHelp(
            "Compare the video and the audio of each file with this one; the default policy is then 'reference'.",
            valueName: "file"))
    var reference: InputArgument?

    @Option(
        help: ArgumentHelp(
            "The number of findings of each rule that JSON, CSV and JUnit list; the JSON has their total.",
            valueName: "count"))
    var findings = QCReport.usualListed

    @Option(help: "The lowest severity for which the exit code is 1: fail or warn.")
    var failOn = Severity.fail

    @Option(
        help: ArgumentHelp(
            "Write the results as JUnit XML: a suite for each file, a test case for each rule.", valueName: "path"))
    var junit: PathArgument?

    @Option(help: ArgumentHelp("Write the results as one page of HTML.", valueName: "path"))
    var html: PathArgument?

    @Option(help: ArgumentHelp("Write the findings as comma-separated values.", valueName: "path"))
    var csv: PathArgument?

    @Option(
        help: ArgumentHelp(
            "Write the difference of each frame from that of '--reference', as comma-separated values.",
            valueName: "path"))
    var frames: PathArgument?

    @Flag(help: "Print all checks with definitions and defaults, and do nothing else.")
    var listChecks = false

    @Flag(help: "Print the JSON Schema of policies and do nothing else.")
    var policySchema = false

    @Flag(help: "Print the policy that would be used, if it comes with the program, and do nothing else.")
    var showPolicy = false

    @OptionGroup var output: OutputFormatOptions
    @OptionGroup var options: RunOptions

    /// True if the command only prints information.
    var onlyPrints: Bool { listChecks || policySchema || showPolicy || output.schema }
    var runOptions: RunOptions { options }

    func checkFiles() throws { try output.checkFiles(files) }

    mutating func validate() throws {
        try output.validate()
        if !onlyPrints || output.schema { try checkNamedFiles() }
        for (name, path) in [("--reference", reference), ("--proxy-of", proxyOf)] where path?.isStandardStream == true {
            throw ValidationError("'\(name)' is read more than once and cannot be standard input; name a file.")
        }
        for file in [reference, proxyOf].compactMap(\.self) { try file.validate() }
        if let repeated = [junit, html, csv, frames].compactMap(\.self).map(\.path).firstRepeated {
            throw ValidationError("Two reports are named '\(repeated.displayPath)'; give each its own name.")
        }
        try CommonArgument.check("--findings", findings, in: 1...10_000)
        if frames != nil, reference == nil {
            throw ValidationError("'--frames' compares frames with those of '--reference'; add that option.")
        }
    }

    func run() throws {
        if output.schema { return try StandardOutput.write(EmbeddedFile.qcSchema.text) }
        if policySchema { return try StandardOutput.write(EmbeddedFile.qcPolicySchema.text) }
        if listChecks { return try StandardOutput.write(CheckRegistry.listing) }
        if showPolicy {
            guard let known = builtInPolicy else {
                throw ValidationError("'--show-policy' prints policies that come with the program: \(Self.builtIn).")
            }
            return try StandardOutput.write(known.yaml)
        }
        let policy = try loadPolicy()
        let run = FilesRun(
            files, output, options,
            .init(
                inputs: [reference, proxyOf].compactMap(\.self),
                reading: [builtInPolicy == nil ? self.policy : nil].compactMap(\.self)))
        let outputs = run.outputs.limited(to: reportAllowance)
        // Open the reports now, to refuse those that cannot be written before hours of measuring.
        let opened = try [junit, html, csv, frames].map { page in try page.map { try outputs.open($0.path) } }
        var pages = Pages()
        var job = QCJob.Options()
        (job.illustrates, job.keepsFrames, job.maximumListed) = (html != nil, frames != nil, findings)
        let code = try run { [proxyOf, reference, job] index, file in
            try Self.check(file, policy, proxyOf: proxyOf, reference: reference, run.running, job) {
                run.progress.update(part: index, fraction: $0)
            }
        } warnings: {
            $0.warnings
        } inspect: { result, path in
            FileInspection(
                attachment: Pages.Part(result, path: path, of: self).message,
                duration: (try? result.get())?.duration)
        } collect: { _, message in
            if let part = try? Pages.Part(message: message) { pages.add(part) }
        } lines: { report, path in
            QCText.lines(of: report, path: path)
        }
        // If one report cannot be written, write the others nevertheless.
        var failures: [MediaError] = []
        var filled: [OpenedOutput] = []
        let texts: [() -> String] = [{ pages.junit.text }, { pages.html.text }, { pages.csv }, { pages.frames }]
        for case (let page?, let text) in zip(opened, texts) {
            do throws(MediaError) {
                try page.fill(Array(text().utf8))
                filled.append(page)
            } catch {
                failures.append(error)
            }
        }
        failures += OpenedOutput.commit(filled)
        for failure in failures.dropLast() { StandardError.report(failure) }
        if let failure = failures.last { throw failure }
        throw code == .success && pages.hasFailed ? ExitCode.checkFailed : code
    }

    /// The maximum size of all reports together.
    private var reportAllowance: OutputAllowance {
        let bytes = files.compactMap { $0.isRemote ? nil : try? $0.path.stat().size }.reduce(0) {
            $0 + Int(clamping: $1)
        }
        return OutputAllowance(options.assetOptions().limits, forInputOf: bytes)
    }

    private static let builtIn = BuiltInPolicy.allCases.map(\.rawValue).joined(separator: ", ")

    /// The built-in policy; `nil` if the policy is a file.
    private var builtInPolicy: BuiltInPolicy? {
        policy.map { BuiltInPolicy(rawValue: $0.path.string) } ?? (reference == nil ? .content : .reference)
    }

    /// Reads the policy.
    func loadPolicy() throws(MediaError) -> Policy {
        if let source = proxyOf, policy == nil, reference == nil {
            return Policy(name: "proxy-of \(source.displayName)", rules: [])
        }
        guard let path = policy?.path, builtInPolicy == nil else {
            let known = builtInPolicy ?? .content
            return try Policy(yaml: known.yaml, named: known.rawValue)
        }
        do throws(MediaError) {
            let bytes = try WholeFile(
                as: "a policy", atMost: Policy.maximumBytes, until: options.timeout?.deadline
            ).read(path)
            return try Policy(bytes: bytes, named: path.stem ?? path.displayPath)
        } catch {
            guard error.code == .notFound, !path.string.contains("/"), !path.string.contains(".") else {
                throw error.at(path: path.displayPath)
            }
            throw MediaError(
                .notFound, "is neither a file nor one of the policies \(Self.builtIn)", path: path.displayPath)
        }
    }

    private static func check(
        _ file: InputArgument, _ policy: Policy, proxyOf: InputArgument?, reference: InputArgument?,
        _ options: RunOptions, _ job: QCJob.Options, progress: @escaping (Double) -> Void
    ) throws -> QCReport {
        let assetOptions = options.assetOptions()
        var opening = assetOptions
        opening.spoolsPipe = QCJob.readsAgain(
            policy, isCompared: proxyOf != nil || reference != nil, options: job)
        let report = try QCJob(
            asset: file.asset(opening), policy: policy, proxyOf: proxyOf?.asset(assetOptions),
            reference: reference?.asset(assetOptions), threads: options.threadsPerFile, options: job
        ).run { done, _ in
            progress(done)
        }
        if options.strict, let error = report.measurements.strictError { throw error }
        return report
    }
}

/// The reports that are written after all files are done.
private struct Pages {
    var junit = JUnitReport()
    var html = HTMLReport()
    var csv = CSVReport.header
    var frames = CSVReport.frameHeader
    /// True if a file has failed.
    var hasFailed = false

    mutating func add(_ part: Part) {
        if let suite = part.suite { junit.add(suite) }
        if let section = part.section { html.add(section) }
        csv += part.csv
        frames += part.frames
        if part.hasFailed { hasFailed = true }
    }

    /// The parts of the reports that are about one file; those of reports that nobody asked for are empty.
    struct Part {
        var suite: JUnitReport.Suite?
        var section: HTMLReport.Section?
        var csv = ""
        var frames = ""
        var hasFailed = false

        init(_ result: Result<QCReport, MediaError>, path: String, of command: QCCommand) {
            if command.junit != nil { suite = JUnitReport.suite(of: result, path: path) }
            if command.html != nil { section = HTMLReport.section(of: result, path: path) }
            if command.csv != nil { csv = CSVReport.lines(of: result, path: path) }
            guard case .success(let report) = result else { return }
            if command.frames != nil {
                frames = CSVReport.frames(report.measurements.reference?.frames ?? [], path: path)
            }
            hasFailed = report.verdict == .fail || report.verdict == .warn && command.failOn == .warn
        }

        /// The part as the message of a worker.
        var message: [UInt8] {
            var writer = MessageWriter()
            writer.write(suite) { writer, suite in
                writer.write(suite.text)
                writer.write(suite.counts) { $0.write($1) }
            }
            writer.write(section) { writer, section in
                writer.write(section.text)
                writer.write(section.textWithoutImages) { $0.write($1) }
                writer.write(section.images)
                writer.write(section.status)
            }
            writer.write(csv)
            writer.write(frames)
            writer.write(hasFailed)
            return writer.bytes
        }

        /// Reads the message of a worker.
        init(message: [UInt8]) throws(MessageReader.Invalid) {
            typealias Invalid = MessageReader.Invalid
            var reader = MessageReader(message)
            suite = try reader.optional { reader throws(Invalid) in
                JUnitReport.Suite(
                    text: try reader.text(),
                    counts: try reader.list { reader throws(Invalid) in try reader.number() })
            }
            section = try reader.optional { reader throws(Invalid) in
                HTMLReport.Section(
                    text: try reader.text(),
                    textWithoutImages: try reader.optional { reader throws(Invalid) in try reader.text() },
                    images: try reader.number(), status: try reader.text())
            }
            csv = try reader.text()
            frames = try reader.text()
            hasFailed = try reader.condition()
        }
    }
}

extension Severity: ExpressibleByArgument {}

/// Formats a report as readable text.
enum QCText {
    /// The maximum number of findings printed for one rule.
    private static let maximumFindings = 8

    /// Returns the verdict, the findings, and the rules that do not apply.
    static func lines(of report: QCReport, path: String) -> [String] {
        var lines = ["\(path): \(report.verdict.rawValue) (policy \(report.policy))"]
        let findingsOfRules = Dictionary(grouping: report.findings, by: \.rule)
        for rule in report.rules {
            let findings = findingsOfRules[rule.id] ?? []
            for finding in findings.prefix(maximumFindings) {
                let end = finding.endTimecode.flatMap { $0 == finding.startTimecode ? nil : " to \($0)" } ?? ""
                let timecode = finding.startTimecode.map { " [\($0)\(end)]" } ?? ""
                lines.append("  \(finding.severity.rawValue)  \(finding.rule): \(finding.message)\(timecode)")
            }
            let count = rule.findingCount ?? 0
            if count > Int64(maximumFindings) {
                lines.append(
                    "  …     \(rule.id): \(count - Int64(maximumFindings)) more, \(count) in all; --json lists them")
            }
        }
        for rule in report.rules where rule.status == .notApplicable {
            lines.append("  not applicable  \(rule.id): \(rule.reason ?? "")")
        }
        for track in report.measurements.tracks {
            guard let sound = track.sound else { continue }
            func text(_ number: Double?, _ unit: String) -> String {
                number.map { decimal($0) + " " + unit } ?? "none"
            }
            lines.append(
                "  track \(track.trackIndex): loudness \(text(sound.integratedLoudness, "LUFS")), range "
                    + "\(text(sound.loudnessRange, "LU")), true peak \(text(sound.truePeak, "dBTP"))")
        }
        lines += comparison(report.measurements.reference)
        return lines
    }

    private static func comparison(_ reference: ReferenceMeasurements?) -> [String] {
        var lines: [String] = []
        if let pictures = reference?.pictures {
            func text(_ name: String, _ scores: ReferenceMeasurements.Scores, _ digits: Int, _ unit: String) -> String {
                let place = scores.worst.map { " at \($0.clockText())" } ?? ""
                return
                    "\(name) \(decimal(scores.all, digits))\(unit) (worst \(decimal(scores.minimum, digits))\(place))"
            }
            lines.append(
                pictures.count == 0
                    ? "  pictures: none compared"
                    : "  pictures: \(pictures.count) compared, "
                        + (pictures.psnr.worst == nil
                            ? "nothing differs"
                            : "\(text("PSNR", pictures.psnr, 2, " dB")), \(text("SSIM", pictures.ssim, 4, ""))"))
        }
        if let sound = reference?.sound {
            let offset = sound.offset.map { "\(decimal($0.seconds, 4)) s later" } ?? "alike nowhere"
            lines.append(
                "  sound: \(offset), correlation \(decimal(sound.correlation, 3)), difference "
                    + (sound.difference.map { "\(decimal($0)) dB" } ?? "none"))
        }
        return lines
    }

    private static func decimal(_ number: Double?, _ digits: Int = 1) -> String {
        number.map { $0.text(decimals: digits) } ?? "infinite"
    }
}
