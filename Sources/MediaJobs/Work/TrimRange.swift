internal import AssetKit
internal import MediaBase

/// The part of a file that is written, as it was asked for.
struct TrimRange {
    /// From the first moment to the first that is not wanted; all of the file where nothing was asked for.
    ///
    /// Both are rounded to times from which all times of what is written can be counted exactly.
    let range: MediaTimeRange
    /// The same in exact times as it was asked for; `nil` where nothing was.
    let requested: RequestedRange?

    /// - Parameters:
    ///   - track: The track by which times are told.
    ///   - grid: Where what is written can begin and end; `nil` for the track's own.
    /// - Throws: `outOfRange` for a start before zero or behind the track, `invalidArgument` for an empty range, and what
    ///   resolving the times throws.
    init(
        start: TimeExpression?, end: TimeExpression?, of track: AssetTrack, in asset: Asset, grid: TrimGrid? = nil,
        threads: Int
    ) throws(MediaError) {
        guard start != nil || end != nil else {
            range = MediaTimeRange(start: .zero, duration: .positiveInfinity)
            requested = nil
            return
        }
        let context = try TimeExpression.Context(track, in: asset)
        var frames: FrameTimes?
        if track.mediaType == .video {
            let highest = [start, end].compactMap(\.self).highestFrame ?? 0
            frames = FrameTimes(asset, track: track, highest: highest, threads: threads)
        }
        func frameTime(_ number: Int64) throws(MediaError) -> MediaTime {
            guard let time = try frames?.time(of: number) else { return try TimeExpression.noFrames(number) }
            return time
        }
        let first = try start?.resolve(in: context, frameTime: frameTime)
        let last = try end?.resolve(in: context, frameTime: frameTime)
        try WaveformRange.check(start: first, end: last)
        let grid = grid ?? track.trimGrid
        let (start, end) = (first.map(grid.rounded), last.map(grid.rounded))
        try WaveformRange.check(start: start, end: end)
        if let start, case let end = track.timeRange.end, end.isNumeric, start >= end {
            let what = track.mediaType == .video ? "pictures'" : "sound's"
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is not before the \(what) end at \(end.seconds) s")
        }
        // What is asked for beyond the end adds nothing.
        range =
            end.map { MediaTimeRange(start: start ?? .zero, end: $0) }
            ?? MediaTimeRange(start: start ?? .zero, duration: .positiveInfinity)
        requested = RequestedRange(start: first, end: last)
    }

    /// Whether times depend on how long the track is, so that an asset has to be opened with exact timing.
    static func needsExactDuration(_ times: [TimeExpression?]) -> Bool {
        times.contains { if case .percentage = $0 { true } else { $0 == .end } }
    }
}
