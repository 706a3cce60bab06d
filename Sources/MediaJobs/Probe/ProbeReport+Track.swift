internal import AssetKit
internal import Bitstreams
package import MediaBase

/// What is known of one track.
package struct TrackReport: Encodable, Sendable {
    /// The container's own number of it; `nil` where a Matroska file's track list could not be read.
    package var id: Int?
    /// Its place in the container, from 0.
    package var index: Int
    /// What it carries: `video`, `audio`, `subtitle`, `timecode`, `data` or `attachment`.
    package var type: String
    /// libavcodec's name of the codec.
    package var codec: String?
    /// How the container names the codec.
    package var codecTag: String?
    /// The codec's profile.
    package var profile: String?
    /// The level as the codec numbers it.
    package var level: Int?
    /// The level as people write it, such as `4.1`.
    package var levelName: String?
    /// ISO 639-2 code of the language.
    package var language: String?
    /// Whether it is meant to be used; `nil` for formats in which libavformat does not read that.
    package var enabled: Bool?
    /// Roles by libavformat's names.
    package var dispositions: [String]
    /// Bits a second.
    package var bitRate: Int64?
    /// The most bits in any second.
    package var maximumBitRate: Int64?
    /// From its first sample to its end on the presentation's time line.
    package var timeRange: TimeRangeReport
    /// How long the stored media is, before any edits.
    package var mediaDuration: MediaTime?
    /// Ticks a second of the clock that its samples' times are counted by; `nil` where there is none.
    package var timeScale: Int32?
    /// How many samples there are; for video, frames.
    package var sampleCount: Int64?
    /// The edit list; `nil` without one.
    package var editList: [EditReport]?
    /// Numbers (``id``) of the tracks that this one refers to, by the kind of reference.
    package var associatedTracks: [String: [Int]]?
    /// The timecode of the first frame.
    package var timecode: TimecodeReport?
    /// All formats that the samples may have; `nil` where there is one.
    package var formats: [FormatReport]?
    /// The pictures.
    package var video: VideoReport?
    /// The sound.
    package var audio: AudioReport?
    /// What reading all packets showed; `nil` where that was not asked for.
    package var scan: ScanReport?
    /// The track's own metadata.
    package var metadata: [MetadataReport]

    /// The report.
    ///
    /// - Parameters:
    ///   - headers: What the coded pictures say of themselves.
    ///   - statistics: What reading all packets showed.
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

    /// The level as people write it; `nil` for codecs whose numbers are no levels.
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

/// One of several formats that a track's samples may have.
package struct FormatReport: Encodable, Sendable {
    /// libavcodec's name of the codec.
    package var codec: String?
    /// How the container names the codec.
    package var codecTag: String?
    /// The stored picture.
    package var encodedSize: Dimensions?
    /// What the container wants to be seen; `nil` where that is all of the picture.
    package var cleanAperture: CleanApertureReport?
    /// Samples a second and channel.
    package var sampleRate: Int?
    /// How many channels there are.
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
    /// Whether some numbers are left out so that timecode keeps up with the clock.
    package var dropFrame: Bool
    /// Where it is from: `track` for a timecode track's own sample, `metadata` for all else.
    package var source: String
    /// Frames since 00:00:00:00; `nil` unless it is a timecode track's.
    package var frameNumber: Int64?
    /// How long a frame lasts; `nil` unless it is a timecode track's.
    package var frameDuration: MediaTime?
    /// The numbers in a second of timecode; `nil` unless it is a timecode track's.
    package var framesPerSecond: Int?
    /// The reel that it belongs to.
    package var reel: String?

    /// The timecode of a track; `nil` where it has none.
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

/// One edit: for how long it plays which part of the media, and how fast.
package struct EditReport: Encodable, Sendable {
    /// How long it lasts in the presentation.
    package var segmentDuration: MediaTime?
    /// Where in the media it begins; `nil` for an empty edit.
    package var mediaTime: MediaTime?
    /// The speed.
    package var rate: Rational

    init(_ segment: AssetTrack.Segment) {
        segmentDuration = segment.duration.ifNumeric
        mediaTime = segment.mediaStart?.ifNumeric
        rate = segment.rate
    }

    private enum CodingKeys: String, CodingKey {
        case segmentDuration, mediaTime, rate
    }

    /// Writes `null` for the media time of an empty edit, and a whole number for a whole rate.
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

/// What is known of a track's sound.
package struct AudioReport: Encodable, Sendable {
    /// Samples a second and channel.
    package var sampleRate: Int?
    /// How many channels there are.
    package var channels: Int?
    /// Which loudspeakers the channels are for.
    package var channelLayout: String?
    /// libavutil's name of what the decoder yields; a `p` at the end means a plane for each channel.
    package var sampleFormat: String?
    /// Significant bits of a stored sample; `nil` for codecs that have none.
    package var bitsPerSample: Int?
    /// Samples before the first real one, that the presentation cuts.
    package var priming: Int?
    /// Samples after the last real one, that the presentation cuts.
    package var remainder: Int?

    /// The report.
    ///
    /// - Parameter speakers: Which loudspeakers the channels are for, where the format's layout does not say it.
    init(_ audio: AudioFormat, speakers: [String]?) {
        sampleRate = audio.sampleRate > 0 ? audio.sampleRate : nil
        channels = audio.channels > 0 ? audio.channels : nil
        // "6 channels" is how libavutil says that it does not know which.
        channelLayout = speakers?.joined(separator: "+") ?? audio.channelLayout.knownName
        sampleFormat = audio.sampleFormat.map { $0.rawValue + (audio.isPlanar ? "p" : "") }
        bitsPerSample = audio.bitsPerSample
        priming = audio.priming
        remainder = audio.remainder
    }
}

/// What reading all packets of a track showed.
package struct ScanReport: Encodable, Sendable {
    /// How many packets there are.
    package var packetCount: Int
    /// How many frames they are: fewer than packets where some hold one field; `nil` for other tracks than video.
    package var frameCount: Int?
    /// Their bytes.
    package var sizeBytes: Int64
    /// How many are damaged.
    package var corruptCount: Int
    /// From the first presentation to the end of the last.
    package var timeRange: TimeRangeReport?
    /// From one presentation to the next.
    package var frameDuration: SpreadReport?
    /// Where decoding can start; of video.
    package var keyframes: KeyframesReport?
    /// Bits a second over time.
    package var bitRate: RateReport?
    /// Stretches in which nothing is presented.
    package var gaps: [TimeRangeReport]
    /// How many such stretches there are, of which the first hundred are listed.
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

/// Lengths of time.
package struct SpreadReport: Encodable, Sendable {
    /// The shortest.
    package var minimum: MediaTime
    /// The mean.
    package var average: MediaTime
    /// The longest.
    package var maximum: MediaTime

    /// The report; `nil` where there is no length.
    init?(_ spread: PacketStatistics.Spread) {
        guard let minimum = spread.minimum, let average = spread.average, let maximum = spread.maximum,
            minimum.isNumeric, average.isNumeric, maximum.isNumeric
        else { return nil }
        self.minimum = minimum
        self.average = average
        self.maximum = maximum
    }
}

/// Where decoding can start.
package struct KeyframesReport: Encodable, Sendable {
    /// How many there are.
    package var count: Int
    /// The time from one to the next.
    package var spacing: SpreadReport?
    /// The fewest frames from one to the next.
    package var minimumFrames: Int?
    /// The most frames from one to the next.
    package var maximumFrames: Int?

    init(_ statistics: PacketStatistics) {
        count = statistics.keyframeCount
        spacing = SpreadReport(statistics.keyframeSpacing)
        minimumFrames = statistics.keyframeDistance?.lowerBound
        maximumFrames = statistics.keyframeDistance?.upperBound
    }
}

/// Bits a second over time.
package struct RateReport: Encodable, Sendable {
    /// Over the whole track.
    package var average: Int64
    /// In the fullest stretch.
    package var maximum: Int64
    /// How long a stretch is, in seconds.
    package var intervalSeconds: Int
    /// In each stretch from time 0; the last one ends with the track.
    package var values: [Int64]

    /// The report; `nil` where the track has no duration.
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
            // What begins just before the end is no rate of a stretch.
            let length = min(Double(interval), end - Double(place * interval))
            return rate(bytes, length > 0 ? length : Double(interval))
        }
        maximum = statistics.rates.bytes.max().map { rate($0, min(Double(interval), end > 0 ? end : 1)) } ?? 0
    }
}
