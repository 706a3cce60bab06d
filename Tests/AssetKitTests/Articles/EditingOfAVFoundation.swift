import AssetKit

/// 8: AVMutableComposition, addMutableTrack, insertTimeRange(_:of:at:), mutableTrack(compatibleWith:).
func joined(_ clips: [AssetTrack], and sounds: [AssetTrack]) throws -> Composition {
    var composition = Composition()
    let video = try composition.addTrack(mediaType: .video)
    let audio = try composition.addTrack(mediaType: .audio)
    for clip in clips {
        let id = composition.compatibleTrack(for: clip)?.id ?? video
        try composition.insertTimeRange(
            clip.timeRange, of: clip, at: composition.track(withID: id)?.end ?? .zero, into: id)
    }
    for sound in sounds {
        let end = composition.track(withID: audio)?.end ?? .zero
        try composition.insertTimeRange(sound.timeRange, of: sound, at: end, into: audio)
    }
    return composition
}

/// 9: AVMutableAudioMix, AVMutableAudioMixInputParameters, setVolumeRamp.
func fadeOut(of tracks: [AssetTrack], over duration: MediaTime) throws -> AudioMix {
    AudioMix(
        try tracks.map { track in
            var parameters = AudioMix.InputParameters(track: track)
            try parameters.volume.setRamp(
                from: 1, to: 0, timeRange: MediaTimeRange(start: .zero, duration: duration))
            return parameters
        })
}

/// 10: AVMutableVideoCompositionInstruction.backgroundColor.
func redFrames(of size: Dimensions, for duration: MediaTime) -> VideoComposition {
    var instruction = VideoComposition.Instruction(timeRange: MediaTimeRange(start: .zero, duration: duration))
    instruction.backgroundColor = Color(red: 255, green: 0, blue: 0)
    return VideoComposition(
        renderSize: size, frameDuration: MediaTime(value: 1, timescale: 30), instructions: [instruction])
}

/// 11: AVMutableVideoCompositionLayerInstruction: setTransform(_:at:), setOpacityRamp.
func fading(_ track: AssetTrack, over range: MediaTimeRange, in size: Dimensions) throws -> VideoComposition.Instruction
{
    var layer = VideoComposition.Layer(track: track)
    try layer.transform.set(.upright(track, in: size), at: .zero)
    try layer.opacity.setRamp(from: 1, to: 0, timeRange: range)
    return VideoComposition.Instruction(timeRange: range, layers: [layer])
}

/// 12: AVVideoCompositionCoreAnimationTool with a watermark's layer.
func watermark(_ image: Bitmap, on frames: inout VideoComposition) throws {
    var overlay = VideoComposition.Overlay(image: image, x: 8, y: 8)
    try overlay.opacity.set(0.5, at: .zero)
    frames.overlays.append(overlay)
}

/// 13: the whole: two clips and a sound track, the first clip faded out, in QuickTime for the network.
func film(of first: AssetTrack, _ second: AssetTrack, sound: AssetTrack, to target: FilePath) async throws {
    guard first.isPortrait == second.isPortrait else {
        throw MediaError(.invalidArgument, "portrait and landscape clips cannot go together")
    }
    var composition = Composition()
    let video = try composition.addTrack(mediaType: .video)
    let audio = try composition.addTrack(mediaType: .audio)
    try composition.insertTimeRange(first.timeRange, of: first, at: .zero, into: video)
    let cut = first.timeRange.end
    try composition.insertTimeRange(second.timeRange, of: second, at: cut, into: video)
    let end = composition.duration
    try composition.insertTimeRange(MediaTimeRange(start: .zero, end: end), of: sound, at: .zero, into: audio)

    // `naturalSize` is the size on screen: it is not turned again, as the guide's listing turns it.
    let size = try VideoComposition.renderSize(for: [first, second])
    var fading = VideoComposition.Layer(trackID: video)
    try fading.transform.set(.upright(first, in: size), at: .zero)
    try fading.opacity.setRamp(from: 1, to: 0, timeRange: MediaTimeRange(start: .zero, end: cut))
    var following = VideoComposition.Layer(trackID: video)
    try following.transform.set(.upright(second, in: size), at: .zero)
    let frames = VideoComposition(
        renderSize: size, frameDuration: MediaTime(value: 1, timescale: 30),
        instructions: [
            VideoComposition.Instruction(timeRange: MediaTimeRange(start: .zero, end: cut), layers: [fading]),
            VideoComposition.Instruction(timeRange: MediaTimeRange(start: cut, end: end), layers: [following]),
        ])
    var volume = AudioMix.InputParameters(trackID: audio)
    try volume.volume.set(0.5, at: .zero)

    let session = ExportSession(asset: Asset(composition: composition), preset: .highestQuality)
    session.videoComposition = frames
    session.audioMix = AudioMix([volume])
    session.shouldOptimizeForNetworkUse = true
    try await session.export(to: target, as: .mov)
}
