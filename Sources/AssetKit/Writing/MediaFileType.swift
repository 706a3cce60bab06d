import ISOMedia
import LibAV
public import MediaBase

/// A kind of file that can be written: `AVFileType`.
///
/// What a file is read as never depends on its name; what it is written as is said here.
public struct MediaFileType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The usual ending of such a file's name, in lower case.
    public let rawValue: String

    /// Makes a file type from its ending; whether there is such a type is found out when it is used.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The type that files with an ending are of, in upper or lower case; `nil` for one that is not known.
    public init?(pathExtension: String) {
        let ending = pathExtension.lowercased()
        let aliases = [
            "qt": "mov", "m4v": "mp4", "m4b": "m4a", "wave": "wav", "aif": "aiff", "opus": "ogg", "oga": "ogg",
        ]
        self.init(rawValue: aliases[ending] ?? ending)
        guard Self.all.contains(self) else { return nil }
    }

    /// QuickTime.
    public static let mov = MediaFileType(rawValue: "mov")
    /// MPEG-4, ISO/IEC 14496-14.
    public static let mp4 = MediaFileType(rawValue: "mp4")
    /// MPEG-4 with sound alone.
    public static let m4a = MediaFileType(rawValue: "m4a")
    /// Matroska.
    public static let mkv = MediaFileType(rawValue: "mkv")
    /// Matroska with sound alone.
    public static let mka = MediaFileType(rawValue: "mka")
    /// WebM: VP8, VP9 or AV1 with Vorbis or Opus.
    public static let webm = MediaFileType(rawValue: "webm")
    /// RIFF WAVE, RF64 where it exceeds 4 GB.
    public static let wav = MediaFileType(rawValue: "wav")
    /// Apple's Core Audio Format.
    public static let caf = MediaFileType(rawValue: "caf")
    /// AIFF, or AIFF-C.
    public static let aiff = MediaFileType(rawValue: "aiff")
    /// FLAC by itself.
    public static let flac = MediaFileType(rawValue: "flac")
    /// Ogg with Opus, Vorbis or FLAC.
    public static let ogg = MediaFileType(rawValue: "ogg")

    static let all: [MediaFileType] = [.mov, .mp4, .m4a, .mkv, .mka, .webm, .wav, .caf, .aiff, .flac, .ogg]

    /// The raw value.
    public var description: String { rawValue }
}

extension MediaFileType {
    /// Whether such a file can hold samples of a codec, by libavcodec's name of it.
    public func canHold(codec: String, mediaType: MediaType) -> Bool {
        guard Self.all.contains(self), holds(mediaType) else { return false }
        // libavformat has a code for these, but no way to describe them.
        // Of these the packets' lengths would be lost: WAV keeps none.
        if self == .wav, ["aac", "aac_latm", "vorbis", "opus", "flac", "alac"].contains(codec) { return false }
        // ISO/IEC 23003-5 has a way, which libavformat knows from 6.0 on and hardly anybody reads.
        if self == .mp4 || self == .m4a, codec.hasPrefix("pcm_") { return false }
        if self == .mov, ["vp8", "vp9", "av1", "flac", "opus", "truehd"].contains(codec) { return false }
        return MuxerFile.format(muxer, canHold: codec)
    }

    /// Whether such a file has tracks of pictures.
    package var holdsPictures: Bool { holds(.video) }

    /// Whether such a file has tracks of a kind.
    func holds(_ mediaType: MediaType) -> Bool {
        switch mediaType {
        case .audio: true
        case .video: !isSoundAlone
        case .subtitle: [.mov, .mp4, .mkv, .webm].contains(self)
        default: false
        }
    }

    /// Tracks of sound that it can have.
    var maximumTracks: Int { [.wav, .caf, .aiff, .flac].contains(self) ? 1 : 1000 }

    /// Such a file has tracks of sound alone.
    var isSoundAlone: Bool { [.m4a, .mka, .wav, .caf, .aiff, .flac, .ogg].contains(self) }

    /// Whether it is made of QuickTime's boxes, so that edit lists say what is shown.
    var isISO: Bool { [.mov, .mp4, .m4a].contains(self) }

    /// Whether it is Matroska or WebM.
    var isMatroska: Bool { [.mkv, .mka, .webm].contains(self) }

    /// Whether files say by edit lists what of their samples is shown.
    package var keepsEdits: Bool { isISO }

    /// Whether files say how pictures are turned; libavformat writes that into MP4 and QuickTime files alone.
    package var keepsTurns: Bool { isISO }

    /// Whether a track may begin later than the file does.
    package var keepsLateStarts: Bool { isISO || isMatroska }

    /// libavformat's name of the muxer.
    var muxer: String {
        switch self {
        case .m4a: "ipod"
        case .mkv, .mka: "matroska"
        default: rawValue
        }
    }
}

/// From metadata items to what containers keep of them.
enum MetadataWriting {
    /// Keys for which the headers of QuickTime and MPEG-4 tracks have fields, by libavformat's names.
    static let headerKeys: Set<String> = ["handler_name", "reel_name"]

    /// libavformat's keys and values of items that are text, numbers, dates or places.
    static func entries(_ items: [MetadataItem]) -> [(key: String, value: String)] {
        var entries: [(key: String, value: String)] = []
        for item in items {
            guard let text = item.value.text else { continue }
            let key = key(item)
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

    /// libavformat's name of a key; Matroska's are in capitals.
    private static func key(_ item: MetadataItem) -> String {
        let name = MetadataKeySpaces.name(item.identifier)
        let lower = name.lowercased()
        return known.contains(lower) ? lower : name
    }

    /// Keys for which QuickTime's and iTunes's own atoms have a place, by libavformat's names.
    private static let known: Set<String> = [
        "title", "artist", "album_artist", "composer", "author", "album", "date", "encoder", "comment", "genre",
        "copyright", "grouping", "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords",
        "season_number", "episode_sort", "track", "disc", "hd_video", "media_type", "compilation",
        "gapless_playback", "location", "creation_time", "make", "model", "timecode", "tempo",
    ]

    /// The boxes' values of items in a QuickTime or MPEG-4 file, each in the place of its key space.
    ///
    /// Items of other vocabularies become QuickTime's in QuickTime files, else those of iTunes. What the place for a key
    /// cannot hold goes to one that takes every type: QuickTime's named keys, or free names in the list of iTunes.
    static func boxes(_ items: [MetadataItem], in fileType: MediaFileType) -> [MetadataEntry] {
        items.compactMap { item in
            let name = key(item)
            let isOfITunes = item.keySpace == .iTunes || (item.keySpace != .quickTime && fileType != .mov)
            var keys: [MetadataEntry.Key?] = [
                isOfITunes
                    ? MetadataKeySpaces.iTunesKey(name).map { .iTunes($0) }
                    : MetadataKeySpaces.userTextKey(name).map { .userText($0) }
            ]
            let isFree = item.keySpace == .iTunes || (isOfITunes && fileType == .m4a)
            let qualified = !isOfITunes && item.isArtwork && name == "artwork" ? MetadataItem.artworkKey : name
            keys.append(isFree ? .iTunesName(name) : .named(qualified))
            let language = item.language.flatMap { MediaLanguage(iso639: $0) }
            return keys.compactMap { $0.map { MetadataEntry(key: $0, value: item.value, language: language) } }
                .first { $0.coded != nil }
        }
    }
}

extension MetadataItem {
    /// QuickTime's name of a cover picture.
    static let artworkKey = "com.apple.quicktime.artwork"

    /// It is the place that user data has an atom for.
    var isLocation: Bool { identifier.lowercased() == "location" }

    /// It is a cover picture.
    var isArtwork: Bool {
        guard case .data = value else { return false }
        return ["artwork", "covr", Self.artworkKey].contains(identifier.lowercased())
    }
}

/// A piece of metadata that was to be written and is not in the file, because that has no place for it.
public struct MetadataLeftOut: Sendable, Hashable {
    /// The item.
    public let item: MetadataItem
    /// The place of the input whose track it is about among the writer's; `nil` for the file as a whole.
    public let inputIndex: Int?
    /// The type of the file.
    public let fileType: MediaFileType
}

extension MetadataLeftOut: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        let value: String
        if case .data(let bytes) = item.value {
            value = "\(bytes.count) bytes"
        } else {
            let text = item.value.text ?? ""
            value = text.count > 60 ? text.prefix(60) + "…" : text
        }
        let place = inputIndex.map { " of track \($0)" } ?? ""
        return "the metadata \(item.identifier)\(place) (\(value)) is lost: \(fileType) files have no place for it"
    }
}

extension MetadataItem {
    /// Tells whether one of some items says the same, in whatever form another container has for it.
    package func isHeld(by items: some Sequence<MetadataItem>) -> Bool {
        if case .data = value { return items.contains { $0.value == value } }
        let name = MetadataKeySpaces.name(identifier).lowercased()
        // Of dates in headers the fraction of a second is written in one way alone.
        let count = name == "creation_time" ? "2000-01-01T00:00:00".count : Int.max
        let text = value.text?.prefix(count)
        return items.contains { $0.identifier.lowercased() == name && $0.value.text?.prefix(count) == text }
    }
}
