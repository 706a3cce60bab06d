internal import AssetKit
internal import Bitstreams
package import MediaBase

/// What the numbers of colours mean, by all who say so.
package struct ColorReport: Encodable, Sendable {
    /// What the container says, apart from the coded pictures.
    package var container: ColorInfo?
    /// What the coded pictures' own headers say; for codecs whose headers are not read, libavformat's word where the
    /// container has none.
    package var stream: ColorInfo?
    /// What a decoder goes by, as libavformat works it out of both.
    package var effective: ColorInfo?
    /// Whether container and stream name something and disagree; `nil` unless both are known.
    package var conflict: Bool?

    /// The report; `nil` where nothing is known.
    init?(container: ColorInfo?, headers: PictureHeaders?, effective: ColorInfo) {
        self.container = container
        stream = headers?.sequence == nil && container == nil ? effective : headers?.color
        if stream?.isUnknown == true { stream = nil }
        self.effective = effective.isUnknown ? container ?? stream : effective
        if self.effective == nil { return nil }
        if let container, let stream { conflict = container.contradicts(stream) }
    }
}

extension ColorInfo {
    /// Whether something is named on both sides and not alike.
    fileprivate func contradicts(_ other: ColorInfo) -> Bool {
        let pairs = [
            (primaries, other.primaries), (transfer, other.transfer), (matrix, other.matrix), (range, other.range),
            (chromaLocation, other.chromaLocation),
        ]
        return pairs.contains { mine, theirs in mine != nil && theirs != nil && mine != theirs }
    }
}

/// Who says what of the fields of frames.
package struct FieldsReport: Encodable, Sendable {
    /// What the container says: `progressive`, `tt` or `bb`.
    package var container: String?
    /// What the coded pictures' headers say: also `interlaced` where they do not tell the order.
    package var stream: String?
    /// Whether both name something and disagree; `nil` unless both are known.
    package var conflict: Bool?

    /// The report; `nil` where nothing is known.
    init?(container: String?, stream: String?) {
        guard container != nil || stream != nil else { return nil }
        self.container = container
        self.stream = stream
        guard let container, let stream else { return }
        let isLooser = stream == "interlaced" && container != "progressive"
        conflict = container != stream && !isLooser
    }

    /// The order by whoever tells it, the pictures before the container.
    var order: String? { stream == "interlaced" ? container == "progressive" ? nil : container : stream ?? container }
}
