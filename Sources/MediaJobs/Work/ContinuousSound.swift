package import AssetKit
package import MediaBase

/// A track's sound as one unbroken run from a moment on: what lies between its sample buffers is silence.
///
/// A track that starts late, and holes of more than a hundredth of a second, are silence; the two are told apart from
/// sound so that a consumer may deal with an hour of silence without seeing its samples.
package struct ContinuousSound {
    /// What comes next.
    package enum Piece {
        /// Decoded samples.
        case sound(AudioBuffer)
        /// So many samples, in each channel, of nothing; what is very long comes in several.
        case silence(Int64)
    }

    private let output: TrackOutput
    private var waiting: AudioBuffer?
    /// What is left of a late start or a hole.
    private var silence: Int64 = 0
    private var next: Int64?
    private let start: MediaTime

    /// How many samples of silence stand for a late start.
    package private(set) var lateStart: Int64 = 0
    /// How many samples of silence stand for holes.
    package private(set) var holes: Int64 = 0

    /// Samples of silence in one piece: a broken time stamp may mean weeks, and the reader's deadline has to be met.
    package static let longestSilence: Int64 = 1 << 19

    /// - Parameters:
    ///   - output: An output of linear PCM whose reader was started.
    ///   - start: Where the run begins, on the presentation's time line.
    package init(_ output: TrackOutput, from start: MediaTime = .zero) {
        self.output = output
        self.start = start
    }

    /// The next piece; `nil` at the track's end.
    package mutating func nextPiece() throws(MediaError) -> Piece? {
        if silence > 0 {
            try output.checkReading()
            let piece = min(silence, Self.longestSilence)
            silence -= piece
            return .silence(piece)
        }
        if let sound = waiting {
            waiting = nil
            return .sound(sound)
        }
        guard let buffer = try output.nextSampleBuffer(), let sound = buffer.audioBuffer else { return nil }
        let rate = Int32(clamping: sound.sampleRate)
        let begins = buffer.presentationTime.sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
        let expected = next ?? start.sampleIndex(rate: rate, rounding: .up) ?? 0
        let (after, overflow) = begins.addingReportingOverflow(Int64(sound.sampleCount))
        let isFirst = next == nil
        next = overflow ? .max : after
        guard begins > expected else { return .sound(sound) }
        waiting = sound
        silence = begins - expected
        if isFirst { lateStart = silence } else { holes += silence }
        return try nextPiece()
    }
}
