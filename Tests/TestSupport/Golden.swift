import Foundation

/// A table of `golden/`: expected results that other programs made; `golden/README.md` says which, and how.
///
/// The form: lines beginning with `# ` are notes (a name, a blank, a value); the first other line names the columns;
/// all further lines hold as many fields, parted by tabs.
public struct GoldenTable: Sendable {
    /// The notes at the head of the file, by name.
    public var notes: [String: String] = [:]
    /// The rows, each with its fields by column name.
    public var rows: [Row] = []

    /// One row of a golden table.
    public struct Row: Sendable {
        /// The fields by column name.
        public var fields: [String: String]

        /// The text in a column; an unknown column throws.
        public func text(_ column: String) throws -> String {
            guard let text = fields[column] else { throw TestSupportError("no column \(column) in the golden table") }
            return text
        }

        /// The whole number in a column.
        public func number(_ column: String) throws -> Int {
            guard let number = Int(try text(column)) else { throw TestSupportError("\(column) holds no number") }
            return number
        }

        /// The rational `numerator/denominator` in a column, in lowest terms.
        public func rational(_ column: String) throws -> (numerator: Int64, denominator: Int64) {
            let parts = try text(column).split(separator: "/").compactMap { Int64($0) }
            guard parts.count == 2 else { throw TestSupportError("\(column) holds no rational") }
            return (parts[0], parts[1])
        }
    }

    /// Reads a table by its path below `golden/`.
    public init(_ relative: String) throws { try self.init(file: "golden/" + relative) }

    /// The table that `scripts/fixtures` made where this machine's ffmpeg gives fixtures other bytes; else `nil`.
    private static func ofThisMachine(_ relative: String) throws -> GoldenTable? {
        let path = "fixtures/.golden/" + relative
        guard FileManager.default.fileExists(atPath: Repository.path(path)) else { return nil }
        return try GoldenTable(file: path)
    }

    private init(file path: String) throws {
        let text = try String(contentsOfFile: Repository.path(path), encoding: .utf8)
        var columns: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# ") {
                let words = line.dropFirst(2).split(separator: " ", maxSplits: 1)
                if words.count == 2 { notes[String(words[0])] = String(words[1]) }
                continue
            }
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            if columns.isEmpty {
                columns = fields
            } else if fields.count == columns.count {
                rows.append(Row(fields: Dictionary(zip(columns, fields)) { first, _ in first }))
            } else {
                throw TestSupportError("\(path): \(fields.count) fields, wanted \(columns.count): \(line)")
            }
        }
    }

    /// The frames of a fixture's video track: columns `index`, `time` (rational), `keyframe` (0 or 1), `md5`.
    public static func frames(_ fixture: String, track: Int = 0) throws -> GoldenTable {
        let name = "frames/\(fixture).v\(track).tsv"
        return try ofThisMachine(name) ?? GoldenTable(name)
    }

    /// The row of `pcm.tsv` for a fixture's audio track.
    public static func pcm(_ fixture: String, track: Int = 0) throws -> Row {
        let rows = try (ofThisMachine("pcm.tsv")?.rows ?? []) + GoldenTable("pcm.tsv").rows
        let row = rows.first { $0.fields["fixture"] == fixture && $0.fields["track"] == String(track) }
        guard let row else { throw TestSupportError("golden/pcm.tsv has no row for \(fixture), track \(track)") }
        return row
    }
}

/// A small repeatable generator (SplitMix64), so that a failing case comes back.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator that starts from a seed.
    public init(state: UInt64) { self.state = state }

    /// Returns the next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
