package import Inspection
package import MediaAnalysis
package import MediaBase

/// The measurements of one file; values that could not be measured are omitted.
package struct Measurements: Encodable, Sendable {
    /// The decoded tracks, in the container's order.
    package var tracks: [Track]
    /// The damage found in the file.
    package var damage: DamageSummary
    /// The indices of audio and video tracks of which nothing could be decoded; `nil` if there are none.
    package var emptyTracks: [Int]?
    /// The contradictions between the container and the coded media; `nil` unless requested.
    package var headerMismatches: [Mismatch]?
    /// The differences from the reference; `nil` without one.
    package var reference: ReferenceMeasurements?
    /// The requests that could not be met, one sentence each; not part of the JSON.
    package var notes: [String] = []

    private enum CodingKeys: String, CodingKey {
        case tracks, damage, emptyTracks, headerMismatches, reference
    }

    /// Makes measurements from those of tracks.
    package init(tracks: [Track], damage: DamageSummary) {
        self.tracks = tracks
        self.damage = damage
    }

    /// Limits the ranges of each check that finds runs.
    mutating func cutRanges(to most: Int) {
        for track in tracks.indices {
            for runs in tracks[track].runs.indices where tracks[track].runs[runs].ranges.count > most {
                tracks[track].runs[runs].ranges.removeLast(tracks[track].runs[runs].ranges.count - most)
            }
        }
    }

    /// The error that reports the damage in strict mode; `nil` if nothing is damaged.
    package var strictError: MediaError? {
        damage.strictError
            ?? emptyTracks?.first.map {
                MediaError(.damaged, "nothing of track \($0) can be decoded, which --strict does not allow")
            }
    }

    /// A contradiction between the container and the coded media.
    package struct Mismatch: Encodable, Sendable {
        /// The index of the track; `nil` for the file as a whole.
        package var trackIndex: Int?
        /// The property: `size`, `sampleRate`, `channels`, `length`, `frameRate`, `color` or `fields`.
        package var what: String
        /// The value declared by the container.
        package var container: String
        /// The value declared by the coded media or found by decoding.
        package var media: String
    }

    /// The measurements of one decoded track.
    package struct Track: Encodable, Sendable {
        /// The track's index among all tracks.
        package var trackIndex: Int
        /// The index of the track that holds the second channel; `nil` for a track measured alone.
        package var pairedTrackIndex: Int?
        /// The measurements of audio.
        package var sound: Sound?
        /// The measurements of video.
        package var pictures: Pictures?
        /// The results of the checks that find runs.
        package var runs: [Runs]
        /// The outline of the audio for a drawing; not part of the JSON.
        package var outline: SoundOutline?
        /// The values of checks that are not among the other measurements, by name; not part of the JSON.
        package var values: [String: MeasuredValue] = [:]

        private enum CodingKeys: String, CodingKey {
            case trackIndex, pairedTrackIndex, sound, pictures, runs
        }
    }

    /// The measurements of a track's audio.
    package struct Sound: Encodable, Sendable {
        /// The sample rate in Hz.
        package var sampleRate: Int
        /// The start time of the first sample.
        package var start: MediaTime
        /// The duration, including the silence inserted for a late start and for gaps.
        package var duration: MediaTime
        /// The integrated loudness in LUFS.
        package var integratedLoudness: Double?
        /// The loudness range in LU.
        package var loudnessRange: Double?
        /// The loudest 400 ms.
        package var momentaryMaximum: Loudest?
        /// The loudest 3 s.
        package var shortTermMaximum: Loudest?
        /// The highest true peak of all channels, in dBTP; `nil` for silence.
        package var truePeak: Double?
        /// The measurements of each channel.
        package var channels: [Channel]
        /// The measurements of the channel pairs 1 and 2, 3 and 4 and so on.
        package var pairs: [Pair]
    }

    /// The window with the highest loudness.
    package struct Loudest: Encodable, Sendable {
        /// The loudness in LUFS.
        package var loudness: Double
        /// The start time of the window.
        package var start: MediaTime
        /// The end time of the window.
        package var end: MediaTime

        /// The time range of the window.
        var range: Range { Range(start: start, end: end) }
    }

    /// The measurements of one channel.
    package struct Channel: Encodable, Sendable {
        /// The channel's weight in the loudness; 0 for low-frequency effects.
        package var weight: Double
        /// The true peak in dBTP; `nil` for silence, as for the other levels.
        package var truePeak: Double?
        /// The time range of the sample at the true peak, or of the preceding sample if the peak lies between two.
        package var truePeakRange: Range?
        /// The sample peak in dBFS.
        package var samplePeak: Double?
        /// The time range of the first sample that reaches the sample peak.
        package var samplePeakRange: Range?
        /// The RMS level in dBFS.
        package var rms: Double?
        /// The mean of the samples, as a fraction of full scale.
        package var dcOffset: Double
    }

    /// The measurements of two channels together.
    package struct Pair: Encodable, Sendable {
        /// The channels, from 0.
        package var channels: [Int]
        /// The correlation over the whole duration, -1…1; `nil` if one channel is silent.
        package var correlation: Double?
        /// The window with the lowest correlation; `nil` if no window is loud and long enough.
        package var lowest: Lowest?
        /// The largest difference between two samples, as a fraction of full scale.
        package var highestDifference: Double
        /// The correlation of each window of ``CorrelationWindows``; not part of the JSON.
        package var windows: [Float] = []

        private enum CodingKeys: String, CodingKey {
            case channels, correlation, lowest, highestDifference
        }

        /// The lowest correlation of a three-second window.
        package struct Lowest: Encodable, Sendable {
            /// The correlation, -1…1.
            package var correlation: Double
            /// The start time of the window.
            package var start: MediaTime
            /// The end time of the window.
            package var end: MediaTime
        }
    }

    /// The measurements of a track's video.
    package struct Pictures: Encodable, Sendable {
        /// The number of decoded frames.
        package var count: Int64
        /// The time at which the first frame is shown.
        package var start: MediaTime?
        /// The time at which the last frame is shown.
        package var lastStart: MediaTime?
        /// The end time of the last frame.
        package var end: MediaTime?
        /// The number of frames identical to the preceding frame; `nil` unless requested.
        package var duplicates: Int64?
        /// The usual frame duration; `nil` unless the regularity of frames was requested.
        package var usualDuration: MediaTime?
        /// True if frame durations vary; `nil` unless the regularity of frames was requested.
        package var isVariable: Bool?
        /// The number of frames that would fit where a frame is shown too long.
        ///
        /// The value is `nil` unless the regularity of frames was requested.
        package var missing: Int64?
        /// The first place where frames are missing.
        package var firstMissing: Range?
        /// The scan type of moving frames compared with their flags; `nil` unless requested.
        package var fields: Fields?
        /// The size of the first frame.
        package var size: Dimensions?
        /// The number of size changes.
        package var sizeChanges: Int64
        /// The largest fraction of illegal luma samples in one frame; `nil` if not applicable.
        package var illegalLuma: Double?
        /// The largest fraction of illegal colours in one frame; `nil` if not applicable.
        package var illegalColor: Double?
        /// The dark rows and columns at the edges; `nil` if all frames are completely dark.
        package var bars: PictureBars?
    }

    /// The numbers of frames that look interlaced and progressive, of those with enough motion to decide.
    package struct Fields: Encodable, Sendable {
        /// The number of frames flagged as interlaced that look interlaced.
        package var interlaced: Int64
        /// The number of frames flagged as progressive that look progressive.
        package var progressive: Int64
        /// The number of frames flagged as progressive that look interlaced.
        package var hiddenInterlaced: Int64
        /// The number of frames flagged as interlaced that look progressive.
        package var hiddenProgressive: Int64
        /// The number of interlaced frames that look as if their field order were the opposite of the flagged one.
        package var swapped: Int64

        /// The fraction of frames that contradict their flags; `nil` if too few frames have motion.
        var mismatch: Double? {
            let wrong = hiddenInterlaced + hiddenProgressive + swapped
            return count >= Self.minimumCount ? Double(wrong) / Double(count) : nil
        }

        /// The minimum number of frames for a meaningful fraction.
        private static let minimumCount: Int64 = 5

        /// The number of frames with enough motion to decide.
        var count: Int64 { interlaced + progressive + hiddenInterlaced + hiddenProgressive + swapped }

        init(_ tally: FieldTally) {
            interlaced = tally.interlaced
            progressive = tally.progressive
            hiddenInterlaced = tally.hiddenInterlaced
            hiddenProgressive = tally.hiddenProgressive
            swapped = tally.swapped
        }
    }

    /// The results of a check that finds runs, in one track or one channel.
    package struct Runs: Encodable, Sendable {
        /// The check's name.
        package var check: String
        /// The threshold that was applied.
        package var threshold: Double
        /// The minimum duration of a run in seconds.
        package var minimumDuration: Double
        /// The channel, from 0; `nil` for a check of all channels or of video.
        package var channel: Int?
        /// The number of runs, including those not listed.
        package var count: Int64
        /// The total duration of the runs.
        package var total: MediaTime
        /// The runs; at most 10,000, and in JSON at most as many as findings are listed.
        package var ranges: [Range]
    }

    /// The time range of a run.
    package struct Range: Encodable, Sendable, Hashable {
        /// The start time.
        package var start: MediaTime
        /// The end time, which is not part of the run.
        package var end: MediaTime
    }
}

extension Double {
    /// The value, or `nil` if it is not finite, as JSON has no infinity.
    var ifFinite: Double? { isFinite ? self : nil }
}

/// A measured value that a test is applied to.
package struct MeasuredValue: Sendable {
    let value: PolicyValue
    /// The value as text, without its unit; `nil` for a number with ``digits``.
    let words: String?
    let digits: Int
    /// The places of the value; empty if it applies to the whole track.
    var places: [Place]

    /// A place of a measured value.
    struct Place {
        var range: Measurements.Range?
        var channel: Int?
        /// The value at this place, if it differs from the total.
        var text: String?
    }

    /// A number, with the number of decimal places to print.
    static func number(_ number: Double, _ digits: Int, words: String? = nil, at places: [Place] = []) -> MeasuredValue
    {
        MeasuredValue(value: .number(number), words: words, digits: digits, places: places)
    }

    /// A level in decibels; silence is −∞ dB.
    static func level(_ number: Double?, at range: Measurements.Range? = nil, channel: Int? = nil) -> MeasuredValue {
        .number(
            number ?? -.infinity, 1, words: number == nil ? "silence" : nil,
            at: range.map { [Place(range: $0, channel: channel)] } ?? [])
    }

    /// A Boolean, and its meaning in words.
    static func bool(_ bool: Bool, _ words: String) -> MeasuredValue {
        MeasuredValue(value: .bool(bool), words: words, digits: 0, places: [])
    }

    /// Returns the value as text, with its unit.
    func text(unit: String) -> String {
        words ?? (value.number ?? .nan).text(decimals: digits) + (unit.isEmpty ? "" : " " + unit)
    }
}
