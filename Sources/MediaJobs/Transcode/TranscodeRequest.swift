package import AssetKit
package import MediaBase
package import Pictures
package import SystemPackage
package import Timelines

/// The options of a ``TranscodeJob``.
package struct TranscodeRequest: Sendable {
    /// The preset that supplies all other settings.
    package var preset: Preset
    /// The maximum height in rows; `nil` for the preset's limit.
    package var height: Int?
    /// The encoder's quality; `nil` for the preset's.
    package var quality: Int?
    /// The video bit rate in bits per second, in place of a quality.
    package var bitRate: Int?
    /// The maximum number of frames from one keyframe to the next.
    package var keyFrameInterval: Int?
    /// The encoder's speed.
    package var speed: VideoOutputSettings.Speed?
    /// The treatment of audio.
    package var audio = AudioTreatment.encode
    /// The audio codec; `nil` for the preset's.
    package var audioCodec: AudioOutputSettings.Codec?
    /// The bit rate of each audio track in bits per second.
    package var audioBitRate: Int?
    /// The start of the range; `nil` for the beginning of the input.
    package var start: TimeExpression?
    /// The exclusive end of the range; `nil` for the end of the input.
    package var end: TimeExpression?
    /// The video track; `nil` for the first enabled one.
    package var videoTrack: TrackSelector?
    /// The audio tracks, in the order of the file; `nil` for all.
    package var audioTracks: [TrackSelector]?
    /// True if pixels become square; for proxies.
    package var hasSquarePixels = false
    /// True to rotate the frames instead of declaring the rotation; for proxies.
    package var bakesRotation = false
    /// The options that only an export has.
    package var export = ExportOptions()
    /// True if damage in the input is an error.
    package var isStrict = false
    /// The number of decoding threads; 0 for the default.
    package var threads = 0

    /// The kind of output, with its preset.
    package enum Preset: Sendable, Hashable {
        /// A proxy, which is compared with its source in full.
        case proxy(ProxyPreset)
        /// An export; without a preset, the default one of the file type.
        case export(ExportSession.Preset?)
    }

    /// The treatment of audio tracks.
    package enum AudioTreatment: String, Sendable, Hashable, CaseIterable {
        /// Audio is encoded again.
        case encode
        /// Audio is copied.
        case copy
        /// Audio is omitted.
        case none
    }

    /// The options that only an export has.
    package struct ExportOptions: Sendable {
        /// The frame size, regardless of the sources' shape; `nil` for the size of the source, or of the largest one.
        package var size: Dimensions?
        /// The frame rate; `nil` to keep the source's times, or to use the timeline's rate.
        package var frameRate: Rational?
        /// An image that is overlaid on all frames; `nil` for none.
        package var watermark: Watermark?
        /// The position at which a copy starts.
        package var copyFrom = CopyStart.exact
        /// The duration of a segment of an HLS folder; `nil` to write a file.
        package var segmentInterval: MediaTime?
        /// The settings for reading a timeline.
        package var timelines = TimelineSettings()
        /// The options for opening a timeline's media.
        package var opening = Asset.Options()
    }

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

    /// Makes a request with the settings of a preset.
    package init(preset: Preset) { self.preset = preset }
}

extension TranscodeRequest.Preset {
    /// Returns the file type for the extension of a path.
    ///
    /// - Throws: `invalidArgument` if the extension is unknown, or a proxy cannot have this type.
    package func fileType(of path: FilePath) throws(MediaError) -> MediaFileType {
        let type = path.extension.flatMap { MediaFileType(pathExtension: $0) }
        if case .proxy = self, type != .mov, type != .mp4 {
            throw MediaError(
                .invalidArgument, "a proxy is a QuickTime or MPEG-4 file; end its name with .mov or .mp4",
                path: path.string)
        }
        guard let type else {
            throw MediaError(
                .invalidArgument,
                "the extension determines the type of file; use .mov, .mp4, .mkv, .m4a, .wav or the like",
                path: path.string)
        }
        return type
    }
}

extension TranscodeRequest {
    /// True for a proxy.
    var isProxy: Bool { if case .proxy = preset { true } else { false } }

    /// True if samples are copied.
    package var copies: Bool { preset == .export(.passthrough) }

    /// True if ``start`` or ``end`` depends on the duration, so that an asset must be opened with precise timing.
    package var needsExactDuration: Bool { TrimRange.needsExactDuration([start, end]) }

    /// Returns the preset's name.
    func presetName(in fileType: MediaFileType) -> String {
        switch preset {
        case .proxy(let preset): preset.name
        case .export(let preset): Self.exportPreset(preset, in: fileType).rawValue
        }
    }

    /// Returns a preset of exports, or the default one for a file type.
    private static func exportPreset(
        _ preset: ExportSession.Preset?, in fileType: MediaFileType
    ) -> ExportSession.Preset {
        let usual: ExportSession.Preset = fileType == .webm ? .vp9HighestQuality : .highestQuality
        return preset ?? (fileType.holdsPictures ? usual : .appleM4A)
    }

    /// True if an output of a file type has video; the settings for a track may still omit it.
    func keepsVideo(_ track: AssetTrack, in fileType: MediaFileType) -> Bool {
        guard !copies, case .export(let preset) = preset,
            case .leaveOut = Self.exportPreset(preset, in: fileType).video(for: track)
        else { return true }
        return false
    }

    /// Returns the transform that is applied to the frames of a track before encoding.
    ///
    /// An export applies the track's transform only if the file cannot store it.
    func turn(of track: AssetTrack, in fileType: MediaFileType) -> PictureTransform {
        let turn = track.preferredTransform
        return (isProxy ? bakesRotation && turn.isQuarterTurn : !fileType.keepsTurns) ? turn : .identity
    }

    /// Returns the encoder settings for a video track, or `nil` if it is omitted.
    ///
    /// - Throws: `invalidArgument` for settings that the preset's codec does not have, or a bit rate that its encoder
    ///   refuses.
    func videoSettings(
        for track: AssetTrack, of asset: Asset?, in fileType: MediaFileType
    ) throws(MediaError) -> VideoOutputSettings? {
        let turn = turn(of: track, in: fileType)
        var settings: VideoOutputSettings
        switch preset {
        case .proxy(let preset):
            settings = try preset.videoSettings(
                for: track, height: height, turn: turn, hasSquarePixels: hasSquarePixels)
        case .export(let preset):
            guard case .encode(let usual) = Self.exportPreset(preset, in: fileType).video(for: track) else {
                return nil
            }
            settings = usual
            if let height, let format = track.formatDescriptions.first?.video,
                settings.dimensions.map({ $0.height > height }) ?? true
            {
                settings.dimensions = PictureSizeLimit.height(height).size(for: format)
            }
            if turn != .identity { settings.dimensions = settings.dimensions.map(turn.apply(to:)) }
        }
        guard !settings.codec.isIntraOnly || (quality ?? bitRate ?? keyFrameInterval) == nil && speed == nil else {
            throw MediaError(
                .invalidArgument,
                "\(presetName(in: fileType)) has one quality; --crf, --bitrate, --gop and --speed are for "
                    + (isProxy ? "H.264" : "H.264, HEVC and VP9"))
        }
        if let quality { (settings.quality, settings.bitRate) = (quality, nil) }
        if let bitRate { (settings.quality, settings.bitRate) = (nil, bitRate) }
        settings.maximumKeyFrameInterval = keyFrameInterval ?? settings.maximumKeyFrameInterval
        settings.speed = speed ?? settings.speed
        // A proxy is compared with everything that its source declares.
        if isProxy { settings = try settings.carrying(track, of: asset, turnedBy: turn) }
        if let bitRate = settings.bitRate, let source = track.formatDescriptions.first?.video,
            settings.isBitRateRefused(for: source, in: fileType)
        {
            throw Self.refused(bitRate, by: settings.codec.rawValue, option: "--bitrate")
        }
        return settings
    }

    /// Returns the encoder settings for an audio track.
    ///
    /// - Throws: `invalidArgument` for a bit rate that the encoder refuses.
    func audioSettings(
        for track: AssetTrack, in fileType: MediaFileType
    ) throws(MediaError) -> AudioOutputSettings {
        var settings = AudioOutputSettings(codec: .aac)
        let source = track.formatDescriptions.first?.audio
        switch preset {
        case .proxy(let preset): settings.codec = preset.audioCodec(in: fileType)
        case .export(let preset):
            if case .encode(let usual) = Self.exportPreset(preset, in: fileType).audio(for: track) { settings = usual }
            // Without a preset, use the usual codec of the file type.
            if preset == nil, let codec = Self.usualCodecs[fileType] { settings.codec = codec }
        }
        settings.codec = audioCodec ?? settings.codec
        settings.bitRate = audioBitRate
        // The output of a lossy codec has no inherent bit depth.
        if isProxy, settings.codec != .aac, settings.codec != .opus {
            settings.bitsPerSample = (source?.bitsPerSample ?? 16) > 16 ? 24 : 16
        }
        if let bitRate = audioBitRate, let source, settings.isBitRateRefused(for: source, in: fileType) {
            throw Self.refused(bitRate, by: settings.codec.rawValue, option: "--audio-bitrate")
        }
        return settings
    }

    private static let usualCodecs: [MediaFileType: AudioOutputSettings.Codec] = [
        .wav: .pcm, .caf: .pcm, .aiff: .pcm, .flac: .flac, .ogg: .opus,
        // Matroska cannot declare AAC's priming.
        .mka: .opus,
    ]

    /// Returns the error for a bit rate that an encoder does not accept.
    private static func refused(_ bitRate: Int, by codec: String, option: String) -> MediaError {
        MediaError(.invalidArgument, "\(codec) takes no bit rate of \(bitRate); give another \(option), or none")
    }

    /// Returns a sentence if this type of file needs another audio codec than the proxy's preset, or `nil`.
    func audioChange(in fileType: MediaFileType) -> String? {
        guard case .proxy(let preset) = preset, audio == .encode, audioCodec == nil,
            case let codec = preset.audioCodec(in: fileType), codec != preset.audioCodec
        else { return nil }
        return "sound became \(codec.rawValue) instead of the preset's \(preset.audioCodec.rawValue), which hardly a "
            + "player reads in \(fileType) files"
    }
}
