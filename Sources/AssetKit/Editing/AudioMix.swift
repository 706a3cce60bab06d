public import MediaBase

/// How loud each of several tracks is when they are mixed: `AVMutableAudioMix`.
///
/// ```swift
/// var parameters = AudioMix.InputParameters(track: music)
/// try parameters.setVolumeRamp(from: 1, to: 0.2, timeRange: speech)
/// output.audioMix = AudioMix([parameters])
/// ```
public struct AudioMix: Sendable, Hashable {
    /// What is said of single tracks; others are mixed as they are.
    public var inputParameters: [InputParameters]

    /// A mix.
    public init(_ inputParameters: [InputParameters] = []) { self.inputParameters = inputParameters }

    /// How loud one track is, over time: `AVMutableAudioMixInputParameters`.
    ///
    /// A volume of 1 leaves samples as they are; others multiply them.
    public struct InputParameters: Sendable, Hashable {
        /// The track: ``AssetTrack/id``.
        public let trackID: Int
        private var curve = RampCurve<Float>(before: 1)

        /// A track at volume 1 throughout.
        public init(track: AssetTrack) { self.init(trackID: track.id) }

        /// The same by the track's number.
        public init(trackID: Int) { self.trackID = trackID }

        /// Sets the volume from a time on, up to the next time at which one is set.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a volume below 0 or no number, and within a ramp.
        public mutating func setVolume(_ volume: Float, at time: MediaTime) throws(MediaError) {
            try Self.check(volume)
            try curve.set(volume, at: time, what: "volume")
        }

        /// Lets the volume go evenly from one value to another; it stays there until the next time at which one is set.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a volume below 0 or no number, an empty range,
        ///   and where another ramp or volume lies within it.
        public mutating func setVolumeRamp(
            from start: Float, to end: Float, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try curve.setRamp(from: start, to: end, in: timeRange, what: "volume")
        }

        /// The volume at a time.
        public func volume(at time: MediaTime) -> Float { curve.value(at: time) }

        /// The volume over samples `range`, in runs over which it changes evenly.
        func runs(over range: Range<Int64>, rate: Int32) -> [RampCurve<Float>.Run] {
            curve.runs(over: range, rate: rate)
        }

        private static func check(_ volume: Float) throws(MediaError) {
            guard volume.isFinite, volume >= 0 else {
                throw MediaError(.invalidArgument, "a volume of \(volume) makes no sense; give 0 or more")
            }
        }
    }
}
