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
