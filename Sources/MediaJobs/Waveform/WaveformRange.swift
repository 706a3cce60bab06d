internal import AssetKit
internal import MediaBase

/// The part of the presentation that is measured.
struct WaveformRange {
    /// The first moment, 0 or later.
    let start: MediaTime
    /// The first moment that is not measured; `nil` for the track's end.
    let end: MediaTime?
    /// The same as it was asked for; `nil` where nothing was.
    let requested: RequestedRange?

    /// - Throws: ``MediaError`` `outOfRange` for a start before 0, `invalidArgument` for an empty range, and what
    ///   ``TimeExpression/resolve(in:frameTime:)`` throws.
    init(_ options: WaveformOptions, track: AssetTrack, of asset: Asset) throws(MediaError) {
        let pictures = try asset.loadNow(.tracks).first { $0.mediaType == .video && !$0.isAttachedPicture }
        let context = try Self.context(track: track, pictures: pictures, asset: asset)
        var frames = pictures.map {
            FrameTimes(asset, track: $0, highest: options.highestFrame ?? 0, threads: options.threads)
        }
        func frameTime(_ number: Int64) throws(MediaError) -> MediaTime {
            guard let time = try frames?.time(of: number) else {
                throw MediaError(.invalidArgument, "there are no pictures by whose number a time could be told")
            }
            return time
        }
        let start = try options.start?.resolve(in: context, frameTime: frameTime)
        // Sound goes on to its own end, whatever the container says of it.
        let end = options.end == .end ? nil : try options.end?.resolve(in: context, frameTime: frameTime)
        try Self.check(start: start, end: end)
        self.start = start ?? .zero
        self.end = end
        let isAsked = options.start != nil || options.end != nil
        requested = isAsked ? RequestedRange(start: start, end: end) : nil
    }

    /// Throws ``MediaError`` `outOfRange` for a start before 0, `invalidArgument` for an empty range.
    static func check(start: MediaTime?, end: MediaTime?) throws(MediaError) {
        if let start, start < .zero {
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is before the beginning; times count from 0")
        }
        if let end, end <= start ?? .zero {
            throw MediaError(
                .invalidArgument, "there is nothing from \((start ?? .zero).seconds) s to \(end.seconds) s")
        }
    }

    /// Frame rates, frame numbers and timecodes are those of the pictures that the sound goes with.
    private static func context(
        track: AssetTrack, pictures: AssetTrack?, asset: Asset
    ) throws(MediaError) -> TimeExpression.Context {
        var context = try TimeExpression.Context(pictures ?? track, in: asset)
        context.timeRange = track.timeRange
        return context
    }
}
