/// All checks of `qc`.
package enum CheckRegistry {
    /// The checks, in the order of `--list-checks` and of the table in `docs/qc.md`.
    ///
    /// Measurements of one track are in the same order.
    package static let all: [Check] = [
        .audioTracks, .integratedLoudness, .loudnessRange, .momentaryLoudness, .shortTermLoudness, .truePeak,
        .samplePeak, .dcOffset, .correlation, .dualMono, .mutedChannels, .silence, .channelSilence, .clipping,
        .black, .freeze, .repeatedFrames, .droppedFrames, .illegalLuma, .illegalColor, .letterboxRows,
        .letterboxColumns, .duplicateFrames, .missingFrames, .variableFrameRate, .fieldMismatch,
        .startDifference, .lengthDifference, .headerMismatches, .damage,
        .referencePSNR, .referenceWorstPSNR, .referenceSSIM, .referenceWorstSSIM, .referenceUnpairedFrames,
        .referenceSoundOffset, .referenceSoundDifference,
    ]

    private static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })

    /// Returns the check with a name; `nil` if there is none.
    package static func check(_ id: String) -> Check? { byID[id] }

    /// The text of `--list-checks`: each check with its definition and its defaults.
    package static var listing: String {
        all.map { check in
            var line = "\(check.id)\n    \(check.definition)"
            if !check.unit.isEmpty, check.run == nil { line += "; in \(check.unit)" }
            if let run = check.run {
                line += "\n    threshold: \(run.threshold), minDuration: \(run.minimumSeconds)"
            }
            return line + "\n"
        }.joined()
    }
}
