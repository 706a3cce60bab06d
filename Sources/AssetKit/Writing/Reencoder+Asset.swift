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
    ///   - video: What becomes of pictures; cover pictures are left out.
    ///   - audio: What becomes of sound.
    ///   - timeRange: The part that is written.
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` where there is nothing of what is wanted, and what the
    ///   reader or the writer refuses.
    public convenience init(
        asset: Asset, writer: AssetWriter, video: Treatment<VideoOutputSettings>,
        audio: Treatment<AudioOutputSettings>,
        timeRange: MediaTimeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    ) throws(MediaError) {
        let contents = try asset.contents()
        let reader = try AssetReader(asset: asset)
        reader.timeRange = timeRange
        self.init(reader: reader, writer: writer)
        let ownKeys: Set<String> = ["encoder", "timecode"]
        writer.metadata = contents.metadata.filter { !ownKeys.contains($0.identifier) }
        writer.chapters = contents.chapters.compactMap { $0.shifted(into: timeRange) }
        for track in contents.tracks where !track.isAttachedPicture {
            switch track.mediaType {
            case .video: try add(track, video, timeRange: timeRange)
            case .audio: try add(track, audio)
            default: break
            }
        }
        guard !writer.inputs.isEmpty else {
            throw MediaError(.noSuchTrack, "has no track to be written", path: asset.displayName)
        }
    }

    private func add(
        _ track: AssetTrack, _ treatment: Treatment<VideoOutputSettings>, timeRange: MediaTimeRange
    ) throws(MediaError) {
        switch treatment {
        case .leaveOut: return
        case .copy:
            let input = AssetWriterInput(copying: track)
            input.moveTimecode(to: timeRange.start)
            try add(TrackOutput(track: track), to: input)
        case .encode(let wanted):
            let settings = try wanted.carrying(track)
            let input = AssetWriterInput(videoSettings: settings, like: track)
            input.moveTimecode(to: timeRange.start)
            let format = VideoSettings(pixelFormat: settings.encodedPixelFormat, dimensions: settings.dimensions)
            try add(TrackOutput(track: track, videoSettings: format), to: input)
        }
    }

    private func add(_ track: AssetTrack, _ treatment: Treatment<AudioOutputSettings>) throws(MediaError) {
        switch treatment {
        case .leaveOut: return
        case .copy: try add(TrackOutput(track: track), to: AssetWriterInput(copying: track))
        case .encode(let settings):
            // The writer converts once, to what its encoder takes.
            let output = TrackOutput(track: track, audioSettings: AudioSettings())
            try add(output, to: AssetWriterInput(audioSettings: settings, like: track))
        }
    }
}

extension VideoOutputSettings {
    /// The settings with what a track says of its pictures where they say nothing themselves.
    func carrying(_ track: AssetTrack) throws(MediaError) -> VideoOutputSettings {
        guard let source = track.formatDescriptions.first?.video else { return self }
        var settings = self
        let size = dimensions ?? source.encodedSize
        guard let across = Rational(Int64(size.width)).divided(by: Rational(Int64(source.encodedSize.width))),
            let down = Rational(Int64(size.height)).divided(by: Rational(Int64(source.encodedSize.height))),
            across.isPositive, down.isPositive
        else { return self }
        if settings.pixelAspectRatio == nil {
            let ratio = source.sampleAspectRatio ?? .one
            settings.pixelAspectRatio = down.divided(by: across).flatMap { ratio.multiplied(by: $0) }
        }
        if settings.cleanAperture == nil, let aperture = source.cleanAperture {
            settings.cleanAperture = try aperture.scaled(across: across, down: down, in: size)
        }
        settings.color = color ?? ColorInfo(container: track.containerColor, stream: source.color)
        settings.hdr = hdr ?? source.hdr
        // Scaling mixes the fields of interlaced pictures.
        let keepsFields = size.height == source.encodedSize.height || source.fieldOrder == "progressive"
        settings.fieldOrder = fieldOrder ?? (keepsFields ? source.fieldOrder : nil)
        settings.expectedFrameRate = expectedFrameRate ?? track.nominalFrameRate ?? track.averageFrameRate
        return settings
    }
}

extension ColorInfo {
    /// The stream's word, and the container's where the stream says nothing.
    fileprivate init(container: ColorInfo?, stream: ColorInfo) {
        self.init(
            primaries: stream.primaries ?? container?.primaries, transfer: stream.transfer ?? container?.transfer,
            matrix: stream.matrix ?? container?.matrix, range: stream.range ?? container?.range,
            chromaLocation: stream.chromaLocation ?? container?.chromaLocation)
    }
}

extension CleanAperture {
    /// The same part of the picture when that is scaled.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` where no whole pixel of it is left.
    func scaled(across: Rational, down: Rational, in size: Dimensions) throws(MediaError) -> CleanAperture {
        guard let width = width.multiplied(by: across), let height = height.multiplied(by: down),
            let horizontal = horizontalOffset.multiplied(by: across),
            let vertical = verticalOffset.multiplied(by: down)
        else { throw MediaError(.damaged, "the clean aperture cannot be scaled exactly") }
        return try CleanAperture(
            width: width, height: height, horizontalOffset: horizontal, verticalOffset: vertical, in: size)
    }
}

extension AssetWriterInput {
    /// Makes the start timecode that of the picture on screen at a time of the source.
    fileprivate func moveTimecode(to start: MediaTime) {
        guard start.isNumeric, start > .zero, let text = startTimecode, let rate = nominalFrameRate,
            let moved = try? Self.timecode(text, movedBy: start, frameRate: rate)
        else { return }
        startTimecode = moved
    }

    private static func timecode(
        _ text: String, movedBy time: MediaTime, frameRate: Rational
    ) throws(MediaError) -> String? {
        let rate = try Timecode.Rate(frameRate: frameRate, isDropFrame: text.contains(";"))
        let first = try Timecode(text, rate: rate)
        let passed = try Timecode(elapsed: time, rate: rate)
        return first.advanced(byFrames: passed.frameNumber)?.wrappedAt24Hours.description
    }
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
