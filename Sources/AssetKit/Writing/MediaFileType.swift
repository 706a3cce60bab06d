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
