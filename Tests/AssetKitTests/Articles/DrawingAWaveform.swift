import AssetKit
import Peaks
import SystemPackage

/// The peaks of a file's sound, its channels mixed, so many samples to a point.
func measurePeaks(of path: FilePath, samplesPerPixel: Int) async throws -> Peaks {
    let asset = Asset(path: path)
    guard let track = try await asset.loadTracks(withMediaType: .audio).first else {
        throw MediaError(.noSuchTrack, "has no audio", path: asset.displayName)
    }
    let reader = try AssetReader(asset: asset)
    let output = TrackOutput(track: track, audioSettings: AudioSettings(sampleFormat: .int16))
    try reader.add(output)
    try reader.startReading()

    var builder: PeakBuilder?
    for try await buffer in output.sampleBuffers {
        guard let audio = buffer.audioBuffer else { continue }
        if builder == nil {
            builder = try PeakBuilder(
                sampleRate: audio.sampleRate, channels: audio.channelLayout.channels,
                spacing: Peaks.Spacing(samples: samplesPerPixel))
        }
        try audio.withSamples(of: Int16.self) { samples in try builder?.append(samples) }
    }
    guard let builder else {
        throw MediaError(.damaged, "has no samples", path: asset.displayName)
    }
    return try builder.finish()
}

/// A picture with a column for each point of the peaks.
func draw(_ peaks: Peaks, height: Int, color: Color) throws -> Bitmap {
    var picture = try Bitmap(width: peaks.length, height: height, filledWith: .white)
    for x in 0..<peaks.length {
        guard let point = peaks.point(x) else { continue }
        let top = (32767 - Int(point.maximum)) * (height - 1) / 65535
        let bottom = (32767 - Int(point.minimum)) * (height - 1) / 65535
        for y in top...bottom { picture[x, y] = color }
    }
    return picture
}
