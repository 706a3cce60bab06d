package import MediaBase

/// A decoded frame that was on screen at a requested time, before it is made an image.
package struct PassingFrame: Sendable {
    /// The presentation time of the frame.
    package let time: MediaTime
    /// The duration for which it is on screen.
    package fileprivate(set) var duration: MediaTime
    /// True if the frame came from a sync sample.
    package let isKeyframe: Bool
    private let picture: PixelBuffer
    private let track: AssetTrack

    fileprivate init?(_ samples: SampleBuffer, of track: AssetTrack) {
        guard let picture = samples.pixelBuffer else { return nil }
        (time, duration, isKeyframe) = (samples.presentationTime, samples.duration, samples.isSync)
        (self.picture, self.track) = (picture, track)
    }

    /// The time at which the next frame begins, or the track ends.
    fileprivate var end: MediaTime { time + duration }

    /// Makes the image of the frame as a generator with a configuration does.
    package func image(
        at requested: MediaTime, _ configuration: ImageGenerator.Configuration
    ) throws(MediaError) -> ImageGenerator.GeneratedImage {
        let renderer = ImageRenderer(configuration, of: track, format: track.formatDescriptions.first?.video)
        return ImageGenerator.GeneratedImage(
            requestedTime: requested, actualTime: time, duration: duration, isKeyframe: isKeyframe,
            image: try renderer.render(picture))
    }
}

extension ImageGenerator {
    /// True if the frames of the asset pass in a ``SharedReading``.
    package var hasPassingFrames: Bool {
        asset.hasSharedReading && (try? asset.videoTrack(configuration.trackIndex))?.isAttachedPicture == false
    }

    /// Finds the frames on screen at ascending times among all frames of the track, which a ``SharedReading`` decodes.
    ///
    /// The results are those of ``generateNow(at:)`` without tolerances. The seat in the reading is given up after the last
    /// time.
    /// - Parameters:
    ///   - times: The times, each later than the previous one.
    ///   - deliver: Receives the index of a time, and its frame or the reason why there is none, in ascending order.
    /// - Throws: Reading errors, and those of `deliver`.
    package func passingFrames(
        at times: [MediaTime], _ deliver: (Int, Result<PassingFrame, MediaError>) throws(MediaError) -> Void
    ) throws(MediaError) {
        let track = try asset.videoTrack(configuration.trackIndex)
        let reader = try AssetReader(asset: asset)
        reader.joinsSharedReading = true
        reader.threadsPerOutput = configuration.threads
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        try reader.add(output)
        try reader.startReading()
        defer {
            reader.cancelReading()
            asset.seat?.leave()
        }
        var place = 0
        var frame = try output.nextSampleBuffer().flatMap { PassingFrame($0, of: track) }
        var duration: MediaTime?
        while place < times.count, let shown = frame {
            let next = try output.nextSampleBuffer().flatMap { PassingFrame($0, of: track) }
            // The header may promise more than there is; the last frame then lasts no longer than the one before.
            var last = shown
            if next == nil, reader.damage.isTruncated, let duration { last.duration = min(duration, shown.duration) }
            while place < times.count, times[place] < last.end || next == nil {
                try deliver(place, Self.shown(last, at: times[place], track, isTruncated: reader.damage.isTruncated))
                place += 1
            }
            duration = shown.duration
            frame = next
        }
        for place in place..<times.count { try deliver(place, .failure(FrameFinder.noPicture)) }
    }

    /// Returns a frame for a time at which it is on screen, shortly before the first one, or shortly after the last one.
    private static func shown(
        _ frame: PassingFrame, at time: MediaTime, _ track: AssetTrack, isTruncated: Bool
    ) -> Result<PassingFrame, MediaError> {
        if time < frame.time {
            return track.showsFirstPicture(at: time, from: frame.time, to: frame.time + frame.duration)
                ? .success(frame) : .failure(FrameFinder.beforeStart(time, frame.time))
        }
        guard time >= frame.end else { return .success(frame) }
        let promised = min(time, track.editedEnd ?? time)
        if isTruncated, promised > frame.end { return .failure(FrameFinder.brokenOff(before: promised, frame.time)) }
        if let end = track.editedEnd, time > end {
            return time - end < min(frame.end, end) - frame.time
                ? .success(frame) : .failure(FrameFinder.afterEnd(time, end))
        }
        return time - frame.end < frame.duration || time == frame.end
            ? .success(frame) : .failure(FrameFinder.afterEnd(time, frame.end))
    }
}
