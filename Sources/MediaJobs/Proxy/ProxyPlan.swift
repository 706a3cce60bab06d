internal import AssetKit
internal import MediaBase

/// What a proxy of one file is made of: its tracks, the part of it, how each is encoded.
struct ProxyPlan {
    /// The file.
    let asset: Asset
    /// The track of pictures.
    let video: AssetTrack
    /// How its pictures are encoded, with all that the track says of them.
    let videoSettings: VideoOutputSettings
    /// How pictures are turned before they are encoded.
    let turn: DisplayTransform
    /// The tracks of sound, in the order of the file.
    let audio: [AssetTrack]
    /// All other tracks.
    let leftOut: [AssetTrack]
    /// The part that is written.
    let range: MediaTimeRange
    /// The same as it was asked for; `nil` where nothing was.
    let requested: ProxyReport.Requested?

    /// Whether pixels are to be square.
    let hasSquarePixels: Bool
    /// Threads that decode; 0 for the usual number.
    let threads: Int

    /// How many seconds there are to be done; `nil` where that is not known.
    var length: Double? {
        let end = min(range.end, video.timeRange.end.isNumeric ? video.timeRange.end : .positiveInfinity)
        let length = (end - range.start).seconds
        return length > 0 && length.isFinite ? length : nil
    }

    /// - Throws: what opening throws, `noSuchTrack`, what is wrong with the range, and what the settings refuse.
    init(_ request: ProxyRequest, asset: Asset) throws(MediaError) {
        let tracks = try asset.loadNow(.tracks)
        do throws(MediaError) {
            if let wanted = request.videoTrack {
                video = try wanted.track(of: .video, in: tracks)
            } else {
                video = try TrackSelector.standardTrack(of: .video, in: tracks)
            }
            audio = try Self.audio(request, tracks)
            guard !video.isAttachedPicture else {
                throw MediaError(.noSuchTrack, "has a cover picture and no video that a proxy could be made of")
            }
            (range, requested) = try Self.range(request, asset: asset, track: video, tracks: tracks)
            turn = request.turn(of: video)
            videoSettings = try request.videoSettings(for: video).carrying(video, turnedBy: turn)
        } catch {
            throw error.at(path: asset.displayName)
        }
        self.asset = asset
        hasSquarePixels = request.hasSquarePixels
        threads = request.threads
        let taken = Set([video.index] + audio.map(\.index))
        // A timecode track is made anew.
        leftOut = tracks.filter { !taken.contains($0.index) && $0.mediaType != .timecode }
    }

    private static func audio(_ request: ProxyRequest, _ tracks: [AssetTrack]) throws(MediaError) -> [AssetTrack] {
        if request.audio == .none { return [] }
        let all = tracks.filter { $0.mediaType == .audio }
        guard let wanted = request.audioTracks else { return all }
        var indices: Set<Int> = []
        for selector in wanted { indices.insert(try selector.track(of: .audio, in: tracks).index) }
        return all.filter { indices.contains($0.index) }
    }

    private static func range(
        _ request: ProxyRequest, asset: Asset, track: AssetTrack, tracks: [AssetTrack]
    ) throws(MediaError) -> (MediaTimeRange, ProxyReport.Requested?) {
        guard request.start != nil || request.end != nil else {
            return (MediaTimeRange(start: .zero, duration: .positiveInfinity), nil)
        }
        let context = TimeExpression.Context(
            track, tracks: tracks, containerMetadata: try asset.loadNow(.metadata))
        var frames = FrameTimes(
            asset, track: track, highest: request.highestFrame ?? 0, threads: request.threads)
        let start = try request.start?.resolve(in: context) { number throws(MediaError) in
            try frames.time(of: number)
        }
        let end = try request.end?.resolve(in: context) { number throws(MediaError) in try frames.time(of: number) }
        try WaveformRange.check(start: start, end: end)
        if let start, case let last = track.timeRange.end, last.isNumeric, start >= last {
            throw MediaError(
                .outOfRange, "the start, \(start.seconds) s, is not before the pictures' end at \(last.seconds) s")
        }
        // What is asked for beyond the end adds nothing.
        let first = start ?? .zero
        let range =
            end.map { MediaTimeRange(start: first, end: $0) }
            ?? MediaTimeRange(start: first, duration: .positiveInfinity)
        return (range, ProxyReport.Requested(start: start, end: end))
    }
}
