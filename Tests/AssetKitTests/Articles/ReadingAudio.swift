import AssetKit
import SystemPackage

/// The largest sample of a file's sound, between 0 and 1, and when it is heard.
func loudestSample(of path: FilePath) async throws -> (level: Float, time: MediaTime) {
    let asset = Asset(path: path)
    guard let track = try await asset.loadTracks(withMediaType: .audio).first else {
        throw MediaError(.noSuchTrack, "has no audio", path: asset.displayName)
    }

    let reader = try AssetReader(asset: asset)
    let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .float32))
    try reader.add(output)
    try reader.startReading()

    var loudest = (level: Float(0), time: MediaTime.zero)
    for try await buffer in output.sampleBuffers {
        guard let audio = buffer.audioBuffer else { continue }
        audio.withSamples(of: Float.self) { samples in
            for index in samples.indices where abs(samples[index]) > loudest.level {
                let frame = MediaTime(
                    value: Int64(index / audio.channelLayout.channels), timescale: Int32(audio.sampleRate))
                loudest = (abs(samples[index]), buffer.presentationTime + frame)
            }
        }
    }
    return loudest
}
