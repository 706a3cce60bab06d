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
package struct QCEvaluation {
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
        guard !found.isEmpty else {
            guard let exists = test.exists else { return .notApplicable("the file has nothing at \(path.text)") }
            // Whether there is something can be told of what is not there too.
            guard exists else { return .passed }
            return .failed([QCFact(subject: path.text, measured: "not there", wanted: test.text)])
        }
        let facts = found.filter { !test.holds(for: $0) }.map {
            QCFact(subject: path.text, measured: $0.text, wanted: test.text, trackIndex: $0.track)
        }
        return facts.isEmpty ? .passed : .failed(facts)
    }

    // MARK: Single values

    private func value(of check: QCCheck, _ test: QCTest) -> QCOutcome {
        if check == .damage {
            let (damage, empty) = (measurements.damage, measurements.emptyTracks ?? [])
            let count = damage.packets + (damage.truncated ? 1 : 0) + (damage.skippedBytes > 0 ? 1 : 0) + empty.count
            guard !test.holds(for: .number(Double(count))) else { return .passed }
            let facts = empty.map {
                QCFact(subject: "what can be decoded", measured: "nothing", wanted: "anything", trackIndex: $0)
            }
            if damage.isEmpty, !facts.isEmpty { return .failed(facts) }
            return .failed([QCFact(subject: "damage", measured: damage.text, wanted: "none")] + facts)
        }
        switch check {
        case .lengthDifference, .startDifference: return trackDifference(check, test)
        case .headerMismatches: return headerMismatches(test)
        default: break
        }
        if check.facts.subject == .reference { return reference(check, test) }
        var isApplicable = false
        var facts: [QCFact] = []
        for track in measurements.tracks {
            guard let value = value(of: check, track) else { continue }
            isApplicable = true
            guard !test.holds(for: value.0) else { continue }
            facts.append(
                QCFact(
                    subject: check.rawValue, measured: value.1, wanted: test.text + check.unitText,
                    trackIndex: track.trackIndex,
                    range: check == .missingFrames ? track.pictures?.firstMissing : nil))
        }
        guard isApplicable else { return .notApplicable(check.missing) }
        return facts.isEmpty ? .passed : .failed(facts)
    }

    /// How far apart the tracks begin, or end.
    private func trackDifference(_ check: QCCheck, _ test: QCTest) -> QCOutcome {
        let sounds = measurements.tracks.compactMap(\.sound)
        let pictures = measurements.tracks.compactMap(\.pictures)
        let moments =
            check == .startDifference
            ? sounds.map(\.start) + pictures.compactMap(\.start)
            : sounds.map(\.duration) + pictures.compactMap(\.end)
        guard let least = moments.min(), let most = moments.max(), !sounds.isEmpty,
            pictures.contains(where: { $0.start != nil })
        else { return .notApplicable(check.missing) }
        let seconds = (most - least).seconds
        guard !test.holds(for: .number(seconds)) else { return .passed }
        return .failed([
            QCFact(
                subject: check.rawValue, measured: Self.decimals(seconds, 3) + " s", wanted: test.text + " s",
                range: .init(start: least, end: most))
        ])
    }

    private func headerMismatches(_ test: QCTest) -> QCOutcome {
        guard let found = measurements.headerMismatches, !measurements.tracks.isEmpty else {
            return .notApplicable("the file has neither sound nor pictures that can be decoded")
        }
        guard !test.holds(for: .number(Double(found.count))) else { return .passed }
        if found.isEmpty {
            return .failed([QCFact(subject: "headerMismatches", measured: "0", wanted: test.text)])
        }
        return .failed(
            found.map {
                QCFact(
                    subject: $0.what, measured: $0.media, wanted: "the container's \($0.container)",
                    trackIndex: $0.trackIndex)
            })
    }

    private func reference(_ check: QCCheck, _ test: QCTest) -> QCOutcome {
        guard let reference = measurements.reference else { return .notApplicable("there is no --reference") }
        let value: Double?
        let digits: Int
        var place: QCMeasurements.Range?
        // Where nothing was compared there is no value, and where nothing differs it is infinite.
        let compared = reference.pictures.flatMap { $0.count > 0 ? $0 : nil }
        func range(_ time: MediaTime?) -> QCMeasurements.Range? { time.map { .init(start: $0, end: $0) } }
        switch check {
        case .referencePSNR: (value, digits) = (compared.map { $0.psnr.all ?? .infinity }, 2)
        case .referenceWorstPSNR:
            (value, digits) = (compared.map { $0.psnr.minimum ?? .infinity }, 2)
            place = range(compared?.psnr.worst)
        case .referenceSSIM: (value, digits) = (compared?.ssim.all, 6)
        case .referenceWorstSSIM:
            (value, digits) = (compared?.ssim.minimum, 6)
            place = range(compared?.ssim.worst)
        case .referenceUnpaired: (value, digits) = (reference.pictures.map { Double($0.unpaired) }, 0)
        case .referenceSoundOffset: (value, digits) = (reference.sound.map { abs($0.offset?.seconds ?? .infinity) }, 4)
        default: (value, digits) = (reference.sound.map { $0.difference ?? -.infinity }, 1)
        }
        guard let value else {
            var missing = QCCheck.ofReferenceSound.contains(check) ? reference.missingSound : reference.missingPictures
            if reference.pictures?.count == 0, !QCCheck.ofReferenceSound.contains(check) {
                missing = "shows no picture at the time of one of the reference's"
            }
            guard let missing else {
                return .notApplicable("the reference has nothing of which \(check.rawValue) can be measured")
            }
            return .failed([
                QCFact(
                    subject: check.rawValue, measured: "not to be found, as the file \(missing)",
                    wanted: test.text + check.unitText)
            ])
        }
        guard !test.holds(for: .number(value)) else { return .passed }
        return .failed([
            QCFact(
                subject: check.rawValue,
                measured: check == .referenceSoundOffset && value == .infinity
                    ? "not to be found, as the two are alike nowhere" : Self.decimals(value, digits) + check.unitText,
                wanted: test.text + check.unitText, range: place)
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
        case .duplicateFrames: return pictures.duplicates.map { plain(Double($0), 0) }
        case .missingFrames: return pictures.missing.map { plain(Double($0), 0) }
        case .variableFrameRate:
            return pictures.isVariable.map { (.bool($0), $0 ? "variable" : "constant") }
        case .fieldMismatch:
            return pictures.fields.flatMap { fields in
                fields.mismatch.map { (.number($0), Self.text(fields)) }
            }
        default: return nil
        }
    }

    private static func text(_ fields: QCMeasurements.Fields) -> String {
        var parts: [String] = []
        if fields.hiddenInterlaced > 0 {
            parts.append("\(fields.hiddenInterlaced) look interlaced and are not flagged so")
        }
        if fields.hiddenProgressive > 0 {
            parts.append("\(fields.hiddenProgressive) look progressive and are flagged interlaced")
        }
        if fields.swapped > 0 { parts.append("\(fields.swapped) look as if the other field came first") }
        return parts.joined(separator: ", ") + ", of \(fields.count) moving pictures"
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
    package static func decimals(_ number: Double, _ digits: Int) -> String {
        guard number.isFinite, number.magnitude < 1e9 else { return "\(number)" }
        var scale: Int64 = 1
        for _ in 0..<min(max(digits, 0), 9) { scale *= 10 }
        let rounded = Int64((number.magnitude * Double(scale)).rounded())
        let sign = number < 0 && rounded > 0 ? "-" : ""
        guard scale > 1 else { return "\(sign)\(rounded)" }
        return "\(sign)\(rounded / scale)." + padded(rounded % scale, to: digits)
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
        switch self {
        case .fieldMismatch: return "the file has no pictures that move enough to tell"
        case .missingFrames: return "the file has no pictures, or none that stay for a usual time"
        default: break
        }
        return switch facts.subject {
        case .sound: "the file has no sound of which \(rawValue) can be measured"
        case .pictures: "the file has no pictures of which \(rawValue) can be measured"
        case .file: "the file has not both sound and pictures"
        case .reference: "there is no --reference"
        }
    }
}
