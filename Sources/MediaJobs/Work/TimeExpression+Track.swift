package import AssetKit
package import MediaBase

extension TimeExpression.Context {
    /// What is known of a track and its asset for telling the times that are asked for in it.
    ///
    /// The start timecode is the track's own, else that of its timecode track, else the container's; it names the
    /// track's first picture.
    ///
    /// - Throws: what opening the asset throws.
    package init(_ track: AssetTrack, in asset: Asset) throws(MediaError) {
        let frameRate = track.pictureRate
        let timecodes = try Self.startTimecodes(track, in: asset)
        let timecode = timecodes.lazy.compactMap { Self.timecode($0, frameRate: frameRate) }.first
        let scale = track.naturalTimeScale
        self.init(
            timeRange: track.timeRange, frameRate: frameRate, startTimecode: timecode,
            timecodeOrigin: timecode == nil ? .zero : track.timeRange.start, timestampScale: scale > 0 ? scale : nil)
    }

    private static func startTimecodes(_ track: AssetTrack, in asset: Asset) throws(MediaError) -> [String] {
        let associated = Set(track.associatedTracks["tmcd"] ?? [])
        let others = try asset.loadNow(.tracks).filter { associated.contains($0.id) }.map(\.startTimecode)
        return ([track.startTimecode] + others + [try asset.loadNow(.container).startTimecode]).compactMap(\.self)
    }

    private static func timecode(_ text: String, frameRate: Rational?) -> Timecode? {
        guard let frameRate, let fields = try? Timecode.Fields(parsing: text),
            let rate = try? Timecode.Rate(frameRate: frameRate, isDropFrame: fields.isDropFrame)
        else { return nil }
        return try? Timecode(fields, rate: rate)
    }
}

extension Sequence<TimeExpression> {
    /// The highest frame number among the times; `nil` where none is one.
    var highestFrame: Int64? {
        compactMap { if case .frame(let number) = $0 { number } else { nil } }.max()
    }
}
