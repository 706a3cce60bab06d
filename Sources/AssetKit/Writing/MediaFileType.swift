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
        // What it writes of FLAC and Opus no reader can read, and it refuses AAC.
        if self == .caf, ["aac", "flac", "opus"].contains(codec) { return false }
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

    /// Indicates whether metadata is a list of Vorbis comments.
    var hasComments: Bool { self == .ogg || self == .flac }

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
