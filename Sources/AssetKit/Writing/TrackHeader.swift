import LibAV
import MediaBase

/// What an input says of its track as a whole, apart from how its samples are coded.
struct TrackHeader: Sendable {
    /// ISO 639-2 code.
    var language: String?
    var name: String?
    var metadata: [MetadataItem] = []
    var transform: DisplayTransform = .identity
    var timecode: String?
    var isEnabled = true
    var dispositions: [String] = []
    var cleanAperture: CleanAperture?
    var hdr: HDRInfo?
    /// Dolby Vision's configuration record, of samples that are taken as they are.
    var dolbyVision: HDRInfo.DolbyVisionConfiguration?
    var creationTime: String?

    /// The stream that the container is to have.
    func description(of stream: WrittenStream) -> MuxerFile.Stream {
        var description = MuxerFile.Stream(parameters: stream.parameters, timeBase: stream.timeBase)
        description.frameRate = stream.frameRate
        description.sampleAspectRatio = stream.sampleAspectRatio
        description.codecTag = stream.codecTag
        description.dispositions = dispositions
        description.hdr = hdr
        if transform != .identity { description.displayMatrix = transform.matrix }
        var entries = MetadataWriting.entries(metadata)
        func set(_ key: String, _ value: String?) {
            guard let value else { return }
            entries.removeAll { $0.key == key }
            entries.append((key, value))
        }
        set("language", language)
        set("title", name)
        set("timecode", timecode)
        set("creation_time", creationTime)
        // QuickTime keeps a name of each track's handler; libavformat's own says nothing.
        description.metadata = entries
        return description
    }
}

/// From metadata items to libavformat's keys and values.
enum MetadataWriting {
    /// The entries of items that are text, numbers, dates or places.
    static func entries(_ items: [MetadataItem]) -> [(key: String, value: String)] {
        var entries: [(key: String, value: String)] = []
        for item in items {
            guard let text = item.value.text else { continue }
            // Matroska's keys are in capitals.
            let lower = item.identifier.lowercased()
            let key = known.contains(lower) ? lower : item.identifier
            // Muxers look for the key alone first, and then for the one of the same text with a language.
            if let language = item.language { entries.append(("\(key)-\(language)", text)) }
            if item.language == nil
                || !items.contains(where: { $0.identifier == item.identifier && $0.language == nil })
            {
                entries.append((key, text))
            }
        }
        return entries
    }

    /// What QuickTime's and iTunes's own atoms have a place for, by libavformat's names.
    private static let known: Set<String> = [
        "title", "artist", "album_artist", "composer", "author", "album", "date", "encoder", "comment", "genre",
        "copyright", "grouping", "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords",
        "season_number", "episode_sort", "track", "disc", "hd_video", "media_type", "compilation",
        "gapless_playback", "location", "creation_time", "make", "model", "timecode", "tempo",
    ]

    /// What libavformat writes among QuickTime's user data, of which the rest is lost there.
    private static let knownToQuickTime: Set<String> = [
        "title", "artist", "author", "album", "date", "encoder", "comment", "genre", "copyright", "make", "model",
        "location", "creation_time", "timecode",
    ]

    /// Whether there is something that only QuickTime's keys (`mdta`) can name.
    static func needsKeys(_ items: [MetadataItem], in fileType: MediaFileType) -> Bool {
        let known = fileType == .mov ? knownToQuickTime : known.subtracting(["author", "make", "model"])
        return items.contains { $0.value.text != nil && !known.contains($0.identifier.lowercased()) }
    }
}

extension MetadataItem {
    /// Whether it is the place that user data has an atom for.
    var isLocation: Bool { identifier.lowercased() == "location" }
}
