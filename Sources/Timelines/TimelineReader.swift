internal import JSONText
internal import MediaBase

/// An edit as described by an editing program, with exact times.
///
/// This is OpenTimelineIO's model without the parts that are not used for rendering.
struct Timeline: Sendable {
    /// The name; empty if it has none.
    var name: String
    /// The time of the first frame, and the rate that it counts; `nil` if the timeline starts at zero.
    var globalStart: (time: MediaTime, rate: Rational)?
    /// The tracks, lowest first.
    var root: TimelineItem
}

/// A time range, with the rate in which it was counted.
struct TimelineRange: Sendable, Hashable {
    /// The start time.
    var start: MediaTime
    /// The duration, zero or more.
    var duration: MediaTime
    /// The frames or samples per second.
    var rate: Rational
}

/// An element with a duration in a timeline.
struct TimelineItem: Sendable {
    /// The location and the name, for messages.
    var described: String
    /// The part of the item's own time that is shown; `nil` for all.
    var sourceRange: TimelineRange?
    /// The playback speed; 0 for a freeze frame.
    var speed = Rational.one
    /// Indicates whether the item is shown; a disabled item still occupies its time.
    var isEnabled = true
    /// The content of the item.
    var content: Content

    /// The kinds of items.
    enum Content: Sendable {
        /// A part of a media file.
        case clip(MediaReference)
        /// An empty interval.
        case gap
        /// Sequential items.
        case track(MediaType, [TimelineChild])
        /// Simultaneous items, lowest first.
        case stack([TimelineItem])
    }

    /// Returns an error about the item.
    func failure(_ code: MediaError.Code, _ message: String) -> MediaError {
        MediaError(code, "\(described): \(message)")
    }
}

/// A child of a track.
enum TimelineChild: Sendable {
    /// An element with a duration.
    case item(TimelineItem)
    /// A dissolve from the previous item to the next one.
    case dissolve(TimelineDissolve)
}

/// A dissolve at a cut.
struct TimelineDissolve: Sendable {
    /// The location and the name, for messages.
    var described: String
    /// The duration of the dissolve before the cut.
    var before: MediaTime
    /// The duration of the dissolve after the cut.
    var after: MediaTime
}

/// A clip's reference to its media.
struct MediaReference: Sendable {
    /// The URL or path of the file; `nil` if there is none.
    var url: String?
    /// The name of the reference's schema.
    var kind: String
    /// The media's own time range, starting with its first sample; `nil` if not declared.
    var availableRange: TimelineRange?
}

/// Reads an OpenTimelineIO file (its JSON form).
struct TimelineReader {
    /// Indicates whether effects that cannot be rendered are ignored instead of being errors.
    var ignoresEffects = false
    /// Messages about effects that were left out.
    private(set) var warnings: [String] = []

    /// The maximum size of a file in bytes.
    static let maximumBytes = 256 << 20
    /// The maximum nesting depth of tracks and stacks.
    private static let maximumLevels = 32

    init(ignoresEffects: Bool) { self.ignoresEffects = ignoresEffects }

    /// Reads the timeline in a file's contents.
    ///
    /// - Throws: `damaged` if it is not OpenTimelineIO, `unsupported` with the name of an element that cannot be
    ///   rendered.
    mutating func read(_ bytes: [UInt8]) throws(MediaError) -> Timeline {
        // Metadata is not used and may be large.
        let tree = try JSONReader.parse(bytes, leavingOut: ["metadata", "markers"])
        return try timeline(OTIOObject(tree, place: "the file"))
    }

    private mutating func timeline(_ object: OTIOObject) throws(MediaError) -> Timeline {
        switch object.schema {
        case "Timeline":
            guard let tracks = try object.object("tracks", place: "tracks") else {
                throw object.failure(.damaged, "it has no tracks")
            }
            guard tracks.schema == "Stack" else {
                throw tracks.failure(.damaged, "the tracks of a timeline are a Stack, not a \(tracks.schema)")
            }
            return Timeline(
                name: try object.string("name") ?? "", globalStart: try object.time("global_start_time"),
                root: try item(tracks, level: 1))
        case "SerializableCollection":
            let children = try object.list("children")
            var timelines: [OTIOObject] = []
            for (index, child) in children.enumerated() {
                let child = try OTIOObject(child, place: "\(index)")
                if child.schema == "Timeline" { timelines.append(child) }
            }
            guard let only = timelines.first, timelines.count == 1 else {
                let names = timelines.prefix(8).map(\.described).joined(separator: ", ")
                throw object.failure(
                    .unsupported,
                    timelines.isEmpty
                        ? "the collection has no Timeline"
                        : "the collection has \(timelines.count) timelines (\(names)); write the wanted one to a file of its own"
                )
            }
            return try timeline(only)
        case "Stack", "Track":
            return Timeline(name: try object.string("name") ?? "", root: try item(object, level: 1))
        default:
            throw object.failure(.unsupported, "a \(object.schema) is not a timeline; write a Timeline")
        }
    }

    private mutating func item(_ object: OTIOObject, level: Int) throws(MediaError) -> TimelineItem {
        guard level <= Self.maximumLevels else {
            throw object.failure(.limitExceeded, "tracks and stacks lie more than \(Self.maximumLevels) levels deep")
        }
        let content: TimelineItem.Content
        switch object.schema {
        case "Clip": content = .clip(try reference(of: object))
        case "Gap", "Filler": content = .gap
        case "Stack":
            var items: [TimelineItem] = []
            for child in try children(of: object) {
                guard child.schema != "Transition" else {
                    throw child.failure(.damaged, "a transition lies in a track, not in a stack")
                }
                items.append(try item(child, level: level + 1))
            }
            content = .stack(items)
        case "Track", "Sequence":
            var items: [TimelineChild] = []
            for child in try children(of: object) {
                items.append(
                    child.schema == "Transition"
                        ? .dissolve(try dissolve(child)) : .item(try item(child, level: level + 1)))
            }
            content = .track(try kind(of: object), items)
        default:
            throw object.failure(.unsupported, "a \(object.schema) cannot be exported; take it out of the timeline")
        }
        var item = TimelineItem(described: object.described, content: content)
        item.sourceRange = try object.range("source_range")
        item.isEnabled = try object.bool("enabled", or: true)
        // The effects of an item that is not shown do not matter.
        if item.isEnabled { item.speed = try speed(of: object) }
        return item
    }

    /// Returns the children of a track or stack; a track's location uses its name if that is short, others use their
    /// index.
    private func children(of object: OTIOObject) throws(MediaError) -> [OTIOObject] {
        var children: [OTIOObject] = []
        for (index, value) in try object.list("children").enumerated() {
            var child = try OTIOObject(value, place: "\(object.place)/\(index)")
            if child.schema == "Track", let name = try child.string("name"), !name.isEmpty, !name.contains("/"),
                name.utf8.count <= OTIOObject.maximumNameBytes
            {
                child = try OTIOObject(value, place: "\(object.place)/\(name)")
            }
            children.append(child)
        }
        return children
    }

    private func kind(of track: OTIOObject) throws(MediaError) -> MediaType {
        switch try track.string("kind") ?? "Video" {
        case "Video": return .video
        case "Audio": return .audio
        case let other:
            throw track.failure(.unsupported, "a track of kind \(other) cannot be exported; only Video and Audio")
        }
    }

    private func dissolve(_ object: OTIOObject) throws(MediaError) -> TimelineDissolve {
        let type = try object.string("transition_type") ?? ""
        guard type == "SMPTE_Dissolve" else {
            throw object.failure(
                .unsupported, "a transition of type '\(type)' cannot be exported; only SMPTE_Dissolve")
        }
        let before = try object.time("in_offset")?.time ?? .zero
        let after = try object.time("out_offset")?.time ?? .zero
        guard before >= .zero, after >= .zero, before + after > .zero else {
            throw object.failure(.damaged, "its offsets give no length: \(before.seconds) s and \(after.seconds) s")
        }
        return TimelineDissolve(described: object.described, before: before, after: after)
    }

    /// Returns the product of an item's time warps; other effects cause warnings or errors.
    private mutating func speed(of object: OTIOObject) throws(MediaError) -> Rational {
        var speed = Rational.one
        for (index, value) in try object.list("effects").enumerated() {
            let effect = try OTIOObject(value, place: "\(object.place)/effects/\(index)")
            guard try effect.bool("enabled", or: true) else { continue }
            switch effect.schema {
            case "FreezeFrame": speed = .zero
            case "LinearTimeWarp":
                let scalar = try effect.number("time_scalar") ?? 1
                guard scalar >= 0, scalar <= 1000, let factor = Rational(nearest: scalar),
                    let product = speed.multiplied(by: factor)
                else {
                    throw object.failure(
                        .unsupported, "it plays at \(scalar) times its speed; only 0 to 1000 can be exported")
                }
                speed = product
            default:
                let name = try effect.string("effect_name").flatMap { $0.isEmpty ? nil : $0 } ?? effect.schema
                guard ignoresEffects else {
                    throw object.failure(
                        .unsupported, "the effect \(name) cannot be exported; --ignore-effects leaves it out")
                }
                warnings.append("\(object.described): the effect \(name) was left out")
            }
        }
        return speed
    }

    /// Returns the media of a clip; version 1 has one reference, version 2 has several by name.
    private func reference(of clip: OTIOObject) throws(MediaError) -> MediaReference {
        let object: OTIOObject?
        if clip.version == 1 {
            object = try clip.object("media_reference")
        } else {
            let key = try clip.string("active_media_reference_key") ?? "DEFAULT_MEDIA"
            object = try clip.entry(key, of: "media_references")
        }
        guard let object else { return MediaReference(url: nil, kind: "MissingReference") }
        let range = try object.range("available_range")
        guard object.schema == "ExternalReference" else {
            return MediaReference(url: nil, kind: object.schema, availableRange: range)
        }
        guard let url = try object.string("target_url"), !url.isEmpty else {
            throw clip.failure(.damaged, "its ExternalReference has no target_url")
        }
        return MediaReference(url: url, kind: object.schema, availableRange: range)
    }
}
