import ISOMedia
package import MediaBase

/// The metadata of an MP4 or QuickTime file or of one of its tracks: the identifier of each key, by libavformat's name, and
/// the typed values.
package struct MovieMetadata: Sendable {
    private let identifiers: [String: MetadataIdentifier]
    /// The metadata values, in file order.
    package let items: [MetadataItem]

    /// The keys of user data that 3GPP and MPEG-4 define, not QuickTime.
    private static let isoKeys: Set<FourCC> = [
        "titl", "auth", "perf", "dscp", "gnre", "albm", "yrrc", "loci", "cprt", "rtng", "clsf", "kywd",
    ]

    init(_ keys: MetadataKeys) {
        var all = keys.userData.map { key in
            MetadataIdentifier(keySpace: Self.isoKeys.contains(key) ? .isoUserData : .quickTimeUserData, key: key.text)
        }
        all += keys.named.map { MetadataIdentifier(keySpace: .quickTimeMetadata, key: $0) }
        all += keys.iTunesNames.map { MetadataIdentifier(keySpace: .iTunesLongKey, key: "com.apple.iTunes." + $0) }
        // If both keys exist, libavformat uses the one of iTunes.
        all += keys.iTunes.map { MetadataIdentifier(keySpace: .iTunes, key: $0.text) }
        identifiers = Dictionary(all.map { ($0.name, $0) }) { $1 }
        items = keys.entries.map { entry in
            var item = MetadataItem(entry.identifier, entry.value)
            if case .text(let text) = entry.value { item.value = MetadataItem.Value(text: text, name: item.name) }
            item.language = entry.language?.iso639.flatMap { $0 == "und" ? nil : $0 }
            return item
        }
    }

    /// Returns true if the file has a key, given libavformat's name.
    func contains(_ name: String) -> Bool { identifiers[name] != nil }

    /// Returns the identifier of a key; one in no list is a header field, such as the creation time.
    func identifier(of name: String) -> MetadataIdentifier {
        identifiers[name] ?? MetadataIdentifier(keySpace: .common, key: name)
    }
}

extension MetadataKeySpace {
    /// Selects the vocabulary from which a container's demuxer takes its keys.
    package init(format: ContainerFormat, majorBrand: String?) {
        switch format {
        // QuickTime files have their own user data and keys; all others of the family have iTunes atoms.
        case .isoMedia: self = majorBrand == nil || majorBrand == "qt  " ? .quickTimeUserData : .iTunes
        case .mp3, .adts: self = .id3
        case .matroska: self = .matroska
        case .ogg, .flac: self = .vorbis
        case .wav: self = .riff
        case .caf, .aiff: self = .audioFile
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
    ///   - movie: The identifiers of individual keys; `nil` for containers with one vocabulary.
    package static func list(
        _ entries: [(key: String, value: String)], keySpace: MetadataKeySpace, movie: MovieMetadata? = nil
    ) -> [MetadataItem] {
        let items = entries.filter { $0.value != "[0][0][0][0]" && $0.key != "timecode" }.map {
            MetadataItem(keySpace: keySpace, key: $0.key, text: $0.value, movie: movie)
        }
        let inLanguages = Set(items.filter { $0.language != nil }.map { [$0.name, $0.value.text ?? ""] })
        return items.filter { $0.language != nil || !inLanguages.contains([$0.name, $0.value.text ?? ""]) }
    }

    /// Replaces libavformat's items by those with the same name whose values were read with types and languages.
    ///
    /// Items with other names are appended. Case does not count, and libavformat's spelling of a name is kept.
    package static func merging(_ known: [MetadataItem], with own: [MetadataItem]) -> [MetadataItem] {
        var result: [MetadataItem] = []
        var placed: Set<String> = []
        let byName = Dictionary(grouping: own) { $0.name.lowercased() }
        for item in known {
            let name = item.name.lowercased()
            guard let same = byName[name] else {
                result.append(item)
                continue
            }
            guard placed.insert(name).inserted else { continue }
            result += same.map { one in
                var one = one
                one.name = item.name
                return one
            }
        }
        // Timecodes are a property of the file, and this text is an empty vendor.
        return result
            + own.filter { item in
                let name = item.name.lowercased()
                return !placed.contains(name) && name != "timecode" && item.value != .text("[0][0][0][0]")
            }
    }

    /// Creates an item from libavformat's key and text; the key determines the type of the value.
    init(keySpace: MetadataKeySpace, key: String, text: String, movie: MovieMetadata?) {
        // libavformat's demuxers for these formats append a tag's language to its key: `title-deu`.
        var name = key
        var language: String?
        let marksLanguage = [.iTunes, .quickTimeUserData, .matroska, .id3].contains(keySpace)
        if marksLanguage, let dash = key.lastIndex(of: "-"),
            key.distance(from: dash, to: key.endIndex) == 4
        {
            let suffix = key[key.index(after: dash)...]
            if suffix.allSatisfy({ $0.isASCII && $0.isLowercase }) {
                name = String(key[..<dash])
                language = String(suffix)
            }
        }
        let value = Value(text: text, name: name)
        if name.hasPrefix("com.apple.quicktime.") {
            self.init(MetadataIdentifier(keySpace: .quickTimeMetadata, key: name), value, language: language)
        } else if let movie {
            self.init(movie.identifier(of: name), value, language: language)
        } else {
            self.init(MetadataIdentifier(keySpace: keySpace, name: name), value, language: language)
            if identifier.hasFreeName { extraAttributes[.info] = name == identifier.name ? nil : name }
        }
        self.name = name
    }
}
