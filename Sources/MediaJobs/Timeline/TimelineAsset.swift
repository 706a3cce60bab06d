package import AssetKit
internal import FileOutput
internal import MediaBase
package import SystemPackage

/// How a timeline's media is found, and what becomes of what cannot be rendered.
package struct TimelineSettings: Sendable {
    /// Whether media may lie outside of the timeline's folder.
    package var allowsOutside = false
    /// Folders in which media is looked for by its name where the timeline's path does not lead to it.
    package var mediaFolders: [FilePath] = []
    /// Whether clips without media become gaps instead of errors.
    package var allowsMissing = false
    /// Whether effects that cannot be rendered are left out instead of being errors.
    package var ignoresEffects = false

    /// Nothing but what can be rendered in full.
    package init() {}
}

/// A timeline as an asset: one track of pictures and one of sound, as `export` writes them.
package struct TimelineAsset: Sendable {
    /// What can be read like a file.
    package let asset: Asset
    /// What is not as the timeline says, in words.
    package let warnings: [String]
    /// The media that it names.
    private let files: [FileIdentity]

    /// Opens the media that a timeline names.
    ///
    /// - Parameter opening: How the media is opened.
    /// - Throws: an error that names the element which cannot be read or rendered.
    package init(
        _ file: TimelineFile, _ settings: TimelineSettings, opening: Asset.Options = Asset.Options()
    ) throws(MediaError) {
        var opening = opening
        opening.rawSound = nil
        let media = try TimelineMedia(
            folder: file.folder, allowsOutside: settings.allowsOutside, mediaFolders: settings.mediaFolders,
            opening: opening)
        var reader = TimelineReader(ignoresEffects: settings.ignoresEffects)
        let timeline = try reader.read(file.bytes)
        let pieces = try TimelinePieces(timeline, media: media, allowsMissing: settings.allowsMissing)
        let rate = timeline.globalStart.flatMap { $0.rate.isFrameRate ? $0.rate : nil }
        let made = try TimelineComposition(pieces, size: nil, frameRate: rate)
        let frameRate = (made.videoComposition?.frameDuration).flatMap { Rational($0)?.inverse }
        asset = try Asset(
            rendering: made.composition, videoComposition: made.videoComposition, audioMix: made.audioMix,
            startTimecode: frameRate.flatMap { timeline.startTimecode(at: $0)?.description })
        warnings = reader.warnings + pieces.warnings
        files = media.identities
    }

    /// Lets no output be one of the media.
    package func protect(in outputs: OutputFileSet) { outputs.protect(files) }
}

extension Timeline {
    /// The first frame's timecode; `nil` where the timeline says none.
    func startTimecode(at rate: Rational) -> Timecode? {
        guard let start = globalStart?.time, start >= .zero else { return nil }
        // As OpenTimelineIO writes timecode: numbers are dropped where that exists.
        let isDropFrame = rate == Rational(30000, 1001) || rate == Rational(60000, 1001)
        guard let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: isDropFrame) else { return nil }
        return try? Timecode(elapsed: start, rate: counting, rounding: .halfAwayFromZero)
    }
}
