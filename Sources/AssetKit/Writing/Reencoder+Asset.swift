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
