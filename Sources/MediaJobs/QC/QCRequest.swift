internal import Glibc

/// What of a file is to be measured: each check that finds runs, with each set of parameters that is asked for.
package struct QCRequest: Sendable, Hashable {
    /// The checks and their parameters, without repetition, in the order in which they were asked for.
    package private(set) var runs: [Run] = []
    /// Whether sound has to be decoded.
    package private(set) var needsSound = false
    /// Whether pictures have to be decoded.
    package private(set) var needsPictures = false
    /// Whether all packets have to be read, for what `scan` tells of them.
    package var needsScan = false
    /// The checks that are asked for.
    package private(set) var checks: Set<QCCheck> = []
    /// Tracks of one channel each that are measured as the two channels of one sound.
    package var pairs: [QCTrackPair] = []
    /// Whether an outline of the sound is gathered, for a drawing.
    package var drawsSound = false
    private var known: Set<Run> = []

    /// A check that finds runs, with its parameters.
    package struct Run: Sendable, Hashable {
        /// The check.
        package let check: QCCheck
        /// Its parameters.
        package let parameters: QCRunParameters
    }

    /// Asks for nothing.
    package init() {}

    /// Everything, with the checks' own thresholds.
    package static var standard: QCRequest {
        var request = QCRequest()
        for check in QCCheck.allCases { request.add(check) }
        return request
    }

    /// Asks for a check.
    ///
    /// - Parameter parameters: For a check that finds runs; its own where there are none.
    package mutating func add(_ check: QCCheck, _ parameters: QCRunParameters? = nil) {
        let facts = check.facts
        checks.insert(check)
        switch facts.subject {
        case .reference: break
        case .sound: needsSound = true
        case .pictures: needsPictures = true
        case .file: (needsSound, needsPictures) = (true, true)
        }
        guard let standard = facts.run else { return }
        let run = Run(check: check, parameters: parameters ?? standard)
        if known.insert(run).inserted { runs.append(run) }
    }

    func parameters(of check: QCCheck) -> [QCRunParameters] {
        runs.filter { $0.check == check }.map(\.parameters)
    }
}

/// Two tracks of one channel each, the first and the second channel of one sound.
package struct QCTrackPair: Sendable, Hashable {
    /// Which tracks are meant.
    package let first, second: TrackSelector

    /// Makes a pair.
    package init(_ first: TrackSelector, _ second: TrackSelector) {
        self.first = first
        self.second = second
    }
}

extension QCRunParameters {
    static func amplitude(ofDecibels decibels: Double) -> Double { pow(10, decibels / 20) }
}
