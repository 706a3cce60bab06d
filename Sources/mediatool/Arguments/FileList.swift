import MediaBase
import MediaJobs
import SystemCalls
import SystemPackage

/// Reads a list of files, one line after the other, and keeps those of one part.
///
/// A line is a path or an address, byte for byte; `-` and names with `#` or spaces are names like all others. Empty lines are
/// passed over.
struct FileList {
    /// The byte that ends a name.
    let separator: UInt8
    /// The part that is kept; `nil` for all lines.
    let shard: Shard?
    /// The files so far.
    private(set) var files: [InputArgument] = []
    private var line = 0
    private var rest: [UInt8] = []

    /// More would be no list, but a device without end.
    private static let maximumFiles = 10_000_000
    private static let maximumLine = 1 << 16

    init(separator: UInt8, shard: Shard?) {
        self.separator = separator
        self.shard = shard
    }

    /// Reads a list to its end.
    ///
    /// - Parameters:
    ///   - list: The list; `-` is standard input.
    ///   - timeout: The longest time that a writer is waited for; `nil` for no limit.
    /// - Throws: The errors of opening and reading, `timedOut`, and `invalidArgument` for lines that cannot be names.
    mutating func read(_ list: PathArgument, timeout: TimeoutArgument?) throws(MediaError) {
        let deadline = timeout?.deadline
        do {
            let file = list.isStandardStream ? .standardInput : try openForReading(list.path)
            defer { if !list.isStandardStream { try? file.close() } }
            while true {
                _ = waitForInput(file, until: deadline)
                if let late = MediaLimits.error(after: deadline) { throw late }
                let bytes = try readSome(from: file, atMost: 1 << 18)
                if bytes.isEmpty { break }
                try add(bytes)
            }
            try finish()
        } catch let error as MediaError {
            throw error.at(path: list.path.string)
        } catch {
            throw MediaError(error as? Errno ?? .ioError, "read", path: list.path)
        }
    }

    /// Adds the next bytes of the list.
    mutating func add(_ bytes: [UInt8]) throws(MediaError) {
        var begin = bytes.startIndex
        while let end = bytes[begin...].firstIndex(of: separator) {
            if rest.isEmpty {
                try add(line: bytes[begin..<end])
            } else {
                rest += bytes[begin..<end]
                try add(line: rest[...])
                rest.removeAll(keepingCapacity: true)
            }
            begin = end + 1
        }
        rest += bytes[begin...]
        guard rest.count <= Self.maximumLine else { throw tooLong }
    }

    /// Adds the last line, which may lack its end.
    mutating func finish() throws(MediaError) {
        try add(line: rest[...])
        rest = []
    }

    private var tooLong: MediaError {
        MediaError(.invalidArgument, "line \(line + 1) is too long for a name, so this is no list of files")
    }

    private mutating func add(line bytes: ArraySlice<UInt8>) throws(MediaError) {
        guard bytes.count <= Self.maximumLine else { throw tooLong }
        line += 1
        guard !bytes.isEmpty, shard?.contains(bytes) ?? true else { return }
        guard !bytes.contains(0) else {
            throw MediaError(.invalidArgument, "line \(line) has a zero byte; --null reads names that end with one")
        }
        guard files.count < Self.maximumFiles else {
            throw MediaError(.limitExceeded, "names more than \(Self.maximumFiles) files; use --shard")
        }
        // Standard input cannot be one of many.
        let name = bytes.elementsEqual("-".utf8) ? "./-" : RawArguments.escaped(bytes: bytes)
        if let file = InputArgument(argument: name) { files.append(file) }
    }
}
