import AssetKit
import MediaAnalysis
import MediaBase
import Pictures

/// Chooses a moment near each time asked for at which there is something to be seen, and sharply.
///
/// Nine frames are looked at for each time: on screen at the time itself, and at four moments on either side, evenly
/// spaced up to one second away, or up to half the distance of the times asked for where that is less. Where the times
/// are scenes, all of them lie in the first two seconds of the scene. The best by ``PictureQuality`` is taken; of equal
/// ones the nearest to the time, and of those the earlier. A time outside the track stays what it is, an error.
struct BestMoments {
    let asset: Asset
    let track: AssetTrack
    let request: ThumbsRequest
    let times: ThumbsTimes

    private static let steps: Int64 = 4
    private static let reach = MediaTime(value: 1, timescale: 1)
    /// Pictures are compared in this size.
    private static let pictureSize = Dimensions(width: 320, height: 320)

    /// The chosen moments, one for every time asked for; failures stay.
    func chosen(progress: (Double) -> Void) throws(MediaError) -> [Result<MediaTime, MediaError>] {
        let candidates = times.requested.indices.map { self.candidates(of: $0) }
        let moments = Set(candidates.flatMap(\.self)).sorted()
        var looks: [MediaTime: Look] = [:]
        var small = request
        (small.maximumSize, small.exactSize) = (Self.pictureSize, nil)
        let sweep = ThumbsSweep(asset, track: track, request: small, tolerance: .exact)
        try sweep.run(moments) { _, image in
            (try? image.get()).map { Look(time: $0.actualTime, quality: PictureQuality($0.image)) }
        } deliver: { index, look in
            looks[moments[index]] = look
            progress(Double(index + 1) / Double(moments.count))
        }
        return zip(times.requested, candidates).map { requested, candidates in
            requested.map { Self.best(of: candidates.compactMap { looks[$0] }, at: looks[$0])?.time ?? $0 }
        }
    }

    private struct Look: Sendable {
        let time: MediaTime
        let quality: PictureQuality
    }

    private static func best(of looks: [Look], at own: Look?) -> Look? {
        guard var best = own else { return nil }
        for look in looks where look.quality.isBetter(than: best.quality) { best = look }
        return best
    }

    /// The moments that are looked at for one of the times, the nearest first.
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
