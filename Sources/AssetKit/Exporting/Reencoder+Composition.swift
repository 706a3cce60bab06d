import LibAV
package import MediaBase

// What an export writes of several tracks that become one.

extension Reencoder {
    /// Adds the frames of a video composition.
    ///
    /// - Parameters:
    ///   - tracks: The tracks of pictures that it is made of.
    ///   - wanted: How the frames are encoded.
    /// - Returns: What writes them.
    /// - Throws: what the reader or the writer refuses.
    @discardableResult package func add(
        _ composition: VideoComposition, of tracks: [AssetTrack], encodedWith wanted: VideoOutputSettings
    ) throws(MediaError) -> AssetWriterInput {
        let made = AssetTrack(framesOf: composition)
        let settings = try wanted.carrying(made, of: nil)
        let format = VideoSettings(pixelFormat: settings.encodedPixelFormat, dimensions: settings.dimensions)
        let output = try VideoCompositionOutput(tracks: tracks, videoSettings: format, videoComposition: composition)
        let input = AssetWriterInput(videoSettings: settings, like: made)
        try add(output, to: input)
        return input
    }

    /// Adds the mix of several tracks of sound, of which there is at least one.
    ///
    /// - Throws: what the reader or the writer refuses.
    @discardableResult package func add(
        _ mix: AudioMix, of tracks: [AssetTrack], encodedWith settings: AudioOutputSettings
    ) throws(MediaError) -> AssetWriterInput {
        let output = try AudioMixOutput(tracks: tracks)
        output.audioMix = mix
        let input = AssetWriterInput(audioSettings: settings, like: tracks.first)
        try add(output, to: input)
        return input
    }

    /// Throws where sound that is taken as it is has a gap that the file's times cannot hold.
    ///
    /// Linear PCM gets silence there.
    func checkHoles(in track: AssetTrack) throws(MediaError) {
        guard let edited = reader.asset.composition?.track(withID: track.id), !writer.fileType.keepsLateStarts,
            track.formatDescriptions.first?.codec.hasPrefix("pcm_") != true,
            let gap = edited.segments.first(where: \.isEmpty), gap.end < edited.end
        else { return }
        throw edited.failure(of: gap, "it is a gap, which a \(writer.fileType) file cannot hold between coded sound")
    }
}

extension AssetTrack {
    /// What is known of the frames of a video composition, as if they were a track of a file.
    package init(framesOf composition: VideoComposition) { self.init(framesOf: composition, index: 0) }

    /// The same as a track of an asset.
    init(framesOf composition: VideoComposition, index: Int, duration: MediaTime? = nil, timecode: String? = nil) {
        let video = VideoFormat(
            encodedSize: composition.outputSize, sampleAspectRatio: .one, pixelFormat: .rgba, bitDepth: 8,
            color: ColorInfo(primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv"),
            fieldOrder: "progressive")
        let frame = composition.frameDuration
        var stream = StreamInfo(
            index: index, id: index + 1, timeBase: Rational(1, Int64(max(1, frame.timescale))),
            format: FormatDescription(mediaType: .video, codec: "rawvideo", video: video),
            metadata: timecode.map { [(key: "timecode", value: $0)] } ?? [])
        stream.startTime = .zero
        stream.duration = duration
        stream.nominalFrameRate = Rational(frame)?.inverse
        stream.averageFrameRate = stream.nominalFrameRate
        stream.statedFrameRate = stream.nominalFrameRate
        self.init(stream, origin: .zero, keySpace: .common, edits: nil, scan: nil)
    }
}
