internal import Inspection
internal import JSONText
internal import MediaAnalysis
internal import MediaBase

/// The result of a condition.
enum QCOutcome {
    case passed
    /// The condition does not hold; `more` counts the violations not listed.
    case failed([QCViolation], more: Int64 = 0)
    /// The file has nothing to which the condition applies; the text states the reason.
    case notApplicable(String)
}

/// A violation of a condition.
struct QCViolation {
    var subject: String
    var measured: String
    var wanted: String
    var trackIndex: Int?
    var channel: Int?
    var range: QCMeasurements.Range?
}

/// Evaluates conditions against a file's probe report and measurements.
package struct QCEvaluation {
    private let report: JSONValue
    let measurements: QCMeasurements

    /// - Throws: The errors of encoding the report.
    init(report: ProbeReport, measurements: QCMeasurements) throws {
        self.report = try JSONValue(encoding: report)
        self.measurements = measurements
    }

    /// The maximum number of violations listed for a condition.
    static let maximumFacts = 10_000

    func outcome(of condition: QCCondition) -> QCOutcome {
        switch condition {
        case .field(let path, let test): return field(path, test)
        case .check(let check, let parameters, let stretch, let test):
            guard let standard = check.facts.run else { return value(of: check, test) }
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
                return .failed([QCViolation(subject: "the condition", measured: "met", wanted: "not met")])
            case .failed: return .passed
            case .notApplicable(let reason): return .notApplicable(reason)
            }
        }
    }

    /// Returns a failure that lists the maximum number of violations and counts the rest.
    private static func failed(_ facts: [QCViolation], _ outcomes: [QCOutcome] = [], more: Int64 = 0) -> QCOutcome {
        let unlisted = outcomes.reduce(more + Int64(max(0, facts.count - maximumFacts))) { $0 + $1.more }
        return .failed(Array(facts.prefix(maximumFacts)), more: unlisted)
    }

    // MARK: Declared properties

    private func field(_ path: QCFieldPath, _ test: QCTest) -> QCOutcome {
        let found = path.values(in: report)
        guard !found.isEmpty else {
            guard let exists = test.exists else { return .notApplicable("the file has nothing at \(path.text)") }
            // A test for existence applies even if nothing is found.
            guard exists else { return .passed }
            return .failed([QCViolation(subject: path.text, measured: "not there", wanted: test.text)])
        }
        let facts = found.filter { !test.holds(for: $0) }.map {
            QCViolation(subject: path.text, measured: $0.text, wanted: test.text, trackIndex: $0.track)
        }
        return facts.isEmpty ? .passed : Self.failed(facts)
    }

    // MARK: Single values

    private func value(of check: QCCheck, _ test: QCTest) -> QCOutcome {
        if check == .damage { return damage(test) }
        switch check {
        case .lengthDifference, .startDifference: return trackDifference(check, test)
        case .headerMismatches: return headerMismatches(test)
        case .audioTracks: return audioTracks(test)
        default: break
        }
        if check.facts.subject == .reference { return reference(check, test) }
        var isApplicable = false
        var facts: [QCViolation] = []
        for track in measurements.tracks {
            guard let measured = measured(check, track) else { continue }
            isApplicable = true
            guard !test.holds(for: measured.value) else { continue }
            var places = check == .correlation ? Self.windows(track, failing: test) : measured.places
            // A violation by the whole track has no place of its own.
            if places.isEmpty { places = [Place()] }
            facts += places.prefix(max(0, Self.maximumFacts - facts.count)).map { place in
                QCViolation(
                    subject: check.rawValue, measured: place.text ?? measured.text, wanted: test.text + check.unitText,
                    trackIndex: track.trackIndex, channel: place.channel, range: place.range)
            }
        }
        guard isApplicable else { return .notApplicable(check.missing) }
        return facts.isEmpty ? .passed : .failed(facts)
    }

    /// A measured value of a track.
    private struct Measured {
        var value: QCValue
        var text: String
        /// The places of the value; empty if it applies to the whole track.
        var places: [Place] = []
    }

    /// A place of a measured value.
    private struct Place {
        var range: QCMeasurements.Range?
        var channel: Int?
        /// The value at this place, if it differs from the total.
        var text: String?
    }

    /// Tests the damage: damaged packets, a file that is cut off, and tracks of which nothing can be decoded.
    private func damage(_ test: QCTest) -> QCOutcome {
        let (damage, empty) = (measurements.damage, measurements.emptyTracks ?? [])
        let count = damage.packets + (damage.truncated ? 1 : 0) + (damage.skippedBytes > 0 ? 1 : 0) + empty.count
        guard !test.holds(for: .number(Double(count))) else { return .passed }
        var facts: [QCViolation] = []
        let packets = damage.packets == 1 ? "1 packet in all" : "\(damage.packets) packets in all"
        func fact(_ measured: String, _ range: DamageSummary.Range? = nil) -> QCViolation {
            QCViolation(
                subject: "damage", measured: measured, wanted: test.text, trackIndex: range?.trackIndex,
                range: range.map { .init(start: $0.start, end: $0.start + $0.duration) })
        }
        if damage.skippedBytes > 0 { facts.append(fact(DamageSummary.text(ofSkipped: damage.skippedBytes))) }
        if damage.packets > 0 {
            facts += damage.ranges.isEmpty ? [fact(packets)] : damage.ranges.map { fact(packets, $0) }
        }
        if damage.truncated {
            var end = fact("a file that breaks off before its end")
            let last = measurements.tracks.compactMap { $0.sound?.duration ?? $0.pictures?.end }.max()
            end.range = last.map { .init(start: $0, end: $0) }
            facts.append(end)
        }
        facts += empty.map {
            QCViolation(subject: "what can be decoded", measured: "nothing", wanted: "anything", trackIndex: $0)
        }
        return .failed(facts.isEmpty ? [fact("none")] : facts)
    }

    /// Returns the stretches in which the correlation of a pair fails a test, joining windows that overlap or touch.
    private static func windows(_ track: QCMeasurements.Track, failing test: QCTest) -> [Place] {
        guard let sound = track.sound else { return [] }
        var places: [Place] = []
        for pair in sound.pairs {
            let name =
                sound.pairs.count > 1
                ? " in channels \(pair.channels.map { "\($0 + 1)" }.joined(separator: " and "))" : ""
            var run: (first: Int, last: Int, least: Float)?
            func close() {
                guard let (first, last, least) = run, places.count < maximumFacts else { return }
                func time(_ second: Int) -> MediaTime {
                    MediaTime(
                        value: Int64(second) * Int64(sound.sampleRate), timescale: Int32(clamping: sound.sampleRate))
                }
                places.append(
                    Place(
                        range: .init(start: time(first), end: time(last + CorrelationWindows.length)),
                        text: decimals(Double(least), 3) + name))
                run = nil
            }
            for (index, correlation) in pair.windows.enumerated() where !correlation.isNaN {
                guard !test.holds(for: .number(Double(correlation))) else { continue }
                if let (first, last, least) = run, index <= last + CorrelationWindows.length {
                    run = (first, index, min(least, correlation))
                } else {
                    close()
                    run = (index, index, correlation)
                }
            }
            close()
        }
        return places
    }

    /// Tests the number of audio tracks, which every file has.
    private func audioTracks(_ test: QCTest) -> QCOutcome {
        let count = measurements.tracks.filter { $0.sound != nil }.reduce(0) {
            $0 + ($1.pairedTrackIndex == nil ? 1 : 2)
        }
        guard !test.holds(for: .number(Double(count))) else { return .passed }
        return .failed([QCViolation(subject: QCCheck.audioTracks.rawValue, measured: "\(count)", wanted: test.text)])
    }

    /// Tests the largest difference between the start times, or the end times, of tracks.
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
            QCViolation(
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
            return .failed([QCViolation(subject: "headerMismatches", measured: "0", wanted: test.text)])
        }
        return .failed(
            found.map {
                QCViolation(
                    subject: $0.what, measured: $0.media, wanted: "the container's \($0.container)",
                    trackIndex: $0.trackIndex)
            })
    }

    private func reference(_ check: QCCheck, _ test: QCTest) -> QCOutcome {
        guard let reference = measurements.reference else { return .notApplicable("there is no --reference") }
        let value: Double?
        let digits: Int
        var place: QCMeasurements.Range?
        // A PSNR has no value if nothing was compared, and is infinite if nothing differs.
        let compared = reference.pictures.flatMap { $0.count > 0 ? $0 : nil }
        func range(_ scores: QCReferenceMeasurements.Scores?) -> QCMeasurements.Range? {
            (scores?.worst).map { .init(start: $0, end: scores?.worstEnd ?? $0) }
        }
        switch check {
        case .referencePSNR: (value, digits) = (compared.map { $0.psnr.all ?? .infinity }, 2)
        case .referenceWorstPSNR:
            (value, digits) = (compared.map { $0.psnr.minimum ?? .infinity }, 2)
            place = range(compared?.psnr)
        case .referenceSSIM: (value, digits) = (compared?.ssim.all, 6)
        case .referenceWorstSSIM:
            (value, digits) = (compared?.ssim.minimum, 6)
            place = range(compared?.ssim)
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
                QCViolation(
                    subject: check.rawValue, measured: "not to be found, as the file \(missing)",
                    wanted: test.text + check.unitText)
            ])
        }
        guard !test.holds(for: .number(value)) else { return .passed }
        return .failed([
            QCViolation(
                subject: check.rawValue,
                measured: check == .referenceSoundOffset && value == .infinity
                    ? "not to be found, as the two are alike nowhere" : Self.decimals(value, digits) + check.unitText,
                wanted: test.text + check.unitText, range: place)
        ])
    }

    /// Returns a track's value, its text and its places; silence is −∞ dB, and `nil` means that the check does not
    /// apply.
    private func measured(_ check: QCCheck, _ track: QCMeasurements.Track) -> Measured? {
        func level(_ number: Double?, _ place: Place? = nil) -> Measured {
            Measured(
                value: .number(number ?? -.infinity),
                text: number.map { Self.decimals($0, 1) + check.unitText } ?? "silence",
                places: [place].compactMap(\.self))
        }
        func plain(_ number: Double, _ digits: Int) -> Measured {
            Measured(value: .number(number), text: Self.decimals(number, digits) + check.unitText)
        }
        if let sound = track.sound {
            /// Returns the highest level of all channels, and its place.
            func peak(
                _ level: (QCMeasurements.Channel) -> Double?, _ range: (QCMeasurements.Channel) -> QCMeasurements.Range?
            )
                -> (Double?, Place?)
            {
                let levels = sound.channels.map { level($0) ?? -.infinity }
                guard let most = levels.max(), most > -.infinity, let channel = levels.firstIndex(of: most) else {
                    return (nil, nil)
                }
                return (most, Place(range: range(sound.channels[channel]), channel: channel))
            }
            func place(_ window: QCMeasurements.Loudest?) -> Place? {
                window.map { Place(range: .init(start: $0.start, end: $0.end)) }
            }
            switch check {
            case .loudness: return level(sound.integratedLoudness)
            case .loudnessRange: return sound.loudnessRange.map { plain($0, 1) }
            case .momentaryLoudness: return level(sound.momentaryMaximum?.loudness, place(sound.momentaryMaximum))
            case .shortTermLoudness: return level(sound.shortTermMaximum?.loudness, place(sound.shortTermMaximum))
            case .truePeak:
                let (most, place) = peak(\.truePeak, \.truePeakRange)
                return level(most, place)
            case .samplePeak:
                let (most, place) = peak(\.samplePeak, \.samplePeakRange)
                return level(most, place)
            case .offset: return sound.channels.map { abs($0.dcOffset) }.max().map { plain($0, 5) }
            case .correlation:
                // An inverted part may not show in the correlation of the whole.
                let least = sound.pairs.flatMap { [$0.correlation, $0.lowest?.correlation].compactMap(\.self) }.min()
                return least.map { plain($0, 3) }
            case .dualMono:
                guard !sound.pairs.isEmpty else { return nil }
                let isSame = sound.pairs.contains { pair in
                    pair.highestDifference <= 0.0001 && sound.channels[pair.channels[0]].samplePeak != nil
                }
                return Measured(value: .bool(isSame), text: isSame ? "both channels are the same" : "channels differ")
            case .mutedChannels:
                let muted = sound.channels.indices.filter {
                    (sound.channels[$0].samplePeak ?? -.infinity) <= -60 && sound.channels[$0].weight > 0
                }
                let count = muted.count == sound.channels.count ? 0 : muted.count
                let names = muted.map { "\($0 + 1)" }.joined(separator: ", ")
                return Measured(
                    value: .number(Double(count)),
                    text: count == 0 ? "none" : "channel \(names) of \(sound.channels.count)")
            default: return nil
            }
        }
        guard let pictures = track.pictures else { return nil }
        switch check {
        case .letterboxRows: return pictures.bars.map { plain(Double($0.top + $0.bottom), 0) }
        case .letterboxColumns: return pictures.bars.map { plain(Double($0.left + $0.right), 0) }
        case .duplicateFrames:
            return pictures.duplicates.map { count in
                var found = plain(Double(count), 0)
                found.places = pictures.duplicateRuns.map {
                    Place(range: $0.range, text: $0.count == count ? found.text : "\($0.count) of \(found.text)")
                }
                return found
            }
        case .missingFrames:
            return pictures.missing.map {
                var found = plain(Double($0), 0)
                found.places = pictures.firstMissing.map { [Place(range: $0)] } ?? []
                return found
            }
        case .variableFrameRate:
            return pictures.isVariable.map { Measured(value: .bool($0), text: $0 ? "variable" : "constant") }
        case .fieldMismatch:
            return pictures.fields.flatMap { fields in
                fields.mismatch.map { Measured(value: .number($0), text: Self.text(fields)) }
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
}

extension QCOutcome {
    fileprivate var facts: [QCViolation] { if case .failed(let facts, _) = self { facts } else { [] } }
    fileprivate var more: Int64 { if case .failed(_, let more) = self { more } else { 0 } }
    fileprivate var isPassed: Bool { if case .passed = self { true } else { false } }
    fileprivate var isApplicable: Bool { if case .notApplicable = self { false } else { true } }
}
