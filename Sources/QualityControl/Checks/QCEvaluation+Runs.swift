internal import AssetKit
internal import MediaBase

// Runs of frames or samples, such as black or silence, held against their thresholds.

extension QCEvaluation {
    func runs(of check: QCCheck, _ parameters: QCRunParameters, _ stretch: QCStretch) -> QCOutcome {
        var isApplicable = false
        var facts: [QCViolation] = []
        var more: Int64 = 0
        for track in measurements.tracks {
            for runs in track.runs
            where runs.check == check.rawValue && runs.threshold == parameters.threshold
                && runs.minimumDuration == parameters.minimumSeconds
            {
                isApplicable = true
                // Runs that are not listed cannot be assigned to a part of the track.
                if stretch == QCStretch() { more += runs.count - Int64(runs.ranges.count) }
                for range in runs.ranges {
                    guard let kept = clipped(range, to: stretch, of: track, parameters) else { continue }
                    guard facts.count < Self.maximumFacts else {
                        more += 1
                        continue
                    }
                    let length = kept.end - kept.start
                    // Clipping lasts a few samples, so its duration in seconds would round to almost nothing.
                    let measured =
                        check == .clipping ? "\(length.value) samples" : Self.decimals(length.seconds, 3) + " s"
                    facts.append(
                        QCViolation(
                            subject: check.rawValue, measured: measured,
                            wanted: parameters.minimumSeconds > 0
                                ? "less than \(QCValue.number(parameters.minimumSeconds).text) s" : "none",
                            trackIndex: track.trackIndex, channel: runs.channel, range: kept))
                }
            }
        }
        guard isApplicable else { return .notApplicable(check.missing) }
        return facts.isEmpty ? .passed : .failed(facts, more: more)
    }

    /// Returns the part of a run that lies in a stretch, or `nil` if there is none or it is too short.
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

    /// Returns a number with a fixed number of decimal places, at most 9.
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
