package import AssetKit
internal import MediaAnalysis
package import MediaBase
internal import Pictures

/// The times that depend on a file's content: its sync samples and the starts of its scenes.
package struct ContentTimes {
    private let asset: Asset
    private let track: AssetTrack
    private let threads: Int
    private let progress: (Double) -> Void

    /// Creates a search of a track.
    ///
    /// - Parameters:
    ///   - threads: The number of codec threads; 0 for one per core.
    ///   - progress: Receives the progress of reading, from 0 to 1.
    package init(asset: Asset, track: AssetTrack, threads: Int, progress: @escaping (Double) -> Void) {
        (self.asset, self.track, self.threads, self.progress) = (asset, track, threads, progress)
    }

    /// Returns the start times of the sync samples that are shown in a range, in ascending order.
    ///
    /// Decodes the samples only if the stored times are missing or unreliable. All samples are read, because
    /// libavformat's mov demuxer returns wrong times for samples that follow those it is set to discard
    /// (`AVDISCARD_NONKEY`).
    func syncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: Set<MediaTime> = []
        var mayMisplace = track.formatDescriptions.first?.video?.reorders == true
        if mayMisplace { mayMisplace = try asset.mayBeginUndecodable() }
        let output = try asset.samplesNow(of: track, as: .stored, in: range, threads: threads)
        while let sample = try output.nextSampleBuffer() {
            guard sample.isSync, !sample.attachments.contains(.isNotShown) else { continue }
            // In streams with reordering, a sample whose presentation and decode times are equal may have another
            // frame's time.
            let isTimed =
                sample.presentationTime.isNumeric && !(mayMisplace && sample.presentationTime == sample.decodeTime)
            guard isTimed else { return try decodedSyncSamples(in: range) }
            // Frames before time zero cannot be requested.
            if range.contains(sample.presentationTime) { times.insert(sample.presentationTime) }
        }
        return times.sorted()
    }

    private func decodedSyncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: [MediaTime] = []
        let output = try asset.samplesNow(of: track, as: .video(VideoSettings()), in: range, threads: threads)
        while let sample = try output.nextSampleBuffer() {
            if sample.isSync, range.contains(sample.presentationTime) { times.append(sample.presentationTime) }
        }
        return times
    }

    /// Returns the time of the first frame in a range and of every one that starts a new shot; every frame is decoded
    /// once.
    ///
    /// The first is the start of the range if the frame on screen there had begun before.
    ///
    /// - Parameter threshold: The lowest ``SceneDetector/score(of:)`` that counts as a new shot.
    package func scenes(in range: MediaTimeRange, threshold: Double) throws(MediaError) -> [MediaTime] {
        var times: [MediaTime] = []
        var detector = SceneDetector()
        let size = (track.naturalSize ?? Self.pictureSize).fitted(into: Self.pictureSize)
        var settings = VideoSettings(pixelFormat: .gray, dimensions: size)
        settings.scalesByArea = true
        let reader = try AssetReader(asset: asset)
        reader.joinsSharedReading = true
        reader.timeRange = range
        reader.threadsPerOutput = threads
        let output = TrackOutput(track: track, videoSettings: settings)
        try reader.add(output)
        try reader.startReading()
        while let sample = try output.nextSampleBuffer() {
            guard let picture = sample.pixelBuffer else { continue }
            let score = detector.score(of: picture.packedPlane(0).span)
            let time = max(sample.presentationTime, range.start)
            if times.isEmpty || score >= threshold && time > range.start { times.append(time) }
            progress((sample.presentationTime - range.start).seconds / range.duration.seconds)
        }
        return times
    }

    /// The size that frames are scaled down to for comparison, which needs no detail and no noise.
    private static let pictureSize = Dimensions(width: 160, height: 160)
}

/// Chooses a sharp frame with visible content near each requested time.
///
/// Nine frames are examined for each time: the one on screen at the time itself, and those at four times on either
/// side, evenly spaced up to one second away, or up to half the distance between requested times if that is less. If
/// the times are scenes, all nine lie in the first two seconds of the scene. The best frame by ``PictureQuality`` is
/// chosen; of equal ones the nearest to the time, and of those the earlier. A time outside the track remains an error.
struct BestFrameSelection {
    let asset: Asset
    let track: AssetTrack
    let request: ThumbsRequest
    let times: RequestedTimes

    private static let steps: Int64 = 4
    private static let reach = MediaTime(value: 1, timescale: 1)
    /// The size that frames are scaled down to for comparison.
    private static let pictureSize = Dimensions(width: 320, height: 320)

    /// The times that were chosen.
    struct Choice {
        /// A time for every requested one; failures are kept.
        var times: [Result<MediaTime, MediaError>]
        /// The frames that a shared reading has handed out, by their times; empty without one, or if they are too many.
        var frames: [MediaTime: PassingFrame] = [:]
    }

    /// The most frames of a shared reading that are kept until the best is known.
    private static let maximumKept = 2 * Int(steps) + 1

    /// Chooses a time for every requested one.
    func chosen(progress: (Double) -> Void) throws(MediaError) -> Choice {
        let candidates = times.requested.indices.map { self.candidates(of: $0) }
        let moments = Set(candidates.flatMap(\.self)).sorted()
        var looks: [MediaTime: Look] = [:]
        var small = request
        (small.maximumSize, small.exactSize) = (Self.pictureSize, nil)
        let sweep = FrameExtraction(asset, track: track, request: small, tolerance: .exact)
        var frames: [MediaTime: PassingFrame] = [:]
        if sweep.takesPassingFrames, moments.count <= Self.maximumKept {
            try sweep.generator.passingFrames(at: moments) { index, frame throws(MediaError) in
                guard let frame = try? frame.get() else { return }
                frames[frame.time] = frame
                let image = try? frame.image(at: moments[index], sweep.generator.configuration)
                looks[moments[index]] = image.map(Look.init)
            }
        } else {
            try sweep.run(moments) { _, image in
                (try? image.get()).map(Look.init)
            } deliver: { index, look in
                looks[moments[index]] = look
                progress(Double(index + 1) / Double(moments.count))
            }
        }
        let chosen = zip(times.requested, candidates).map { requested, candidates in
            requested.map { Self.best(of: candidates.compactMap { looks[$0] }, at: looks[$0])?.time ?? $0 }
        }
        return Choice(times: chosen, frames: frames)
    }

    private struct Look: Sendable {
        let time: MediaTime
        let quality: PictureQuality

        init(_ image: ImageGenerator.GeneratedImage) {
            time = image.actualTime
            quality = PictureQuality(image.image)
        }
    }

    private static func best(of looks: [Look], at own: Look?) -> Look? {
        guard var best = own else { return nil }
        for look in looks where look.quality.isBetter(than: best.quality) { best = look }
        return best
    }

    /// Returns the times to examine for one requested time, nearest first.
    private func candidates(of place: Int) -> [MediaTime] {
        guard case .success(let time) = times.requested[place] else { return [] }
        var reach = Self.reach
        if case .scenes = request.times {
            let next = times.requested.indices.contains(place + 1) ? try? times.requested[place + 1].get() : nil
            let length = min(reach + reach, min(next ?? times.range.end, times.range.end) - time)
            return (0...2 * Self.steps).map {
                time + length.multiplied(by: $0, dividedBy: 2 * Self.steps + 1)
            }
        }
        if let spacing = times.spacing { reach = min(reach, spacing.multiplied(by: 1, dividedBy: 2)) }
        let near = (1...Self.steps).flatMap { step in
            let distance = reach.multiplied(by: step, dividedBy: Self.steps)
            return [time - distance, time + distance]
        }
        return [time] + near.filter { $0 >= times.range.start && !($0 >= times.range.end) }
    }
}

extension PictureQuality {
    fileprivate init(_ picture: Bitmap) {
        let luma = picture.luma()
        self.init(luma: luma.span, width: picture.width, height: picture.height)
    }
}
