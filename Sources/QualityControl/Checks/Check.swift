internal import Inspection
internal import MediaBase

/// A check of `qc`: its name, definition and defaults, its measurement, and its verdict.
///
/// Each check is an extension of this type in a file of its own; ``CheckRegistry`` lists them.
package struct Check: Sendable {
    /// The name that a policy uses after `check:`.
    package let id: String
    /// A description of the measured value, with the standard that defines it.
    package let definition: String
    /// The unit of the value; empty for counts and Booleans.
    package let unit: String
    /// The media that the check measures.
    package let subject: Subject
    /// The default threshold and minimum duration; `nil` for a check that yields a single value.
    package let run: RunParameters?
    /// The unit of the threshold; empty for a fraction.
    package let thresholdUnit: String
    /// The test that applies if a rule states none.
    package let standardTest: ValueTest?
    /// A rule with a file that passes and one that fails, for the documentation and its test.
    package let example: Example
    /// The reason why the check is not applicable to a file without the media.
    let missing: String
    /// The measurement of video that the check needs; checks may share one.
    let measurement: VideoMeasurer?
    private let verdict: Verdict

    /// The media that a check measures.
    package enum Subject: String, Sendable {
        case audio, video, file
        /// The comparison of audio with the reference.
        case referenceAudio
        /// The comparison of video with the reference.
        case referenceVideo
    }

    /// The rest of a rule, and the names of two fixtures.
    package struct Example: Sendable {
        /// The tests of the rule, as in YAML; empty for the defaults.
        package let rule: String
        /// A file that passes.
        package let passes: String
        /// A file that fails.
        package let fails: String

        init(_ rule: String = "", passes: String, fails: String) {
            self.rule = rule
            self.passes = passes
            self.fails = fails
        }
    }

    /// Makes a check that yields a single value.
    init(
        _ id: String, _ definition: String, unit: String = "", of subject: Subject, standard: ValueTest? = nil,
        run: RunParameters? = nil, in thresholdUnit: String = "", example: Example, missing: String? = nil,
        measurement: VideoMeasurer? = nil, verdict: Verdict
    ) {
        self.id = id
        self.definition = definition
        self.unit = unit
        self.subject = subject
        self.run = run
        self.thresholdUnit = thresholdUnit
        standardTest = standard
        self.example = example
        self.missing = missing ?? subject.missing(id)
        self.measurement = measurement
        self.verdict = verdict
    }

    /// Makes a check that finds runs; each run is a violation.
    init(
        runs id: String, _ definition: String, of subject: Subject, threshold: Double, in thresholdUnit: String = "",
        seconds: Double = 0, example: Example, measurement: VideoMeasurer? = nil
    ) {
        self.init(
            id, definition, unit: "s", of: subject,
            run: RunParameters(threshold: threshold, minimumSeconds: seconds), in: thresholdUnit, example: example,
            measurement: measurement, verdict: .value { _ in nil })
    }

    /// True if the check yields a Boolean.
    var isBoolean: Bool { if case .bool? = standardTest?.equals { true } else { false } }

    /// Tests the single value in a file's measurements.
    func outcome(_ measurements: Measurements, _ test: ValueTest) -> Outcome {
        verdict.body(self, measurements, test)
    }

    /// Returns a violation for each place of a value that does not meet a test; empty if it does.
    ///
    /// - Parameter places: The places of the violations, instead of the value's own.
    func violations(
        _ measured: MeasuredValue, _ test: ValueTest, track: Int? = nil,
        at places: @autoclosure () -> [MeasuredValue.Place]? = nil
    ) -> [Violation] {
        guard !test.holds(for: measured.value) else { return [] }
        let places = places() ?? measured.places
        // A violation by the whole track has no place of its own.
        return (places.isEmpty ? [MeasuredValue.Place()] : places).map { place in
            violation(
                place.text ?? measured.text(unit: unit), test, track: track, channel: place.channel,
                range: place.range)
        }
    }

    /// Returns a violation by the check.
    func violation(
        _ measured: String, _ test: ValueTest, track: Int? = nil, channel: Int? = nil, range: Measurements.Range? = nil
    ) -> Violation {
        Violation(
            subject: id, measured: measured, wanted: test.text + (unit.isEmpty ? "" : " " + unit), trackIndex: track,
            channel: channel, range: range)
    }
}

extension Check: Hashable {
    /// Compares two checks by their names.
    package static func == (left: Check, right: Check) -> Bool { left.id == right.id }

    /// Hashes the name.
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Check.Subject {
    fileprivate func missing(_ id: String) -> String {
        switch self {
        case .audio: "the file has no sound of which \(id) can be measured"
        case .video: "the file has no pictures of which \(id) can be measured"
        case .file: "the file has not both sound and pictures"
        case .referenceAudio, .referenceVideo: "there is no --reference"
        }
    }
}
