import AssetKit
import SystemPackage

/// Writes a copy in H.264 and AAC, at most so many pixels high, with times, shape, colours and metadata of the source.
func reencode(_ source: FilePath, to target: FilePath, height: Int) async throws {
    let asset = Asset(path: source)
    let reader = try AssetReader(asset: asset)
    let writer = try AssetWriter(path: target, fileType: .mp4)
    let tandem = Reencoder(reader: reader, writer: writer)

    for track in try await asset.load(.tracks) {
        switch track.mediaType {
        case .video:
            guard let format = track.formatDescriptions.first?.video else { continue }
            let size = PictureSizeLimit.height(height).size(for: format)
            try tandem.add(
                TrackOutput(track: track, videoSettings: VideoSettings()),
                to: AssetWriterInput(videoSettings: VideoOutputSettings(codec: .h264, dimensions: size), like: track))
        case .audio:
            try tandem.add(
                TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .float32)),
                to: AssetWriterInput(audioSettings: AudioOutputSettings(codec: .aac), like: track))
        default:
            continue
        }
    }
    try await tandem.run()
}
