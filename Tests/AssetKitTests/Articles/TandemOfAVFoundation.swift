import AssetKit
import Dispatch

/// 23 and 24: the guide's re-encoder, with a serial queue for each track, a single end, and a cancellation at any time.
final class Tandem: Sendable {
    private let reader: AssetReader
    private let writer: AssetWriter
    private let pairs: [(output: TrackOutput, input: AssetWriterInput)]

    /// Prepares to write the first audio and video tracks of an asset to a QuickTime file, in place of any that exists.
    init(_ asset: Asset, in range: MediaTimeRange, to target: FilePath) async throws {
        reader = try AssetReader(asset: asset)
        reader.timeRange = range
        writer = try AssetWriter(path: target, fileType: .mov, overwrite: true)
        var pairs: [(output: TrackOutput, input: AssetWriterInput)] = []
        if let track = try await asset.loadTracks(withMediaType: .audio).first {
            let decompressed = AudioSettings(sampleFormat: .int16, sampleRate: 44100, channelLayout: .stereo)
            let compressed = AudioOutputSettings(
                codec: .aac, sampleRate: 44100, channelLayout: .stereo, bitRate: 128_000)
            pairs.append(
                (TrackOutput(track: track, audioSettings: decompressed), AssetWriterInput(audioSettings: compressed)))
        }
        if let track = try await asset.loadTracks(withMediaType: .video).first,
            let format = track.formatDescriptions.first?.video
        {
            let decompressed = VideoSettings(pixelFormat: PixelFormat(rawValue: "uyvy422"))
            var compressed = VideoOutputSettings(codec: .h264, dimensions: format.encodedSize)
            compressed.cleanAperture = format.cleanAperture
            compressed.pixelAspectRatio = format.sampleAspectRatio
            let input = AssetWriterInput(videoSettings: compressed)
            input.transform = track.preferredTransform
            pairs.append((TrackOutput(track: track, videoSettings: decompressed), input))
        }
        self.pairs = pairs
        for (output, input) in pairs {
            try reader.add(output)
            try writer.add(input)
        }
    }

    /// Writes the file, of which nothing remains after a failure or a cancellation.
    func run(from start: MediaTime) async throws {
        try reader.startReading()
        try writer.startWriting()
        try writer.startSession(atSourceTime: start)
        try await withThrowingTaskGroup { group in
            for (number, (output, input)) in pairs.enumerated() {
                group.addTask {
                    do {
                        try await copySamples(from: output, to: input, on: DispatchQueue(label: "track \(number)"))
                    } catch {
                        self.cancel()
                        throw error
                    }
                }
            }
            try await group.waitForAll()
        }
        try await writer.finishWriting()
    }

    /// Cancels both sides; may be called from anywhere, at any time and any number of times.
    func cancel() {
        reader.cancelReading()
        writer.cancelWriting()
    }
}
