import AssetKit
import MediaAnalysis
import MediaBase

/// The times that only a file's content tells: its sync samples, and where its scenes begin.
struct FoundTimes {
    let asset: Asset
    let track: AssetTrack
    /// Codec threads; 0 for as many as there are cores.
    let threads: Int
    /// Gets how far reading came, from 0 to 1.
    let progress: (Double) -> Void

    /// When the sync samples that are shown in a range begin, in rising order; decoded only where stored samples do not tell.
    ///
    /// All samples are read: libavformat's mov demuxer gives wrong times to what follows the samples that it is told to
    /// discard (`AVDISCARD_NONKEY`).
    func syncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: Set<MediaTime> = []
        let output = TrackOutput(track: track)
        var mayMisplace = track.formatDescriptions.first?.video?.reorders == true
        if mayMisplace { mayMisplace = try asset.mayBeginUndecodable() }
        try read(output, range)
        while let sample = try output.nextSampleBuffer() {
            guard sample.isSync, !sample.attachments.contains(.isNotShown) else { continue }
            // Where pictures are reordered, one that is shown when it is decoded has the time of another one.
            let isTimed =
                sample.presentationTime.isNumeric && !(mayMisplace && sample.presentationTime == sample.decodeTime)
            guard isTimed else { return try decodedSyncSamples(in: range) }
            // A picture before time zero is no moment that can be asked for.
            if range.contains(sample.presentationTime) { times.insert(sample.presentationTime) }
        }
        return times.sorted()
    }

    private func decodedSyncSamples(in range: MediaTimeRange) throws(MediaError) -> [MediaTime] {
        var times: [MediaTime] = []
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        try read(output, range)
        while let sample = try output.nextSampleBuffer() {
            if sample.isSync, range.contains(sample.presentationTime) { times.append(sample.presentationTime) }
        }
        return times
    }

    /// The start of a range and every frame in it with which a new shot begins; every frame is decoded once.
    ///
    /// - Parameter threshold: From which ``SceneDetector/score(of:)`` on.
    func scenes(in range: MediaTimeRange, threshold: Double) throws(MediaError) -> [MediaTime] {
        var times = [range.start]
        var detector = SceneDetector()
        let size = (track.naturalSize ?? Self.pictureSize).fitted(into: Self.pictureSize)
        let output = TrackOutput(track: track, videoSettings: VideoSettings(pixelFormat: .gray, dimensions: size))
        try read(output, range)
        while let sample = try output.nextSampleBuffer() {
            guard let picture = sample.pixelBuffer else { continue }
            let score = detector.score(of: picture.packedPlane(0).span)
            if score >= threshold, sample.presentationTime > range.start { times.append(sample.presentationTime) }
            progress((sample.presentationTime - range.start).seconds / range.duration.seconds)
        }
        return times
    }

    /// What frames are scaled down to before they are compared: details and noise are no matter for that.
    private static let pictureSize = Dimensions(width: 160, height: 160)

    private func read(_ output: TrackOutput, _ range: MediaTimeRange) throws(MediaError) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        reader.timeRange = range
        try reader.add(output)
        try reader.startReading()
    }
}
