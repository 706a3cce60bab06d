internal import AssetKit
internal import Bitstreams
package import MediaBase

/// The properties of one track.
package struct TrackReport: Encodable, Sendable {
    /// The track's number in the container; `nil` if the track list of a Matroska file could not be read.
    package var id: Int?
    /// The track's index in the container, from 0.
    package var index: Int
    /// The media type: `video`, `audio`, `subtitle`, `timecode`, `data` or `attachment`.
    package var type: String
    /// The codec name in libavcodec.
    package var codec: String?
    /// The codec's identifier in the container.
    package var codecTag: String?
    /// The codec's profile.
    package var profile: String?
    /// The level as the codec numbers it.
    package var level: Int?
    /// The level in its usual notation, such as `4.1`.
    package var levelName: String?
    /// The ISO 639-2 code of the language.
    package var language: String?
    /// True if the track is enabled; `nil` for formats in which libavformat does not read this.
    package var enabled: Bool?
    /// The roles of the track, by their names in libavformat.
    package var dispositions: [String]
    /// The bit rate in bits per second.
    package var bitRate: Int64?
    /// The maximum bit rate over one second, in bits per second.
    package var maximumBitRate: Int64?
    /// The time range in the presentation, from the first sample to the end of the track.
    package var timeRange: TimeRangeReport
    /// The duration of the stored media, before any edits.
    package var mediaDuration: MediaTime?
    /// The number of ticks per second of the clock for sample times; `nil` if there is none.
    package var timeScale: Int32?
    /// The number of samples; for video, frames.
    package var sampleCount: Int64?
    /// The edit list; `nil` without one.
    package var editList: [EditReport]?
    /// The ``id`` numbers of the tracks that this track refers to, by reference type.
    package var associatedTracks: [String: [Int]]?
    /// The timecode of the first frame.
    package var timecode: TimecodeReport?
    /// The formats of the samples; `nil` if there is only one.
    package var formats: [FormatReport]?
    /// The video properties.
    package var video: VideoReport?
    /// The audio properties.
    package var audio: AudioReport?
    /// The result of reading all packets; `nil` unless requested.
    package var scan: ScanReport?
    /// The track's metadata.
    package var metadata: [MetadataReport]

    /// Makes the report of a track.
    ///
    /// - Parameters:
    ///   - headers: The headers of the coded pictures.
    ///   - statistics: The result of reading all packets.
    init(_ track: AssetTrack, in container: ContainerInfo, headers: PictureHeaders?, statistics: PacketStatistics?) {
        let format = track.formatDescriptions.first
        // Matroska numbers its tracks from 1.
        id = track.id == 0 && container.format == .matroska ? nil : track.id
        index = track.index
        type = track.mediaType.rawValue
        codec = format.flatMap { $0.codec == "unknown" ? nil : $0.codec }
        codecTag = format?.codecTag
        profile = format?.profile
        level = format?.level
        levelName = format.flatMap { Self.levelName($0) }
        language = track.language
        enabled = container.format == .isoMedia ? track.isEnabled : nil
        dispositions = track.dispositions
        bitRate = format?.bitRate
        maximumBitRate = format?.maximumBitRate
        timeRange = TimeRangeReport(track.timeRange)
        mediaDuration = track.mediaDuration?.ifNumeric
        timeScale = track.naturalTimeScale > 0 ? track.naturalTimeScale : nil
        sampleCount = track.sampleCount
        editList = track.segments.isEmpty ? nil : track.segments.map { EditReport($0) }
        associatedTracks = track.associatedTracks.isEmpty ? nil : track.associatedTracks
        timecode = TimecodeReport(track)
        formats = track.formatDescriptions.count < 2 ? nil : track.formatDescriptions.map { FormatReport($0) }
        video = format?.video.map { VideoReport($0, of: track, headers: headers) }
        audio = format?.audio.map { AudioReport($0, speakers: track.containerSpeakers) }
        scan = statistics.map { ScanReport($0, isVideo: track.mediaType == .video) }
        metadata = track.metadata.map { MetadataReport($0) }
    }

    /// Returns the level in its usual notation, or `nil` for codecs whose numbers are not levels.
    private static func levelName(_ format: FormatDescription) -> String? {
        guard let level = format.level, level > 0 || format.codec == "av1" else { return nil }
        func decimal(_ tenths: Int) -> String { "\(tenths / 10)" + (tenths % 10 == 0 ? "" : ".\(tenths % 10)") }
        switch format.codec {
        case "h264": return level == 9 ? "1b" : decimal(level)
        case "hevc": return decimal(level / 3)
        case "av1": return level > 23 ? nil : "\(2 + level >> 2).\(level & 3)"
        case "vp9": return decimal(level)
        case "mpeg2video": return [2: "High", 4: "High", 5: "Main", 6: "High 1440", 8: "Main", 10: "Low"][level]
        default: return nil
        }
    }
}

/// One of several formats of a track's samples.
package struct FormatReport: Encodable, Sendable {
    /// The codec name in libavcodec.
    package var codec: String?
    /// The codec's identifier in the container.
    package var codecTag: String?
    /// The size of the stored picture.
    package var encodedSize: Dimensions?
    /// The visible part declared by the container; `nil` if that is the whole picture.
    package var cleanAperture: CleanApertureReport?
    /// The sample rate in Hz.
    package var sampleRate: Int?
    /// The number of channels.
    package var channels: Int?

    init(_ format: FormatDescription) {
        codec = format.codec == "unknown" ? nil : format.codec
        codecTag = format.codecTag
        encodedSize = format.video?.encodedSize
        cleanAperture = format.video?.cleanAperture.map { CleanApertureReport($0) }
        sampleRate = format.audio?.sampleRate
        channels = format.audio?.channels
    }
}

/// The timecode of a track's first frame.
package struct TimecodeReport: Encodable, Sendable {
    /// The timecode, `HH:MM:SS:FF` or `HH:MM:SS;FF`.
    package var start: String
    /// True for drop-frame timecode, which skips numbers to keep up with the clock.
    package var dropFrame: Bool
    /// The source: `track` for a sample of a timecode track, `metadata` for all others.
    package var source: String
    /// The number of frames since 00:00:00:00; `nil` unless it is from a timecode track.
    package var frameNumber: Int64?
    /// The duration of a frame; `nil` unless it is from a timecode track.
    package var frameDuration: MediaTime?
    /// The number of timecode values per second; `nil` unless it is from a timecode track.
    package var framesPerSecond: Int?
    /// The name of the reel.
    package var reel: String?

    /// Makes the report of a track's timecode; returns `nil` if it has none.
    init?(_ track: AssetTrack) {
        let counter = track.timecode
        guard let start = counter?.start.description ?? track.startTimecode else { return nil }
        self.start = start
        dropFrame = counter?.start.rate.isDropFrame ?? start.contains(";")
        source = counter == nil ? "metadata" : "track"
        frameNumber = counter?.start.frameNumber
        frameDuration = counter?.start.rate.frameDuration
        framesPerSecond = counter?.start.rate.nominal
        reel = counter?.source
    }
}

/// An edit, which plays a part of the media at a rate for a duration.
package struct EditReport: Encodable, Sendable {
    /// The duration in the presentation.
    package var segmentDuration: MediaTime?
    /// The start time in the media; `nil` for an empty edit.
    package var mediaTime: MediaTime?
    /// The playback rate.
    package var rate: Rational

    init(_ segment: TrackSegment) {
        segmentDuration = segment.duration.ifNumeric
        mediaTime = segment.mediaStart?.ifNumeric
        rate = segment.rate
    }

    private enum CodingKeys: String, CodingKey {
        case segmentDuration, mediaTime, rate
    }

    /// Encodes the media time of an empty edit as `null`, and a whole rate as a whole number.
    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encodeIfPresent(segmentDuration, forKey: .segmentDuration)
        try object.encode(mediaTime, forKey: .mediaTime)
        if rate.den == 1 {
            try object.encode(rate.num, forKey: .rate)
        } else {
            try object.encode(rate.doubleValue, forKey: .rate)
        }
    }
}

/// The audio properties of a track.
package struct AudioReport: Encodable, Sendable {
    /// The sample rate in Hz.
    package var sampleRate: Int?
    /// The number of channels.
    package var channels: Int?
    /// The speaker layout of the channels.
    package var channelLayout: String?
    /// The format of decoded samples by its name in libavutil; a `p` at the end means one plane per channel.
    package var sampleFormat: String?
    /// The number of significant bits of a stored sample; `nil` for codecs to which this does not apply.
    package var bitsPerSample: Int?
    /// The number of samples before the first real one, which are cut from the presentation.
    package var priming: Int?
    /// The number of samples after the last real one, which are cut from the presentation.
    package var remainder: Int?

    /// Makes the report of an audio format.
    ///
    /// - Parameter speakers: The speakers of the channels, if the format's layout does not state them.
    init(_ audio: AudioFormat, speakers: [String]?) {
        sampleRate = audio.sampleRate > 0 ? audio.sampleRate : nil
        channels = audio.channels > 0 ? audio.channels : nil
        // libavutil names an unknown layout "6 channels".
        channelLayout = speakers?.joined(separator: "+") ?? audio.channelLayout.knownName
        sampleFormat = audio.sampleFormat.map { $0.rawValue + (audio.isPlanar ? "p" : "") }
        bitsPerSample = audio.bitsPerSample
        priming = audio.priming
        remainder = audio.remainder
    }
}

/// The result of reading all packets of a track.
package struct ScanReport: Encodable, Sendable {
    /// The number of packets.
    package var packetCount: Int
    /// The number of video frames, which is lower than that of packets if some hold one field; `nil` for other tracks.
    package var frameCount: Int?
    /// The size of all packets in bytes.
    package var sizeBytes: Int64
    /// The number of damaged packets.
    package var corruptCount: Int
    /// The time range from the first presentation to the end of the last.
    package var timeRange: TimeRangeReport?
    /// The time from one presentation to the next.
    package var frameDuration: SpreadReport?
    /// The keyframes of a video track.
    package var keyframes: KeyframesReport?
    /// The bit rate over time.
    package var bitRate: RateReport?
    /// The time ranges in which nothing is presented.
    package var gaps: [TimeRangeReport]
    /// The number of such ranges, of which the first hundred are listed.
    package var gapCount: Int

    init(_ statistics: PacketStatistics, isVideo: Bool) {
        packetCount = statistics.packetCount
        frameCount = isVideo ? statistics.frameCount : nil
        sizeBytes = statistics.byteCount
        corruptCount = statistics.corruptCount
        timeRange = statistics.range.map { TimeRangeReport($0) }
        frameDuration = SpreadReport(statistics.frameDuration)
        keyframes = statistics.keyframeCount > 0 ? KeyframesReport(statistics) : nil
        bitRate = RateReport(statistics)
        gaps = statistics.gaps.map { TimeRangeReport($0) }
        gapCount = statistics.gapCount
    }
}

/// The spread of durations.
package struct SpreadReport: Encodable, Sendable {
    /// The shortest duration.
    package var minimum: MediaTime
    /// The mean duration.
    package var average: MediaTime
    /// The longest duration.
    package var maximum: MediaTime

    /// Makes the report of a spread; returns `nil` if there are no durations.
    init?(_ spread: PacketStatistics.Spread) {
        guard let minimum = spread.minimum, let average = spread.average, let maximum = spread.maximum,
            minimum.isNumeric, average.isNumeric, maximum.isNumeric
        else { return nil }
        self.minimum = minimum
        self.average = average
        self.maximum = maximum
    }
}

/// The keyframes of a track, at which decoding can start.
package struct KeyframesReport: Encodable, Sendable {
    /// The number of keyframes.
    package var count: Int
    /// The time from one keyframe to the next.
    package var spacing: SpreadReport?
    /// The smallest number of frames from one keyframe to the next.
    package var minimumFrames: Int?
    /// The largest number of frames from one keyframe to the next.
    package var maximumFrames: Int?

    init(_ statistics: PacketStatistics) {
        count = statistics.keyframeCount
        spacing = SpreadReport(statistics.keyframeSpacing)
        minimumFrames = statistics.keyframeDistance?.lowerBound
        maximumFrames = statistics.keyframeDistance?.upperBound
    }
}

/// The bit rate over time, in bits per second.
package struct RateReport: Encodable, Sendable {
    /// The average over the whole track.
    package var average: Int64
    /// The rate of the interval with the most data.
    package var maximum: Int64
    /// The length of an interval in seconds.
    package var intervalSeconds: Int
    /// The rate of each interval from time 0; the last interval ends with the track.
    package var values: [Int64]

    /// Makes the report of a track's bit rate; returns `nil` if the track has no duration.
    init?(_ statistics: PacketStatistics) {
        guard let range = statistics.range, range.duration > .zero, range.end.isNumeric else { return nil }
        func rate(_ bytes: Int64, _ seconds: Double) -> Int64 {
            Int64(exactly: (Double(bytes) * 8 / seconds).rounded()) ?? 0
        }
        let interval = statistics.rates.interval
        average = rate(statistics.byteCount, range.duration.seconds)
        intervalSeconds = interval
        let end = range.end.seconds
        values = statistics.rates.bytes.enumerated().map { place, bytes in
            // An interval that starts at or after the end has no meaningful length, so use a whole one.
            let length = min(Double(interval), end - Double(place * interval))
            return rate(bytes, length > 0 ? length : Double(interval))
        }
        maximum = statistics.rates.bytes.max().map { rate($0, min(Double(interval), end > 0 ? end : 1)) } ?? 0
    }
}
