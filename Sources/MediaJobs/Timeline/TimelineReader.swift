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

/// Reads an OpenTimelineIO file (its JSON form).
struct TimelineReader {
    /// Whether effects that cannot be rendered are left out instead of being errors.
    var ignoresEffects = false
    /// What was left out, in words.
    private(set) var warnings: [String] = []

    /// A file may have so many bytes.
    static let maximumBytes = 256 << 20
    /// Tracks and stacks may lie so deep in each other.
    private static let maximumLevels = 32

    init(ignoresEffects: Bool) { self.ignoresEffects = ignoresEffects }

    /// The timeline in a file's bytes.
    ///
    /// - Throws: `damaged` for what is no OpenTimelineIO, `unsupported` naming the element for what cannot be rendered.
    mutating func read(_ bytes: [UInt8]) throws(MediaError) -> Timeline {
        // Nobody's metadata means anything here, and there may be much of it.
        let tree = try JSONParser.parse(bytes, leavingOut: ["metadata", "markers"])
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
        // What is not shown needs no effects.
        if item.isEnabled { item.speed = try speed(of: object) }
        return item
    }

    /// The children of a track or stack; a track's place is its name where that is short, another's its number.
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
        let behind = try object.time("out_offset")?.time ?? .zero
        guard before >= .zero, behind >= .zero, before + behind > .zero else {
            throw object.failure(.damaged, "its offsets give no length: \(before.seconds) s and \(behind.seconds) s")
        }
        return TimelineDissolve(described: object.described, before: before, behind: behind)
    }

    /// The product of an item's time warps; warnings or errors for its other effects.
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

    /// The media of a clip: version 1 has one reference, version 2 several by name.
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
