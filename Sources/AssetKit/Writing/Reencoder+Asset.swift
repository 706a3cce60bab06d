import LibAV
public import MediaBase

extension Reencoder {
    /// The treatment of tracks of one media type.
    public enum Treatment<Settings: Sendable>: Sendable {
        /// The tracks are re-encoded.
        case encode(Settings)
        /// The stored samples are copied unchanged.
        case copy
        /// The tracks are omitted.
        case leaveOut
    }

    /// Creates a re-encoding of an asset that carries over the properties of the file and its tracks.
    ///
    /// Language, names, dates, metadata, chapters, rotation, start timecode, colours, pixel aspect ratio and clean
    /// aperture are kept. Pixel aspect ratio and clean aperture are scaled with the frame, so that the displayed shape
    /// stays exact.
    /// - Parameters:
    ///   - asset: The source.
    ///   - writer: The writer of the new file, without inputs yet.
    ///   - video: The treatment of video tracks; cover pictures are metadata. Copying video also copies the
    ///     tracks of text, timecode and data that the file can hold.
    ///   - audio: The treatment of audio tracks.
    ///   - timeRange: The part of the asset to write.
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` if the asset has none of the wanted tracks, and errors of
    ///   the reader or the writer.
    public convenience init(
        asset: Asset, writer: AssetWriter, video: Treatment<VideoOutputSettings>,
        audio: Treatment<AudioOutputSettings>,
        timeRange: MediaTimeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    ) throws(MediaError) {
        try self.init(asset: asset, writer: writer, timeRange: timeRange)
        for track in try asset.contents().tracks where !track.isAttachedPicture {
            switch track.mediaType {
            case .video: try add(track, video: video)
            case .audio: try add(track, audio: audio)
            default: break
            }
        }
        if case .copy = video { try addFurtherTracks() }
        try noteLeftOut {
            [.video, .audio].contains($0.mediaType) ? "it was not asked for" : "it is copied along with video only"
        }
        guard !writer.inputs.isEmpty else {
            throw MediaError(.noSuchTrack, "has no track to be written", path: asset.displayName)
        }
    }

    /// Creates a re-encoding of an asset without tracks; add them afterwards.
    ///
    /// Metadata and chapters of the file as a whole are carried over. The start and end of the range are rounded to the
    /// nearest times from which all times of the first video track, or without one of the first audio track, can be
    /// counted exactly: less than a hundred-thousandth of a second away.
    public convenience init(
        asset: Asset, writer: AssetWriter, timeRange: MediaTimeRange
    ) throws(MediaError) {
        let media = try asset.contents().tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }
        let pictures = media.filter { $0.mediaType == .video && !$0.isAttachedPicture }
        let leading = pictures.first(where: \.isEnabled) ?? pictures.first ?? media.first { $0.mediaType == .audio }
        let grid = leading.map(\.trimGrid)
        try self.init(asset: asset, writer: writer, rounded: grid?.rounded(timeRange) ?? timeRange)
    }

    /// Creates a re-encoding for a range that is already rounded to the grid of the written tracks.
    package convenience init(
        asset: Asset, writer: AssetWriter, rounded timeRange: MediaTimeRange
    ) throws(MediaError) {
        let contents = try asset.contents()
        let reader = try AssetReader(asset: asset)
        reader.timeRange = timeRange
        self.init(reader: reader, writer: writer)
        writer.metadata = contents.metadata.filter { !MetadataItem.keysOfFiles.contains($0.name.lowercased()) }
        writer.chapters = contents.chapters.compactMap { $0.shifted(into: timeRange) }
    }

    /// Adds a video track with its properties.
    ///
    /// - Parameters:
    ///   - track: A track of the asset.
    ///   - video: The treatment of the track.
    ///   - appliesPreferredTrackTransform: True to rotate the frames themselves instead of storing a transform; sizes
    ///     in the settings are those after rotation.
    /// - Returns: The input that writes the track; `nil` if the track is omitted.
    /// - Throws: Errors of the reader or the writer.
    @discardableResult public func add(
        _ track: AssetTrack, video: Treatment<VideoOutputSettings>, appliesPreferredTrackTransform: Bool = false
    ) throws(MediaError) -> AssetWriterInput? {
        switch video {
        case .leaveOut: return nil
        case .copy:
            guard !appliesPreferredTrackTransform else {
                throw MediaError(.invalidArgument, "pictures that are taken as they are cannot be turned")
            }
            try Self.checkEdits(of: track)
            let input = AssetWriterInput(copying: track)
            try setTimecode(of: input, track)
            try add(TrackOutput(track: track), to: input)
            return input
        case .encode(let wanted):
            let turn = appliesPreferredTrackTransform ? track.preferredTransform : .identity
            let settings = try wanted.carrying(track, of: reader.asset, turnedBy: turn)
            let input = AssetWriterInput(videoSettings: settings, like: track)
            if appliesPreferredTrackTransform, turn.isQuarterTurn { input.transform = .identity }
            try setTimecode(of: input, track)
            let format = settings.readerSettings(for: track, turnedBy: turn)
            try add(TrackOutput(track: track, videoSettings: format), to: input)
            return input
        }
    }

    /// Adds an audio track with its properties.
    ///
    /// - Returns: The input that writes the track; `nil` if the track is omitted.
    /// - Throws: Errors of the reader or the writer.
    @discardableResult public func add(
        _ track: AssetTrack, audio: Treatment<AudioOutputSettings>
    ) throws(MediaError) -> AssetWriterInput? {
        switch audio {
        case .leaveOut: return nil
        case .copy:
            try Self.checkEdits(of: track)
            let input = AssetWriterInput(copying: track)
            try checkHoles(in: track)
            try add(TrackOutput(track: track), to: input)
            return input
        case .encode(let settings):
            // The writer converts once, to the format of its encoder.
            let output = TrackOutput(track: track, audioSettings: AudioSettings())
            output.passesOverUndecodable = passesOverUndecodableAudio
            output.audioTimePitchAlgorithm = audioTimePitchAlgorithm
            let input = AssetWriterInput(audioSettings: settings, like: track)
            try add(output, to: input)
            return input
        }
    }

    /// Throws if the track's edit list cannot be copied: stored samples are written as one continuous run.
    private static func checkEdits(of track: AssetTrack) throws(MediaError) {
        guard let reason = track.reasonAgainstCopying else { return }
        throw MediaError(.unsupported, "track \(track.index) is \(reason), which a copy cannot keep; encode it")
    }
}

// MARK: - Timecode

extension Reencoder {
    /// Sets the start timecode to that of the frame on screen at the session's start.
    private func setTimecode(of input: AssetWriterInput, _ track: AssetTrack) throws(MediaError) {
        let contents = try reader.asset.contents()
        guard let text = track.startTimecode ?? contents.container.startTimecode else { return }
        input.startTimecode = text
        guard let rate = track.pictureRate else { return }
        if input.nominalFrameRate != rate { input.nominalFrameRate = rate }
        let start = reader.timeRange.start
        guard start.isNumeric, start > .zero else { return }
        let first = try firstPicture(of: track, from: start) ?? start
        let elapsed = max(.zero, first - track.timeRange.start)
        if let moved = try? Self.timecode(text, movedBy: elapsed, frameRate: rate) { input.startTimecode = moved }
    }

    /// Returns the start time of the frame on screen at a time; `nil` if the file can be read only once.
    private func firstPicture(of track: AssetTrack, from start: MediaTime) throws(MediaError) -> MediaTime? {
        guard reader.asset.canBeReadAgain else { return nil }
        let range = MediaTimeRange(start: start, duration: .positiveInfinity)
        let output = try reader.asset.samplesNow(of: track, as: .video(VideoSettings()), in: range)
        return try output.nextSampleBuffer()?.presentationTime
    }

    private static func timecode(
        _ text: String, movedBy time: MediaTime, frameRate: Rational
    ) throws(MediaError) -> String? {
        let rate = try Timecode.Rate(frameRate: frameRate, isDropFrame: text.contains(";"))
        let first = try Timecode(text, rate: rate)
        // Containers round times to the ticks of their clock.
        let passed = try Timecode(elapsed: time, rate: rate, rounding: .halfAwayFromZero)
        return first.advanced(byFrames: passed.frameNumber)?.wrappedAt24Hours.description
    }
}

extension MetadataItem {
    /// The metadata keys whose values the writer generates for each file.
    package static let keysOfFiles: Set<String> = [
        "encoder", "timecode", "duration", "major_brand", "minor_version", "compatible_brands",
    ]
}

extension Chapter {
    /// Returns the part of the chapter inside a range, counted from the range's start; `nil` if it lies outside.
    fileprivate func shifted(into range: MediaTimeRange) -> Chapter? {
        let start = max(timeRange.start, range.start)
        let end = min(timeRange.end, range.end)
        guard start < end else { return nil }
        return Chapter(timeRange: MediaTimeRange(start: start - range.start, end: end - range.start), title: title)
    }
}

// Compositions: several source tracks that are exported as one.

extension Reencoder {
    /// Adds the frames of a video composition.
    ///
    /// - Parameters:
    ///   - composition: The composition.
    ///   - tracks: The source video tracks.
    ///   - wanted: The encoder settings for the frames.
    /// - Returns: The input that writes the frames.
    /// - Throws: Errors of the reader or the writer.
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

    /// Adds the mix of one or more audio tracks.
    ///
    /// - Throws: Errors of the reader or the writer.
    @discardableResult package func add(
        _ mix: AudioMix, of tracks: [AssetTrack], encodedWith settings: AudioOutputSettings
    ) throws(MediaError) -> AssetWriterInput {
        let output = try AudioMixOutput(tracks: tracks)
        output.audioMix = mix
        output.audioTimePitchAlgorithm = audioTimePitchAlgorithm
        let input = AssetWriterInput(audioSettings: settings, like: tracks.first)
        try add(output, to: input)
        return input
    }

    /// Throws if copied audio has a gap that the file's timestamps cannot represent.
    ///
    /// In linear PCM, gaps are filled with silence.
    func checkHoles(in track: AssetTrack) throws(MediaError) {
        guard let edited = reader.asset.composition?.track(withID: track.id), !writer.fileType.keepsLateStarts,
            track.formatDescriptions.first?.codec.hasPrefix("pcm_") != true,
            let gap = edited.segments.first(where: \.isEmpty), gap.end < edited.end
        else { return }
        throw edited.failure(of: gap, "it is a gap, which a \(writer.fileType) file cannot hold between coded sound")
    }
}

extension AssetTrack {
    /// Creates a track that describes the frames of a video composition as if they came from a file.
    package init(framesOf composition: VideoComposition) { self.init(framesOf: composition, index: 0) }

    /// Creates such a track at an index of an asset.
    init(framesOf composition: VideoComposition, index: Int, duration: MediaTime? = nil, timecode: String? = nil) {
        let video = VideoFormat(
            encodedSize: composition.outputSize, sampleAspectRatio: .one, pixelFormat: .rgba, bitDepth: 8,
            color: ColorInfo(primaries: "bt709", transfer: "bt709", matrix: "bt709", range: "tv"),
            fieldOrder: .progressive)
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
