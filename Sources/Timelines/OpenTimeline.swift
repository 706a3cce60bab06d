package import AssetKit
package import FileOutput
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// The settings for finding a timeline's media and for handling content that cannot be rendered.
package struct TimelineSettings: Sendable {
    /// Indicates whether media may lie outside the timeline's folder.
    package var allowsOutside = false
    /// The folders that are searched by file name for media that is not found at its path in the timeline.
    package var mediaFolders: [FilePath] = []
    /// Indicates whether clips without media become gaps instead of errors.
    package var allowsMissing = false
    /// Indicates whether effects that cannot be rendered are ignored instead of being errors.
    package var ignoresEffects = false

    /// Creates settings that accept only what can be rendered in full.
    package init() {}
}

/// A timeline whose media has been found and opened, put together as a composition.
package struct OpenTimeline: Sendable {
    /// The name; empty if it has none.
    package let name: String
    /// The clips, in one or more tracks for each media type.
    package let composition: Composition
    /// The instructions for compositing the video; `nil` if there is none.
    package let videoComposition: VideoComposition?
    /// The instructions for mixing the audio; `nil` if there is none.
    package let audioMix: AudioMix?
    /// The duration of the timeline.
    package let duration: MediaTime
    /// The duration, extended to the end of the last whole frame.
    package let renderedDuration: MediaTime
    /// The timecode of the first frame; `nil` if the timeline has none.
    package let startTimecode: Timecode?
    /// The numbers of clips, dissolves and tracks.
    package let counts: TimelineCounts
    /// The number of media files.
    package let mediaCount: Int
    /// Messages about differences from the timeline.
    package let warnings: [String]
    private let media: [FileIdentity]
    private let pieces: [TimelinePiece]

    /// Opens the media of a timeline.
    ///
    /// - Parameters:
    ///   - size: The frame size; `nil` for that of the largest source.
    ///   - frameRate: The frames per second; `nil` for the timeline's own rate, or the first source's.
    ///   - opening: The options for opening the media.
    /// - Throws: An error that names the element which cannot be read or rendered.
    package init(
        _ file: TimelineFile, _ settings: TimelineSettings, size: Dimensions? = nil, frameRate: Rational? = nil,
        opening: Asset.Options = Asset.Options()
    ) throws(MediaError) {
        var opening = opening
        opening.rawSound = nil
        let media = try TimelineMedia(
            folder: file.folder, allowsOutside: settings.allowsOutside, mediaFolders: settings.mediaFolders,
            opening: opening)
        var reader = TimelineReader(ignoresEffects: settings.ignoresEffects)
        let timeline = try reader.read(file.bytes)
        let pieces = try TimelinePieces(timeline, media: media, allowsMissing: settings.allowsMissing)
        let rate = frameRate ?? timeline.globalStart.flatMap { $0.rate.isFrameRate ? $0.rate : nil }
        let made = try TimelineComposition(pieces, size: size, frameRate: rate)
        name = timeline.name
        (composition, videoComposition, audioMix) = (made.composition, made.videoComposition, made.audioMix)
        (duration, renderedDuration) = (pieces.duration, made.duration)
        startTimecode = videoComposition?.frameRate.flatMap { timeline.startTimecode(at: $0) }
        (counts, mediaCount, warnings) = (pieces.counts, media.count, reader.warnings + pieces.warnings)
        (self.media, self.pieces) = (media.identities, pieces.video + pieces.audio)
    }

    /// Returns the timeline as an asset with one video and one audio track, which can be read like a file.
    package func asset() throws(MediaError) -> Asset {
        try Asset(
            rendering: composition, videoComposition: videoComposition, audioMix: audioMix,
            startTimecode: startTimecode?.description)
    }

    /// Prevents outputs from overwriting the media.
    package func protect(in outputs: OutputFileSet) { outputs.protect(media) }

    /// Throws if an output is one of the media files, also through a link.
    package func refuse(_ output: FilePath) throws(MediaError) {
        guard let identity = FileIdentity(of: output), media.contains(identity) else { return }
        throw MediaError(
            .invalidArgument, "the output is media of the timeline; choose another name", path: output.string)
    }

    /// Throws if any clip of a media type has to be rendered, so that stored samples cannot be copied.
    package func checkStorable(_ type: MediaType) throws(MediaError) {
        try TimelinePiece.checkStorable(pieces.filter { $0.track.mediaType == type })
    }
}

extension VideoComposition {
    /// The frames per second.
    package var frameRate: Rational? { Rational(frameDuration)?.inverse }
}

extension Rational {
    /// True if the value is plausible as a frame rate, rather than a sample rate or a clock rate.
    var isFrameRate: Bool { self > Rational(1) && self <= Rational(240) }
}

extension Timeline {
    /// Returns the timecode of the first frame; `nil` if the timeline has none.
    func startTimecode(at rate: Rational) -> Timecode? {
        guard let start = globalStart?.time, start >= .zero else { return nil }
        // OpenTimelineIO writes drop-frame timecode for the rates that support it.
        let isDropFrame = rate == Rational(30000, 1001) || rate == Rational(60000, 1001)
        guard let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: isDropFrame) else { return nil }
        return try? Timecode(elapsed: start, rate: counting, rounding: .halfAwayFromZero)
    }
}
