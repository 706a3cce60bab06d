internal import Inspection
internal import MediaBase

/// The result of a condition.
enum QCOutcome {
    case passed
    /// The condition does not hold; `more` counts the violations not listed.
    case failed([QCViolation], more: Int64 = 0)
    /// The file has nothing to which the condition applies; the text states the reason.
    case notApplicable(String)

    /// Returns a failure, or success without violations.
    init(_ violations: [QCViolation]) { self = violations.isEmpty ? .passed : .failed(violations) }
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

/// A measured value that a test is applied to.
package struct MeasuredValue: Sendable {
    let value: QCValue
    /// The value as text, without its unit; `nil` for a number with ``digits``.
    let words: String?
    let digits: Int
    /// The places of the value; empty if it applies to the whole track.
    var places: [Place]

    /// A place of a measured value.
    struct Place {
        var range: QCMeasurements.Range?
        var channel: Int?
        /// The value at this place, if it differs from the total.
        var text: String?
    }

    /// A number, with the number of decimal places to print.
    static func number(_ number: Double, _ digits: Int, words: String? = nil, at places: [Place] = []) -> MeasuredValue
    {
        MeasuredValue(value: .number(number), words: words, digits: digits, places: places)
    }

    /// A level in decibels; silence is −∞ dB.
    static func level(_ number: Double?, at range: QCMeasurements.Range? = nil, channel: Int? = nil) -> MeasuredValue {
        .number(
            number ?? -.infinity, 1, words: number == nil ? "silence" : nil,
            at: range.map { [Place(range: $0, channel: channel)] } ?? [])
    }

    /// A Boolean, and its meaning in words.
    static func bool(_ bool: Bool, _ words: String) -> MeasuredValue {
        MeasuredValue(value: .bool(bool), words: words, digits: 0, places: [])
    }

    func text(_ check: Check) -> String {
        words ?? QCEvaluation.decimals(value.number ?? .nan, digits) + check.unitText
    }
}

/// The way in which a check that yields a value tests a file's measurements.
struct Verdict: Sendable {
    let body: @Sendable (Check, QCMeasurements, QCTest) -> QCOutcome

    /// Tests the value of each track; a track without one is skipped.
    ///
    /// - Parameter places: Returns the places at which a track fails, instead of the value's own.
    static func tracks(
        places: (@Sendable (QCMeasurements.Track, QCTest) -> [MeasuredValue.Place])? = nil,
        _ value: @escaping @Sendable (QCMeasurements.Track) -> MeasuredValue?
    ) -> Verdict {
        Verdict { check, measurements, test in
            var isApplicable = false
            var violations: [QCViolation] = []
            for track in measurements.tracks {
                guard let measured = value(track) else { continue }
                isApplicable = true
                guard !test.holds(for: measured.value) else { continue }
                var places = places?(track, test) ?? measured.places
                // A violation by the whole track has no place of its own.
                if places.isEmpty { places = [MeasuredValue.Place()] }
                violations += places.prefix(max(0, QCEvaluation.maximumFacts - violations.count)).map { place in
                    check.violation(
                        place.text ?? measured.text(check), test, track: track.trackIndex, channel: place.channel,
                        range: place.range)
                }
            }
            return isApplicable ? QCOutcome(violations) : .notApplicable(check.missing)
        }
    }

    /// Tests the value of each audio track.
    static func audio(_ value: @escaping @Sendable (QCMeasurements.Sound) -> MeasuredValue?) -> Verdict {
        .tracks { $0.sound.flatMap(value) }
    }

    /// Tests the value of each video track.
    static func video(_ value: @escaping @Sendable (QCMeasurements.Pictures) -> MeasuredValue?) -> Verdict {
        .tracks { $0.pictures.flatMap(value) }
    }

    /// Tests a value that video measurements store under the check's name.
    static func stored(_ id: String) -> Verdict { .tracks { $0.values[id] } }

    /// Tests the largest difference between moments of audio tracks and of video tracks.
    static func difference(
        _ audio: @escaping @Sendable (QCMeasurements.Sound) -> MediaTime,
        _ video: @escaping @Sendable (QCMeasurements.Pictures) -> MediaTime?
    ) -> Verdict {
        Verdict { check, measurements, test in
            let sounds = measurements.tracks.compactMap(\.sound)
            let pictures = measurements.tracks.compactMap(\.pictures)
            let moments = sounds.map(audio) + pictures.compactMap(video)
            guard let first = moments.min(), let last = moments.max(), !sounds.isEmpty,
                pictures.contains(where: { $0.start != nil })
            else { return .notApplicable(check.missing) }
            let measured = MeasuredValue.number((last - first).seconds, 3)
            return QCOutcome(
                test.holds(for: measured.value)
                    ? [] : [check.violation(measured.text(check), test, range: .init(start: first, end: last))])
        }
    }

    /// Tests a value of the comparison with the reference.
    ///
    /// If only the file lacks what is compared, the check fails.
    static func reference(_ value: @escaping @Sendable (QCReferenceMeasurements) -> MeasuredValue?) -> Verdict {
        Verdict { check, measurements, test in
            guard let reference = measurements.reference else { return .notApplicable(check.missing) }
            if let measured = value(reference) {
                return QCOutcome(
                    test.holds(for: measured.value)
                        ? [] : [check.violation(measured.text(check), test, range: measured.places.first?.range)])
            }
            var missing = reference.missingSound
            if check.subject == .referenceVideo {
                missing =
                    reference.pictures?.count == 0
                    ? "shows no picture at the time of one of the reference's" : reference.missingPictures
            }
            guard let missing else {
                return .notApplicable("the reference has nothing of which \(check.id) can be measured")
            }
            return .failed([check.violation("not to be found, as the file \(missing)", test)])
        }
    }
}

extension QCReferenceMeasurements {
    /// The comparison of video; `nil` if nothing was compared, in which case scores have no value.
    var compared: Pictures? { pictures.flatMap { $0.count > 0 ? $0 : nil } }
}

extension QCReferenceMeasurements.Scores {
    /// The place of the frame that differs most.
    var worstPlace: [MeasuredValue.Place] {
        worst.map { [MeasuredValue.Place(range: .init(start: $0, end: worstEnd ?? $0))] } ?? []
    }
}
