package import ISOMedia
package import MediaBase

/// The metadata of an MP4 or QuickTime file: the vocabulary of each key, by libavformat's name, and the typed values.
package struct MetadataKeySpaces: Sendable {
    private var spaces: [String: MetadataItem.KeySpace] = [:]
    /// The metadata values, in file order.
    package let items: [MetadataItem]

    /// libavformat's names for four-character keys, if they differ from the characters (`mov.c`).
    private static let names: [FourCC: String] = [
        "©nam": "title", "©ART": "artist", "aART": "album_artist", "©alb": "album", "©day": "date", "©cmt": "comment",
        "©gen": "genre", "gnre": "genre", "©wrt": "composer", "©com": "composer", "©too": "encoder", "©enc": "encoder",
        "©swr": "encoder", "©cpy": "copyright", "cprt": "copyright", "desc": "description", "©des": "description",
        "ldes": "synopsis", "tvsh": "show", "tven": "episode_id", "tvnn": "network", "keyw": "keywords",
        "©grp": "grouping", "©lyr": "lyrics", "trkn": "track", "disk": "disc", "cpil": "compilation", "tmpo": "tmpo",
        "pgap": "gapless_playback", "rtng": "rating", "purd": "purchase_date", "stik": "media_type",
        "hdvd": "hd_video", "catg": "category", "sonm": "sort_name", "soar": "sort_artist", "soal": "sort_album",
        "soaa": "sort_album_artist", "soco": "sort_composer", "sosn": "sort_show", "tves": "episode_sort",
        "tvsn": "season_number", "©mak": "make", "©mod": "model", "©xyz": "location", "©dir": "director",
        "©prd": "producer", "©aut": "author", "titl": "title", "auth": "author", "perf": "artist", "loci": "location",
        "dscp": "comment", "albm": "album", "yrrc": "date", "covr": "artwork",
    ]

    /// The text keys in QuickTime's user data for names that several keys share.
    private static let userTextKeys: [String: FourCC] = ["composer": "©com", "encoder": "©swr"]
    /// The keys in the iTunes list for names that several keys share.
    private static let iTunesKeys: [String: FourCC] = [
        "artist": "©ART", "comment": "©cmt", "composer": "©wrt", "copyright": "cprt", "date": "©day",
        "description": "desc", "encoder": "©too", "genre": "©gen", "location": "©xyz", "title": "©nam",
    ]
    /// The keys that occur in user data but not in the iTunes list.
    private static let onlyUserData: Set<FourCC> = [
        "©mak", "©mod", "©dir", "©prd", "©aut", "titl", "auth", "perf", "loci", "dscp", "albm", "yrrc", "gnre",
    ]
    /// Further keys in the iTunes list, which have no other name.
    private static let unnamed: Set<String> = [
        "akID", "apID", "atID", "cmID", "cnID", "egid", "geID", "ownr", "pcst", "plID", "purl", "sfID", "shwm", "xid ",
    ]

    /// Returns the key in QuickTime's user data for a name; `nil` if there is none.
    package static func userTextKey(_ name: String) -> FourCC? {
        // libavformat reads ©des only from the iTunes list.
        userTextKeys[name] ?? names.first { $0.value == name && isText($0.key) && $0.key != "©des" }?.key
            ?? key(of: name, isText)
    }

    /// Returns the key in the iTunes list for a name; `nil` if there is none.
    package static func iTunesKey(_ name: String) -> FourCC? {
        iTunesKeys[name] ?? names.first { $0.value == name && !onlyUserData.contains($0.key) }?.key
            ?? key(of: name) { isText($0) || names[$0] != nil || unnamed.contains(name) }
    }

    /// Returns libavformat's name for a four-character key; other names are returned unchanged.
    package static func name(_ identifier: String) -> String {
        key(of: identifier) { names[$0] != nil }.flatMap { names[$0] } ?? identifier
    }

    /// Returns true for a text key; all of these start with the character ©.
    private static func isText(_ key: FourCC) -> Bool { key.rawValue >> 24 == 0xA9 }

    /// Converts four characters to a key; `nil` if it is not a wanted one.
    private static func key(of name: String, _ isWanted: (FourCC) -> Bool) -> FourCC? {
        let scalars = name.unicodeScalars
        guard scalars.count == 4, scalars.allSatisfy({ $0.value < 0x100 }) else { return nil }
        let key = FourCC(rawValue: scalars.reduce(0) { $0 << 8 | $1.value })
        return isWanted(key) ? key : nil
    }

    init(_ keys: MetadataKeys) {
        for key in keys.userData { spaces[Self.names[key] ?? key.text] = .quickTime }
        for name in keys.named { spaces[name] = .quickTime }
        for name in keys.iTunesNames { spaces[name] = .iTunes }
        // If both keys exist, libavformat uses the one of iTunes.
        for key in keys.iTunes { spaces[Self.names[key] ?? key.text] = .iTunes }
        items = keys.entries.map { entry in
            let (space, name) =
                switch entry.key {
                case .userText(let key): (MetadataItem.KeySpace.quickTime, Self.names[key] ?? key.text)
                case .iTunes(let key): (.iTunes, Self.names[key] ?? key.text)
                case .iTunesName(let name): (.iTunes, name)
                case .named(let name): (.quickTime, name)
                }
            var item = MetadataItem(keySpace: space, identifier: name, value: entry.value)
            if case .text(let text) = entry.value { item.value = MetadataItem.Value(text: text, identifier: name) }
            item.language = entry.language?.iso639.flatMap { $0 == "und" ? nil : $0 }
            return item
        }
    }

    /// Returns true if the file has a key, given libavformat's name.
    func contains(_ key: String) -> Bool { spaces[key] != nil }

    /// Returns the vocabulary of a key; a key in no list is a header field, such as the creation time.
    func space(of key: String) -> MetadataItem.KeySpace { spaces[key] ?? .common }
}

extension MetadataItem.KeySpace {
    /// Selects the vocabulary from which a container's demuxer takes its keys.
    package init(format: ContainerFormat, majorBrand: String?) {
        switch format {
        // QuickTime files have their own user data and keys; all others of the family have iTunes atoms.
        case .isoMedia: self = majorBrand == nil || majorBrand == "qt  " ? .quickTime : .iTunes
        case .mp3, .adts: self = .id3
        case .matroska: self = .matroska
        case .ogg, .flac: self = .vorbis
        default: self = .common
        }
    }
}

extension MetadataItem {
    /// Converts a libavformat dictionary to items, in its order.
    ///
    /// An item that libavformat repeats for each language is kept only with its language. Its text for an empty vendor
    /// is omitted.
    ///
    /// - Parameters:
    ///   - entries: The keys, some with a language suffix, and their texts.
    ///   - keySpace: The vocabulary from which the container's demuxer takes its keys.
    ///   - spaces: The vocabularies of individual keys; `nil` for containers with one vocabulary.
    package static func list(
        _ entries: [(key: String, value: String)], keySpace: KeySpace, spaces: MetadataKeySpaces? = nil
    ) -> [MetadataItem] {
        let items = entries.filter { $0.value != "[0][0][0][0]" && $0.key != "timecode" }.map {
            var item = MetadataItem(keySpace: keySpace, key: $0.key, text: $0.value)
            if let spaces { item.keySpace = spaces.space(of: item.identifier) }
            return item
        }
        let inLanguages = Set(items.filter { $0.language != nil }.map { [$0.identifier, $0.value.text ?? ""] })
        return items.filter { $0.language != nil || !inLanguages.contains([$0.identifier, $0.value.text ?? ""]) }
    }

    /// Replaces libavformat's items by those with the same key whose values were read with types and languages.
    ///
    /// Items with other keys are appended.
    package static func merging(_ known: [MetadataItem], with own: [MetadataItem]) -> [MetadataItem] {
        var result: [MetadataItem] = []
        var placed: Set<String> = []
        let byKey = Dictionary(grouping: own, by: \.identifier)
        for item in known {
            guard let same = byKey[item.identifier] else {
                result.append(item)
                continue
            }
            if placed.insert(item.identifier).inserted { result += same }
        }
        return result + own.filter { !placed.contains($0.identifier) }
    }

    /// Creates an item from libavformat's key and text; the key determines the type of the value.
    init(keySpace: KeySpace, key: String, text: String) {
        // libavformat's demuxers for these formats append a tag's language to its key: `title-deu`.
        var identifier = key
        var language: String?
        let marksLanguage = keySpace == .iTunes || keySpace == .quickTime || keySpace == .matroska || keySpace == .id3
        if marksLanguage, let dash = key.lastIndex(of: "-"),
            key.distance(from: dash, to: key.endIndex) == 4
        {
            let suffix = key[key.index(after: dash)...]
            if suffix.allSatisfy({ $0.isASCII && $0.isLowercase }) {
                identifier = String(key[..<dash])
                language = String(suffix)
            }
        }
        let value = Value(text: text, identifier: identifier)
        let isQuickTime = identifier.hasPrefix("com.apple.quicktime.")
        self.init(
            keySpace: isQuickTime ? .quickTime : keySpace, identifier: identifier, value: value, language: language)
    }
}

extension MetadataItem.Value {
    /// Interprets the text of a value according to its key.
    init(text: String, identifier: String) {
        switch identifier.lowercased() {
        case "creation_time", "date", "com.apple.quicktime.creationdate", "date_released", "date_recorded":
            self = .date(text)
        case "location", "com.apple.quicktime.location.iso6709": self = .location(text)
        case "compilation", "gapless_playback", "bpm", "tbpm": self = Double(text).map { .number($0) } ?? .text(text)
        default: self = .text(text)
        }
    }
}
