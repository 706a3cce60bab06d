import ISOMedia
import LibAV
import MatroskaMedia
import MediaBase

/// What a Matroska file says of its tracks that libavformat 5.1 keeps to itself, matched to its streams.
struct MatroskaTracks: Sendable {
    /// What is damaged in the track list.
    let warnings: [String]
    /// The entries that libavformat makes streams of, in its order.
    private let entries: [MatroskaTrack]

    /// Reads the track list; `nil` for other formats, and lists that cannot be read.
    ///
    /// Of a stream it is read where it lies before the media, as the format recommends.
    init?(_ file: InputFile) {
        guard file.format == .matroska,
            let header = try? MatroskaHeader(reading: FileByteSource(file: file))
        else { return nil }
        warnings = header.warnings
        entries = header.tracks.filter { [1, 2, 17, 33].contains($0.type) && !$0.codecID.isEmpty }
    }

    /// The first block of each stream that is seen or heard, by the stream's index; a stream's times are known by it.
    ///
    /// - Parameter byteCount: How much of each is read.
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

    /// How much the codec of a stream delays its output.
    func codecDelay(ofStream index: Int) -> MediaTime {
        guard entries.indices.contains(index) else { return .zero }
        return MediaTime(value: Int64(clamping: entries[index].codecDelay), timescale: 1_000_000_000)
    }

    /// Adds to a stream what only the track list says.
    ///
    /// - Parameter warnings: Gets a sentence for each thing that cannot be used as it is written.
    func complete(_ stream: inout StreamInfo, warnings: inout [String]) {
        guard entries.indices.contains(stream.index) else { return }
        let entry = entries[stream.index]
        let isVideo = stream.format.mediaType == .video
        guard (entry.type == 1) == isVideo else { return }
        if let number = Int(exactly: entry.number) { stream.id = number }
        // libavformat lets a tag LANGUAGE stand in the place of the header's word.
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
            // libavformat works the shape of pixels out as if nothing were cut off.
            if let ratio = video.sampleAspectRatio { stream.format.video?.sampleAspectRatio = ratio }
        } catch {
            warnings.append("the crop of track \(entry.number) \(error.message) and was left out")
        }
    }
}

extension MatroskaVideo {
    /// The order of fields by the names of `VideoFormat.fieldOrder`; `nil` where the file does not say.
    fileprivate var scan: String? {
        guard interlacing == 1 else { return interlacing == 2 ? "progressive" : nil }
        return [0: "progressive", 1: "tt", 6: "bb", 9: "tt", 14: "bb"][fieldOrder]
    }
}

extension ColorInfo {
    /// What a track list says of colours; `nil` where it says nothing.
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

/// The vocabulary of each key of an MP4 or QuickTime file's metadata, by libavformat's names of the keys, and the values with
/// their types.
struct MetadataKeySpaces: Sendable {
    private var spaces: [String: MetadataItem.KeySpace] = [:]
    /// The values, in file order.
    let items: [MetadataItem]

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
        "dscp": "comment", "albm": "album", "yrrc": "date", "covr": "artwork",
    ]

    /// The keys of texts in QuickTime's user data by their names, where there is more than one for a name.
    private static let userTextKeys: [String: FourCC] = ["composer": "©com", "encoder": "©swr"]
    /// The keys in the list of iTunes by their names, likewise.
    private static let iTunesKeys: [String: FourCC] = [
        "artist": "©ART", "comment": "©cmt", "composer": "©wrt", "copyright": "cprt", "date": "©day",
        "description": "desc", "encoder": "©too", "genre": "©gen", "location": "©xyz", "title": "©nam",
    ]
    /// Keys that stand among user data and not in the list of iTunes.
    private static let onlyUserData: Set<FourCC> = [
        "©mak", "©mod", "©dir", "©prd", "©aut", "titl", "auth", "perf", "loci", "dscp", "albm", "yrrc", "gnre",
    ]
    /// Further keys in the list of iTunes, which have no other name.
    private static let unnamed: Set<String> = [
        "akID", "apID", "atID", "cmID", "cnID", "egid", "geID", "ownr", "pcst", "plID", "purl", "sfID", "shwm", "xid ",
    ]

    /// The key in QuickTime's user data that has a name; `nil` where there is none.
    static func userTextKey(_ name: String) -> FourCC? {
        // libavformat reads ©des of iTunes alone.
        userTextKeys[name] ?? names.first { $0.value == name && isText($0.key) && $0.key != "©des" }?.key
            ?? key(of: name, isText)
    }

    /// The key in the list of iTunes that has a name; `nil` where there is none.
    static func iTunesKey(_ name: String) -> FourCC? {
        iTunesKeys[name] ?? names.first { $0.value == name && !onlyUserData.contains($0.key) }?.key
            ?? key(of: name) { isText($0) || names[$0] != nil || unnamed.contains(name) }
    }

    /// libavformat's name of a key of four characters; other names as they are.
    static func name(_ identifier: String) -> String {
        key(of: identifier) { names[$0] != nil }.flatMap { names[$0] } ?? identifier
    }

    /// Tells a key of a text, all of which begin with the sign ©.
    private static func isText(_ key: FourCC) -> Bool { key.rawValue >> 24 == 0xA9 }

    /// The key that four characters are; `nil` where they are not one of those that are wanted.
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
        // libavformat lets a key of iTunes stand where both are there.
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

    /// Tells whether the file has a key, by libavformat's name.
    func contains(_ key: String) -> Bool { spaces[key] != nil }

    /// The vocabulary of a key; what is in no list is a field of a header, such as the time of creation.
    func space(of key: String) -> MetadataItem.KeySpace { spaces[key] ?? .common }
}
