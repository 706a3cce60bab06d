import MediaBase
import MediaJobs

/// One limit as it is set on the command line: `pixels=200000000`.
struct LimitArgument: Hashable {
    /// Which one.
    let name: MediaLimits.Name
    /// What it is set to, at least 1.
    let value: Int

    /// The names and standard values, for help and messages.
    static let names = MediaLimits.Name.allCases.map { "\($0.rawValue) (\(MediaLimits()[$0]))" }
        .joined(separator: ", ")

    /// Reads `NAME=NUMBER`.
    ///
    /// - Throws: `invalidArgument` naming the form and the names for anything else.
    init(parsing text: String) throws(MediaError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = MediaLimits.Name(rawValue: String(parts[0])), let value = Int(parts[1]),
            (1...Int(Int32.max)).contains(value)
        else {
            let names = MediaLimits.Name.allCases.map(\.rawValue).joined(separator: ", ")
            throw MediaError(
                .invalidArgument,
                "'\(text)' is no limit: write NAME=NUMBER, the number from 1 to \(Int32.max), the name one of \(names)")
        }
        self.name = name
        self.value = value
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
