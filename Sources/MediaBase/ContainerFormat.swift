/// A container format and its properties.
///
/// ```swift
/// let asset = try Asset(path: "film.mkv")
/// if try await asset.load(.container).format == .matroska { … }
/// ```
///
/// The names are those of libavformat's demuxers (`AVInputFormat.name`). Two formats are equal if their primary names
/// are equal.
public struct ContainerFormat: Sendable, Hashable {
    /// The primary name, such as "mov" or "matroska".
    public let name: String
    /// All names of the demuxer, such as "mov", "mp4" and "m4a".
    public let names: [String]

    /// Creates a format from the comma-separated names of its demuxer.
    public init(_ list: String) {
        names = list.split(separator: ",").map(String.init)
        name = names.first ?? list
    }

    /// The comma-separated names of the demuxer, as in libavformat.
    public var list: String { names.joined(separator: ",") }

    /// Compares the primary names.
    public static func == (one: ContainerFormat, other: ContainerFormat) -> Bool { one.name == other.name }

    /// Hashes the primary name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// MP4, QuickTime and their family (ISO/IEC 14496-12).
    public static let isoMedia = ContainerFormat("mov,mp4,m4a,3gp,3g2,mj2")
    /// Matroska and WebM (RFC 9559).
    public static let matroska = ContainerFormat("matroska,webm")
    /// Ogg (RFC 3533).
    public static let ogg = ContainerFormat("ogg")
    /// RIFF/WAVE, including RF64.
    public static let wav = ContainerFormat("wav")
    /// Sony's Wave64.
    public static let wave64 = ContainerFormat("w64")
    /// AIFF and AIFF-C.
    public static let aiff = ContainerFormat("aiff")
    /// Apple's Core Audio Format.
    public static let caf = ContainerFormat("caf")
    /// Sun and NeXT audio files.
    public static let au = ContainerFormat("au")
    /// FLAC in its own container (RFC 9639).
    public static let flac = ContainerFormat("flac")
    /// MPEG-1, 2 and 2.5 audio without a container.
    public static let mp3 = ContainerFormat("mp3")
    /// AAC in ADTS frames.
    public static let adts = ContainerFormat("aac")
    /// RIFF/AVI.
    public static let avi = ContainerFormat("avi")
    /// MXF (SMPTE ST 377-1).
    public static let mxf = ContainerFormat("mxf")
    /// Microsoft's ASF: WMV and WMA.
    public static let asf = ContainerFormat("asf")
    /// Flash video.
    public static let flv = ContainerFormat("flv")
    /// MPEG-2 transport streams (ISO/IEC 13818-1).
    public static let transportStream = ContainerFormat("mpegts")
    /// MPEG program streams.
    public static let programStream = ContainerFormat("mpeg")
    /// GIF.
    public static let gif = ContainerFormat("gif")
    /// A JPEG picture.
    package static let jpeg = ContainerFormat("jpeg_pipe")
    /// A composition, which is not stored in a file.
    public static let composition = ContainerFormat("composition")
}

// MARK: - Time

extension ContainerFormat {
    /// True if the presentation starts at zero by the container's definition, whatever the first timestamp is.
    package var startsAtZero: Bool { isOne(of: [.isoMedia, .matroska]) }
    /// True if the container stores decode timestamps separately from presentation timestamps.
    ///
    /// In all other formats libavformat guesses them.
    package var statesDecodeTimes: Bool { isOne(of: [.isoMedia, .transportStream, .programStream, .flv]) }
    /// True if the stored clock runs at 90 kHz from any time on, and may jump where streams were joined.
    package var hasSystemClock: Bool { isOne(of: [.transportStream, .programStream]) }
    /// True if video has decode times only: reordered pictures then come later than the track starts, by the delay of the
    /// decoder.
    package var hasDecodeTimesOnly: Bool { self == .avi }
    /// True if exact durations require reading all packets.
    ///
    /// There is no index, and the durations in the header are estimates.
    package var needsScan: Bool { Self.withoutIndex.contains(name) }
    /// True if the container states no track durations, or only an estimate by libavformat is available.
    package var statesNoLength: Bool {
        isOne(of: [.transportStream, .programStream, .adts]) || ["mpegvideo", "h264", "hevc"].contains(name)
    }
    /// True if the header states the number of samples, and packets specify exactly where they end.
    package var countsSamples: Bool { self == .flac || name == "tta" || name == "wv" }
    /// True if edit lists or packet tables trim the presentation of the tracks; libavformat is told to ignore them.
    package var hasEdits: Bool { self == .isoMedia || self == .caf }
    /// True if other data of the file is needed to interpret its samples.
    ///
    /// Examples are tables, the number of samples of an MP3 and the orientation of a photo. A pipe is therefore read to its
    /// end first.
    package var needsWholeFile: Bool { isOne(of: [.isoMedia, .mp3, .jpeg]) }
    /// True if packet durations include the samples that are trimmed from the packet (RFC 9559, 5.1.3.5.7).
    package var countsPadding: Bool { isOne(of: [.matroska, .mp3]) }
    /// True if players use one of several audio tracks, such as one for each language, without being told to.
    package var offersAudioTracksToChooseFrom: Bool {
        isOne(of: [.matroska, .transportStream, .programStream])
    }
    /// True if the position of an audio packet follows from all packets before it, and timestamps do not override it.
    package var isSeamless: Bool { self == .ogg }
    /// True if video timestamps may belong to another frame, as a pack has one timestamp for all frames that start in
    /// it.
    package var mayMisplaceTimes: Bool { self == .programStream }

    private static let withoutIndex: Set<String> = [
        "mpegts", "mpeg", "mpegvideo", "h264", "hevc", "m4v", "obu", "ivf", "vc1", "dv", "aac", "mp3", "ac3", "eac3",
        "dts",
        "truehd", "mlp", "loas", "amr", "amrnb", "amrwb", "gsm",
    ]
}

// MARK: - Random access

/// The reliability of a container's random access.
///
/// Frames are looked up in the index of MP4, QuickTime, Matroska and AVI, and by scanning all packets in other
/// containers. The sync samples of the first three are trusted. In other formats a seek is trusted only if its result
/// is verified: the packet there is the one that the scan found, and the decoder produces a sync sample's frame from
/// it with the expected time. If it cannot be verified, decoding starts from an earlier position, ultimately from the
/// start of the file.
extension ContainerFormat {
    /// True if the file has an index of sync samples with reliable timestamps, or one is built while reading.
    package var hasIndex: Bool { isOne(of: [.isoMedia, .matroska, .avi]) }
    /// True if the sync samples in the index are reliable, so that a seek needs no verification.
    package var hasTrueSyncSamples: Bool { isOne(of: [.isoMedia, .matroska]) }
    /// True if the demuxer can start at any packet's byte offset because it keeps no state; other demuxers seek by
    /// time.
    package var readsFromAnyByte: Bool {
        isOne(of: [.transportStream, .programStream, .flv, .mxf]) || name == "ivf"
    }
    /// True if the index is stored elsewhere in the file and is read only at the first seek.
    package var readsIndexLate: Bool { self == .matroska }
    /// True if the position of every audio sample is known exactly after a seek.
    package var isSampleExact: Bool { self == .isoMedia || self == .flac || self == .au || holdsPlainPCM }
    /// True if the container stores linear PCM contiguously, so that it can be read without packets.
    package var holdsPlainPCM: Bool { isOne(of: [.wav, .wave64, .aiff, .caf]) }

    private func isOne(of formats: Set<ContainerFormat>) -> Bool { formats.contains(self) }
}
