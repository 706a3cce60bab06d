package import AssetKit
package import MediaBase

/// What a kind of proxy is made of.
package struct ProxyPreset: Sendable, Hashable {
    /// How it is called on the command line.
    package let name: String
    /// What it is for, in one line.
    package let summary: String
    /// How pictures are encoded.
    package let videoCodec: VideoOutputSettings.Codec
    /// How large they may become.
    package let limit: PictureSizeLimit
    /// The quality; `nil` where the codec says it all.
    package let quality: Int?
    /// How much time the encoder takes.
    package let speed: VideoOutputSettings.Speed
    /// From one sync sample to the next, in seconds; `nil` where every picture is one.
    package let keyFrameSeconds: Rational?
    /// How sound is encoded.
    package let audioCodec: AudioOutputSettings.Codec
    /// The usual type of the file.
    package let fileType: MediaFileType

    /// Whether every picture stands by itself.
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

    /// All of them, the usual one first.
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

    /// The preset of a name; `nil` where there is none.
    package init?(named name: String) {
        guard let preset = Self.all.first(where: { $0.name == name }) else { return nil }
        self = preset
    }
}

/// What is asked of ``ProxyJob``.
package struct ProxyRequest: Sendable {
    /// Where everything comes from that is not said below.
    package var preset: ProxyPreset
    /// Rows at most; `nil` for the preset's limit.
    package var height: Int?
    /// The encoder's quality; `nil` for the preset's.
    package var quality: Int?
    /// Bits a second of the pictures, in place of a quality.
    package var bitRate: Int?
    /// Frames from one sync sample to the next at most.
    package var keyFrameInterval: Int?
    /// How much time the encoder takes.
    package var speed: VideoOutputSettings.Speed?
    /// What becomes of sound.
    package var audio = AudioTreatment.encode
    /// How sound is encoded; `nil` for the preset's.
    package var audioCodec: AudioOutputSettings.Codec?
    /// Bits a second of each track of sound.
    package var audioBitRate: Int?
    /// Whether pixels become square.
    package var hasSquarePixels = false
    /// Whether pictures are turned instead of being marked as to be turned.
    package var bakesRotation = false
    /// The first moment; `nil` for the beginning.
    package var start: TimeExpression?
    /// The first moment that is not wanted any more; `nil` for the end.
    package var end: TimeExpression?
    /// The track of pictures; `nil` for the first enabled one.
    package var videoTrack: TrackSelector?
    /// The tracks of sound, in the order of the file; `nil` for all.
    package var audioTracks: [TrackSelector]?
    /// Whether damage in the input is an error.
    package var isStrict = false
    /// Threads that decode; 0 for the usual number.
    package var threads = 0

    /// What becomes of the tracks of sound.
    package enum AudioTreatment: String, Sendable, Hashable, CaseIterable {
        /// They are encoded anew.
        case encode
        /// They are taken as they are.
        case copy
        /// They are left out.
        case none
    }

    /// What a preset says.
    package init(preset: ProxyPreset) { self.preset = preset }

    /// Whether ``start`` or ``end`` depend on how long the track is.
    var needsExactDuration: Bool { TrimRange.needsExactDuration([start, end]) }
}

extension ProxyRequest {
    /// How pictures of a track are encoded.
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

    /// How pictures of a track are turned before they are encoded.
    func turn(of track: AssetTrack) -> DisplayTransform {
        bakesRotation && track.preferredTransform.isQuarterTurn ? track.preferredTransform : .identity
    }

    private func usualInterval(for track: AssetTrack) -> Int {
        guard let seconds = preset.keyFrameSeconds else { return 1 }
        let rate = track.averageFrameRate ?? track.pictureRate ?? Rational(25)
        return max(1, min(600, Int(clamping: rate.multiplied(by: seconds)?.rounded() ?? 25)))
    }

    /// How sound of a track is encoded.
    func audioSettings(for track: AssetTrack, in fileType: MediaFileType) -> AudioOutputSettings {
        var settings = AudioOutputSettings(codec: audioCodec ?? usualAudioCodec(in: fileType), bitRate: audioBitRate)
        // What a lossy codec decodes to has no depth of its own.
        let depth = track.formatDescriptions.first?.audio?.bitsPerSample ?? 16
        if settings.codec != .aac, settings.codec != .opus { settings.bitsPerSample = depth > 16 ? 24 : 16 }
        return settings
    }

    /// What of a preset's sound is another in such files, in words; `nil` where all is as the preset has it.
    func audioChange(in fileType: MediaFileType) -> String? {
        let usual = usualAudioCodec(in: fileType)
        guard audio == .encode, audioCodec == nil, usual != preset.audioCodec else { return nil }
        return "sound became \(usual.rawValue) instead of the preset's \(preset.audioCodec.rawValue), which hardly a "
            + "player reads in \(fileType) files"
    }

    private func usualAudioCodec(in fileType: MediaFileType) -> AudioOutputSettings.Codec {
        // MPEG-4 files hold PCM, but hardly a player reads it there.
        preset.audioCodec == .pcm && fileType != .mov ? .aac : preset.audioCodec
    }
}
