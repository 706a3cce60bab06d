import ArgumentParser
import MediaBase
import SystemCalls

/// The options of a run over many files, shared by all commands.
struct BatchOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Work on the files in this list too: a path or an address on each line. '-' is standard input.",
            valueName: "list"))
    var filesFrom: PathArgument?

    @Flag(
        name: [.customShort("0"), .long],
        help: "The names in the list end with a zero byte, as 'find -print0' writes them.")
    var null = false

    @Option(
        help: ArgumentHelp(
            "Work only on part K of N of the list, K from 0. 'auto/N' takes K from the array task of Slurm, Kubernetes or "
                + "AWS Batch.", valueName: "K/N"),
        transform: CommonArgument.shard)
    var shard: ShardArgument?

    @Option(
        help: ArgumentHelp("The number of the first array task, for '--shard auto/N'. (default: 0)", valueName: "n"))
    var shardBase: Int?

    @Option(
        help: ArgumentHelp(
            "Do the work on a file again, up to n times, if it failed for a reason that may pass: a crash, the time limit, "
                + "a lack of memory, the network, the system. (default: 0)", valueName: "n"))
    var retries: Int?

    /// The part of the list.
    private var part: Shard? {
        get throws {
            do throws(MediaError) {
                return try shard?.shard(base: shardBase ?? 0, variable: environmentVariable)
            } catch {
                throw ValidationError(error.message)
            }
        }
    }

    func validate() throws {
        try CommonArgument.check("--retries", retries, in: 0...100)
        let given = [("--null", null), ("--shard", shard != nil), ("--shard-base", shardBase != nil)]
        if filesFrom == nil, let option = given.first(where: \.1)?.0 {
            throw ValidationError("'\(option)' is about the list of '--files-from'; add that option.")
        }
        if shardBase != nil, shard == nil || shard?.index != nil {
            throw ValidationError("'--shard-base' needs '--shard auto/N'.")
        }
        _ = try part
    }

    /// Reads the files of the list, or of the part of it.
    ///
    /// - Parameter timeout: The longest time that the writer of the list is waited for; `nil` for no limit.
    func listedFiles(timeout: TimeoutArgument?) throws -> [InputArgument] {
        guard let filesFrom else { return [] }
        var list = FileList(separator: null ? 0 : UInt8(ascii: "\n"), shard: try part)
        try list.read(filesFrom, timeout: timeout)
        return list.files
    }
}

/// A command that works on any number of files.
protocol FilesCommand: ParsableCommand {
    /// The files.
    var files: [InputArgument] { get set }
    /// The options of the run.
    var runOptions: RunOptions { get }
    /// True if the command only prints information, so that it needs no files.
    var onlyPrints: Bool { get }

    /// Refuses files and outputs with names that cannot be, before any file is opened.
    func checkFiles() throws
}

extension FilesCommand {
    /// Checks the files of the command line, unless a list has more, which is read only when the command runs.
    func checkNamedFiles() throws {
        guard runOptions.batch.filesFrom == nil else {
            if runOptions.batch.shard != nil, !files.isEmpty {
                throw ValidationError("With '--shard' all files come from the list of '--files-from'.")
            }
            return
        }
        try checkFiles()
    }

    /// Adds the files of the list, and checks all.
    mutating func addListedFiles() throws {
        guard let list = runOptions.batch.filesFrom, !onlyPrints else { return }
        if list.isStandardStream, files.contains(where: \.isStandardStream) {
            throw ValidationError("Standard input ('-') can be named only once.")
        }
        files += try runOptions.batch.listedFiles(timeout: runOptions.timeout)
        if !files.isEmpty { try checkFiles() }
    }
}
