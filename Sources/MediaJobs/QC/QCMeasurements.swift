package import MediaBase

/// What was measured of one file; what could not be measured is left out.
package struct QCMeasurements: Encodable, Sendable {
    /// The tracks that were decoded, in the container's order.
    package var tracks: [Track]
    /// What could not be used.
    package var damage: DamageSummary

    /// One decoded track.
    package struct Track: Encodable, Sendable {
        /// The track's place among all tracks.
        package var trackIndex: Int
        /// What was measured of sound.
        package var sound: Sound?
        /// What was measured of pictures.
        package var pictures: Pictures?
        /// What checks that look for runs found.
        package var runs: [Runs]
    }

    /// Of a track's sound.
    package struct Sound: Encodable, Sendable {
        /// Samples a second.
        package var sampleRate: Int
        /// How long it is, with silence for late starts and holes.
        package var duration: MediaTime
        /// In LUFS.
        package var integratedLoudness: Double?
        /// In LU.
        package var loudnessRange: Double?
        /// The loudest 400 ms.
        package var momentaryMaximum: Loudest?
        /// The loudest 3 s.
        package var shortTermMaximum: Loudest?
        /// The highest of all channels, in dBTP; nothing for silence.
        package var truePeak: Double?
        /// Each channel.
        package var channels: [Channel]
        /// Channels 1 and 2, 3 and 4 and so on.
        package var pairs: [Pair]
    }

    /// A window of the greatest loudness.
    package struct Loudest: Encodable, Sendable {
        /// In LUFS.
        package var loudness: Double
        /// When the window begins.
        package var start: MediaTime
    }

    /// Of one channel.
    package struct Channel: Encodable, Sendable {
        /// How much it counts for loudness; 0 for low-frequency effects.
        package var weight: Double
        /// In dBTP; nothing for silence, as for the others.
        package var truePeak: Double?
        /// In dBFS.
        package var samplePeak: Double?
        /// In dBFS.
        package var rms: Double?
        /// The mean, as a part of full scale.
        package var dcOffset: Double
    }

    /// Of two channels together.
    package struct Pair: Encodable, Sendable {
        /// The channels, from 0.
        package var channels: [Int]
        /// -1…1; nothing where one of the two is silent.
        package var correlation: Double?
        /// The largest difference of two samples, as a part of full scale.
        package var highestDifference: Double
    }

    /// Of a track's pictures.
    package struct Pictures: Encodable, Sendable {
        /// How many were decoded.
        package var count: Int64
        /// When the first one is shown.
        package var start: MediaTime?
        /// When the last one is gone.
        package var end: MediaTime?
        /// How many are the same as the one before.
        package var duplicates: Int64
        /// The greatest part of a picture's luma that was illegal; nothing where that does not apply.
        package var illegalLuma: Double?
        /// The greatest part of a picture's colours that was illegal; nothing where that does not apply.
        package var illegalColor: Double?
        /// Dark rows and columns at the edges; nothing where all pictures are dark.
        package var bars: Bars?
    }

    /// Dark edges.
    package struct Bars: Encodable, Sendable {
        /// Rows and columns.
        package var top, bottom, left, right: Int
    }

    /// What a check that looks for runs found in one track, or in one channel of it.
    package struct Runs: Encodable, Sendable {
        /// The check's name.
        package var check: String
        /// From where on it counts.
        package var threshold: Double
        /// How long a run lasts at least, in seconds.
        package var minimumDuration: Double
        /// The channel, from 0; nothing for a check of all channels or of pictures.
        package var channel: Int?
        /// How many there are, with those that are not listed.
        package var count: Int64
        /// How long they are together.
        package var total: MediaTime
        /// Each of them; at most 10,000.
        package var ranges: [Range]
    }

    /// One run.
    package struct Range: Encodable, Sendable, Hashable {
        /// The first moment.
        package var start: MediaTime
        /// The first moment that is not part of it.
        package var end: MediaTime
    }
}

extension Double {
    /// The number where it is one; JSON has no infinity.
    var ifFinite: Double? { isFinite ? self : nil }
}
