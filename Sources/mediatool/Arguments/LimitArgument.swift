import MediaBase
import MediaJobs

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
