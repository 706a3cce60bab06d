internal import MediaBase

/// A cut as an editing program describes it, in exact times: OpenTimelineIO's model without what nothing is made of.
struct Timeline: Sendable {
    /// Its name; empty where it has none.
    var name: String
    /// What the first frame's time is called, and the rate that it is counted by; `nil` where it begins at zero.
    var globalStart: (time: MediaTime, rate: Rational)?
    /// Its tracks, the lowest first.
    var root: TimelineItem
}

/// A stretch of time with the rate by which it was counted.
struct TimelineRange: Sendable, Hashable {
    /// The first moment.
    var start: MediaTime
    /// How long it is; zero or more.
    var duration: MediaTime
    /// Frames or samples a second.
    var rate: Rational
}

/// Something that takes time in a timeline.
struct TimelineItem: Sendable {
    /// Where it stands, and its name, for messages.
    var described: String
    /// What part of its own time it shows; `nil` for all.
    var sourceRange: TimelineRange?
    /// How fast it plays: 0 stands still.
    var speed = Rational.one
    /// Whether it is shown; if not it takes its time all the same.
    var isEnabled = true
    /// What it is.
    var content: Content

    /// The kinds of items.
    enum Content: Sendable {
        /// Some media.
        case clip(MediaReference)
        /// Nothing for some time.
        case gap
        /// Items one after the other.
        case track(MediaType, [TimelineChild])
        /// Items at the same time, the lowest first.
        case stack([TimelineItem])
    }

    /// An error about it.
    func failure(_ code: MediaError.Code, _ message: String) -> MediaError {
        MediaError(code, "\(described): \(message)")
    }
}

/// What may lie in a track.
enum TimelineChild: Sendable {
    /// Something that takes time.
    case item(TimelineItem)
    /// A passage from the item before to the one behind.
    case dissolve(TimelineDissolve)
}

/// A dissolve around a cut.
struct TimelineDissolve: Sendable {
    /// Where it stands, and its name.
    var described: String
    /// How long before the cut it begins.
    var before: MediaTime
    /// How long behind the cut it ends.
    var behind: MediaTime
}

/// Where a clip's media is.
struct MediaReference: Sendable {
    /// What names the file; `nil` where there is none.
    var url: String?
    /// What is said instead where there is no file: the schema's name.
    var kind: String
    /// The media's own time from its first sample on; `nil` where that is not said.
    var availableRange: TimelineRange?
}
