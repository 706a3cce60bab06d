/// The keys that mean the same in the vocabularies of different formats, one row for each meaning.
///
/// The first key of a list is the one that is written; all are read. `docs/metadata.md` shows the table.
struct MetadataVocabulary: Sendable {
    /// ffmpeg's name, which Apple's formats, ID3 and RIFF share.
    let name: String
    let common: MetadataItem.CommonKey?
    /// The keys, by key space; QuickTime's named keys without `com.apple.quicktime.`.
    let keys: [MetadataKeySpace: [String]]

    private init(
        _ name: String, _ common: MetadataItem.CommonKey? = nil, iTunes: [String] = [], udta: [String] = [],
        mdta: [String] = [], iso: [String] = [], id3: [String] = [], matroska: [String] = [], vorbis: [String] = [],
        riff: [String] = [], caf: [String] = []
    ) {
        self.name = name
        self.common = common
        keys = [
            .iTunes: iTunes, .quickTimeUserData: udta, .quickTimeMetadata: mdta, .isoUserData: iso, .id3: id3,
            .matroska: matroska, .vorbis: vorbis, .riff: riff, .audioFile: caf,
        ]
    }

    static let rows: [Self] = [
        Self(
            "title", .title, iTunes: ["©nam"], udta: ["©nam"], mdta: ["title"], iso: ["titl"], id3: ["TIT2", "TT2"],
            matroska: ["TITLE"], vorbis: ["TITLE"], riff: ["INAM"], caf: ["title"]),
        Self(
            "artist", .artist, iTunes: ["©ART"], udta: ["©ART"], mdta: ["artist"], iso: ["perf"], id3: ["TPE1", "TP1"],
            matroska: ["ARTIST"], vorbis: ["ARTIST"], riff: ["IART"], caf: ["artist"]),
        Self(
            "album_artist", iTunes: ["aART"], id3: ["TPE2", "TP2"], matroska: ["ALBUM_ARTIST"],
            vorbis: ["ALBUMARTIST", "ALBUM ARTIST", "ALBUM_ARTIST"]),
        Self(
            "album", .albumName, iTunes: ["©alb"], udta: ["©alb"], mdta: ["album"], iso: ["albm"],
            id3: ["TALB", "TAL"],
            matroska: ["ALBUM"], vorbis: ["ALBUM"], riff: ["IPRD"], caf: ["album"]),
        Self(
            "date", .creationDate, iTunes: ["©day"], udta: ["©day"], mdta: ["creationdate"], iso: ["yrrc"],
            id3: ["TDRC", "TYER", "TDRL", "TYE"], matroska: ["DATE", "DATE_RELEASED", "DATE_RECORDED"],
            vorbis: ["DATE"],
            riff: ["ICRD"], caf: ["recorded date", "year"]),
        Self(
            "comment", iTunes: ["©cmt"], udta: ["©cmt"], mdta: ["comment"], id3: ["COMM", "COM"],
            matroska: ["COMMENT"], vorbis: ["COMMENT"], riff: ["ICMT"], caf: ["comments"]),
        Self(
            "description", .description, iTunes: ["desc", "©des"], mdta: ["description"], iso: ["dscp"],
            matroska: ["DESCRIPTION"], vorbis: ["DESCRIPTION"]),
        Self("description", .description, udta: ["©des"]),
        Self(
            "genre", .type, iTunes: ["©gen", "gnre"], udta: ["©gen"], mdta: ["genre"], iso: ["gnre"],
            id3: ["TCON", "TCO"], matroska: ["GENRE"], vorbis: ["GENRE"], riff: ["IGNR"], caf: ["genre"]),
        Self(
            "composer", .creator, iTunes: ["©wrt", "©com"], udta: ["©com", "©wrt"], id3: ["TCOM", "TCM"],
            matroska: ["COMPOSER"], vorbis: ["COMPOSER"], caf: ["composer"]),
        Self(
            "encoder", .software, iTunes: ["©too", "©enc", "©swr"], udta: ["©swr", "©enc", "©too"], mdta: ["software"],
            id3: ["TSSE", "TSS"], matroska: ["ENCODER"], vorbis: ["ENCODER"], riff: ["ISFT"],
            caf: ["encoding application"]),
        Self("encoded_by", id3: ["TENC", "TEN"], matroska: ["ENCODED_BY"], vorbis: ["ENCODED-BY"], riff: ["ITCH"]),
        Self(
            "copyright", .copyrights, iTunes: ["cprt", "©cpy"], udta: ["©cpy", "cprt"], mdta: ["copyright"],
            iso: ["cprt"], id3: ["TCOP", "TCR"], matroska: ["COPYRIGHT"], vorbis: ["COPYRIGHT"], riff: ["ICOP"],
            caf: ["copyright"]),
        Self(
            "publisher", .publisher, udta: ["©pub"], mdta: ["publisher"], id3: ["TPUB", "TPB"],
            matroska: ["PUBLISHER"], vorbis: ["PUBLISHER", "ORGANIZATION"]),
        Self("author", .author, iTunes: ["©aut"], udta: ["©aut"], mdta: ["author"], iso: ["auth"], vorbis: ["AUTHOR"]),
        Self("performer", id3: ["TPE3", "TP3"], matroska: ["LEAD_PERFORMER"], vorbis: ["PERFORMER"]),
        Self("lyricist", id3: ["TEXT"], matroska: ["LYRICIST"], vorbis: ["LYRICIST"], caf: ["lyricist"]),
        Self(
            "grouping", iTunes: ["©grp"], udta: ["©grp"], id3: ["TIT1"], matroska: ["GROUPING"], vorbis: ["GROUPING"]),
        Self(
            "lyrics", iTunes: ["©lyr"], udta: ["©lyr"], id3: ["USLT", "ULT"], matroska: ["LYRICS"],
            vorbis: ["LYRICS"]),
        Self("synopsis", iTunes: ["ldes"], matroska: ["SYNOPSIS"], vorbis: ["SYNOPSIS"]),
        Self(
            "track", iTunes: ["trkn"], id3: ["TRCK", "TRK"], matroska: ["PART_NUMBER"], vorbis: ["TRACKNUMBER"],
            riff: ["IPRT", "ITRK"], caf: ["track number"]),
        Self("disc", iTunes: ["disk"], id3: ["TPOS", "TPA"], matroska: ["DISC"], vorbis: ["DISCNUMBER"]),
        Self(
            "compilation", iTunes: ["cpil"], id3: ["TCMP", "TCP"], matroska: ["COMPILATION"], vorbis: ["COMPILATION"]),
        Self("tmpo", iTunes: ["tmpo"], caf: ["tempo"]),
        Self("gapless_playback", iTunes: ["pgap"]), Self("rating", iTunes: ["rtng"]),
        Self("media_type", iTunes: ["stik"]), Self("hd_video", iTunes: ["hdvd"]),
        Self("show", iTunes: ["tvsh"]), Self("episode_id", iTunes: ["tven"]), Self("network", iTunes: ["tvnn"]),
        Self("season_number", iTunes: ["tvsn"]), Self("episode_sort", iTunes: ["tves"]),
        Self("category", iTunes: ["catg"]), Self("purchase_date", iTunes: ["purd"]),
        Self("keywords", .subject, iTunes: ["keyw"], mdta: ["keywords"], matroska: ["KEYWORDS"]),
        Self("sort_name", iTunes: ["sonm"]), Self("sort_artist", iTunes: ["soar"]),
        Self("sort_album", iTunes: ["soal"]), Self("sort_album_artist", iTunes: ["soaa"]),
        Self("sort_composer", iTunes: ["soco"]), Self("sort_show", iTunes: ["sosn"]),
        Self("title-sort", id3: ["TSOT"]), Self("artist-sort", id3: ["TSOP"]), Self("album-sort", id3: ["TSOA"]),
        Self(
            "location", .location, iTunes: ["©xyz"], udta: ["©xyz"], mdta: ["location.ISO6709"], iso: ["loci"],
            matroska: ["LOCATION", "RECORDING_LOCATION"], vorbis: ["LOCATION"]),
        Self("make", .make, iTunes: ["©mak"], udta: ["©mak"], mdta: ["make"], vorbis: ["MAKE"]),
        Self("model", .model, iTunes: ["©mod"], udta: ["©mod"], mdta: ["model"], vorbis: ["MODEL"]),
        Self("director", .contributor, iTunes: ["©dir"], udta: ["©dir"], mdta: ["director"], matroska: ["DIRECTOR"]),
        Self("producer", iTunes: ["©prd"], udta: ["©prd"], mdta: ["producer"], matroska: ["PRODUCER"]),
        Self("language", .language, id3: ["TLAN", "TLA"], vorbis: ["LANGUAGE"], riff: ["ILNG"]),
        Self("TBPM", id3: ["TBPM", "TBP"], matroska: ["BPM"], vorbis: ["BPM"]),
        Self("TSRC", .identifier, id3: ["TSRC"], matroska: ["ISRC"], vorbis: ["ISRC"], caf: ["ISRC"]),
        Self("creation_time", id3: ["TDEN"]),
        Self(
            "artwork", .artwork, iTunes: ["covr"], mdta: ["artwork"], id3: ["APIC", "PIC"],
            matroska: ["attached picture"], vorbis: ["METADATA_BLOCK_PICTURE"]),
    ]

    /// The fields of a `bext` chunk and ffmpeg's names for them.
    static let broadcastFields = [
        "Description": "description", "Originator": "originator", "OriginatorReference": "originator_reference",
        "OriginationDate": "origination_date", "OriginationTime": "origination_time",
        "TimeReference": "time_reference", "UMID": "umid", "CodingHistory": "coding_history",
    ]

    private static let byKey: [MetadataIdentifier: Int] = {
        var places: [MetadataIdentifier: Int] = [:]
        for (place, row) in rows.enumerated() {
            for (space, keys) in row.keys {
                for key in keys {
                    let full = space == .quickTimeMetadata ? prefix + key : key
                    places[MetadataIdentifier(space, full)] = places[MetadataIdentifier(space, full)] ?? place
                }
            }
            if let common = row.common {
                let identifier = MetadataIdentifier(.common, common.rawValue)
                places[identifier] = places[identifier] ?? place
            }
        }
        return places
    }()

    /// The beginning of most of QuickTime's named keys.
    static let prefix = "com.apple.quicktime."
    /// The beginning of most of the long keys beside the iTunes list.
    static let longPrefix = "com.apple.iTunes."

    /// Returns the row of a key; `nil` if it has none.
    static func row(of identifier: MetadataIdentifier) -> Self? {
        if let place = byKey[identifier] { return rows[place] }
        // Formats without a key space of their own have ffmpeg's names, and Matroska's writers do not all use capitals.
        switch identifier.keySpace {
        case .common, .audioFile: return row(named: identifier.key)
        case .matroska: return byKey[MetadataIdentifier(.matroska, identifier.key.uppercased())].map { rows[$0] }
        default: return nil
        }
    }

    /// Returns the first row with ffmpeg's name for a key, in upper or lower case; `nil` if there is none.
    static func row(named name: String) -> Self? {
        let lower = name.lowercased()
        return rows.first { $0.name.lowercased() == lower }
    }
}

extension MetadataIdentifier {
    /// Creates the identifier for a key of a vocabulary, or for ffmpeg's name of it.
    ///
    /// - Parameters:
    ///   - keySpace: The vocabulary.
    ///   - name: A key, such as `©nam`, or ffmpeg's name, such as `title`. A name without a key of its own becomes a free
    ///     one: a long key beside the iTunes list, a named key beside QuickTime's user data, `TXXX` in ID3.
    public init(keySpace: MetadataKeySpace, name: String) {
        let known = Self(keySpace, name)
        let lower = name.lowercased()
        let row = MetadataVocabulary.rows.first { $0.name == lower && !($0.keys[keySpace] ?? []).isEmpty }
        let isText = name.unicodeScalars.count == 4 && name.unicodeScalars.first == "©"
        switch keySpace {
        case .iTunes where isText || MetadataVocabulary.row(of: known) != nil || Self.unnamedITunesKeys.contains(name):
            self = known
        case .iTunes where row == nil:
            let isLong = name.hasPrefix(MetadataVocabulary.longPrefix)
            self.init(.iTunesLongKey, isLong ? name : MetadataVocabulary.longPrefix + name)
        case .quickTimeUserData where isText || MetadataVocabulary.row(of: known) != nil: self = known
        case .quickTimeUserData where row == nil: self.init(.quickTimeMetadata, name)
        case .id3 where row == nil:
            let isFrame =
                name.utf8.count == 4
                && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
            self.init(.id3, isFrame ? name : "TXXX")
        case .broadcastWave:
            self.init(keySpace, MetadataVocabulary.broadcastFields.first { $0.value == lower }?.key ?? name)
        case .common:
            self.init(keySpace, MetadataVocabulary.row(named: name)?.common?.rawValue ?? name)
        default:
            guard let key = row?.keys[keySpace]?.first else {
                self = known
                return
            }
            self.init(keySpace, keySpace == .quickTimeMetadata ? MetadataVocabulary.prefix + key : key)
        }
    }

    /// Further keys of the iTunes list, which have no name.
    private static let unnamedITunesKeys: Set<String> = [
        "akID", "apID", "atID", "cmID", "cnID", "egid", "geID", "ownr", "pcst", "plID", "purl", "sfID", "shwm", "xid ",
    ]

    /// The key that all key spaces share; `nil` if there is none.
    public var commonKey: MetadataItem.CommonKey? { MetadataVocabulary.row(of: self)?.common }

    /// ffmpeg's name for the key; the key itself if it has no other.
    public var name: String {
        switch keySpace {
        case .quickTimeMetadata: return key
        case .iTunesLongKey:
            if key.hasPrefix(MetadataVocabulary.longPrefix) {
                return String(key.dropFirst(MetadataVocabulary.longPrefix.count))
            }
            return key.lastIndex(of: ".").map { String(key[key.index(after: $0)...]) } ?? key
        case .matroska, .vorbis:
            let renamed = [
                "ALBUMARTIST": "album_artist", "TRACKNUMBER": "track", "DISCNUMBER": "disc",
                "LEAD_PERFORMER": "performer",
                "PART_NUMBER": "track", "METADATA_BLOCK_PICTURE": "artwork", "attached picture": "artwork",
            ]
            if keySpace == .vorbis, key == "DESCRIPTION" { return "comment" }
            return renamed[key] ?? key
        case .broadcastWave: return MetadataVocabulary.broadcastFields[key] ?? key
        case .audioFile: return key
        case .common:
            guard let common = MetadataItem.CommonKey(rawValue: key) else { return key }
            return MetadataVocabulary.rows.first { $0.common == common }?.name ?? key
        default: return MetadataVocabulary.row(of: self)?.name ?? key
        }
    }

    /// Returns the key with the same meaning in another vocabulary; `nil` if it has none.
    ///
    /// - Parameter keySpace: The other vocabulary.
    public func converted(to keySpace: MetadataKeySpace) -> MetadataIdentifier? {
        if keySpace == self.keySpace { return self }
        guard let row = MetadataVocabulary.row(of: self) else { return nil }
        if keySpace == .common { return row.common.map { Self(.common, $0.rawValue) } }
        guard let key = row.keys[keySpace]?.first else { return nil }
        return Self(keySpace, keySpace == .quickTimeMetadata ? MetadataVocabulary.prefix + key : key)
    }

    /// Returns true if both keys have the same meaning, in any vocabulary.
    package func means(_ other: MetadataIdentifier) -> Bool {
        if self == other { return true }
        guard let row = MetadataVocabulary.row(of: self), let match = MetadataVocabulary.row(of: other) else {
            return name.lowercased() == other.name.lowercased()
        }
        return row.name == match.name
    }

    /// Indicates whether items with this key have a name of the user's own in ``MetadataItem/ExtraAttribute/info``.
    package var hasFreeName: Bool { keySpace == .id3 && ["TXXX", "COMM", "WXXX", "TXX", "COM"].contains(key) }
}
