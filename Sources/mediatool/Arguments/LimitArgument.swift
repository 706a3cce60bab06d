import ArgumentParser
import MediaBase
import MediaJobs

/// One limit as it is set on the command line: `pixels=200000000`.
struct LimitArgument: ExpressibleByArgument, Hashable {
    /// Which one.
    let name: MediaLimits.Name
    /// What it is set to, at least 1.
    let value: Int

    /// The names and standard values, for help and messages.
    static let names = MediaLimits.Name.allCases.map { "\($0.rawValue) (\(MediaLimits()[$0]))" }
        .joined(separator: ", ")

    /// Reads `NAME=NUMBER`; `nil` for anything else.
    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = MediaLimits.Name(rawValue: String(parts[0])), let value = Int(parts[1]),
            (1...Int(Int32.max)).contains(value)
        else { return nil }
        self.name = name
        self.value = value
    }
}

/// A number of seconds in which work has to be done, from a millisecond to a year.
struct TimeoutArgument: ExpressibleByArgument, Hashable {
    /// The time.
    let duration: Duration

    /// Reads seconds, such as `30` or `0.5`; `nil` for anything else.
    init?(argument: String) {
        guard let seconds = Double(argument), (0.001...31_536_000).contains(seconds) else { return nil }
        duration = .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
