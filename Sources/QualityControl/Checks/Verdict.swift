internal import Inspection
internal import MediaBase

/// The result of a condition.
enum Outcome {
    case passed
    /// The condition does not hold; `more` counts the violations not listed.
    case failed([Violation], more: Int64 = 0)
    /// The file has nothing to which the condition applies; the text states the reason.
    case notApplicable(String)

    /// The maximum number of violations listed for a condition.
    static let maximumViolations = 10_000

    /// Makes a failure that lists the maximum number of violations, or success without violations.
    init(_ violations: [Violation]) {
        self = violations.isEmpty ? .passed : .failed(Array(violations.prefix(Self.maximumViolations)))
    }
}

/// A violation of a condition.
struct Violation {
    var subject: String
    var measured: String
    var wanted: String
    var trackIndex: Int?
    var channel: Int?
    var range: Measurements.Range?
}

/// The way in which a check that yields a value tests a file's measurements.
struct Verdict: Sendable {
    let body: @Sendable (Check, Measurements, ValueTest) -> Outcome

    /// Tests a value of the whole file; the check is not applicable without one.
    static func value(_ value: @escaping @Sendable (Measurements) -> MeasuredValue?) -> Verdict {
        Verdict { check, measurements, test in
            value(measurements).map { Outcome(check.violations($0, test)) } ?? .notApplicable(check.missing)
        }
    }

    /// Tests the value of each track; a track without one is skipped.
    ///
    /// - Parameter places: Returns the places at which a track fails, instead of the value's own.
    static func tracks(
        places: (@Sendable (Measurements.Track, ValueTest) -> [MeasuredValue.Place])? = nil,
        _ value: @escaping @Sendable (Measurements.Track) -> MeasuredValue?
    ) -> Verdict {
        Verdict { check, measurements, test in
            let found = measurements.tracks.compactMap { track in
                value(track).map {
                    check.violations($0, test, track: track.trackIndex, at: places?(track, test))
                }
            }
            return found.isEmpty ? .notApplicable(check.missing) : Outcome(found.flatMap(\.self))
        }
    }

    /// Tests the value of each audio track.
    static func audio(_ value: @escaping @Sendable (Measurements.Sound) -> MeasuredValue?) -> Verdict {
        .tracks { $0.sound.flatMap(value) }
    }

    /// Tests the value of each video track.
    static func video(_ value: @escaping @Sendable (Measurements.Pictures) -> MeasuredValue?) -> Verdict {
        .tracks { $0.pictures.flatMap(value) }
    }

    /// Tests a value that video measurements store under the check's name.
    static func stored(_ id: String) -> Verdict { .tracks { $0.values[id] } }

    /// Tests the largest difference between moments of audio tracks and of video tracks.
    static func difference(
        _ audio: @escaping @Sendable (Measurements.Sound) -> MediaTime,
        _ video: @escaping @Sendable (Measurements.Pictures) -> MediaTime?
    ) -> Verdict {
        .value { measurements in
            let sounds = measurements.tracks.compactMap(\.sound)
            let pictures = measurements.tracks.compactMap(\.pictures)
            let moments = sounds.map(audio) + pictures.compactMap(video)
            guard let first = moments.min(), let last = moments.max(), !sounds.isEmpty,
                pictures.contains(where: { $0.start != nil })
            else { return nil }
            return .number((last - first).seconds, 3, at: [.init(range: .init(start: first, end: last))])
        }
    }

    /// Tests a value of the comparison with the reference.
    ///
    /// If only the file lacks what is compared, the check fails.
    static func reference(_ value: @escaping @Sendable (ReferenceMeasurements) -> MeasuredValue?) -> Verdict {
        Verdict { check, measurements, test in
            guard let reference = measurements.reference else { return .notApplicable(check.missing) }
            if let measured = value(reference) { return Outcome(check.violations(measured, test)) }
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
