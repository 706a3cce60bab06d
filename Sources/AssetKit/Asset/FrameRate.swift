import Bitstreams
import LibAV
import MediaBase

/// How many frames a track has a second, and who says so.
struct FrameRate: Sendable, Hashable {
    /// The rate that is stated; else one on whose clock the first frames lie; `nil` where nothing is known.
    var nominal: Rational?
    /// Averaged over the track, or over its first frames; `nil` where nothing is known.
    var average: Rational?
    /// Nobody states the rates: both are libavformat's guess by the first time stamps.
    var isEstimate = false

    /// Nothing is known.
    init() {}

    /// The rates of a stream of pictures.
    ///
    /// The tables of an MP4 or QuickTime file come first, then what the container's header or the codec's states, then what
    /// reading all packets showed, and at last libavformat's estimate (`r_frame_rate`), which is another one in each of its
    /// versions.
    ///
    /// - Parameters:
    ///   - edits: What the boxes say of the track; `nil` for other formats.
    ///   - measured: What reading all packets showed; `nil` where they were not read.
    init(of stream: StreamInfo, edits: TrackEdits?, measured: PacketStatistics?) {
        // libavformat makes up one tick of the clock.
        if edits?.isEmpty == true, measured == nil { return }
        nominal = stream.nominalFrameRate
        average = stream.averageFrameRate
        guard stream.attachedPicture == nil else { return }
        let found = measured?.frameDuration.average.flatMap { Rational($0)?.inverse }
        if let rate = edits?.constantRate {
            nominal = rate
        } else if edits != nil, edits?.isFragmented == false, edits?.isConstantRate == false {
            // The average is that of the tables; on which clock all frames lie is supposed.
            isEstimate = true
        } else if let rate = stream.statedFrameRate {
            // libavformat averages over the first time stamps.
            nominal = rate
            average = measured?.isEven == false ? found ?? rate : rate
        } else if let found {
            // Clocks of milliseconds round what is measured; a supposed rate that fits is the right one.
            let isFitting = nominal.map { (found.doubleValue / $0.doubleValue - 1).magnitude < 0.002 } ?? false
            average = measured?.isEven == true && isFitting ? nominal : found
            nominal = measured?.isEven == true ? average : nil
        } else {
            isEstimate = nominal != nil || average != nil
        }
    }
}

extension StreamInfo {
    /// Takes the rate that the codec's header fixes, where the container states none.
    mutating func stateCodedFrameRate() {
        guard statedFrameRate == nil, attachedPicture == nil,
            ["h264", "mpeg1video", "mpeg2video"].contains(format.codec)
        else { return }
        let headers = PictureHeaders(codec: format.codec, header: format.extradata, sample: [])
        statedFrameRate = headers.sequence?.fixedFrameRate
    }
}
