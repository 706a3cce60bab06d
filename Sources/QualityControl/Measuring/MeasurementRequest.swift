package import Inspection

/// The measurements to take: the checks, and each set of parameters of those that find runs.
package struct MeasurementRequest: Sendable, Hashable {
    /// The checks that find runs, with their parameters, unique and in the order of the requests.
    package private(set) var runs: [Run] = []
    /// True if audio must be decoded.
    package private(set) var needsSound = false
    /// True if video must be decoded.
    package private(set) var needsPictures = false
    /// True if all packets must be read, for the `scan` part of the probe report.
    package var needsScan = false
    /// The requested checks.
    package private(set) var checks: Set<Check> = []
    /// Pairs of mono tracks that are measured as one stereo track.
    package var pairs: [TrackPair] = []
    /// True if an outline of the audio is collected, for a drawing.
    package var drawsSound = false
    private var known: Set<Run> = []

    /// A check that finds runs, with its parameters.
    package struct Run: Sendable, Hashable {
        /// The check.
        package let check: Check
        /// The parameters of the check.
        package let parameters: RunParameters
    }

    /// Makes an empty request.
    package init() {}

    /// A request for all checks, with their default parameters.
    package static var standard: MeasurementRequest {
        var request = MeasurementRequest()
        for check in CheckRegistry.all { request.add(check) }
        return request
    }

    /// Adds a check.
    ///
    /// - Parameter parameters: The parameters of a check that finds runs; `nil` for its defaults.
    package mutating func add(_ check: Check, _ parameters: RunParameters? = nil) {
        checks.insert(check)
        switch check.subject {
        case .referenceAudio, .referenceVideo: break
        case .audio: needsSound = true
        case .video: needsPictures = true
        case .file: (needsSound, needsPictures) = (true, true)
        }
        guard let standard = check.run else { return }
        let run = Run(check: check, parameters: parameters ?? standard)
        if known.insert(run).inserted { runs.append(run) }
    }

    /// The requested checks, in the registry's order.
    var orderedChecks: [Check] {
        CheckRegistry.ids.compactMap { id in checks.first { $0.id == id } }
    }

    func parameters(of check: Check) -> [RunParameters] {
        runs.filter { $0.check == check }.map(\.parameters)
    }
}

/// Two mono tracks that hold the first and the second channel of one stereo signal.
package struct TrackPair: Sendable, Hashable {
    /// The selectors of the tracks.
    package let first, second: TrackSelector

    /// Makes a pair.
    package init(_ first: TrackSelector, _ second: TrackSelector) {
        self.first = first
        self.second = second
    }
}
