import MediaBase
import MediaJobs

/// What became of one input of `waveform`, whose JSON is that of the report.
enum WaveformResult: Encodable, Sendable {
    /// Sound was measured.
    case sound(WaveformReport)
    /// A peaks file was read.
    case peaksFile(PeaksFileReport)

    /// Why outputs are missing.
    var outputErrors: [MediaError] {
        switch self {
        case .sound(let report): report.outputErrors
        case .peaksFile(let report): report.outputErrors
        }
    }

    /// What a person should be told although all was delivered: damage, and an end that the sound does not reach.
    ///
    /// - Parameter namesEnd: Whether the end that was asked for is a moment of its own.
    func warnings(namesEnd: Bool) -> [String] {
        switch self {
        case .sound(let report):
            let damage = report.damage.isEmpty ? [] : [report.damage.text]
            return damage + Self.early(report.requested, end: report.start + report.duration, namesEnd)
        case .peaksFile(let report):
            return Self.early(report.requested, end: report.start + report.duration, namesEnd)
        }
    }

    private static func early(
        _ requested: RequestedRange?, end: MediaTime, _ namesEnd: Bool
    ) -> [String] {
        guard namesEnd, let warning = EarlyEnd.warning("the sound ends", at: end, before: requested?.end) else {
            return []
        }
        return [warning]
    }

    /// Writes what the report writes.
    func encode(to encoder: any Encoder) throws {
        switch self {
        case .sound(let report): try report.encode(to: encoder)
        case .peaksFile(let report): try report.encode(to: encoder)
        }
    }
}
