package import AssetKit
package import MediaBase

/// The presentation times of a track's pictures by their number, from 0 in presentation order.
///
/// The file is read when a number is asked for first, and once. Where every stored sample is known to be one picture,
/// their times are read without decoding; elsewhere (fields stored apart, pictures never shown, a stream that begins in
/// the middle) only decoding tells what is shown.
package struct FrameTimes {
    private let asset: Asset
    private let track: AssetTrack
    private let highest: Int64
    private let threads: Int
    private var times: [MediaTime]?

    /// - Parameters:
    ///   - track: A video track of the asset.
    ///   - highest: The highest number that will be asked for; pictures after it are not decoded.
    ///   - threads: Codec threads; 0 for as many as there are cores.
    package init(_ asset: Asset, track: AssetTrack, highest: Int64, threads: Int = 0) {
        self.asset = asset
        self.track = track
        self.highest = highest
        self.threads = threads
    }

    /// When the picture of a number is shown.
    ///
    /// - Throws: `outOfRange` where there are fewer pictures, and what reading throws.
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

    /// The numbers of the pictures on screen at some moments; `nil` for what is before the first picture, or no moment.
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

    /// The times of all pictures.
    mutating func allTimes() throws(MediaError) -> [MediaTime] {
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

    /// The times of the samples as stored; `nil` where samples may be something else than pictures.
    func storedTimes() throws(MediaError) -> [MediaTime]? {
        guard try asset.loadNow(.container).format == .isoMedia,
            track.storesOnePictureASample
        else { return nil }
        var times: [MediaTime] = []
        var isFirst = true
        let output = TrackOutput(track: track)
        try read(output)
        while let sample = try output.nextSampleBuffer() {
            if isFirst, !sample.isSync { return nil }
            isFirst = false
            guard !sample.attachments.contains(.isNotShown) else { continue }
            guard sample.presentationTime.isNumeric, !sample.attachments.contains(.isDamaged) else { return nil }
            times.append(sample.presentationTime)
        }
        times.sort()
        // A picture before time zero is shown only if it still is at zero; of several at one time only one is.
        return times.indices.filter { index in
            guard index + 1 < times.count else { return true }
            return times[index + 1] > times[index] && times[index + 1] > .zero
        }.map { times[$0] }
    }

    /// The times of the pictures that come out of the decoder.
    func decodedTimes() throws(MediaError) -> [MediaTime] {
        var times: [MediaTime] = []
        let output = TrackOutput(track: track, videoSettings: VideoSettings())
        try read(output)
        while Int64(times.count) <= highest, let picture = try output.nextSampleBuffer() {
            times.append(picture.presentationTime)
        }
        return times
    }

    private func read(_ output: TrackOutput) throws(MediaError) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        try reader.add(output)
        try reader.startReading()
    }
}
