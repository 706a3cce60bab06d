import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage

/// The options of every command that say in which form its result is printed.
struct OutputFormatOptions: ParsableArguments {
    @Flag(help: "Print the result as JSON: one object for one file, an array for several.")
    var json = false

    @Flag(help: "Print the result as JSON lines: one object on a line of its own for each file.")
    var jsonl = false

    @Flag(help: "Print the result as a JSON array, also for one file.")
    var array = false

    @Flag(help: "Print the JSON Schema of the result and do nothing else.")
    var schema = false

    /// How the results of a run are printed.
    enum Form: Hashable {
        /// As text for a person.
        case text
        /// One object.
        case object
        /// An array of objects.
        case array
        /// One object a line.
        case lines
    }

    /// The form for a run over so many files.
    func form(fileCount: Int) -> Form {
        if jsonl { return .lines }
        if array { return .array }
        if json { return fileCount == 1 ? .object : .array }
        return .text
    }

    /// Whether the result is printed as JSON of whatever form.
    var isJSON: Bool { json || jsonl || array }

    func validate() throws {
        if jsonl, array { throw ValidationError("'--jsonl' and '--array' exclude each other.") }
    }

    /// Refuses a run without a file, which the parser cannot, as `--schema` needs none.
    func checkFiles(_ files: [PathArgument]) throws {
        if files.isEmpty, !schema { throw ValidationError("Missing expected argument '<file> ...'") }
        if files.count(where: \.isStandardStream) > 1 {
            throw ValidationError("Standard input ('-') can be named only once.")
        }
        let output = FileDescriptor.standardOutput
        if let status = try? output.stat(), status.type == .regular, let identity = FileIdentity(of: output),
            files.contains(where: { $0.identity == identity })
        {
            throw ValidationError("Standard output leads into an input file.")
        }
    }
}

extension Progress.Mode: ExpressibleByArgument {}

/// The options of every command that say how it runs.
struct RunOptions: ParsableArguments {
    /// As many as anyone has; more would only run the system out of threads.
    private static let mostWorkers = 1024

    @Flag(name: .shortAndLong, help: "Print neither progress nor warnings.")
    var quiet = false

    @Option(help: "When to show progress on standard error.")
    var progress = Progress.Mode.auto

    @Flag(help: "Replace outputs that exist. An input is never replaced.")
    var force = false

    @Option(
        name: [.customLong("jobs"), .customShort("j")],
        help: ArgumentHelp("Work on so many files at once. (default: 1; probe: all cores)", valueName: "n"))
    var wantedJobs: Int?

    /// How many files are worked on at once.
    var jobs: Int { wantedJobs ?? 1 }

    @Option(
        help: ArgumentHelp(
            "Use so many threads for each file. (default: all cores, shared by the jobs)", valueName: "n"))
    var threads: Int?

    @Flag(help: "Treat damage in an input as an error instead of a warning.")
    var strict = false

    @Flag(help: "Let an input (playlist, reference movie) open the other files that it names.")
    var allowNested = false

    @Option(
        name: .customLong("limit"),
        help: ArgumentHelp(
            "Set what a file may ask for at most, as NAME=NUMBER with K, M or G after it: \(LimitArgument.names). "
                + "Repeatable.",
            valueName: "limit"),
        transform: CommonArgument.limit)
    var limits: [LimitArgument] = []

    @Option(
        help: ArgumentHelp(
            "Give a file up when reading it takes longer than so many seconds. (default: never)", valueName: "seconds"),
        transform: CommonArgument.timeout)
    var timeout: TimeoutArgument?

    func validate() throws {
        for (option, value) in [("--jobs", jobs), ("--threads", threads ?? 1)]
        where !(1...Self.mostWorkers).contains(value) {
            throw ValidationError("'\(option)' takes a number from 1 to \(Self.mostWorkers).")
        }
    }

    /// How the input is opened for work that begins now: the time limit counts from here.
    func assetOptions() -> Asset.Options {
        var options = Asset.Options()
        options.allowsNestedFiles = allowNested
        for limit in limits { options.limits[limit.name] = limit.value }
        options.limits.deadline = timeout.map { .now + $0.duration }
        return options
    }

    /// The threads for the work on one file, at least one.
    var threadsPerFile: Int { threads ?? max(1, availableProcessors() / max(1, jobs)) }
}
