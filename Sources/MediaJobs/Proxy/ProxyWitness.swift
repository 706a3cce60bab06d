internal import AssetKit
internal import MediaBase
internal import Threading

/// Notes what was read of each track while a proxy is made, so that the finished file can be compared with it.
///
/// Pairs report from threads of their own.
final class ProxyWitness: Sendable {
    private let state = Mutex<[Int: Seen]>([:])

    /// What was read of one track, on the source's time line.
    struct Seen: Sendable {
        /// When each picture begins to be shown; empty for sound.
        var pictures: [MediaTime] = []
        /// When the first buffer begins.
        var start: MediaTime?
        /// When the last one is over.
        var end = MediaTime.negativeInfinity
        /// Samples a second of sound as it was decoded; 0 for other tracks.
        var sampleRate = 0
        /// Which channels sound has as it was decoded.
        var channelLayout: ChannelLayout?
    }

    /// Notes a buffer.
    func see(_ buffer: SampleBuffer, of track: AssetTrack) {
        let time = buffer.presentationTime
        guard time.isNumeric, !buffer.attachments.contains(.isNotShown) else { return }
        state.withLock { $0[track.index, default: Seen()].add(buffer, at: time, isPicture: track.mediaType == .video) }
    }

    /// What was read of a track; `nil` where nothing was.
    func seen(of track: AssetTrack) -> Seen? { state.withLock { $0[track.index] } }
}

extension ProxyWitness.Seen {
    fileprivate mutating func add(_ buffer: SampleBuffer, at time: MediaTime, isPicture: Bool) {
        if isPicture { pictures.append(time) }
        start = min(start ?? time, time)
        if buffer.duration.isNumeric { end = max(end, time + buffer.duration) }
        if let sound = buffer.audioBuffer, sampleRate == 0 {
            sampleRate = sound.sampleRate
            channelLayout = sound.channelLayout
        }
    }
}
