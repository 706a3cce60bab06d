import ContainerFacts
import ISOMedia
import LibAV
public import MediaBase

/// A type of file that can be written: `AVFileType`.
///
/// The type applies to writing only; reading never depends on a file's name.
public struct MediaFileType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The usual file name extension, in lower case.
    public let rawValue: String

    /// Creates a file type from its extension; an unknown type is reported when it is used.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates the file type for an extension in upper or lower case; `nil` if the extension is unknown.
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
    /// MPEG-4 with audio only.
    public static let m4a = MediaFileType(rawValue: "m4a")
    /// Matroska.
    public static let mkv = MediaFileType(rawValue: "mkv")
    /// Matroska with audio only.
    public static let mka = MediaFileType(rawValue: "mka")
    /// WebM: VP8, VP9 or AV1 with Vorbis or Opus.
    public static let webm = MediaFileType(rawValue: "webm")
    /// RIFF WAVE, or RF64 above 4 GB.
    public static let wav = MediaFileType(rawValue: "wav")
    /// Apple's Core Audio Format.
    public static let caf = MediaFileType(rawValue: "caf")
    /// AIFF, or AIFF-C.
    public static let aiff = MediaFileType(rawValue: "aiff")
    /// Native FLAC.
    public static let flac = MediaFileType(rawValue: "flac")
    /// Ogg with Opus, Vorbis or FLAC.
    public static let ogg = MediaFileType(rawValue: "ogg")

    static let all: [MediaFileType] = [.mov, .mp4, .m4a, .mkv, .mka, .webm, .wav, .caf, .aiff, .flac, .ogg]

    /// The raw value.
    public var description: String { rawValue }
}

extension MediaFileType {
    /// Returns true if files of this type can hold samples of a codec, by libavcodec's name.
    public func canHold(codec: String, mediaType: MediaType) -> Bool {
        guard Self.all.contains(self), holds(mediaType) else { return false }
        // Our own boxes describe these, whatever they are.
        if mediaType == .data || mediaType == .timecode { return true }
        // libavformat has codes for these codecs, but cannot describe them, and WAV stores no packet lengths.
        if self == .wav, ["aac", "aac_latm", "vorbis", "opus", "flac", "alac"].contains(codec) { return false }
        // ISO/IEC 23003-5 defines PCM in MP4; libavformat supports it from 6.0 on, but hardly any reader does.
        if self == .mp4 || self == .m4a, codec.hasPrefix("pcm_") { return false }
        if self == .mov, ["vp8", "vp9", "av1", "flac", "opus", "truehd"].contains(codec) { return false }
        return MuxerFile.format(muxer, canHold: codec)
    }

    /// Indicates whether files of this type can have video tracks.
    package var holdsPictures: Bool { holds(.video) }

    /// Returns true if files of this type can have tracks of a media type.
    func holds(_ mediaType: MediaType) -> Bool {
        switch mediaType {
        case .audio: true
        case .video: !isSoundAlone
        case .subtitle: [.mov, .mp4, .mkv, .webm].contains(self)
        case .data, .timecode: self == .mov || self == .mp4
        default: false
        }
    }

    /// The maximum number of tracks.
    var maximumTracks: Int { [.wav, .caf, .aiff, .flac].contains(self) ? 1 : 1000 }

    /// Indicates whether files of this type hold audio tracks only.
    var isSoundAlone: Bool { [.m4a, .mka, .wav, .caf, .aiff, .flac, .ogg].contains(self) }

    /// Indicates whether the type is QuickTime or MPEG-4, whose edit lists define the part that is shown.
    var isISO: Bool { [.mov, .mp4, .m4a].contains(self) }

    /// Indicates whether the type is Matroska or WebM.
    var isMatroska: Bool { [.mkv, .mka, .webm].contains(self) }

    /// Indicates whether files have edit lists, which define the part of their samples that is shown.
    package var keepsEdits: Bool { isISO }

    /// Indicates whether files store a video transform; libavformat writes it into MP4 and QuickTime files only.
    package var keepsTurns: Bool { isISO }

    /// Indicates whether a track may start later than the file.
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

/// Converts metadata items to the forms that containers store.
enum MetadataWriting {
    /// The keys with fields in the headers of QuickTime and MPEG-4 tracks, by libavformat's names.
    static let headerKeys: Set<String> = ["handler_name", "reel_name"]

    /// Returns libavformat's keys and values for items that are text, numbers, dates or locations.
    static func entries(_ items: [MetadataItem]) -> [(key: String, value: String)] {
        var entries: [(key: String, value: String)] = []
        for item in items {
            guard let text = item.value.text else { continue }
            let key = key(item)
            // Muxers look up the key without a language first, then the key with a language for the same text.
            if let language = item.language { entries.append(("\(key)-\(language)", text)) }
            if item.language == nil
                || !items.contains(where: { $0.identifier == item.identifier && $0.language == nil })
            {
                entries.append((key, text))
            }
        }
        return entries
    }

    /// Returns libavformat's key for an item; Matroska's keys are in capitals.
    private static func key(_ item: MetadataItem) -> String {
        let name = MetadataKeySpaces.name(item.identifier)
        let lower = name.lowercased()
        return known.contains(lower) ? lower : name
    }

    /// The keys that have atoms in QuickTime or iTunes metadata, by libavformat's names.
    private static let known: Set<String> = [
        "title", "artist", "album_artist", "composer", "author", "album", "date", "encoder", "comment", "genre",
        "copyright", "grouping", "lyrics", "description", "synopsis", "show", "episode_id", "network", "keywords",
        "season_number", "episode_sort", "track", "disc", "hd_video", "media_type", "compilation",
        "gapless_playback", "location", "creation_time", "make", "model", "timecode", "tempo",
    ]

    /// Returns the box entries for items in a QuickTime or MPEG-4 file, each in the place of its key space.
    ///
    /// Items of other key spaces are written as QuickTime's in QuickTime files, and otherwise as those of iTunes. A
    /// value that the place for its key cannot hold goes to one that accepts every type: QuickTime's named keys, or
    /// free-form names in the iTunes list.
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
    /// QuickTime's key for a cover picture.
    static let artworkKey = "com.apple.quicktime.artwork"

    /// Indicates whether the item is the location, for which user data has an atom.
    var isLocation: Bool { identifier.lowercased() == "location" }

    /// Indicates whether the item is a cover picture.
    var isArtwork: Bool {
        guard case .data = value else { return false }
        return ["artwork", "covr", Self.artworkKey].contains(identifier.lowercased())
    }
}

/// A metadata item that is missing from the written file, because the file has no place for it.
public struct MetadataLeftOut: Sendable, Hashable {
    /// The item.
    public let item: MetadataItem
    /// The index of the input whose track the item describes; `nil` for the file as a whole.
    public let inputIndex: Int?
    /// The type of the file.
    public let fileType: MediaFileType
}

extension MetadataLeftOut: CustomStringConvertible {
    /// A sentence that describes the loss to a user.
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
    /// Returns true if one of the items has the same value, in the form that another container has for it.
    package func isHeld(by items: some Sequence<MetadataItem>) -> Bool {
        if case .data = value { return items.contains { $0.value == value } }
        let name = MetadataKeySpaces.name(identifier).lowercased()
        // Header dates are compared by whole seconds, because their fractions are written in one notation only.
        let count = name == "creation_time" ? "2000-01-01T00:00:00".count : Int.max
        let text = value.text?.prefix(count)
        return items.contains { $0.identifier.lowercased() == name && $0.value.text?.prefix(count) == text }
    }
}
