import ISOMedia
import LibAV
import MatroskaMedia
import MediaBase

/// The track data of a Matroska file that libavformat 5.1 does not expose, matched to its streams.
struct MatroskaTracks: Sendable {
    /// The damage found in the track list.
    let warnings: [String]
    /// The entries for which libavformat creates streams, in its order.
    private let entries: [MatroskaTrack]

    /// Reads the track list; `nil` for other formats and for unreadable lists.
    ///
    /// In a stream, the list is read only if it precedes the media, as the format recommends.
    init?(_ file: InputFile) {
        guard file.format == .matroska,
            let header = try? MatroskaHeader(reading: FileByteSource(file: file))
        else { return nil }
        warnings = header.warnings
        entries = header.tracks.filter { [1, 2, 17, 33].contains($0.type) && !$0.codecID.isEmpty }
    }

    /// Reads the first block of each video and audio stream, by stream index; it determines the stream's start time.
    ///
    /// - Parameter byteCount: The number of bytes to read from each block.
    func firstBlocks(of file: InputFile, byteCount: Int) -> [Int: MatroskaFirstBlocks.Block] {
        let numbers = entries.filter { ($0.type == 1 || $0.type == 2) && $0.isPlain }.map(\.number)
        guard
            let found = try? MatroskaFirstBlocks(
                of: Set(numbers), byteCount: byteCount, in: FileByteSource(file: file))
        else { return [:] }
        var blocks: [Int: MatroskaFirstBlocks.Block] = [:]
        for (index, entry) in entries.enumerated() where entry.isPlain { blocks[index] = found.blocks[entry.number] }
        return blocks
    }

    /// Returns the delay that a stream's codec adds to its output.
    func codecDelay(ofStream index: Int) -> MediaTime {
        guard entries.indices.contains(index) else { return .zero }
        return MediaTime(value: Int64(clamping: entries[index].codecDelay), timescale: 1_000_000_000)
    }

    /// Adds to a stream the data that is only in the track list.
    ///
    /// - Parameter warnings: Receives a sentence for each value that cannot be used as written.
    func complete(_ stream: inout StreamInfo, warnings: inout [String]) {
        guard entries.indices.contains(stream.index) else { return }
        let entry = entries[stream.index]
        let isVideo = stream.format.mediaType == .video
        guard (entry.type == 1) == isVideo else { return }
        if let number = Int(exactly: entry.number) { stream.id = number }
        // libavformat lets a LANGUAGE tag replace the header's language.
        if !stream.metadata.contains(where: { $0.key == "language" }), !["", "und"].contains(entry.language) {
            stream.metadata.append((key: "language", value: entry.language))
        }
        guard let video = entry.video, let size = stream.format.video?.encodedSize else { return }
        stream.containerColor = video.color.flatMap { ColorInfo($0) }
        stream.containerFieldOrder = video.scan
        stream.containerDisplay = video.display
        stream.containerSize = Dimensions(
            width: Int(clamping: video.pixelWidth), height: Int(clamping: video.pixelHeight))
        do throws(MediaError) {
            guard let aperture = try video.aperture(in: size) else { return }
            stream.format.video?.cleanAperture = aperture
            // libavformat computes the pixel aspect ratio as if nothing were cropped.
            if let ratio = video.sampleAspectRatio { stream.format.video?.sampleAspectRatio = ratio }
        } catch {
            warnings.append("the crop of track \(entry.number) \(error.message) and was left out")
        }
    }
}

extension MatroskaVideo {
    /// The field order, named as in `VideoFormat.fieldOrder`; `nil` if the file does not state it.
    fileprivate var scan: String? {
        guard interlacing == 1 else { return interlacing == 2 ? "progressive" : nil }
        return [0: "progressive", 1: "tt", 6: "bb", 9: "tt", 14: "bb"][fieldOrder]
    }
}

extension ColorInfo {
    /// Reads the colours of a track list entry; `nil` if it states none.
    fileprivate init?(_ color: MatroskaColor) {
        self.init(
            primaries: color.primaries, transfer: color.transfer, matrix: color.matrix,
            isFullRange: [1: false, 2: true][color.range])
        switch (color.sitingAcross, color.sitingDown) {
        case (1, 1): chromaLocation = "topleft"
        case (1, 2): chromaLocation = "left"
        case (2, 1): chromaLocation = "top"
        case (2, 2): chromaLocation = "center"
        default: break
        }
        if isUnknown { return nil }
    }
}

/// The metadata of an MP4 or QuickTime file: the vocabulary of each key, by libavformat's name, and the typed values.
struct MetadataKeySpaces: Sendable {
    private var spaces: [String: MetadataItem.KeySpace] = [:]
    /// The metadata values, in file order.
    let items: [MetadataItem]

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
    static func userTextKey(_ name: String) -> FourCC? {
        // libavformat reads ©des only from the iTunes list.
        userTextKeys[name] ?? names.first { $0.value == name && isText($0.key) && $0.key != "©des" }?.key
            ?? key(of: name, isText)
    }

    /// Returns the key in the iTunes list for a name; `nil` if there is none.
    static func iTunesKey(_ name: String) -> FourCC? {
        iTunesKeys[name] ?? names.first { $0.value == name && !onlyUserData.contains($0.key) }?.key
            ?? key(of: name) { isText($0) || names[$0] != nil || unnamed.contains(name) }
    }

    /// Returns libavformat's name for a four-character key; other names are returned unchanged.
    static func name(_ identifier: String) -> String {
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
