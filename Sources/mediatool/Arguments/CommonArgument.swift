import ArgumentParser
import AssetKit
import JSONText
import MediaBase
import MediaJobs
import Network
import SystemCalls
import SystemPackage

/// Parses the arguments shared by several commands; ArgumentParser shows the errors as usage errors.
enum CommonArgument {
    /// Parses a time; see `TimeExpression.forms`.
    static let time = parser { (text) throws(MediaError) in try TimeExpression(parsing: text) }
    /// Parses a track selector; see `TrackSelector.forms`.
    static let track = parser { (text) throws(MediaError) in try TrackSelector(parsing: text) }
    /// Parses a colour by name or in hexadecimal digits.
    static let color = parser { (text) throws(MediaError) in try Color(text) }
    /// Parses a limit on the resources that a file may require, `NAME=NUMBER`.
    static let limit = parser { (text) throws(MediaError) in try LimitArgument(parsing: text) }
    /// Parses a time limit in seconds.
    static let timeout = parser { (text) throws(MediaError) in try TimeoutArgument(parsing: text) }
    /// Parses a path to one value of a result.
    static let selection = parser { (text) throws(MediaError) in try JSONPath(text) }
    /// Parses a part of a list of files.
    static let shard = parser { (text) throws(MediaError) in try ShardArgument(parsing: text) }
    /// Parses the format of raw audio; see ``RawSound/forms``.
    static let raw = parser { (text) throws(MediaError) in try RawSound(parsing: text) }

    /// Returns a parser of arguments that turns the library's errors into usage errors.
    private static func parser<Value>(
        _ read: @escaping @Sendable (String) throws(MediaError) -> Value
    ) -> @Sendable (String) throws -> Value {
        { text in
            do throws(MediaError) {
                return try read(RawArguments.displayed(text))
            } catch {
                throw ValidationError(error.message)
            }
        }
    }

    /// Parses a list separated by commas.
    static func list<Value>(
        _ element: @escaping @Sendable (String) throws -> Value
    ) -> @Sendable (String) throws -> [Value] {
        { text in try text.split(separator: ",", omittingEmptySubsequences: false).map { try element(String($0)) } }
    }

    /// Parses `WxH`, each a number of pixels in a range.
    static func dimensions(_ text: String, in range: ClosedRange<Int>, areEven: Bool = false) throws -> Dimensions {
        let words = text.split(separator: "x", omittingEmptySubsequences: false)
        let sides = words.compactMap { Int($0) }
        guard words.count == 2, sides.count == 2, sides.allSatisfy({ range.contains($0) && !(areEven && $0 % 2 != 0) })
        else {
            throw ValidationError("write a size such as 640x480" + (areEven ? ", with even numbers" : ""))
        }
        return Dimensions(width: sides[0], height: sides[1])
    }

    /// Refuses a number outside a range.
    static func check(_ option: String, _ value: Int?, in range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw ValidationError("'\(option)' takes a number from \(range.lowerBound) to \(range.upperBound).")
    }

    /// Refuses an option together with others, each with whether it is given.
    static func exclude(_ option: String, _ others: (name: String, isGiven: Bool)...) throws {
        guard let other = others.first(where: \.isGiven) else { return }
        throw ValidationError("'\(option)' and '\(other.name)' exclude each other.")
    }

    /// Returns names and summaries in two columns, one pair per line.
    static func table(_ rows: [(name: String, summary: String)]) -> String {
        let width = rows.map(\.name.count).max() ?? 0
        return rows.map { row in
            row.name + String(repeating: " ", count: width - row.name.count + 2) + row.summary + "\n"
        }.joined()
    }
}

/// Refuses outputs of different inputs that would have the same name, before any file is opened.
struct OutputNames {
    /// The advice that ends the message.
    let advice: String
    private var owners: [FilePath: InputArgument] = [:]

    init(advice: String) { self.advice = advice }

    /// Adds the name of an input's output.
    mutating func claim(_ path: FilePath, for file: InputArgument) throws {
        guard let other = owners.updateValue(file, forKey: path) else { return }
        throw ValidationError(
            "'\(other.displayName)' and '\(file.displayName)' would both be written to "
                + "'\(path.displayPath)'; \(advice).")
    }
}

/// A limit as set on the command line: `pixels=200000000`, `output-bytes=20G`, `duration=300h`.
struct LimitArgument: Hashable {
    /// The name of the limit.
    let name: MediaLimits.Name
    /// The value, at least 1.
    let value: Int

    /// The names and default values, for help and messages.
    static let names = MediaLimits.Name.allCases.map { name in
        switch name {
        case .memory: "memory (a quarter of the machine's, shared by the jobs)"
        case .outputBytes: "output-bytes (16 times the input and 1G; with --copy 1.1 times and 64M)"
        case .duration: "duration (168h; seconds without h)"
        default: "\(name.rawValue) (\(MediaLimits()[name]))"
        }
    }.joined(separator: ", ")

    /// Reads `NAME=NUMBER`; the suffixes K, M and G stand for 1024 and its powers, h after a duration for hours.
    ///
    /// - Throws: `invalidArgument`, stating the form and the names, if the text is not valid.
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

    /// Returns the largest value: more bytes than any file system holds, or the maximum that libav can count.
    private static func largest(_ name: MediaLimits.Name) -> Int {
        name == .outputBytes || name == .memory ? 1 << 60 : Int(Int32.max)
    }

    private static func number(_ text: Substring, of name: MediaLimits.Name) -> Int? {
        let units: [Character: Int] =
            name == .duration ? ["h": 3600] : ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        guard let last = text.last, let unit = units[last] else { return Int(text) }
        let (product, overflow) = (Int(text.dropLast()) ?? 0).multipliedReportingOverflow(by: unit)
        return overflow ? nil : product
    }
}

/// A time limit, from a millisecond to a year.
struct TimeoutArgument: Hashable {
    /// The duration.
    let duration: Duration
    /// The time at which the limit is reached if it begins now.
    var deadline: ContinuousClock.Instant { .now + duration }

    /// Reads seconds, such as `30` or `0.5`.
    ///
    /// - Throws: `invalidArgument`, stating the range, if the text is not valid.
    init(parsing text: String) throws(MediaError) {
        guard let seconds = Double(text), (0.001...31_536_000).contains(seconds) else {
            throw MediaError(
                .invalidArgument,
                "'\(text)' is not a time limit: write seconds from 0.001 to 31536000 (a year), such as 30 or 0.5")
        }
        duration = .milliseconds(Int64((seconds * 1000).rounded()))
    }
}

/// A file of this machine named on the command line, such as an output, with the exact bytes of its name.
struct PathArgument: ExpressibleByArgument, Hashable {
    /// The path; a name with `:` has no special meaning.
    let path: FilePath

    /// True if the name ends with a slash, which denotes a folder and which `FilePath` drops.
    let endsWithSlash: Bool

    /// True if the name is `-`, which denotes standard output.
    var isStandardStream: Bool { path == "-" && !endsWithSlash }

    /// Makes a path from an escaped argument; returns `nil` if it is empty or an address, to which nothing is written.
    init?(argument: String) {
        guard !argument.isEmpty, !NetworkAddress.isAddress(argument) else { return nil }
        path = FilePath(argument: argument)
        endsWithSlash = argument.unicodeScalars.last == "/"
    }

    static var defaultCompletionKind: CompletionKind { .file() }
}

extension Sequence<FilePath> {
    /// The first path that names the same file as an earlier one, judged by the paths alone; `nil` if all differ.
    ///
    /// Existing devices and pipes may take several outputs.
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
    /// Makes a path, byte for byte, from an argument of ``RawArguments``.
    init(argument: String) {
        self.init(bytes: RawArguments.bytes(of: argument))
    }

    /// The path as readable text, with invalid UTF-8 replaced by U+FFFD.
    var displayPath: String { string }
}

/// Represents the command line's bytes as strings for ArgumentParser, without loss.
///
/// Linux passes bytes, and a file name need not be UTF-8. Swift's `CommandLine.arguments` repairs such a name, and the
/// file is then not found. Here each byte that is not part of valid UTF-8 becomes the private-use scalar U+10FE00 +
/// byte. A scalar of that block that occurs in an argument is escaped in the same way, byte by byte. Therefore every
/// sequence of bytes has one string, and ``bytes(of:)`` returns the original bytes.
enum RawArguments {
    /// The scalars for the bytes 80 to FF, at the end of plane 16, which is private use and has no known users there.
    private static let block: ClosedRange<UInt32> = 0x10FE80...0x10FEFF
    private static let blockBase: UInt32 = 0x10FE00

    /// Returns the arguments of this process as escaped strings, without the program's name.
    ///
    /// They are read from `/proc/self/cmdline`, see proc(5). Without `/proc`, they are those of Swift's `CommandLine`.
    static func current() -> [String] {
        guard let bytes = try? readAll("/proc/self/cmdline"), !bytes.isEmpty else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return split(bytes).dropFirst().map { escaped(bytes: $0) }
    }

    /// Splits the contents of `/proc/self/cmdline`, in which each argument ends with NUL.
    static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        let closed = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        return closed.split(separator: 0, omittingEmptySubsequences: false)
    }

    /// Returns the string that represents bytes.
    static func escaped(bytes: some Collection<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var rest = bytes[...]
        var iterator = bytes.makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if block.contains(scalar.value) {
                    text.append(contentsOf: rest.prefix(encoded.count).compactMap(escape))
                } else {
                    text.append(scalar)
                }
                rest = rest.dropFirst(encoded.count)
            case .error(let length):
                text.append(contentsOf: rest.prefix(length).compactMap(escape))
                rest = rest.dropFirst(length)
            case .emptyInput: return String(text)
            }
        }
    }

    /// Returns the bytes that a string represents.
    static func bytes(of text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if block.contains(scalar.value) {
                bytes.append(UInt8(scalar.value - blockBase))
            } else {
                bytes += String(scalar).utf8
            }
        }
        return bytes
    }

    /// Returns readable text, with invalid UTF-8 replaced by U+FFFD.
    static func displayed(_ text: String) -> String {
        String(decoding: bytes(of: text), as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> Unicode.Scalar? {
        Unicode.Scalar(blockBase + UInt32(byte))
    }

    private static func readAll(_ path: FilePath) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return try file.closeAfter {
            var bytes: [UInt8] = []
            while true {
                let chunk = try readSome(from: file, atMost: 65_536)
                if chunk.isEmpty { return bytes }
                bytes += chunk
            }
        }
    }
}
