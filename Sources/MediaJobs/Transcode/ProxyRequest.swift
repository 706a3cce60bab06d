package import AssetKit
package import MediaBase

/// A preset with the settings for one kind of proxy.
package struct ProxyPreset: Sendable, Hashable {
    /// The name on the command line.
    package let name: String
    /// The purpose, in one line.
    package let summary: String
    /// The video codec.
    package let videoCodec: VideoOutputSettings.Codec
    /// The limit of the picture size.
    package let limit: PictureSizeLimit
    /// The quality; `nil` if the codec determines it.
    package let quality: Int?
    /// The encoder's speed.
    package let speed: VideoOutputSettings.Speed
    /// The keyframe interval in seconds; `nil` if every frame is a keyframe.
    package let keyFrameSeconds: Rational?
    /// The audio codec.
    package let audioCodec: AudioOutputSettings.Codec
    /// The default file type.
    package let fileType: MediaFileType

    /// True if every frame is a keyframe.
    package var isIntraOnly: Bool { keyFrameSeconds == nil }

    private init(
        _ name: String, _ summary: String, _ videoCodec: VideoOutputSettings.Codec, _ limit: PictureSizeLimit,
        quality: Int? = nil, speed: VideoOutputSettings.Speed = .veryFast, keyFrameSeconds: Rational? = nil,
        audio: AudioOutputSettings.Codec = .aac, fileType: MediaFileType = .mov
    ) {
        self.name = name
        self.summary = summary
        self.videoCodec = videoCodec
        self.limit = limit
        self.quality = quality
        self.speed = speed
        self.keyFrameSeconds = keyFrameSeconds
        audioCodec = audio
        self.fileType = fileType
    }

    /// All presets, starting with the default.
    package static let all: [ProxyPreset] = [
        ProxyPreset(
            "h264-540p", "H.264, 540 pixels along the shorter side, a keyframe every second; AAC", .h264,
            .shorterSide(540), quality: 23, keyFrameSeconds: .one),
        ProxyPreset(
            "h264-720p", "the same with 720 pixels", .h264, .shorterSide(720), quality: 23, keyFrameSeconds: .one),
        ProxyPreset(
            "h264-1080p", "the same with 1080 pixels", .h264, .shorterSide(1080), quality: 23, keyFrameSeconds: .one),
        ProxyPreset(
            "h264-intra-540p", "H.264, 540 pixels, every picture a keyframe; PCM", .h264, .shorterSide(540),
            quality: 23, audio: .pcm),
        ProxyPreset(
            "prores-proxy", "Apple ProRes 422 Proxy in the source's size; PCM", .proRes422Proxy, .none, audio: .pcm),
        ProxyPreset("dnxhr-lb", "Avid DNxHR LB in the source's size; PCM", .dnxhrLB, .none, audio: .pcm),
        ProxyPreset(
            "web", "H.264, at most 1080 pixels, a keyframe every two seconds; AAC; for web pages", .h264,
            .shorterSide(1080), quality: 23, speed: .fast, keyFrameSeconds: Rational(2), fileType: .mp4),
    ]

    /// Returns the preset with a name, or `nil` if there is none.
    package init?(named name: String) {
        guard let preset = Self.all.first(where: { $0.name == name }) else { return nil }
        self = preset
    }
}

/// The options of ``ProxyJob``.
package struct ProxyRequest: Sendable {
    /// The preset that supplies all other settings.
    package var preset: ProxyPreset
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
    /// True if pixels become square.
    package var hasSquarePixels = false
    /// True to rotate the frames instead of declaring the rotation.
    package var bakesRotation = false
    /// The start of the range; `nil` for the beginning of the input.
    package var start: TimeExpression?
    /// The exclusive end of the range; `nil` for the end of the input.
    package var end: TimeExpression?
    /// The video track; `nil` for the first enabled one.
    package var videoTrack: TrackSelector?
    /// The audio tracks, in the order of the file; `nil` for all.
    package var audioTracks: [TrackSelector]?
    /// True if damage in the input is an error.
    package var isStrict = false
    /// The number of decoding threads; 0 for the default.
    package var threads = 0

    /// The treatment of audio tracks.
    package enum AudioTreatment: String, Sendable, Hashable, CaseIterable {
        /// Audio is encoded again.
        case encode
        /// Audio is copied.
        case copy
        /// Audio is omitted.
        case none
    }

    /// Makes a request with the settings of a preset.
    package init(preset: ProxyPreset) { self.preset = preset }

    /// True if ``start`` or ``end`` depends on the duration of the track.
    var needsExactDuration: Bool { TrimRange.needsExactDuration([start, end]) }
}

extension ProxyRequest {
    /// Returns the encoder settings for a video track.
    func videoSettings(for track: AssetTrack) throws(MediaError) -> VideoOutputSettings {
        var settings = VideoOutputSettings(codec: preset.videoCodec)
        settings.quality = quality ?? preset.quality
        settings.bitRate = bitRate
        if preset.videoCodec.isIntraOnly {
            settings.quality = nil
            guard quality == nil, bitRate == nil, keyFrameInterval == nil, speed == nil else {
                throw MediaError(
                    .invalidArgument,
                    "\(preset.name) has one quality; --crf, --bitrate, --gop and --speed are for H.264")
            }
        } else {
            settings.maximumKeyFrameInterval = keyFrameInterval ?? usualInterval(for: track)
        }
        settings.speed = speed ?? preset.speed
        guard let stored = track.formatDescriptions.first?.video else { return settings }
        let source = try stored.turned(by: turn(of: track))
        let limit = height.map { PictureSizeLimit.height($0) } ?? preset.limit
        settings.dimensions = limit.size(for: source, hasSquarePixels: hasSquarePixels)
        if hasSquarePixels { settings.pixelAspectRatio = .one }
        return settings
    }

    /// Returns the display transform applied to the frames of a track before encoding.
    func turn(of track: AssetTrack) -> DisplayTransform {
        bakesRotation && track.preferredTransform.isQuarterTurn ? track.preferredTransform : .identity
    }

    private func usualInterval(for track: AssetTrack) -> Int {
        guard let seconds = preset.keyFrameSeconds else { return 1 }
        let rate = track.averageFrameRate ?? track.pictureRate ?? Rational(25)
        return max(1, min(600, Int(clamping: rate.multiplied(by: seconds)?.rounded() ?? 25)))
    }

    /// Returns the encoder settings for an audio track.
    func audioSettings(for track: AssetTrack, in fileType: MediaFileType) -> AudioOutputSettings {
        var settings = AudioOutputSettings(codec: audioCodec ?? usualAudioCodec(in: fileType), bitRate: audioBitRate)
        // The output of a lossy codec has no inherent bit depth.
        let depth = track.formatDescriptions.first?.audio?.bitsPerSample ?? 16
        if settings.codec != .aac, settings.codec != .opus { settings.bitsPerSample = depth > 16 ? 24 : 16 }
        return settings
    }

    /// Returns a sentence if this type of file needs another audio codec than the preset's, or `nil`.
    func audioChange(in fileType: MediaFileType) -> String? {
        let usual = usualAudioCodec(in: fileType)
        guard audio == .encode, audioCodec == nil, usual != preset.audioCodec else { return nil }
        return "sound became \(usual.rawValue) instead of the preset's \(preset.audioCodec.rawValue), which hardly a "
            + "player reads in \(fileType) files"
    }

    private func usualAudioCodec(in fileType: MediaFileType) -> AudioOutputSettings.Codec {
        // MPEG-4 files can hold PCM, but hardly any player supports it.
        preset.audioCodec == .pcm && fileType != .mov ? .aac : preset.audioCodec
    }
}
