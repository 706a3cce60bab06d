import LibAV
import MediaBase

extension FrameFinder {
    /// The picture for `time` where others near enough will do.
    ///
    /// A picture is allowed if its interval meets [time − before, time + after]. Among those the sync sample nearest to
    /// `time` is given, and where there is none the picture at `time` itself. A time before zero or after the asset's
    /// end gives what ``frame(at:)`` gives.
    func frame(at time: MediaTime, before: MediaTime, after: MediaTime) throws(MediaError) -> Found {
        guard time.isNumeric, feed.file.isSeekable, before > .zero || after > .zero else { return try frame(at: time) }
        if let end = try presentationEnd(), time > end { return try frame(at: time) }
        guard time >= .zero else { return try frame(at: time) }
        for candidate in try syncSamples.around(time) where candidate.time <= time + after {
            // One that is over before the presentation begins is never shown.
            if case .picture(let next) = candidate.follower, next <= max(time - before, .zero) { continue }
            do throws(MediaError) {
                let found = try frame(of: candidate)
                if found.frame.time == candidate.time, found.end > time - before { return found }
            } catch {
                // A sync sample that cannot be decoded is none; what ends the work is another matter.
                guard error.code == .outOfRange || error.code == .damaged else { throw error }
            }
        }
        return try frame(at: time)
    }

    /// When the presentation is over; `nil` where the container only estimates it.
    private func presentationEnd() throws(MediaError) -> MediaTime? {
        let contents = try asset.contents()
        let ends = [contents.duration, track.timeRange.end].filter(\.isNumeric)
        return contents.isTimingPrecise ? ends.max() : nil
    }

    /// The picture of a sync sample: decoded alone where its interval is known from packets, else like any other.
    private func frame(of sample: SyncSamples.Sample) throws(MediaError) -> Found {
        if let last = lastSyncPicture, last.frame.time == sample.time { return last }
        if let found = try loneFrame(of: sample) {
            lastSyncPicture = found
            return found
        }
        return try frame(at: sample.time)
    }

    /// Decodes the one packet of a sync sample, without those that follow.
    ///
    /// - Returns: `nil` where that is not sure to be what decoding on would give.
    private func loneFrame(of sample: SyncSamples.Sample) throws(MediaError) -> Found? {
        guard case .picture(let next) = sample.follower else { return nil }
        prepareToDecode()
        guard !track.isAttachedPicture, try feed.move(to: sample.place),
            let packet = try feed.next(), packet.packet.isKey, feed.time(of: packet) == sample.time
        else { return nil }
        defer { prepareToDecode() }
        var waiting: StoredSample? = packet
        let queue = queue { () throws(MediaError) in
            defer { waiting = nil }
            return waiting
        }
        guard let frame = try source.next(from: queue), frame.time == sample.time, frame.isKey, !isDoubtful,
            !frame.picture.frame.isCorrupt
        else { return nil }
        return Found(frame: frame, end: next, isLast: false)
    }
}

extension AssetTrack {
    /// Whether every stored sample is known to be one picture, so that pictures' times are those of samples.
    ///
    /// Not so where fields may be stored apart, or pictures that are never shown, as VP8 and VP9 have them.
    package var storesOnePictureASample: Bool {
        guard let format = formatDescriptions.first, Self.onePictureASample.contains(format.codec) else { return false }
        return format.video?.fieldOrder ?? "progressive" == "progressive"
    }

    private static let onePictureASample: Set<String> = [
        "h264", "hevc", "av1", "mpeg4", "prores", "dnxhd", "mjpeg", "dvvideo", "qtrle", "png", "rawvideo",
    ]
}
