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
        if let end = try presentationEnd(), time > end {
            let last = try frame(at: time)
            // Where a picture is on screen all the same, the container says too little.
            guard time < last.end else { return last }
        }
        guard time >= .zero else { return try frame(at: time) }
        let (start, end) = (time - before, time + after)
        var nearest = try firstPicture(of: syncSamples.around(time), from: start, to: end)
        if case .untrue = nearest {
            nearest = try firstPicture(of: syncSamples.decoded(around: time), from: start, to: end)
        }
        if case .found(let found) = nearest { return found }
        return try frame(at: time)
    }

    /// The outcome of looking for a sync sample's picture.
    private enum Nearest {
        case found(Found)
        /// None is allowed.
        case none
        /// Decoding shows that what packets say of sync samples does not hold.
        case untrue
    }

    /// The picture of the first of some sync samples that is on screen between two times.
    private func firstPicture(
        of samples: [SyncSamples.Sample], from start: MediaTime, to end: MediaTime
    ) throws(MediaError) -> Nearest {
        for sample in samples where sample.time <= end {
            // One that is over before the presentation begins is never shown.
            if case .picture(let next) = sample.follower, next <= max(start, .zero) { continue }
            let isBelieved = hasTrueSyncSamples || sample.isDecoded
            do throws(MediaError) {
                let found = try frame(of: sample)
                guard found.frame.time == sample.time, found.frame.isKey || isBelieved else {
                    if isBelieved { continue }
                    return .untrue
                }
                if found.end > start { return .found(found) }
            } catch {
                // A sync sample that cannot be decoded is none; what ends the work is another matter.
                guard error.code == .outOfRange || error.code == .damaged else { throw error }
                if error.code == .outOfRange, !isBelieved { return .untrue }
            }
        }
        return .none
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
        guard case .picture(let next) = sample.follower, let place = sample.place else { return nil }
        prepareToDecode()
        guard !track.isAttachedPicture, try feed.move(to: place),
            let packet = try feed.next(), packet.packet.isKey, feed.time(of: packet) == sample.time, !feed.areMisplaced
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
