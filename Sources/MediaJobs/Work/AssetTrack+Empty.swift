internal import AssetKit
internal import MediaBase

extension AssetTrack {
    /// Reports whether the container itself says that there is nothing in the track.
    ///
    /// - Parameter isFragmented: Whether samples lie in fragments, which the movie's own tables do not count.
    func isSaidToBeEmpty(inFragments isFragmented: Bool) -> Bool {
        if sampleCount == 0, !isFragmented { return true }
        // An edit list may hide all there is, or be nothing but gaps.
        return !segments.isEmpty && (timeRange.duration == .zero || segments.allSatisfy { $0.mediaStart == nil })
    }

    /// Reports whether the container says how long the track is, and that something is in it.
    func statesContent(inFragments isFragmented: Bool) -> Bool {
        timeRange.duration.isNumeric && timeRange.duration > .zero && !isSaidToBeEmpty(inFragments: isFragmented)
    }

    /// The error of a track that gave not one sample although the container says that it has some.
    var errorOfNothing: MediaError {
        let length = Rational(timeRange.duration).map { ", of which the container says \(QuantityText.decimal($0)) s" }
        return MediaError(.damaged, "not one sample of track \(index) (\(mediaType)) could be read\(length ?? "")")
    }
}
