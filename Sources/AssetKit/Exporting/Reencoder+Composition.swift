import LibAV
import MediaBase

// What an export writes of several tracks that become one.

extension Reencoder {
    /// Adds the frames of a video composition.
    ///
    /// - Parameters:
    ///   - tracks: The tracks of pictures that it is made of.
    ///   - preset: How the frames are encoded.
    func add(
        _ composition: VideoComposition, of tracks: [AssetTrack], _ preset: ExportSession.Preset
    ) throws(MediaError) {
        let made = AssetTrack(framesOf: composition)
        guard case .encode(let wanted) = preset.video(for: made) else { return }
        let settings = try wanted.carrying(made)
        let format = VideoSettings(pixelFormat: settings.encodedPixelFormat, dimensions: settings.dimensions)
        let output = try VideoCompositionOutput(tracks: tracks, videoSettings: format, videoComposition: composition)
        try add(output, to: AssetWriterInput(videoSettings: settings, like: made))
    }

    /// Adds the mix of several tracks of sound; nothing where there are none.
    func add(_ mix: AudioMix, of tracks: [AssetTrack], _ preset: ExportSession.Preset) throws(MediaError) {
        guard let first = tracks.first, case .encode(let settings) = preset.audio(for: first) else { return }
        let output = try AudioMixOutput(tracks: tracks)
        output.audioMix = mix
        try add(output, to: AssetWriterInput(audioSettings: settings, like: first))
    }
}

extension AssetTrack {
    /// What is known of the frames of a video composition, as if they were a track of a file.
    init(framesOf composition: VideoComposition) {
        let video = VideoFormat(
            encodedSize: composition.outputSize, sampleAspectRatio: .one, pixelFormat: .rgba, bitDepth: 8,
            color: ColorInfo(primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv"),
            fieldOrder: "progressive")
        let frame = composition.frameDuration
        var stream = StreamInfo(
            index: 0, id: 1, timeBase: Rational(1, Int64(max(1, frame.timescale))),
            format: FormatDescription(mediaType: .video, codec: "rawvideo", video: video), metadata: [])
        stream.startTime = .zero
        stream.nominalFrameRate = Rational(frame)?.inverse
        stream.averageFrameRate = stream.nominalFrameRate
        self.init(stream, origin: .zero, keySpace: .common, edits: nil, scan: nil)
    }
}
