internal import Inspection
internal import JSONText
internal import MediaBase
internal import QualityControl
package import SystemPackage

/// The results of a library put together, in the order of the JSON: `ingest report`.
package struct IngestReport: Encodable, Sendable {
    private let schemaVersion = 1
    /// The folder.
    package let path: String
    /// The number of folders.
    package let files: Int
    /// The number of folders in each state.
    package let complete, incomplete, failed, unfinished: Int
    /// The number of folders with each verdict.
    package let verdicts: [String: Int]
    /// The duration of all files together, in seconds.
    package let mediaSeconds: Double
    /// The size of all files together.
    package let sizeBytes: Int
    /// The seconds of work.
    package let workSeconds: Double
    /// The causes of failures, the most frequent first.
    package let causes: [Cause]
    /// The files that took longest.
    package let slowest: [Slow]

    /// A cause of failures: a part, the code of its error, and its message but for the numbers in it.
    package struct Cause: Encodable, Sendable {
        /// The part that failed; empty for a file that failed as a whole.
        package let part: String
        /// The code of the error.
        package let code: String
        /// The message of the first one.
        package let message: String
        /// The number of failures.
        package var count: Int
        /// The folders of some of them.
        package var folders: [String]
    }

    /// A file that took long.
    package struct Slow: Encodable, Sendable {
        /// The folder.
        package let folder: String
        /// The seconds of work.
        package let seconds: Double
        /// The duration of the file in seconds; `nil` if it is not known.
        package let mediaSeconds: Double?
    }

    /// The most folders that are named for a cause, and the most slow files.
    private static let named = 10

    /// Puts the results of a library together.
    package init(_ library: IngestLibrary, at path: FilePath) {
        self.path = path.string
        let items = library.items
        files = items.count
        func count(_ state: IngestLibrary.State) -> Int { items.count { $0.state == state } }
        (complete, incomplete) = (count(.complete), count(.incomplete))
        (failed, unfinished) = (count(.failed), count(.unfinished))
        verdicts = Dictionary(grouping: items.compactMap(\.verdict), by: \.self).mapValues(\.count)
        mediaSeconds = items.compactMap(\.duration).reduce(0) { $0 + $1.seconds }
        sizeBytes = items.compactMap(\.sizeBytes).reduce(0, +)
        workSeconds = items.compactMap(\.seconds).reduce(0, +)
        var causes: [Cause] = []
        var places: [[String]: Int] = [:]
        for item in items {
            for failure in item.failures {
                let key = [failure.part, failure.code, Self.withoutNumbers(failure.message)]
                if let place = places[key] {
                    causes[place].count += 1
                    if causes[place].folders.count < Self.named { causes[place].folders.append(item.folder.string) }
                } else {
                    places[key] = causes.count
                    causes.append(
                        Cause(
                            part: failure.part, code: failure.code, message: failure.message, count: 1,
                            folders: [item.folder.string]))
                }
            }
        }
        self.causes = causes.sorted { $0.count > $1.count }
        slowest = items.filter { $0.seconds != nil }.sorted { ($0.seconds ?? 0) > ($1.seconds ?? 0) }
            .prefix(Self.named).map {
                Slow(folder: $0.folder.string, seconds: $0.seconds ?? 0, mediaSeconds: $0.duration?.seconds)
            }
    }

    /// Returns a message with 0 in place of each number: places and sizes differ where the cause is the same.
    private static func withoutNumbers(_ message: String) -> String {
        var text = ""
        var wasNumber = false
        for character in message {
            if !character.isNumber { text.append(character) } else if !wasNumber { text.append("0") }
            wasNumber = character.isNumber
        }
        return text
    }

    /// The report as lines.
    package var lines: [String] {
        var lines = [
            "\(files) files: \(complete) complete, \(incomplete) incomplete, \(failed) failed, \(unfinished) unfinished",
            "\(duration(mediaSeconds)) of media, \(QuantityText.bytes(Int64(sizeBytes))), \(duration(workSeconds)) of work",
        ]
        if !verdicts.isEmpty {
            let counts = verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            lines.append("verdicts: " + counts.joined(separator: ", "))
        }
        for cause in causes {
            let part = cause.part.isEmpty ? "" : "\(cause.part): "
            lines.append("  \(cause.count)  \(part)\(cause.code): \(cause.message)")
            for folder in cause.folders { lines.append("       \(folder)") }
        }
        if !slowest.isEmpty { lines.append("slowest:") }
        for slow in slowest { lines.append("  \(decimal(slow.seconds)) s  \(slow.folder)") }
        return lines
    }

    /// Returns seconds as a quantity of the unit that suits them.
    func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<60: "\(decimal(seconds)) s"
        case ..<3600: "\(decimal(seconds / 60)) min"
        default: "\(decimal(seconds / 3600)) h"
        }
    }

    func decimal(_ number: Double) -> String { number.text(decimals: 1) }
}
