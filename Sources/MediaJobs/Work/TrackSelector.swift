package import AssetKit
package import MediaBase

/// Which track a person means: `3` (its index), `a:1` (the second audio track) or `id:5` (the container's number).
///
/// ```swift
/// let track = try TrackSelector(parsing: "a:1").track(of: .audio, in: tracks)
/// ```
package enum TrackSelector: Sendable, Hashable {
    /// The place in the container, from 0: ``AssetTrack/index``, as probe prints it.
    case index(Int)
    /// The place among the tracks of a type, from 0.
    case ordinal(MediaType, Int)
    /// The container's own number: ``AssetTrack/id``.
    case id(Int)

    /// The forms, for help texts and error messages.
    package static let forms =
        "an index (3), a type with a number from 0 (a:1, v:0, s:0, d:0) or an id (id:5, id:0x101)"

    private static let letters: [Substring: MediaType] = ["a": .audio, "v": .video, "s": .subtitle, "d": .data]

    /// Reads one of the ``forms``.
    ///
    /// - Throws: ``MediaError`` `invalidArgument`, naming the forms, for every other text.
    package init(parsing text: String) throws(MediaError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 1, let index = Self.number(parts[0]) {
            self = .index(index)
        } else if parts.count == 2, parts[0] == "id", let id = Self.number(parts[1], allowsHexadecimal: true) {
            self = .id(id)
        } else if parts.count == 2, let type = Self.letters[parts[0]], let ordinal = Self.number(parts[1]) {
            self = .ordinal(type, ordinal)
        } else {
            throw MediaError(.invalidArgument, "'\(text.prefix(40))' names no track; write \(Self.forms)")
        }
    }

    private static func number(_ text: Substring, allowsHexadecimal: Bool = false) -> Int? {
        let isHexadecimal = allowsHexadecimal && text.hasPrefix("0x")
        let digits = isHexadecimal ? text.dropFirst(2) : text
        // `Int` would take a sign.
        guard let first = digits.first, first != "+", first != "-" else { return nil }
        return Int(digits, radix: isHexadecimal ? 16 : 10)
    }
}

extension TrackSelector {
    /// The track that is meant.
    ///
    /// - Parameters:
    ///   - type: What the track must carry.
    ///   - tracks: All tracks of the asset.
    /// - Throws: ``MediaError`` `noSuchTrack`, naming the tracks that there are.
    package func track(of type: MediaType, in tracks: [AssetTrack]) throws(MediaError) -> AssetTrack {
        let found =
            switch self {
            case .index(let index): tracks.first { $0.index == index }
            case .ordinal(let type, let ordinal): tracks.filter { $0.mediaType == type }.dropFirst(ordinal).first
            case .id(let id): tracks.first { $0.id == id }
            }
        guard let found else {
            throw MediaError(.noSuchTrack, "there is no track \(self); \(Self.list(tracks))")
        }
        guard found.mediaType == type else {
            throw MediaError(
                .noSuchTrack, "track \(self) carries \(found.mediaType), not \(type); \(Self.list(tracks))")
        }
        return found
    }

    /// The track that is meant where nobody named one: the first enabled one of the type, else its first.
    ///
    /// Cover pictures are taken only where there is nothing else.
    ///
    /// - Throws: ``MediaError`` `noSuchTrack`, naming the tracks that there are.
    package static func standardTrack(of type: MediaType, in tracks: [AssetTrack]) throws(MediaError) -> AssetTrack {
        let candidates = tracks.filter { $0.mediaType == type }
        let moving = candidates.filter { !$0.isAttachedPicture }
        guard let track = moving.first(where: \.isEnabled) ?? moving.first ?? candidates.first else {
            throw MediaError(.noSuchTrack, "there is no \(type) track; \(list(tracks))")
        }
        return track
    }

    /// The tracks of sound that are meant, in the order of the file: all where nobody named any.
    ///
    /// - Throws: ``MediaError`` `noSuchTrack`, naming the tracks that there are.
    static func audioTracks(_ wanted: [TrackSelector]?, in tracks: [AssetTrack]) throws(MediaError) -> [AssetTrack] {
        let all = tracks.filter { $0.mediaType == .audio }
        guard let wanted else { return all }
        var indices: Set<Int> = []
        for selector in wanted { indices.insert(try selector.track(of: .audio, in: tracks).index) }
        return all.filter { indices.contains($0.index) }
    }

    private static func list(_ tracks: [AssetTrack]) -> String {
        guard !tracks.isEmpty else { return "the file has no tracks" }
        let shown = tracks.prefix(16).map { "\($0.index) (\($0.mediaType))" }.joined(separator: ", ")
        return "the file has \(shown)" + (tracks.count > 16 ? " and \(tracks.count - 16) more" : "")
    }
}

extension TrackSelector: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    package var description: String {
        switch self {
        case .index(let index): "\(index)"
        case .ordinal(let type, let ordinal): "\(type.rawValue.prefix(1)):\(ordinal)"
        case .id(let id): "id:\(id)"
        }
    }
}
