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
    let leftOut: [LeftOutTrack]
    /// The part that is written.
    let range: MediaTimeRange
    /// The same as it was asked for; `nil` where nothing was.
    let requested: RequestedRange?
    /// Whether the end that was asked for is a moment of its own.
    let namesEnd: Bool

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
            audio =
                request.audio == .none ? [] : try TrackSelector.audioTracks(request.audioTracks, in: tracks)
            guard !video.isAttachedPicture else {
                throw MediaError(.noSuchTrack, "has a cover picture and no video that a proxy could be made of")
            }
            let trim = try TrimRange(
                start: request.start, end: request.end, of: video, in: asset, threads: request.threads)
            (range, requested) = (trim.range, trim.requested)
            namesEnd = request.end?.isMoment ?? false
            turn = request.turn(of: video)
            videoSettings = try request.videoSettings(for: video).carrying(video, of: asset, turnedBy: turn)
        } catch {
            throw error.at(path: asset.displayName)
        }
        self.asset = asset
        hasSquarePixels = request.hasSquarePixels
        threads = request.threads
        leftOut = LeftOutTrack.others(of: tracks, besides: [video] + audio)
    }

}
