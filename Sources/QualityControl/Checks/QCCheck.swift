/// The checks of `qc`, with the names that a policy uses after `check:`.
package enum QCCheck: String, CaseIterable, Sendable {
    case audioTracks
    case loudness = "loudness.integrated"
    case loudnessRange = "loudness.range"
    case momentaryLoudness = "loudness.momentaryMaximum"
    case shortTermLoudness = "loudness.shortTermMaximum"
    case truePeak
    case samplePeak
    case offset = "dcOffset"
    case correlation
    case dualMono
    case mutedChannels
    case silence
    case channelSilence
    case clipping
    case black
    case freeze
    case illegalLuma
    case illegalColor
    case letterboxRows
    case letterboxColumns
    case duplicateFrames
    case repeatedFrames
    case droppedFrames
    case missingFrames
    case variableFrameRate
    case fieldMismatch
    case startDifference
    case lengthDifference
    case headerMismatches
    case damage
    case referencePSNR = "reference.psnr"
    case referenceWorstPSNR = "reference.psnrMinimum"
    case referenceSSIM = "reference.ssim"
    case referenceWorstSSIM = "reference.ssimMinimum"
    case referenceUnpaired = "reference.unpairedFrames"
    case referenceSoundOffset = "reference.soundOffset"
    case referenceSoundDifference = "reference.soundDifference"

    /// The definition and the defaults of a check.
    package struct Facts: Sendable {
        /// A description of the measured value, with the standard that defines it.
        package let definition: String
        /// The unit of the value; empty for counts and Booleans.
        package let unit: String
        /// The media that the check needs.
        package let subject: Subject
        /// The default threshold and minimum duration; `nil` for a check that yields a single value.
        package let run: QCRunParameters?
    }

    /// The media that a check measures.
    package enum Subject: String, Sendable {
        case sound, pictures, file
        /// The comparison with another file.
        case reference
    }

    /// The checks that compare audio with the reference.
    static let ofReferenceSound: Set<QCCheck> = [.referenceSoundOffset, .referenceSoundDifference]

    /// The definition and the defaults of the check.
    package var facts: Facts {
        switch self {
        case .audioTracks: value("Audio tracks of which something can be decoded", "")
        case .loudness: value("Integrated loudness with both gates, ITU-R BS.1770-5", "LUFS")
        case .loudnessRange: value("Loudness range, EBU Tech 3342", "LU")
        case .momentaryLoudness: value("Loudest 400 ms, EBU Tech 3341", "LUFS")
        case .shortTermLoudness: value("Loudest 3 s, EBU Tech 3341", "LUFS")
        case .truePeak: value("Highest true peak of all channels, ITU-R BS.1770-5 Annex 2", "dBTP")
        case .samplePeak: value("Highest sample of all channels", "dBFS")
        case .offset: value("Largest mean of a channel's samples, as a part of full scale", "")
        case .correlation:
            value(
                "Least correlation of channels 1 and 2, 3 and 4 and so on, -1 to 1, of the whole and of 3 s each second",
                "")
        case .dualMono: value("Whether the channels of a pair are the same, within -80 dBFS", "")
        case .mutedChannels:
            value("Channels without a sample above -60 dBFS, while others have some; without low-frequency effects", "")
        case .silence: runs("All channels below the threshold, in dBFS", .sound, -60, 2)
        case .channelSilence: runs("One channel below the threshold, in dBFS", .sound, -60, 10)
        case .clipping:
            runs(
                "So many samples in a row at full scale as the threshold says, or of one value at which the sound is cut off",
                .sound, 3, 0)
        case .black: runs("98 % of luma within the threshold's part of the way from black to white", .pictures, 0.1, 2)
        case .freeze:
            runs(
                "Mean difference from the picture that stays within the threshold's part of full scale", .pictures,
                0.001, 2)
        case .illegalLuma:
            runs("More than the threshold's part of luma outside -1 % to 103 %, EBU R 103", .pictures, 0.01, 0)
        case .illegalColor:
            runs(
                "More than the threshold's part of red, green or blue outside -5 % to 105 %, EBU R 103; on a grid",
                .pictures,
                0.01, 0)
        case .letterboxRows:
            value("Rows at top and bottom that are dark in all pictures looked at, one a second", "rows", .pictures)
        case .letterboxColumns:
            value("Columns at both sides that are dark in all pictures looked at, one a second", "columns", .pictures)
        case .duplicateFrames:
            value("Pictures that are the same as the one before, bit for bit", "frames", .pictures)
        case .repeatedFrames:
            runs(
                "1 to 12 pictures whose luma differs by at most the threshold's part of full scale from the one before, "
                    + "between others that move four times as much", .pictures, 0.001, 0)
        case .droppedFrames:
            runs(
                "A picture that differs from the one before so many times as much as its four neighbours do, which move "
                    + "evenly, as the threshold says, and no more than 4 times as much", .pictures, 1.6, 0)
        case .missingFrames:
            value("Pictures that would fit where one stays 1.5 times as long as usual or longer", "frames", .pictures)
        case .variableFrameRate:
            value("Whether pictures stay for other times than usual, by more than a tick", "", .pictures)
        case .fieldMismatch:
            value(
                "Part of the moving pictures that look interlaced, progressive or with the other field first than flagged",
                "",
                .pictures)
        case .startDifference:
            value(
                "From the start of the track that begins first to that of the last, of sound and pictures", "s", .file)
        case .lengthDifference:
            value("From the end of the track that is over first to that of the last, of sound and pictures", "s", .file)
        case .headerMismatches:
            value(
                "What the container says otherwise than the coded media: size, rate, channels, length, colours, fields",
                "", .file)
        case .damage:
            value(
                "Packets that are damaged, one more where the file breaks off, and each track that gives nothing", "",
                .file)
        case .referencePSNR: value("PSNR of all pictures together, by their mean squared error", "dB", .reference)
        case .referenceWorstPSNR: value("PSNR of the picture that differs most", "dB", .reference)
        case .referenceSSIM: value("Mean SSIM of all pictures, 0 to 1", "", .reference)
        case .referenceWorstSSIM: value("SSIM of the picture that differs most", "", .reference)
        case .referenceUnpaired:
            value("Pictures of either file that have no other one shown at the same time", "frames", .reference)
        case .referenceSoundOffset:
            value("How much later the sound is than the reference's, by correlation; without sign", "s", .reference)
        case .referenceSoundDifference:
            value("Level of what differs when both sounds are in step, against the reference's", "dB", .reference)
        }
    }

    private func value(_ definition: String, _ unit: String, _ subject: Subject = .sound) -> Facts {
        Facts(definition: definition, unit: unit, subject: subject, run: nil)
    }

    private func runs(_ definition: String, _ subject: Subject, _ threshold: Double, _ seconds: Double) -> Facts {
        Facts(
            definition: definition, unit: "s", subject: subject,
            run: QCRunParameters(threshold: threshold, minimumSeconds: seconds))
    }
}

/// The threshold and the minimum duration of a check that finds runs.
package struct QCRunParameters: Sendable, Hashable {
    /// The threshold, in the unit of the check's definition.
    package var threshold: Double
    /// The minimum duration in seconds.
    package var minimumSeconds: Double

    /// Makes parameters.
    package init(threshold: Double, minimumSeconds: Double) {
        self.threshold = threshold
        self.minimumSeconds = minimumSeconds
    }

    /// Returns the minimum duration in units of a clock, rounded up and at least one.
    func minimum(unitsPerSecond rate: Double) -> Int64 {
        Int64(min(max((minimumSeconds * rate - 1e-6).rounded(.up), 1), 0x1p62))
    }

    /// The threshold in dBFS, converted to a fraction of full scale.
    var amplitude: Double { QCRunParameters.amplitude(ofDecibels: threshold) }
}

extension QCCheck {
    var unitText: String { facts.unit.isEmpty ? "" : " " + facts.unit }

    /// The reason why the check is not applicable.
    var missing: String {
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
