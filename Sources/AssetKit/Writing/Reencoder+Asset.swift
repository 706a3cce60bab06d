import LibAV
public import MediaBase

extension Reencoder {
    /// What becomes of tracks of one kind.
    public enum Treatment<Settings: Sendable>: Sendable {
        /// They are encoded anew.
        case encode(Settings)
        /// Their samples are taken as they are.
        case copy
        /// They are left out.
        case leaveOut
    }

    /// A re-encoding of an asset, which carries over what its tracks and the file say of themselves.
    ///
    /// Language, names, dates, metadata, chapters, turn, start timecode, colours, pixel aspect and clean aperture stay;
    /// the last two are scaled with the picture, so that the shape in which it is shown stays exact.
    /// - Parameters:
    ///   - asset: What is read.
    ///   - writer: What is written, without inputs yet.
    ///   - video: What becomes of pictures; cover pictures are metadata. Where they are copied, subtitles are too as far as
    ///     the file can hold them.
    ///   - audio: What becomes of sound.
    ///   - timeRange: The part that is written.
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` where there is nothing of what is wanted, and what the
    ///   reader or the writer refuses.
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
        guard !writer.inputs.isEmpty else {
            throw MediaError(.noSuchTrack, "has no track to be written", path: asset.displayName)
        }
    }

    /// A re-encoding of an asset to which the tracks that are wanted are still to be added.
    ///
    /// Metadata and chapters of the file as a whole are carried over. Start and end of the range are rounded to the nearest
    /// times from which all times of the first track of pictures, or without one of audio, can be counted exactly: less
    /// than a hundred-thousandth of a second away.
    public convenience init(
        asset: Asset, writer: AssetWriter, timeRange: MediaTimeRange
    ) throws(MediaError) {
        let media = try asset.contents().tracks.filter { $0.mediaType == .video || $0.mediaType == .audio }
        let pictures = media.filter { $0.mediaType == .video && !$0.isAttachedPicture }
        let leading = pictures.first(where: \.isEnabled) ?? pictures.first ?? media.first { $0.mediaType == .audio }
        let grid = leading.map(\.trimGrid)
        try self.init(asset: asset, writer: writer, rounded: grid?.rounded(timeRange) ?? timeRange)
    }

    /// The same for a range that lies on the grid of what is written already.
    package convenience init(
        asset: Asset, writer: AssetWriter, rounded timeRange: MediaTimeRange
    ) throws(MediaError) {
        let contents = try asset.contents()
        let reader = try AssetReader(asset: asset)
        reader.timeRange = timeRange
        self.init(reader: reader, writer: writer)
        writer.metadata = contents.metadata.filter { !MetadataItem.keysOfFiles.contains($0.identifier.lowercased()) }
        writer.chapters = contents.chapters.compactMap { $0.shifted(into: timeRange) }
    }

    /// Adds a track of pictures, with what it says of itself.
    ///
    /// - Parameters:
    ///   - track: A track of the asset.
    ///   - video: What becomes of it.
    ///   - appliesPreferredTrackTransform: Whether pictures are turned instead of being marked as to be turned; sizes in
    ///     the settings are those after the turn.
    /// - Returns: What writes it; `nil` where it is left out.
    /// - Throws: what the reader or the writer refuses.
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

    /// Adds a track of sound, with what it says of itself.
    ///
    /// - Returns: What writes it; `nil` where it is left out.
    /// - Throws: what the reader or the writer refuses.
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
            // The writer converts once, to what its encoder takes.
            let output = TrackOutput(track: track, audioSettings: AudioSettings())
            output.passesOverUndecodable = passesOverUndecodableAudio
            let input = AssetWriterInput(audioSettings: settings, like: track)
            try add(output, to: input)
            return input
        }
    }

    /// Refuses to copy what an edit list puts together: stored samples are written in one run.
    private static func checkEdits(of track: AssetTrack) throws(MediaError) {
        guard let reason = track.reasonAgainstCopying else { return }
        throw MediaError(.unsupported, "track \(track.index) is \(reason), which a copy cannot keep; encode it")
    }
}

// MARK: - Timecode

extension Reencoder {
    /// Makes the start timecode that of the picture on screen where the session starts.
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

    /// When the picture that is on screen at a time began to be; `nil` where the file can be read only once.
    private func firstPicture(of track: AssetTrack, from start: MediaTime) throws(MediaError) -> MediaTime? {
        guard reader.asset.canBeReadAgain else { return nil }
        let scout = try AssetReader(asset: reader.asset)
        scout.timeRange = MediaTimeRange(start: start, duration: .positiveInfinity)
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        try scout.add(output)
        try scout.startReading()
        defer { scout.cancelReading() }
        return try output.nextSampleBuffer()?.presentationTime
    }

    private static func timecode(
        _ text: String, movedBy time: MediaTime, frameRate: Rational
    ) throws(MediaError) -> String? {
        let rate = try Timecode.Rate(frameRate: frameRate, isDropFrame: text.contains(";"))
        let first = try Timecode(text, rate: rate)
        // Containers round times to their clock's ticks.
        let passed = try Timecode(elapsed: time, rate: rate, rounding: .halfAwayFromZero)
        return first.advanced(byFrames: passed.frameNumber)?.wrappedAt24Hours.description
    }
}

extension MetadataItem {
    /// What a writer says itself of the files it writes.
    package static let keysOfFiles: Set<String> = [
        "encoder", "timecode", "duration", "major_brand", "minor_version", "compatible_brands",
    ]
}

extension Chapter {
    /// The chapter as it lies in a part of the presentation that begins at zero; `nil` where it lies outside.
    fileprivate func shifted(into range: MediaTimeRange) -> Chapter? {
        let start = max(timeRange.start, range.start)
        let end = min(timeRange.end, range.end)
        guard start < end else { return nil }
        return Chapter(timeRange: MediaTimeRange(start: start - range.start, end: end - range.start), title: title)
    }
}

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
