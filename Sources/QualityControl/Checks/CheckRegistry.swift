/// All checks of `qc`.
package enum CheckRegistry {
    /// The checks by name, in the order of `--list-checks` and of the table in `docs/qc.md`.
    ///
    /// Measurements of one track are in the same order. A check is made when it is first asked for, so that a policy
    /// pays only for the checks that it uses.
    private static let table: KeyValuePairs<String, @Sendable () -> Check> = [
        "audioTracks": { .audioTracks },
        "loudness.integrated": { .integratedLoudness },
        "loudness.range": { .loudnessRange },
        "loudness.momentaryMaximum": { .momentaryLoudness },
        "loudness.shortTermMaximum": { .shortTermLoudness },
        "truePeak": { .truePeak },
        "samplePeak": { .samplePeak },
        "dcOffset": { .dcOffset },
        "correlation": { .correlation },
        "dualMono": { .dualMono },
        "mutedChannels": { .mutedChannels },
        "silence": { .silence },
        "channelSilence": { .channelSilence },
        "clipping": { .clipping },
        "black": { .black },
        "freeze": { .freeze },
        "repeatedFrames": { .repeatedFrames },
        "droppedFrames": { .droppedFrames },
        "illegalLuma": { .illegalLuma },
        "illegalColor": { .illegalColor },
        "letterboxRows": { .letterboxRows },
        "letterboxColumns": { .letterboxColumns },
        "duplicateFrames": { .duplicateFrames },
        "missingFrames": { .missingFrames },
        "variableFrameRate": { .variableFrameRate },
        "fieldMismatch": { .fieldMismatch },
        "startDifference": { .startDifference },
        "lengthDifference": { .lengthDifference },
        "headerMismatches": { .headerMismatches },
        "damage": { .damage },
        "reference.psnr": { .referencePSNR },
        "reference.psnrMinimum": { .referenceWorstPSNR },
        "reference.ssim": { .referenceSSIM },
        "reference.ssimMinimum": { .referenceWorstSSIM },
        "reference.unpairedFrames": { .referenceUnpairedFrames },
        "reference.soundOffset": { .referenceSoundOffset },
        "reference.soundDifference": { .referenceSoundDifference },
    ]

    /// The names of all checks.
    package static let ids = table.map(\.key)

    /// All checks.
    package static var all: [Check] { table.map { $0.value() } }

    /// Returns the check with a name; `nil` if there is none.
    package static func check(_ id: String) -> Check? { table.first { $0.key == id }?.value() }

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
