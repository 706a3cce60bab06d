import CSystemCalls
import Glibc
package import SystemPackage

/// Moments as text in UTC, by RFC 3339: `2026-11-26T15:24:05Z`.
package enum UTCTime {
    /// Returns the text of a moment, gmtime_r(3).
    ///
    /// - Parameters:
    ///   - seconds: The seconds since 1970.
    ///   - nanoseconds: The nanoseconds after them; `nil` to leave out the fraction.
    package static func text(seconds: Int, nanoseconds: Int? = nil) -> String {
        var (seconds, parts) = (time_t(seconds), tm())
        gmtime_r(&seconds, &parts)
        func digits(_ number: some BinaryInteger, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let date = "\(digits(parts.tm_year + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
        let clock = "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
        return "\(date)T\(clock)\(nanoseconds.map { "." + digits($0, 9) } ?? "")Z"
    }

    /// Returns the text of the time at which a file was last changed, with nanoseconds.
    package static func text(ofChange status: Stat) -> String {
        text(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// The current time, time(2).
    package static var now: String { text(seconds: time(nil)) }
}
