package import MediaBase

/// What is asked of ``ThumbsJob``: when, how near, and how large; the same for every file of a run.
package struct ThumbsRequest: Sendable {
    /// Which times are asked for.
    package enum Times: Sendable {
        /// These, in this order, the same one as often as it is named.
        case at([TimeExpression])
        /// The start of the range and every so long after it, up to and without the range's end.
        case every(Spacing)
        /// The centres of so many equal parts of the range, 1 to ``maximumCount``.
        case count(Int)
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

    /// A request for full-size, upright images of the whole track.
    package init(times: Times) { self.times = times }
}

extension ThumbsRequest {
    /// How many times are asked for, where that does not depend on the file.
    package var count: Int? {
        switch times {
        case .at(let expressions): expressions.count
        case .count(let count): count
        case .every: nil
        }
    }

    /// Whether what is asked for depends on where the track ends, or how long it is.
    var needsTimeRange: Bool {
        guard case .at(let expressions) = times else { return true }
        return expressions.contains { expression in
            switch expression {
            case .end, .percentage: true
            case .time, .timecode, .frame: false
            }
        }
    }

    /// The highest frame number in it; `nil` where there is none.
    var highestFrame: Int64? {
        var expressions = [start, end].compactMap(\.self)
        if case .at(let named) = times { expressions += named }
        return expressions.highestFrame
    }
}
