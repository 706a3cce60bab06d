package import MediaBase

/// What a person is told where media ends before the end that was asked for.
package enum EarlyEnd {
    /// The warning; `nil` where the media reaches that end, or where nothing is known of its own.
    ///
    /// - Parameters:
    ///   - what: What ends, as in "the sound ends".
    ///   - end: Where the media ends.
    ///   - wanted: Where it was to end; `nil` for its own end.
    package static func warning(_ what: String, at end: MediaTime, before wanted: MediaTime?) -> String? {
        // Who writes a length rounded to hundredths means the end.
        guard let wanted, wanted.isNumeric, end.isNumeric, wanted > end + MediaTime(value: 1, timescale: 100) else {
            return nil
        }
        return "\(what) at \(end.seconds) s, before '--end' (\(wanted.seconds) s)"
    }
}

extension TimeExpression {
    /// Whether it is a moment of its own, not one that follows from the length of the track.
    package var isMoment: Bool {
        switch self {
        case .time, .timecode, .frame: true
        case .percentage, .end: false
        }
    }
}
