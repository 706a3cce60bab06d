package import AssetKit
package import MediaBase

/// The presentation times of a track's frames by their number, from 0 in presentation order.
///
/// The file is read once, on first use. If every stored sample is known to be one frame, the times are read without
/// decoding. Otherwise (separately stored fields, frames that are never shown, a stream that starts in the middle),
/// only decoding shows which frames there are.
package struct FrameTimes {
    private let asset: Asset
    private let track: AssetTrack
    private let highest: Int64
    private let threads: Int
    private var times: [MediaTime]?

    /// - Parameters:
    ///   - track: A video track of the asset.
    ///   - highest: The highest number that will be requested; frames after it are not decoded.
    ///   - threads: The number of codec threads; 0 for one per core.
    package init(_ asset: Asset, track: AssetTrack, highest: Int64, threads: Int = 0) {
        self.asset = asset
        self.track = track
        self.highest = highest
        self.threads = threads
    }

    /// Returns the presentation time of a frame by its number.
    ///
    /// - Throws: `outOfRange` if there are fewer frames, and reading errors.
    package mutating func time(of number: Int64) throws(MediaError) -> MediaTime {
        let times = try allTimes()
        guard let index = Int(exactly: number), times.indices.contains(index) else {
            throw MediaError(
                .outOfRange,
                times.isEmpty
                    ? "there is no frame \(number): the track has no picture that can be decoded"
                    : "there is no frame \(number): the last one is \(times.count - 1)")
        }
        return times[index]
    }

    /// Returns the numbers of the frames on screen at given times; `nil` for failures and times before the first frame.
    package mutating func numbers(at moments: [Result<MediaTime, MediaError>]) throws(MediaError) -> [Int64?] {
        let times = try allTimes()
        return moments.map { moment in
            guard case .success(let moment) = moment else { return nil }
            var (low, high) = (0, times.count)
            while low < high {
                let middle = (low + high) / 2
                if times[middle] <= moment { low = middle + 1 } else { high = middle }
            }
            return low > 0 ? Int64(low - 1) : nil
        }
    }

    /// Returns the times of all frames.
    package mutating func allTimes() throws(MediaError) -> [MediaTime] {
        if let times { return times }
        let read: [MediaTime]
        if let frame = asset.frameDuration {
            let count = Rational(track.timeRange.end)?.divided(by: Rational(frame) ?? .one)?.rounded(.up) ?? 0
            read = (0..<max(0, min(count, highest == .max ? count : highest + 1))).map { frame.multiplied(by: $0) }
        } else if let stored = try storedTimes() {
            read = stored
        } else {
            read = try decodedTimes()
        }
        times = read
        return read
    }

    /// Returns the times of the stored samples; `nil` if samples may be something other than frames.
    func storedTimes() throws(MediaError) -> [MediaTime]? {
        guard try asset.loadNow(.container).format == .isoMedia,
            track.storesOnePictureASample
        else { return nil }
        var times: [MediaTime] = []
        var isFirst = true
        let output = try asset.samplesNow(of: track, as: .stored, threads: threads)
        while let sample = try output.nextSampleBuffer() {
            if isFirst, !sample.isSync { return nil }
            isFirst = false
            guard !sample.attachments.contains(.isNotShown) else { continue }
            guard sample.presentationTime.isNumeric, !sample.attachments.contains(.isDamaged) else { return nil }
            times.append(sample.presentationTime)
        }
        times.sort()
        // A frame before time zero is shown only if it is still on screen at zero; of several at the same time only one
        // is shown.
        return times.indices.filter { index in
            guard index + 1 < times.count else { return true }
            return times[index + 1] > times[index] && times[index + 1] > .zero
        }.map { times[$0] }
    }

    /// Returns the times of the decoded frames.
    func decodedTimes() throws(MediaError) -> [MediaTime] {
        var times: [MediaTime] = []
        let output = try asset.samplesNow(of: track, as: .video(VideoSettings()), threads: threads)
        while Int64(times.count) <= highest, let picture = try output.nextSampleBuffer() {
            times.append(picture.presentationTime)
        }
        return times
    }
}
