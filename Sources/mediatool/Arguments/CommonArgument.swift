import ArgumentParser
import MediaBase
import MediaJobs
import Pictures
import SystemCalls
import SystemPackage

/// Readers of the arguments that several commands have, whose errors the parser shows as usage errors.
enum CommonArgument {
    /// A time: see `TimeExpression.forms`.
    static func time(_ text: String) throws -> TimeExpression {
        try usage { () throws(MediaError) in try TimeExpression(parsing: RawArguments.displayed(text)) }
    }

    /// A track: see `TrackSelector.forms`.
    static func track(_ text: String) throws -> TrackSelector {
        try usage { () throws(MediaError) in try TrackSelector(parsing: RawArguments.displayed(text)) }
    }

    /// A colour, by name or in hexadecimal digits.
    static func color(_ text: String) throws -> Color {
        try usage { () throws(MediaError) in try Color(RawArguments.displayed(text)) }
    }

    /// A limit on what a file may ask for: `NAME=NUMBER`.
    static func limit(_ text: String) throws -> LimitArgument {
        try usage { () throws(MediaError) in try LimitArgument(parsing: RawArguments.displayed(text)) }
    }

    /// The seconds that work may take.
    static func timeout(_ text: String) throws -> TimeoutArgument {
        try usage { () throws(MediaError) in try TimeoutArgument(parsing: RawArguments.displayed(text)) }
    }

    /// A path to one value of a result.
    static func selection(_ text: String) throws -> JSONSelection {
        try usage { () throws(MediaError) in try JSONSelection(RawArguments.displayed(text)) }
    }

    private static func usage<Value>(_ read: () throws(MediaError) -> Value) throws -> Value {
        do throws(MediaError) { return try read() } catch { throw ValidationError(error.message) }
    }
}

/// One limit as it is set on the command line: `pixels=200000000`, `output-bytes=20G`, `duration=300h`.
struct LimitArgument: Hashable {
    /// Which one.
    let name: MediaLimits.Name
    /// What it is set to, at least 1.
    let value: Int

    /// The names and standard values, for help and messages.
    static let names = MediaLimits.Name.allCases.map { name in
        switch name {
        case .outputBytes: "output-bytes (16 times the input and 1G; with --copy 1.1 times and 64M)"
        case .duration: "duration (168h; seconds without h)"
        default: "\(name.rawValue) (\(MediaLimits()[name]))"
        }
    }.joined(separator: ", ")

    /// Reads `NAME=NUMBER`; K, M and G after the number stand for 1024 and its powers, h after a duration for hours.
    ///
    /// - Throws: `invalidArgument` naming the form and the names for anything else.
    init(parsing text: String) throws(MediaError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = MediaLimits.Name(rawValue: String(parts[0])),
            let value = Self.number(parts[1], of: name), (1...Self.largest(name)).contains(value)
        else {
            let names = MediaLimits.Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw MediaError(
                .invalidArgument,
                "'\(text)' is not a limit: write NAME=NUMBER, the number from 1 to \(Int32.max) (K, M and G may follow, "
                    + "h after a duration), the name one of \(names)")
        }
        self.name = name
        self.value = value
    }

    /// More bytes than any file system holds; of everything else as many as libav can count.
    private static func largest(_ name: MediaLimits.Name) -> Int { name == .outputBytes ? 1 << 60 : Int(Int32.max) }

    private static func number(_ text: Substring, of name: MediaLimits.Name) -> Int? {
        let units: [Character: Int] =
            name == .duration ? ["h": 3600] : ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        guard let last = text.last, let unit = units[last] else { return Int(text) }
        let (product, overflow) = (Int(text.dropLast()) ?? 0).multipliedReportingOverflow(by: unit)
        return overflow ? nil : product
    }
}

/// A number of seconds in which work has to be done, from a millisecond to a year.
struct TimeoutArgument: Hashable {
    /// The time.
    let duration: Duration

    /// Reads seconds, such as `30` or `0.5`.
    ///
    /// - Throws: `invalidArgument` naming the range for anything else.
    init(parsing text: String) throws(MediaError) {
        guard let seconds = Double(text), (0.001...31_536_000).contains(seconds) else {
            throw MediaError(
                .invalidArgument,
                "'\(text)' is no time limit: write seconds from 0.001 to 31536000 (a year), such as 30 or 0.5")
        }
        duration = .milliseconds(Int64((seconds * 1000).rounded()))
    }
}

/// A file named on the command line, in the bytes in which it was named.
struct PathArgument: ExpressibleByArgument, Hashable {
    /// The path; names with `:` are files like any other.
    let path: FilePath

    /// Whether the name ends with a slash and so means a folder; `FilePath` drops it.
    let endsWithSlash: Bool

    /// Whether the name is `-`, standard input or standard output.
    var isStandardStream: Bool { path == "-" && !endsWithSlash }

    /// The file that it leads to, so that no output may be it; `nil` where there is none.
    var identity: FileIdentity? {
        isStandardStream ? FileIdentity(of: FileDescriptor.standardInput) : FileIdentity(of: path)
    }

    /// Refuses an input whose stem in an output's name would lead to another folder than the name says.
    func refuseLeadingAway(_ name: (FilePath) -> FilePath) throws {
        guard path.isLedAway(name) else { return }
        throw ValidationError(
            "'\(path.displayPath)' cannot stand for {stem}: what comes before its extension is a folder, not a name.")
    }

    /// Makes a path of an escaped argument; an empty one is none.
    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        path = FilePath(argument: argument)
        endsWithSlash = argument.unicodeScalars.last == "/"
    }

    static var defaultCompletionKind: CompletionKind { .file() }
}

extension Sequence<FilePath> {
    /// The first path that names the same file as one before it, by the paths alone; `nil` where all differ.
    ///
    /// Devices and pipes that are there already may take several outputs.
    var firstRepeated: FilePath? {
        var seen: Set<FilePath> = []
        return first { path in
            let steps = path.components.filter { $0.kind != .currentDirectory }
            guard !seen.insert(FilePath(root: path.root, steps)).inserted else { return false }
            return (try? path.stat()).map { $0.type == .regular } ?? true
        }
    }
}

extension FilePath {
    /// The path that an argument of ``RawArguments`` stands for, byte for byte.
    init(argument: String) {
        self.init(bytes: RawArguments.bytes(of: argument))
    }

    /// The path for a person to read: what is no UTF-8 is repaired with U+FFFD.
    var displayPath: String { string }
}

/// A file that an option names and that is read whole.
enum SmallFile {
    /// All its bytes.
    ///
    /// - Parameters:
    ///   - path: Where it is; a FIFO is read to its end.
    ///   - maximumBytes: How many it may have.
    ///   - purpose: What it is, for the error where it has more, such as "a policy".
    /// - Throws: what opening and reading throw, and `limitExceeded` where it is larger.
    static func bytes(of path: FilePath, atMost maximumBytes: Int, as purpose: String) throws(MediaError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
            try file.closeAfter {
                while bytes.count <= maximumBytes, case let more = try readSome(from: file, atMost: 1 << 18),
                    !more.isEmpty
                {
                    bytes += more
                }
            }
        } catch let error as Errno {
            throw MediaError(error, "read", path: path)
        } catch {
            throw MediaError(.inputOutput, "cannot be read: \(error)", path: path.string)
        }
        guard bytes.count <= maximumBytes else {
            throw MediaError(
                .limitExceeded, "is too large for \(purpose), which has at most \(maximumBytes >> 20) MB",
                path: path.string)
        }
        return bytes
    }
}
