import AssetKit

/// 14: AVAssetReader, AVAssetReaderTrackOutput with linear PCM, canAdd, startReading, copyNextSampleBuffer, status.
func pcm(of track: AssetTrack, in asset: Asset) throws -> [Int16] {
    let reader = try AssetReader(asset: asset)
    let settings = AudioSettings(sampleFormat: .int16, sampleRate: 44100, channelLayout: .stereo)
    let output = TrackOutput(track: track, audioSettings: settings)
    guard reader.canAdd(output) else { return [] }
    try reader.add(output)
    try reader.startReading()
    var samples: [Int16] = []
    while let buffer = try output.nextSampleBuffer() {
        buffer.audioBuffer?.withSamples(of: Int16.self) { span in
            for place in span.indices { samples.append(span[place]) }
        }
    }
    // A failure was thrown; `nil` is the end, and `reader.damage` says what could not be decoded on the way.
    assert(reader.status == .completed)
    return samples
}

/// 15: AVAssetReaderAudioMixOutput with an audio mix.
func mixOutput(of tracks: [AssetTrack], with mix: AudioMix) throws -> AudioMixOutput {
    let output = try AudioMixOutput(tracks: tracks, audioSettings: AudioSettings(sampleFormat: .float32))
    output.audioMix = mix
    return output
}

/// 16: AVAssetReaderVideoCompositionOutput with 32ARGB.
func compositedOutput(of tracks: [AssetTrack], by frames: VideoComposition) throws -> VideoCompositionOutput {
    try VideoCompositionOutput(
        tracks: tracks, videoSettings: VideoSettings(pixelFormat: .argb), videoComposition: frames)
}

/// 26: CMSampleBufferGetImageBuffer, CVPixelBuffer to CGImage; and the picture as PNG.
func png(of buffer: SampleBuffer) throws -> [UInt8]? {
    try buffer.pixelBuffer?.bitmap().encoded(as: .png)
}
