internal import MediaBase

/// What came of a condition.
enum QCOutcome {
    case passed
    case failed([QCFact])
    /// The file has nothing that it is about; why.
    case notApplicable(String)
}

/// Why a condition does not hold.
struct QCFact {
    var subject: String
    var measured: String
    var wanted: String
    var trackIndex: Int?
    var channel: Int?
    var range: QCMeasurements.Range?
}

/// Holds a file's report and measurements against conditions.
struct QCEvaluation {
    private let report: JSONValue
    private let measurements: QCMeasurements

    /// - Throws: what encoding the report throws.
    init(report: ProbeReport, measurements: QCMeasurements) throws {
        self.report = try OrderedJSONTreeEncoder.tree(of: report, at: [])
        self.measurements = measurements
    }

    /// Facts that a condition lists at most.
    private static let mostFacts = 10_000

    func outcome(of condition: QCCondition) -> QCOutcome {
        switch condition {
        case .field(let path, let test): return field(path, test)
        case .check(let check, let parameters, let stretch, let test):
            guard let standard = check.facts.run else { return value(of: check, test) }
            return runs(of: check, parameters ?? standard, stretch)
        case .all(let parts):
            let outcomes = parts.map { outcome(of: $0) }
            let facts = outcomes.flatMap(\.facts)
            if !facts.isEmpty { return .failed(Array(facts.prefix(Self.mostFacts))) }
            return outcomes.first { !$0.isApplicable }.map { first in
                outcomes.contains(where: \.isApplicable) ? .passed : first
            } ?? .passed
        case .any(let parts):
            let outcomes = parts.map { outcome(of: $0) }
            if outcomes.contains(where: \.isPassed) { return .passed }
            let facts = outcomes.flatMap(\.facts)
            if facts.isEmpty { return outcomes.first ?? .passed }
            return .failed(Array(facts.prefix(Self.mostFacts)))
        case .not(let part):
            switch outcome(of: part) {
            case .passed:
                return .failed([QCFact(subject: "the condition", measured: "met", wanted: "not met")])
            case .failed: return .passed
            case .notApplicable(let reason): return .notApplicable(reason)
            }
        }
    }

    // MARK: What the file says of itself

    private func field(_ path: QCFieldPath, _ test: QCTest) -> QCOutcome {
        let found = path.values(in: report)
        guard !found.isEmpty else { return .notApplicable("the file has nothing at \(path.text)") }
        let facts = found.filter { !test.holds(for: $0.value) }.map {
            QCFact(
                subject: path.text, measured: $0.value?.text ?? "not said", wanted: test.text, trackIndex: $0.track)
        }
        return facts.isEmpty ? .passed : .failed(facts)
    }

    // MARK: Single values

    private func value(of check: QCCheck, _ test: QCTest) -> QCOutcome {
        if check == .damage {
            let damage = measurements.damage
            let count = damage.packets + (damage.truncated ? 1 : 0)
            guard !test.holds(for: .number(Double(count))) else { return .passed }
            return .failed([QCFact(subject: "damage", measured: damage.text, wanted: "none")])
        }
        if check == .lengthDifference { return lengthDifference(test) }
        var isApplicable = false
        var facts: [QCFact] = []
        for track in measurements.tracks {
            guard let value = value(of: check, track) else { continue }
            isApplicable = true
            guard !test.holds(for: value.0) else { continue }
            facts.append(
                QCFact(
                    subject: check.rawValue, measured: value.1, wanted: test.text + check.unitText,
                    trackIndex: track.trackIndex))
        }
        guard isApplicable else { return .notApplicable(check.missing) }
        return facts.isEmpty ? .passed : .failed(facts)
    }

    private func lengthDifference(_ test: QCTest) -> QCOutcome {
        let sounds = measurements.tracks.compactMap(\.sound?.duration)
        let pictures = measurements.tracks.compactMap(\.pictures?.end)
        guard let shortest = (sounds + pictures).min(), let longest = (sounds + pictures).max(), !sounds.isEmpty,
            !pictures.isEmpty
        else { return .notApplicable(QCCheck.lengthDifference.missing) }
        let seconds = (longest - shortest).seconds
        guard !test.holds(for: .number(seconds)) else { return .passed }
        return .failed([
            QCFact(
                subject: QCCheck.lengthDifference.rawValue, measured: Self.decimals(seconds, 3) + " s",
                wanted: test.text + " s", range: .init(start: shortest, end: longest))
        ])
    }

    /// A track's value and its text, with −∞ dB for silence; `nil` where the track has no such thing.
    private func value(of check: QCCheck, _ track: QCMeasurements.Track) -> (QCValue, String)? {
        func level(_ number: Double?) -> (QCValue, String) {
            (.number(number ?? -.infinity), number.map { Self.decimals($0, 1) + check.unitText } ?? "silence")
        }
        func plain(_ number: Double, _ digits: Int) -> (QCValue, String) {
            (.number(number), Self.decimals(number, digits) + check.unitText)
        }
        if let sound = track.sound {
            switch check {
            case .loudness: return level(sound.integratedLoudness)
            case .loudnessRange: return sound.loudnessRange.map { plain($0, 1) }
            case .momentaryLoudness: return level(sound.momentaryMaximum?.loudness)
            case .shortTermLoudness: return level(sound.shortTermMaximum?.loudness)
            case .truePeak: return level(sound.truePeak)
            case .samplePeak: return level(sound.channels.compactMap(\.samplePeak).max())
            case .offset: return sound.channels.map { abs($0.dcOffset) }.max().map { plain($0, 5) }
            case .correlation: return sound.pairs.compactMap(\.correlation).min().map { plain($0, 3) }
            case .dualMono:
                guard !sound.pairs.isEmpty else { return nil }
                let isSame = sound.pairs.contains { pair in
                    pair.highestDifference <= 0.0001 && sound.channels[pair.channels[0]].samplePeak != nil
                }
                return (.bool(isSame), isSame ? "both channels are the same" : "channels differ")
            case .mutedChannels:
                let muted = sound.channels.indices.filter {
                    (sound.channels[$0].samplePeak ?? -.infinity) <= -60 && sound.channels[$0].weight > 0
                }
                let count = muted.count == sound.channels.count ? 0 : muted.count
                let names = muted.map { "\($0 + 1)" }.joined(separator: ", ")
                return (.number(Double(count)), count == 0 ? "none" : "channel \(names) of \(sound.channels.count)")
            default: return nil
            }
        }
        guard let pictures = track.pictures else { return nil }
        switch check {
        case .letterboxRows: return pictures.bars.map { plain(Double($0.top + $0.bottom), 0) }
        case .letterboxColumns: return pictures.bars.map { plain(Double($0.left + $0.right), 0) }
        case .duplicateFrames: return plain(Double(pictures.duplicates), 0)
        default: return nil
        }
    }

    // MARK: Runs

    private func runs(of check: QCCheck, _ parameters: QCRunParameters, _ stretch: QCStretch) -> QCOutcome {
        var isApplicable = false
        var facts: [QCFact] = []
        for track in measurements.tracks {
            for runs in track.runs
            where runs.check == check.rawValue && runs.threshold == parameters.threshold
                && runs.minimumDuration == parameters.minimumSeconds
            {
                isApplicable = true
                for range in runs.ranges where facts.count < Self.mostFacts {
                    guard let kept = clipped(range, to: stretch, of: track, parameters) else { continue }
                    let length = kept.end - kept.start
                    // Times of clipping are samples; seconds would all be nearly nothing.
                    let measured =
                        check == .clipping ? "\(length.value) samples" : Self.decimals(length.seconds, 3) + " s"
                    facts.append(
                        QCFact(
                            subject: check.rawValue, measured: measured,
                            wanted: parameters.minimumSeconds > 0
                                ? "less than \(QCValue.number(parameters.minimumSeconds).text) s" : "none",
                            trackIndex: track.trackIndex, channel: runs.channel, range: kept))
                }
            }
        }
        guard isApplicable else { return .notApplicable(check.missing) }
        return facts.isEmpty ? .passed : .failed(facts)
    }

    /// The part of a run that lies in a stretch; `nil` where it is too short, or none.
    private func clipped(
        _ range: QCMeasurements.Range, to stretch: QCStretch, of track: QCMeasurements.Track,
        _ parameters: QCRunParameters
    ) -> QCMeasurements.Range? {
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

    /// A number with so many digits behind the point, at most 9.
    static func decimals(_ number: Double, _ digits: Int) -> String {
        guard number.isFinite, number.magnitude < 1e9 else { return "\(number)" }
        var scale: Int64 = 1
        for _ in 0..<min(max(digits, 0), 9) { scale *= 10 }
        let rounded = Int64((number.magnitude * Double(scale)).rounded())
        let sign = number < 0 && rounded > 0 ? "-" : ""
        guard scale > 1 else { return "\(sign)\(rounded)" }
        let rest = String(rounded % scale)
        return "\(sign)\(rounded / scale)." + String(repeating: "0", count: max(0, digits - rest.count)) + rest
    }
}

extension QCOutcome {
    fileprivate var facts: [QCFact] { if case .failed(let facts) = self { facts } else { [] } }
    fileprivate var isPassed: Bool { if case .passed = self { true } else { false } }
    fileprivate var isApplicable: Bool { if case .notApplicable = self { false } else { true } }
}

extension QCCheck {
    fileprivate var unitText: String { facts.unit.isEmpty ? "" : " " + facts.unit }

    /// Why a check could not be made.
    fileprivate var missing: String {
        switch facts.subject {
        case .sound: "the file has no sound of which \(rawValue) can be measured"
        case .pictures: "the file has no pictures of which \(rawValue) can be measured"
        case .file: "the file has not both sound and pictures"
        }
    }
}
