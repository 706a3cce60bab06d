import AssetKit
import Dispatch

/// 17: AVAssetWriter(url:fileType:), AVAssetWriterInput with AAC, AVChannelLayoutKey and AVEncoderBitRateKey.
func aacWriter(to target: FilePath) throws -> (writer: AssetWriter, input: AssetWriterInput)? {
    let writer = try AssetWriter(path: target, fileType: .mov)
    let settings = AudioOutputSettings(codec: .aac, sampleRate: 44100, channelLayout: .stereo, bitRate: 128_000)
    let input = AssetWriterInput(audioSettings: settings)
    guard writer.canAdd(input) else { return nil }
    try writer.add(input)
    return (writer, input)
}

/// 18: AVAssetWriterInput.transform, AVAssetWriter.metadata.
func carryOver(_ source: AssetTrack, title: String, to writer: AssetWriter, _ input: AssetWriterInput) {
    input.transform = source.preferredTransform
    writer.metadata = [MetadataItem(.quickTimeMetadataTitle, .text(title))]
}

/// 19: AVAssetWriterInputPixelBufferAdaptor with its pool: pictures made by code.
func appendPictures(_ pictures: Int, greys: (Int) -> UInt8, to adaptor: PixelBufferAdaptor) throws {
    for number in 0..<pictures {
        let picture = try adaptor.pixelBufferPool.makePixelBuffer { _, bytes, _ in
            for place in bytes.byteOffsets {
                bytes.storeBytes(of: greys(number), toByteOffset: place, as: UInt8.self)
            }
        }
        try adaptor.append(picture, withPresentationTime: MediaTime(value: Int64(number), timescale: 25))
    }
}

/// 20: startWriting, startSession(atSourceTime:) at half of the asset, endSession(atSourceTime:), finishWriting.
func writeSession(_ range: MediaTimeRange, with writer: AssetWriter, feeding: () async throws -> Void) async throws {
    try writer.startWriting()
    try writer.startSession(atSourceTime: range.start)
    try writer.endSession(atSourceTime: range.end)
    try await feeding()
    try await writer.finishWriting()
}

/// 21 and 22: requestMediaDataWhenReady(on:using:), append, markAsFinished; one track from a reader to a writer.
func copySamples(from output: ReaderOutput, to input: AssetWriterInput, on queue: DispatchQueue) async throws {
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        input.requestMediaDataWhenReady(on: queue) {
            do {
                while input.isReadyForMoreMediaData {
                    guard let buffer = try output.nextSampleBuffer() else {
                        input.markAsFinished()
                        return done.resume()
                    }
                    try input.appendNow(buffer)
                }
            } catch {
                // Where AVFoundation's `append` returns false, this one throws, also after another input has failed.
                input.markAsFinished()
                done.resume(throwing: error)
            }
        }
    }
}

/// 25: AVOutputSettingsAssistant with the source's formats; sourceFormatHint.
func assistedInputs(
    for preset: OutputSettingsAssistant.Preset, video: AssetTrack, audio: AssetTrack
) -> (fileType: MediaFileType, inputs: [AssetWriterInput]) {
    var assistant = OutputSettingsAssistant(preset: preset)
    assistant.sourceVideoFormat = video.formatDescriptions.first
    assistant.sourceAudioFormat = audio.formatDescriptions.first
    if let duration = video.minimumFrameDuration { assistant.sourceVideoAverageFrameDuration = duration }
    return (
        assistant.outputFileType,
        [
            AssetWriterInput(videoSettings: assistant.videoSettings, sourceFormatHint: assistant.sourceVideoFormat),
            AssetWriterInput(audioSettings: assistant.audioSettings, sourceFormatHint: assistant.sourceAudioFormat),
        ]
    )
}
