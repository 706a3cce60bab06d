internal import AssetKit
package import MediaBase
package import Pictures

/// What is asked of ``ThumbsJob``: when, how near, and how large; the same for every file of a run.
package struct ThumbsRequest: Sendable {
    /// Which times are asked for.
    package enum Times: Sendable {
        /// These, in this order, the same one as often as it is named.
        case at([NamedTime])
        /// The start of the range and every so long after it, up to and without the range's end.
        case every(Spacing)
        /// The centres of so many equal parts of the range, 1 to ``maximumCount``.
        case count(Int)
        /// Every sync sample that is shown in the range.
        case keyframes
        /// The start of the range and every frame in it with which a new shot begins.
        ///
        /// The threshold is that of ``SceneDetector``, above 0 and up to 100.
        case scenes(threshold: Double)
    }

    /// A time and the words in which it was asked for.
    package struct NamedTime: Sendable, Hashable {
        /// The time, which a file may not have.
        package var time: TimeExpression
        /// As it was written.
        package var text: String

        /// Makes a named time of both.
        package init(_ time: TimeExpression, text: String) {
            self.time = time
            self.text = text
        }
    }

    /// How far apart times are.
    package enum Spacing: Sendable {
        /// A time above zero.
        case time(MediaTime)
        /// A part of the range, above zero.
        case part(Rational)
    }

    /// How far an image may be from the time asked for, so that a sync sample near enough is used.
    package struct Tolerance: Sendable, Hashable {
        /// How much earlier.
        package var before: MediaTime
        /// How much later.
        package var after: MediaTime

        /// Makes a tolerance of two times of zero or more.
        package init(before: MediaTime, after: MediaTime) {
            self.before = before
            self.after = after
        }

        /// The picture on screen at the time, and no other.
        package static let exact = Tolerance(before: .zero, after: .zero)
        /// The nearest sync sample, wherever that is.
        package static let keyframe = Tolerance(before: .positiveInfinity, after: .positiveInfinity)
    }

    /// How images get a size that is the same for all.
    package struct ExactSize: Sendable, Hashable {
        /// Width and height in pixels.
        package var dimensions: Dimensions
        /// Whether pictures cover it all and are cut, instead of being shown whole.
        package var crops: Bool
        /// What is where no picture is; pictures are never enlarged.
        package var background: Color

        /// Makes an exact size.
        package init(_ dimensions: Dimensions, crops: Bool, background: Color) {
            self.dimensions = dimensions
            self.crops = crops
            self.background = background
        }
    }

    /// Which part of a stored picture an image shows.
    package enum Aperture: String, Sendable, CaseIterable {
        /// The clean aperture, with square pixels.
        case clean
        /// The whole picture, with square pixels.
        case production
        /// The whole picture, pixel by pixel.
        case encoded
    }

    /// The most times that one request may mean.
    package static let maximumCount = 100_000

    /// Which times are asked for.
    package var times: Times
    /// Where the range begins; `nil` for the track's start.
    package var start: TimeExpression?
    /// Where the range ends; `nil` for the track's end, which also limits it.
    package var end: TimeExpression?
    /// How far an image may be from its time; `nil` for exact where times are named, else half the spacing.
    package var tolerance: Tolerance?
    /// The size that images are fitted into; a side of 0 sets no limit.
    package var maximumSize = Dimensions(width: 0, height: 0)
    /// The size that all images get; `nil` for what they are by ``maximumSize``, which does not hold beside it.
    package var exactSize: ExactSize?
    /// Whether the sharpest frame near each time that is not black is taken instead of the frame at the time; see
    /// ``BestFrameSelection``.
    package var prefersBest = false
    /// Whether images are turned upright.
    package var appliesRotation = true
    /// Which part of the stored pictures is shown, in which shape.
    package var aperture = Aperture.clean
    /// Whether HDR keeps its coded values; else it is mapped to sRGB.
    package var keepsDynamicRange = false
    /// Whether pictures that consist of two fields are made one.
    package var deinterlaces = false
    /// The track; `nil` for the first enabled video track.
    package var track: TrackSelector?
    /// Codec threads; 0 for as many as there are cores.
    package var threads = 0
    /// Whether damage on the way to the images is an error, after which none of them is there.
    package var isStrict = false

    /// A request for full-size, upright images of the whole track.
    package init(times: Times) { self.times = times }
}

extension ThumbsRequest {
    /// How many times are asked for, where that does not depend on the file.
    package var count: Int? {
        switch times {
        case .at(let named): named.count
        case .count(let count): count
        case .every, .keyframes, .scenes: nil
        }
    }

    /// How often pictures are decoded for it: to find scenes, to find the best frames, and to make the images.
    var passes: Int {
        var passes = prefersBest ? 2 : 1
        if case .scenes = times { passes += 1 }
        return passes
    }

    /// A time as it was written; `nil` where times were not named.
    func text(ofTime place: Int) -> String? {
        guard case .at(let named) = times, named.indices.contains(place) else { return nil }
        return named[place].text
    }

    /// The request with the largest size that images may have for what becomes of them.
    ///
    /// For an exact size, it lets them cover what is to be cropped; for sheets, pictures of every shape, as where it
    /// changes in mid-stream, fit into the tiles of the track's own shape.
    func boxed(for track: AssetTrack, onSheets: Bool) -> ThumbsRequest {
        var copy = self
        let shown = shownSize(of: track)
        guard let exactSize else {
            if onSheets, let shown { copy.maximumSize = shown.tile(in: maximumSize) }
            return copy
        }
        copy.maximumSize = exactSize.dimensions
        guard exactSize.crops, let shown else { return copy }
        let asWide = shown.width.multipliedReportingOverflow(by: exactSize.dimensions.height)
        let asHigh = shown.height.multipliedReportingOverflow(by: exactSize.dimensions.width)
        guard !asWide.overflow, !asHigh.overflow else { return copy }
        // What is wider than wanted is limited by its height alone, so that it covers the width.
        if asWide.partialValue >= asHigh.partialValue {
            copy.maximumSize = Dimensions(width: 0, height: exactSize.dimensions.height)
        } else {
            copy.maximumSize = Dimensions(width: exactSize.dimensions.width, height: 0)
        }
        return copy
    }

    private func shownSize(of track: AssetTrack) -> Dimensions? {
        guard let video = track.formatDescriptions.first?.video else { return nil }
        let stored = video.presentationDimensions(
            usePixelAspectRatio: aperture != .encoded, useCleanAperture: aperture == .clean)
        return appliesRotation ? track.preferredTransform.apply(to: stored) : stored
    }

    /// Whether what is asked for depends on where the track ends, or how long it is.
    var needsTimeRange: Bool {
        guard case .at(let named) = times, !prefersBest else { return true }
        return named.contains { named in
            switch named.time {
            case .end, .percentage: true
            case .time, .timecode, .frame: false
            }
        }
    }

    /// The highest frame number in it; `nil` where there is none.
    var highestFrame: Int64? {
        var expressions = [start, end].compactMap(\.self)
        if case .at(let named) = times { expressions += named.map(\.time) }
        return expressions.highestFrame
    }
}

extension Dimensions {
    /// The largest size in a box into which a picture of this shape fits exactly, and not a rounded pixel smaller.
    fileprivate func tile(in box: Dimensions) -> Dimensions {
        var tile = fitted(into: box)
        // Each step takes a pixel off one side at most, and few are ever needed.
        for _ in 0..<8 {
            let again = fitted(into: tile)
            if again == tile { break }
            tile = again
        }
        return tile
    }
}
