internal import AssetKit
internal import MediaBase

/// The part of the presentation that is measured.
struct WaveformRange {
    /// The first moment, 0 or later.
    let start: MediaTime
    /// The first moment that is not measured; `nil` for the track's end.
    let end: MediaTime?
    /// The same as it was asked for; `nil` where nothing was.
    let requested: WaveformReport.Requested?

    /// - Throws: ``MediaError`` `outOfRange` for a start before 0, `invalidArgument` for an empty range, and what
    ///   ``TimeExpression/resolve(in:frameTime:)`` throws.
    init(_ options: WaveformOptions, track: AssetTrack, tracks: [AssetTrack]) throws(MediaError) {
        let context = Self.context(track: track, tracks: tracks)
        let start = try options.start?.resolve(in: context)
        // Sound goes on to its own end, whatever the container says of it.
        let end = options.end == .end ? nil : try options.end?.resolve(in: context)
        if let start, start < .zero {
            throw MediaError(.outOfRange, "the start, \(start.seconds) s, is before the beginning")
        }
        if let end, end <= start ?? .zero {
            throw MediaError(
                .invalidArgument, "there is nothing from \((start ?? .zero).seconds) s to \(end.seconds) s")
        }
        self.start = start ?? .zero
        self.end = end
        let isAsked = options.start != nil || options.end != nil
        requested = isAsked ? WaveformReport.Requested(start: start, end: end) : nil
    }

    /// Frame rates and timecodes are those of the pictures that the sound goes with.
    private static func context(track: AssetTrack, tracks: [AssetTrack]) -> TimeExpression.Context {
        let video = tracks.first { $0.mediaType == .video && !$0.isAttachedPicture }
        let rate = video?.nominalFrameRate ?? video?.averageFrameRate
        var context = TimeExpression.Context(timeRange: track.timeRange, frameRate: rate)
        if let rate, let text = (video?.startTimecode ?? tracks.lazy.compactMap(\.startTimecode).first),
            let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: text.contains(";"))
        {
            context.startTimecode = try? Timecode(text, rate: counting)
        }
        return context
    }
}
