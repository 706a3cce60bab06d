package import MediaAnalysis
package import MediaBase

/// What was measured of one file; what could not be measured is left out.
package struct QCMeasurements: Encodable, Sendable {
    /// The tracks that were decoded, in the container's order.
    package var tracks: [Track]
    /// What could not be used.
    package var damage: DamageSummary
    /// Tracks of sound or pictures of which nothing could be decoded; nothing where there are none.
    package var emptyTracks: [Int]?
    /// What the container says otherwise than the coded media; nothing where that was not asked for.
    package var headerMismatches: [Mismatch]?
    /// How the file differs from another one; nothing without one.
    package var reference: QCReferenceMeasurements?
    /// What was asked for and could not be done, one sentence each; not part of the JSON.
    package var notes: [String] = []

    private enum CodingKeys: String, CodingKey {
        case tracks, damage, emptyTracks, headerMismatches, reference
    }

    /// Makes measurements of tracks.
    package init(tracks: [Track], damage: DamageSummary) {
        self.tracks = tracks
        self.damage = damage
    }

    /// Leaves so many ranges of each check that looks for runs.
    mutating func cutRanges(to most: Int) {
        for track in tracks.indices {
            for runs in tracks[track].runs.indices where tracks[track].runs[runs].ranges.count > most {
                tracks[track].runs[runs].ranges.removeLast(tracks[track].runs[runs].ranges.count - most)
            }
        }
    }

    /// The error that damage is where it is not allowed; `nil` where nothing is damaged.
    package var strictError: MediaError? {
        damage.strictError
            ?? emptyTracks?.first.map {
                MediaError(.damaged, "nothing of track \($0) can be decoded, which --strict does not allow")
            }
    }

    /// One thing that the container says otherwise than the coded media.
    package struct Mismatch: Encodable, Sendable {
        /// The track; nothing for the file as a whole.
        package var trackIndex: Int?
        /// What it is about: `size`, `sampleRate`, `channels`, `length`, `frameRate`, `color` or `fields`.
        package var what: String
        /// The container's word.
        package var container: String
        /// What the coded media say, or what came out of the decoder.
        package var media: String
    }

    /// One decoded track.
    package struct Track: Encodable, Sendable {
        /// The track's place among all tracks.
        package var trackIndex: Int
        /// The track whose sound is the second channel; nothing for a track that was measured alone.
        package var pairedTrackIndex: Int?
        /// What was measured of sound.
        package var sound: Sound?
        /// What was measured of pictures.
        package var pictures: Pictures?
        /// What checks that look for runs found.
        package var runs: [Runs]
        /// The sound as it is drawn; not part of the JSON.
        package var outline: SoundOutline?

        private enum CodingKeys: String, CodingKey {
            case trackIndex, pairedTrackIndex, sound, pictures, runs
        }
    }

    /// Of a track's sound.
    package struct Sound: Encodable, Sendable {
        /// Samples a second.
        package var sampleRate: Int
        /// When its first sample is heard.
        package var start: MediaTime
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
        /// When it is over.
        package var end: MediaTime
    }

    /// Of one channel.
    package struct Channel: Encodable, Sendable {
        /// How much it counts for loudness; 0 for low-frequency effects.
        package var weight: Double
        /// In dBTP; nothing for silence, as for the others.
        package var truePeak: Double?
        /// The sample that it is, or where it lies between two, the one before.
        package var truePeakRange: Range?
        /// In dBFS.
        package var samplePeak: Double?
        /// The first sample that it is.
        package var samplePeakRange: Range?
        /// In dBFS.
        package var rms: Double?
        /// The mean, as a part of full scale.
        package var dcOffset: Double
    }

    /// Of two channels together.
    package struct Pair: Encodable, Sendable {
        /// The channels, from 0.
        package var channels: [Int]
        /// -1…1, of the whole; nothing where one of the two is silent.
        package var correlation: Double?
        /// The window in which they are least alike; nothing where none is loud and long enough.
        package var lowest: Lowest?
        /// The largest difference of two samples, as a part of full scale.
        package var highestDifference: Double
        /// The correlation of each window of ``CorrelationWindows``; not part of the JSON.
        package var windows: [Float] = []

        private enum CodingKeys: String, CodingKey {
            case channels, correlation, lowest, highestDifference
        }

        /// The least correlation of three seconds.
        package struct Lowest: Encodable, Sendable {
            /// -1…1.
            package var correlation: Double
            /// When the window begins.
            package var start: MediaTime
            /// When it is over.
            package var end: MediaTime
        }
    }

    /// Of a track's pictures.
    package struct Pictures: Encodable, Sendable {
        /// How many were decoded.
        package var count: Int64
        /// When the first one is shown.
        package var start: MediaTime?
        /// When the last one is shown.
        package var lastStart: MediaTime?
        /// When the last one is gone.
        package var end: MediaTime?
        /// How many are the same as the one before; nothing unless it was asked for.
        package var duplicates: Int64?
        /// Where they are, each run with how many there are; not part of the JSON.
        package var duplicateRuns: [(range: Range, count: Int64)] = []
        /// How long most of them stay; nothing unless it was asked how evenly they follow each other.
        package var usualDuration: MediaTime?
        /// Whether they stay for other times than usual; nothing likewise.
        package var isVariable: Bool?
        /// How many would fit into the places where one stays too long; nothing likewise.
        package var missing: Int64?
        /// The first place where one is missing.
        package var firstMissing: Range?
        /// What moving pictures look like beside what they are flagged as; nothing unless it was asked for.
        package var fields: Fields?
        /// The size of the first one.
        package var size: Dimensions?
        /// How often the size changes.
        package var sizeChanges: Int64
        /// The greatest part of a picture's luma that was illegal; nothing where that does not apply.
        package var illegalLuma: Double?
        /// The greatest part of a picture's colours that was illegal; nothing where that does not apply.
        package var illegalColor: Double?
        /// Dark rows and columns at the edges; nothing where all pictures are dark.
        package var bars: Bars?

        private enum CodingKeys: String, CodingKey {
            case count, start, lastStart, end, duplicates, usualDuration, isVariable, missing, firstMissing, fields,
                size
            case sizeChanges, illegalLuma, illegalColor, bars
        }
    }

    /// How many pictures look interlaced and progressive, of those that move enough to tell.
    package struct Fields: Encodable, Sendable {
        /// Flagged as interlaced, and looking so.
        package var interlaced: Int64
        /// Flagged as progressive, and looking so.
        package var progressive: Int64
        /// Flagged as progressive, and looking interlaced.
        package var hiddenInterlaced: Int64
        /// Flagged as interlaced, and looking progressive.
        package var hiddenProgressive: Int64
        /// Flagged as interlaced with one field first, and looking as if it were the other one.
        package var swapped: Int64

        /// The part that looks otherwise than flagged; nothing where too little moves.
        var mismatch: Double? {
            let wrong = hiddenInterlaced + hiddenProgressive + swapped
            return count >= Self.minimumCount ? Double(wrong) / Double(count) : nil
        }

        /// Fewer pictures tell nothing.
        private static let minimumCount: Int64 = 5

        /// All that move enough to tell.
        var count: Int64 { interlaced + progressive + hiddenInterlaced + hiddenProgressive + swapped }

        init(_ tally: FieldTally) {
            interlaced = tally.interlaced
            progressive = tally.progressive
            hiddenInterlaced = tally.hiddenInterlaced
            hiddenProgressive = tally.hiddenProgressive
            swapped = tally.swapped
        }
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
        /// Each of them; at most 10,000, and in JSON as many as findings are listed.
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
