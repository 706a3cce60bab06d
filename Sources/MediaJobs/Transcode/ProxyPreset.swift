package import AssetKit
package import MediaBase

/// A kind of proxy: a name, and all settings that the request leaves open.
///
/// To add a preset, add a value and list it in ``all``: help, shell completion and `--list-presets` follow from there.
package struct ProxyPreset: Sendable, Hashable {
    /// The name on the command line.
    package let name: String
    /// The purpose, in one line.
    package let summary: String
    /// The video codec.
    package let videoCodec: VideoOutputSettings.Codec
    /// The maximum frame size.
    package var limit = PictureSizeLimit.none
    /// The encoder's quality; `nil` if the codec determines it.
    package var quality: Int?
    /// The encoder's speed.
    package var speed = VideoOutputSettings.Speed.veryFast
    /// The keyframe interval in seconds; `nil` if every frame is a keyframe.
    package var keyFrameSeconds: Rational?
    /// The audio codec.
    package var audioCodec = AudioOutputSettings.Codec.aac
    /// The default file type.
    package var fileType = MediaFileType.mov

    /// All presets, starting with the default.
    package static let all = [h264At540, h264At720, h264At1080, h264IntraAt540, proResProxy, dnxhrLB, web]

    private static let h264At540 = ProxyPreset(
        name: "h264-540p", summary: "H.264, 540 pixels along the shorter side, a keyframe every second; AAC",
        videoCodec: .h264, limit: .shorterSide(540), quality: 23, keyFrameSeconds: .one)
    private static let h264At720 = ProxyPreset(
        name: "h264-720p", summary: "the same with 720 pixels", videoCodec: .h264, limit: .shorterSide(720),
        quality: 23, keyFrameSeconds: .one)
    private static let h264At1080 = ProxyPreset(
        name: "h264-1080p", summary: "the same with 1080 pixels", videoCodec: .h264, limit: .shorterSide(1080),
        quality: 23, keyFrameSeconds: .one)
    private static let h264IntraAt540 = ProxyPreset(
        name: "h264-intra-540p", summary: "H.264, 540 pixels, every frame a keyframe; PCM", videoCodec: .h264,
        limit: .shorterSide(540), quality: 23, audioCodec: .pcm)
    private static let proResProxy = ProxyPreset(
        name: "prores-proxy", summary: "Apple ProRes 422 Proxy at the source's size; PCM",
        videoCodec: .proRes422Proxy, audioCodec: .pcm)
    private static let dnxhrLB = ProxyPreset(
        name: "dnxhr-lb", summary: "Avid DNxHR LB at the source's size; PCM", videoCodec: .dnxhrLB, audioCodec: .pcm)
    private static let web = ProxyPreset(
        name: "web",
        summary: "H.264, 720 pixels along the shorter side, a keyframe every two seconds; AAC; for web pages",
        videoCodec: .h264, limit: .shorterSide(720), quality: 23, keyFrameSeconds: Rational(2), fileType: .mp4)
}

extension ProxyPreset {
    /// Returns the encoder settings for a video track.
    ///
    /// - Parameters:
    ///   - height: The maximum height in rows; `nil` for the preset's own limit.
    ///   - turn: The transform that is applied to frames before they are encoded.
    ///   - hasSquarePixels: True to make pixels square.
    /// - Throws: `unsupported` for a transform that cannot be applied.
    func videoSettings(
        for track: AssetTrack, height: Int?, turn: PictureTransform, hasSquarePixels: Bool
    ) throws(MediaError) -> VideoOutputSettings {
        var settings = VideoOutputSettings(codec: videoCodec)
        settings.speed = speed
        if !videoCodec.isIntraOnly {
            settings.quality = quality
            settings.maximumKeyFrameInterval = keyFrameInterval(for: track)
        }
        guard let source = try track.formatDescriptions.first?.video?.turned(by: turn) else { return settings }
        let limit = height.map { PictureSizeLimit.height($0) } ?? limit
        settings.dimensions = limit.size(for: source, hasSquarePixels: hasSquarePixels)
        if hasSquarePixels { settings.pixelAspectRatio = .one }
        return settings
    }

    private func keyFrameInterval(for track: AssetTrack) -> Int {
        guard let keyFrameSeconds else { return 1 }
        let rate = track.averageFrameRate ?? track.pictureRate ?? Rational(25)
        return max(1, min(600, Int(clamping: rate.multiplied(by: keyFrameSeconds)?.rounded() ?? 25)))
    }

    /// Returns the audio codec for a type of file.
    ///
    /// MPEG-4 files can hold PCM, but hardly any player supports it.
    func audioCodec(in fileType: MediaFileType) -> AudioOutputSettings.Codec {
        audioCodec == .pcm && fileType != .mov ? .aac : audioCodec
    }
}
