package import AssetKit
package import MediaBase
package import Pictures
package import SystemPackage

/// What is asked of ``ExportJob``.
package struct ExportRequest: Sendable {
    /// Where everything comes from that is not said below; `nil` for what goes with the type of the file.
    package var preset: ExportSession.Preset?
    /// Rows at most; `nil` for the preset's limit.
    package var height: Int?
    /// The frames' size, whatever the sources' shape; `nil` for the source's, or that of the largest.
    package var size: Dimensions?
    /// Frames a second; `nil` for the source's own times, or the timeline's rate.
    package var frameRate: Rational?
    /// A picture that lies over all frames; `nil` for none.
    package var watermark: Watermark?
    /// The encoder's quality; `nil` for the preset's.
    package var quality: Int?
    /// Bits a second of the pictures, in place of a quality.
    package var bitRate: Int?
    /// Frames from one sync sample to the next at most.
    package var keyFrameInterval: Int?
    /// How much time the encoder takes.
    package var speed: VideoOutputSettings.Speed?
    /// What becomes of sound.
    package var audio = ProxyRequest.AudioTreatment.encode
    /// How sound is encoded; `nil` for the preset's.
    package var audioCodec: AudioOutputSettings.Codec?
    /// Bits a second of each track of sound.
    package var audioBitRate: Int?
    /// The first moment; `nil` for the beginning.
    package var start: TimeExpression?
    /// The first moment that is not wanted any more; `nil` for the end.
    package var end: TimeExpression?
    /// Where a copy begins.
    package var copyFrom = CopyStart.exact
    /// The track of pictures; `nil` for the first enabled one.
    package var videoTrack: TrackSelector?
    /// The tracks of sound, in the order of the file; `nil` for all.
    package var audioTracks: [TrackSelector]?
    /// Whether a timeline may take media from outside its folder.
    package var allowsOutside = false
    /// Folders in which a timeline's media is looked for by its name where the timeline's path does not lead to it.
    package var mediaFolders: [FilePath] = []
    /// Whether clips without media become gaps instead of errors.
    package var allowsMissing = false
    /// Whether a timeline's effects that cannot be rendered are left out instead of being errors.
    package var ignoresEffects = false
    /// How a timeline's media is opened.
    package var opening = Asset.Options()
    /// Whether damage in the input is an error.
    package var isStrict = false
    /// Threads that decode; 0 for the usual number.
    package var threads = 0

    /// Where a copy begins that starts between two sync samples.
    package enum CopyStart: String, Sendable, Hashable, CaseIterable {
        /// At ``start``, as far as the type of file can hide what is needed before it.
        case exact
        /// At the sync sample before ``start``.
        case keyframe
    }

    /// A picture over all frames.
    package struct Watermark: Sendable {
        /// The picture, with straight alpha.
        package var image: Bitmap
        /// Its left and upper edge in the frames' pixels; `nil` for the lower right corner.
        package var place: (x: Int, y: Int)?

        /// A picture.
        package init(image: Bitmap, place: (x: Int, y: Int)? = nil) {
            self.image = image
            self.place = place
        }
    }

    /// What goes with the type of the file.
    package init() {}
}

extension ExportRequest {
    /// Whether samples are taken as they are.
    package var copies: Bool { preset == .passthrough }

    /// Whether ``start`` or ``end`` depend on how long the track is, so that an asset has to be opened with exact timing.
    package var needsExactDuration: Bool { TrimRange.needsExactDuration([start, end]) }

    /// The preset for a type of file.
    func preset(for fileType: MediaFileType) -> ExportSession.Preset {
        let usual: ExportSession.Preset = fileType == .webm ? .vp9HighestQuality : .highestQuality
        return preset ?? (fileType.holdsPictures ? usual : .appleM4A)
    }

    /// How pictures of a track are encoded; `nil` where they are left out.
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

    /// How sound of a track is encoded.
    func audioSettings(for track: AssetTrack, in fileType: MediaFileType) -> AudioOutputSettings {
        var settings = AudioOutputSettings(codec: .aac)
        if case .encode(let usual) = preset(for: fileType).audio(for: track) { settings = usual }
        // What such files hold, where nobody asked for a preset.
        if preset == nil, let codec = Self.usualCodecs[fileType] { settings.codec = codec }
        settings.codec = audioCodec ?? settings.codec
        settings.bitRate = audioBitRate
        return settings
    }

    private static let usualCodecs: [MediaFileType: AudioOutputSettings.Codec] = [
        .wav: .pcm, .caf: .pcm, .aiff: .pcm, .flac: .flac, .ogg: .opus,
        // Of AAC's priming a Matroska file cannot tell.
        .mka: .opus,
    ]
}
