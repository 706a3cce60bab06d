package import MediaAnalysis
package import MediaBase

/// What a waveform job measures, apart from where the results go.
package struct WaveformOptions: Sendable {
    /// The track; `nil` for the first enabled audio track.
    package var track: TrackSelector?
    /// From when; `nil` for time 0 of the presentation.
    package var start: TimeExpression?
    /// Until when; `nil` for the track's end.
    package var end: TimeExpression?
    /// The channels of peaks and pictures.
    package var channels = PeakBuilder.ChannelMode.mixed
    /// How pictures are drawn.
    package var picture = WaveformPicture()
    /// Whether damage in the input is an error.
    package var isStrict = false
    /// Threads that decode, on which the result does not depend; 0 for as many as there are cores.
    package var threads = 0
    /// Whether the track is decoded in one go instead of in segments side by side.
    package var isSerial = false

    /// All of the first enabled audio track, mixed.
    package init() {}

    /// The highest frame number among ``start`` and ``end``; `nil` where there is none.
    var highestFrame: Int64? { [start, end].compactMap(\.self).highestFrame }

    /// Whether ``start`` or ``end`` depend on how long the track is, so that the asset should be opened with exact timing.
    package var needsExactDuration: Bool {
        [start, end].contains { if case .percentage = $0 { true } else { $0 == .end } }
    }

    /// Whether all of the file is read before the sound is, so that a pipe has to be kept.
    package var readsPipeAgain: Bool { needsExactDuration || highestFrame != nil }
}
