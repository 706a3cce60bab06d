package import AssetKit
package import MediaBase
package import Pictures
package import Timelines

/// The options of ``ExportJob``.
package struct ExportRequest: Sendable {
    /// The preset that supplies all other settings; `nil` for the default of the file type.
    package var preset: ExportSession.Preset?
    /// The maximum height in rows; `nil` for the preset's limit.
    package var height: Int?
    /// The frame size, regardless of the sources' shape; `nil` for the size of the source, or of the largest one.
    package var size: Dimensions?
    /// The frame rate; `nil` to keep the source's times, or to use the timeline's rate.
    package var frameRate: Rational?
    /// An image that is overlaid on all frames; `nil` for none.
    package var watermark: Watermark?
    /// The encoder's quality; `nil` for the preset's.
    package var quality: Int?
    /// The video bit rate in bits per second, in place of a quality.
    package var bitRate: Int?
    /// The maximum number of frames from one keyframe to the next.
    package var keyFrameInterval: Int?
    /// The encoder's speed.
    package var speed: VideoOutputSettings.Speed?
    /// The treatment of audio.
    package var audio = ProxyRequest.AudioTreatment.encode
    /// The audio codec; `nil` for the preset's.
    package var audioCodec: AudioOutputSettings.Codec?
    /// The bit rate of each audio track in bits per second.
    package var audioBitRate: Int?
    /// The start of the range; `nil` for the beginning of the input.
    package var start: TimeExpression?
    /// The exclusive end of the range; `nil` for the end of the input.
    package var end: TimeExpression?
    /// The position at which a copy starts.
    package var copyFrom = CopyStart.exact
    /// The video track; `nil` for the first enabled one.
    package var videoTrack: TrackSelector?
    /// The audio tracks, in the order of the file; `nil` for all.
    package var audioTracks: [TrackSelector]?
    /// The settings for reading a timeline.
    package var timelines = TimelineSettings()
    /// The options for opening a timeline's media.
    package var opening = Asset.Options()
    /// True if damage in the input is an error.
    package var isStrict = false
    /// The number of decoding threads; 0 for the default.
    package var threads = 0

    /// The position at which a copy starts if ``start`` lies between two sync samples.
    package enum CopyStart: String, Sendable, Hashable, CaseIterable {
        /// Start at ``start``, provided that the file type can hide the samples needed before it.
        case exact
        /// Start at the sync sample before ``start``.
        case keyframe
    }

    /// An image that is overlaid on all frames.
    package struct Watermark: Sendable {
        /// The image, with straight alpha.
        package var image: Bitmap
        /// The position of its upper left corner in frame pixels; `nil` for the lower right corner of the frame.
        package var place: (x: Int, y: Int)?

        /// Makes a watermark.
        package init(image: Bitmap, place: (x: Int, y: Int)? = nil) {
            self.image = image
            self.place = place
        }
    }

    /// Makes a request with the defaults of the file type.
    package init() {}
}

extension ExportRequest {
    /// True if samples are copied.
    package var copies: Bool { preset == .passthrough }

    /// True if ``start`` or ``end`` depends on the duration, so that an asset must be opened with precise timing.
    package var needsExactDuration: Bool { TrimRange.needsExactDuration([start, end]) }

    /// Returns the preset, or the default for a file type.
    func preset(for fileType: MediaFileType) -> ExportSession.Preset {
        let usual: ExportSession.Preset = fileType == .webm ? .vp9HighestQuality : .highestQuality
        return preset ?? (fileType.holdsPictures ? usual : .appleM4A)
    }

    /// Returns the encoder settings for a video track, or `nil` if it is omitted.
    func videoSettings(
        for track: AssetTrack, in fileType: MediaFileType
    ) throws(MediaError) -> VideoOutputSettings? {
        guard case .encode(var settings) = preset(for: fileType).video(for: track) else { return nil }
        let isTunable = !settings.codec.isIntraOnly
        guard isTunable || (quality == nil && bitRate == nil && keyFrameInterval == nil && speed == nil) else {
            throw MediaError(
                .invalidArgument,
                "\(preset(for: fileType)) has one quality; --crf, --bitrate, --gop and --speed are for H.264, HEVC and "
                    + "VP9")
        }
        if let quality { (settings.quality, settings.bitRate) = (quality, nil) }
        if let bitRate { (settings.quality, settings.bitRate) = (nil, bitRate) }
        settings.maximumKeyFrameInterval = keyFrameInterval ?? settings.maximumKeyFrameInterval
        settings.speed = speed ?? settings.speed
        if let height, let format = track.formatDescriptions.first?.video,
            settings.dimensions.map({ $0.height > height }) ?? true
        {
            settings.dimensions = PictureSizeLimit.height(height).size(for: format)
        }
        return settings
    }

    /// Returns the encoder settings for an audio track.
    func audioSettings(for track: AssetTrack, in fileType: MediaFileType) -> AudioOutputSettings {
        var settings = AudioOutputSettings(codec: .aac)
        if case .encode(let usual) = preset(for: fileType).audio(for: track) { settings = usual }
        // Without a preset, use the usual codec of the file type.
        if preset == nil, let codec = Self.usualCodecs[fileType] { settings.codec = codec }
        settings.codec = audioCodec ?? settings.codec
        settings.bitRate = audioBitRate
        return settings
    }

    private static let usualCodecs: [MediaFileType: AudioOutputSettings.Codec] = [
        .wav: .pcm, .caf: .pcm, .aiff: .pcm, .flac: .flac, .ogg: .opus,
        // Matroska cannot declare AAC's priming.
        .mka: .opus,
    ]
}
