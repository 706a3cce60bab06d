internal import Inspection
internal import JSONText
internal import MediaBase

/// Evaluates conditions against a file's probe report and measurements.
package struct Evaluation {
    private let report: JSONValue
    let measurements: Measurements

    /// - Throws: The errors of encoding the report.
    init(report: ProbeReport, measurements: Measurements) throws {
        self.report = try JSONValue(encoding: report)
        self.measurements = measurements
    }

    func outcome(of condition: Condition) -> Outcome {
        switch condition {
        case .field(let path, let test): return field(path, test)
        case .check(let check, let parameters, let stretch, let test):
            guard let standard = check.run else { return check.outcome(measurements, test) }
            return runs(of: check, parameters ?? standard, stretch)
        case .all(let parts):
            let outcomes = parts.map { outcome(of: $0) }
            let facts = outcomes.flatMap(\.facts)
            if !facts.isEmpty { return Self.failed(facts, outcomes) }
            return outcomes.first { !$0.isApplicable }.map { first in
                outcomes.contains(where: \.isApplicable) ? .passed : first
            } ?? .passed
        case .any(let parts):
            let outcomes = parts.map { outcome(of: $0) }
            if outcomes.contains(where: \.isPassed) { return .passed }
            let facts = outcomes.flatMap(\.facts)
            return facts.isEmpty ? outcomes.first ?? .passed : Self.failed(facts, outcomes)
        case .not(let part):
            switch outcome(of: part) {
            case .passed:
                return .failed([Violation(subject: "the condition", measured: "met", wanted: "not met")])
            case .failed: return .passed
            case .notApplicable(let reason): return .notApplicable(reason)
            }
        }
    }

    /// Returns a failure that lists the maximum number of violations and counts the rest.
    private static func failed(_ facts: [Violation], _ outcomes: [Outcome] = [], more: Int64 = 0) -> Outcome {
        let unlisted = outcomes.reduce(more + Int64(max(0, facts.count - Outcome.maximumViolations))) { $0 + $1.more }
        return .failed(Array(facts.prefix(Outcome.maximumViolations)), more: unlisted)
    }

    // MARK: Declared properties

    private func field(_ path: FieldPath, _ test: ValueTest) -> Outcome {
        let found = path.values(in: report)
        guard !found.isEmpty else {
            guard let exists = test.exists else { return .notApplicable("the file has nothing at \(path.text)") }
            // A test for existence applies even if nothing is found.
            guard exists else { return .passed }
            return .failed([Violation(subject: path.text, measured: "not there", wanted: test.text)])
        }
        let facts = found.filter { !test.holds(for: $0) }.map {
            Violation(subject: path.text, measured: $0.text, wanted: test.text, trackIndex: $0.track)
        }
        return facts.isEmpty ? .passed : Self.failed(facts)
    }

    // MARK: Runs

    func runs(of check: Check, _ parameters: RunParameters, _ stretch: Stretch) -> Outcome {
        var isApplicable = false
        var facts: [Violation] = []
        var more: Int64 = 0
        for track in measurements.tracks {
            for runs in track.runs
            where runs.check == check.id && runs.threshold == parameters.threshold
                && runs.minimumDuration == parameters.minimumSeconds
            {
                isApplicable = true
                // Runs that are not listed cannot be assigned to a part of the track.
                if stretch == Stretch() { more += runs.count - Int64(runs.ranges.count) }
                for range in runs.ranges {
                    guard let kept = clipped(range, to: stretch, of: track, parameters) else { continue }
                    guard facts.count < Outcome.maximumViolations else {
                        more += 1
                        continue
                    }
                    let length = kept.end - kept.start
                    // Clipping lasts a few samples, so its duration in seconds would round to almost nothing.
                    let measured =
                        check.thresholdUnit == "samples"
                        ? "\(length.value) samples" : length.seconds.text(decimals: 3) + " s"
                    facts.append(
                        Violation(
                            subject: check.id, measured: measured,
                            wanted: parameters.minimumSeconds > 0
                                ? "less than \(PolicyValue.number(parameters.minimumSeconds).text) s" : "none",
                            trackIndex: track.trackIndex, channel: runs.channel, range: kept))
                }
            }
        }
        guard isApplicable else { return .notApplicable(check.missing) }
        return facts.isEmpty ? .passed : .failed(facts, more: more)
    }

    /// Returns the part of a run that lies in a stretch, or `nil` if there is none or it is too short.
    private func clipped(
        _ range: Measurements.Range, to stretch: Stretch, of track: Measurements.Track,
        _ parameters: RunParameters
    ) -> Measurements.Range? {
        var range = range
        let start = track.pictures?.start ?? .zero
        let end = track.sound?.duration ?? track.pictures?.end ?? range.end
        if let head = stretch.head {
            range.end = min(range.end, start + MediaTime(seconds: head, preferredTimescale: 1_000_000))
        }
        if let tail = stretch.tail {
            range.start = max(range.start, end - MediaTime(seconds: tail, preferredTimescale: 1_000_000))
        }
        guard range.start < range.end else { return nil }
        let isCut = stretch.head != nil || stretch.tail != nil
        let least = MediaTime(seconds: parameters.minimumSeconds, preferredTimescale: 1_000_000)
        return isCut && range.end - range.start < least ? nil : range
    }
}

extension Outcome {
    fileprivate var facts: [Violation] { if case .failed(let facts, _) = self { facts } else { [] } }
    fileprivate var more: Int64 { if case .failed(_, let more) = self { more } else { 0 } }
    fileprivate var isPassed: Bool { if case .passed = self { true } else { false } }
    fileprivate var isApplicable: Bool { if case .notApplicable = self { false } else { true } }
}
