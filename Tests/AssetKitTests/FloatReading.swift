import AssetKit
import Testing

/// Reads a composition's audio as floats.
struct FloatReading {
    let composition: Composition
    var rate: Int?
    var algorithm: AudioTimePitchAlgorithm?
    var range: MediaTimeRange?
    var threads = 0

    /// All samples, one array for each channel; they are one unbroken run.
    func channels(ofTrack place: Int = 0) throws -> [[Float]] {
        let asset = Asset(composition: composition)
        let output = TrackOutput(
            track: try Media.track(asset, .audio, place),
            audioSettings: AudioSettings(sampleFormat: .float32, isPlanar: true, sampleRate: rate))
        if let algorithm { output.audioTimePitchAlgorithm = algorithm }
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        if let range { reader.timeRange = range }
        try reader.add(output)
        try reader.startReading()
        var channels: [[Float]] = []
        var next: Int64?
        while let buffer = try output.nextSampleBuffer() {
            let sound = try #require(buffer.audioBuffer)
            let first = try #require(buffer.presentationTime.sampleIndex(rate: Int32(sound.sampleRate)))
            #expect(next == nil || next == first)
            next = first + Int64(sound.sampleCount)
            if channels.isEmpty { channels = Array(repeating: [], count: sound.channelLayout.channels) }
            for channel in channels.indices {
                sound.withSamples(of: Float.self, plane: channel) { values in
                    for index in values.indices { channels[channel].append(values[index]) }
                }
            }
        }
        #expect(reader.status == .completed)
        return channels
    }

    /// All samples of the first channel.
    func samples() throws -> [Float] { try channels().first ?? [] }
}
