import ISOMedia
import MediaBase

/// Which vocabulary each key of an MP4 or QuickTime file's metadata is of, by libavformat's names of the keys.
struct MetadataKeySpaces: Sendable {
    private var spaces: [String: MetadataItem.KeySpace] = [:]

    /// libavformat's names of four-character keys, where they are not the characters themselves (`mov.c`).
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
        "dscp": "comment", "albm": "album", "yrrc": "date",
    ]

    init(_ keys: MetadataKeys) {
        for key in keys.userData { spaces[Self.names[key] ?? key.text] = .quickTime }
        for name in keys.named { spaces[name] = .quickTime }
        for name in keys.iTunesNames { spaces[name] = .iTunes }
        // libavformat lets a key of iTunes stand where both are there.
        for key in keys.iTunes { spaces[Self.names[key] ?? key.text] = .iTunes }
    }

    /// The vocabulary of a key; what is in no list is a field of a header, such as the time of creation.
    func space(of key: String) -> MetadataItem.KeySpace { spaces[key] ?? .common }
}
