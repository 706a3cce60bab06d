/// A kind of container, and what follows from it.
///
/// ```swift
/// let asset = try Asset(path: "film.mkv")
/// if try await asset.load(.container).format == .matroska { … }
/// ```
///
/// The names are those of libavformat's readers (`AVInputFormat.name`). Two formats are equal when the names they are best
/// known by are.
public struct ContainerFormat: Sendable, Hashable {
    /// The name that it is best known by, such as "mov" or "matroska".
    public let name: String
    /// All names of its reader, such as "mov", "mp4" and "m4a".
    public let names: [String]

    /// A format by its reader's names, with commas between them.
    public init(_ list: String) {
        names = list.split(separator: ",").map(String.init)
        name = names.first ?? list
    }

    /// The names of its reader, with commas between them, as libavformat has them.
    public var list: String { names.joined(separator: ",") }

    /// Compares the names that they are best known by.
    public static func == (one: ContainerFormat, other: ContainerFormat) -> Bool { one.name == other.name }

    /// Hashes the name that it is best known by.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// MP4, QuickTime and their family (ISO/IEC 14496-12).
    public static let isoMedia = ContainerFormat("mov,mp4,m4a,3gp,3g2,mj2")
    /// Matroska and WebM (RFC 9559).
    public static let matroska = ContainerFormat("matroska,webm")
    /// Ogg (RFC 3533).
    public static let ogg = ContainerFormat("ogg")
    /// RIFF/WAVE, with RF64.
    public static let wav = ContainerFormat("wav")
    /// Sony's Wave64.
    public static let wave64 = ContainerFormat("w64")
    /// AIFF and AIFF-C.
    public static let aiff = ContainerFormat("aiff")
    /// Apple's Core Audio Format.
    public static let caf = ContainerFormat("caf")
    /// Sun's and NeXT's audio files.
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
    /// A composition, which is in no file.
    public static let composition = ContainerFormat("composition")
}

// MARK: - Time

extension ContainerFormat {
    /// The presentation's clock starts at zero by the container's own rules, whatever the first time stamp is.
    package var startsAtZero: Bool { isOne(of: [.isoMedia, .matroska]) }
    /// Packets have decode times of the container's own, apart from when they are shown; else libavformat guesses them.
    package var statesDecodeTimes: Bool { isOne(of: [.isoMedia, .transportStream, .programStream, .flv]) }
    /// Durations in the header are estimates, and there is no index: only reading all packets tells.
    package var needsScan: Bool { Self.withoutIndex.contains(name) }
    /// The duration of its tracks is not stated at all, or only by what libavformat supposes.
    package var statesNoLength: Bool {
        isOne(of: [.transportStream, .programStream, .adts]) || ["mpegvideo", "h264", "hevc"].contains(name)
    }
    /// The header counts samples, and packets say exactly where they end.
    package var countsSamples: Bool { self == .flac || name == "tta" || name == "wv" }
    /// Edit lists and packet tables cut what its tracks show; libavformat is told to leave that alone.
    package var hasEdits: Bool { isOne(of: [.isoMedia, .caf]) }
    /// The end says what the beginning means, so that a pipe is read to its end first: tables, the number of an MP3's samples.
    package var needsWholeFile: Bool { isOne(of: [.isoMedia, .mp3]) }
    /// A packet lasts as long as it would without what is cut of it (RFC 9559, 5.1.3.5.7).
    package var countsPadding: Bool { isOne(of: [.matroska, .mp3]) }
    /// The place of a packet of sound follows from all before it: no time stamp says otherwise.
    package var isSeamless: Bool { self == .ogg }
    /// Time stamps of pictures may be given to the wrong ones, as a pack has one for all that begins in it.
    package var mayMisplaceTimes: Bool { self == .programStream }

    private static let withoutIndex: Set<String> = [
        "mpegts", "mpeg", "mpegvideo", "h264", "hevc", "m4v", "obu", "ivf", "vc1", "dv", "aac", "mp3", "ac3", "eac3",
        "dts",
        "truehd", "mlp", "loas", "amr", "amrnb", "amrwb", "gsm",
    ]
}

// MARK: - Random access

/// How far a container's random access can be relied on.
///
/// Pictures are looked up by the index of MP4, QuickTime, Matroska and AVI, in the other containers by a scan of all
/// packets. The sync samples of the first three are believed. Elsewhere a landing is believed only if it is proven: the
/// packet there is the one that the scan saw, and the decoder makes a sync sample's picture of it with the time that it
/// must have. What is not proven is decoded from an earlier place, in the end from the file's beginning.
extension ContainerFormat {
    /// There is an index of sync samples, or one grows while reading, whose time stamps hold.
    package var hasIndex: Bool { isOne(of: [.isoMedia, .matroska, .avi]) }
    /// What the index says of sync samples holds, so that a landing needs no proof.
    package var hasTrueSyncSamples: Bool { isOne(of: [.isoMedia, .matroska]) }
    /// The demuxer can begin at any packet's byte, as it keeps nothing of what it read before; else it is asked for a time.
    package var readsFromAnyByte: Bool {
        isOne(of: [.transportStream, .programStream, .flv, .mxf]) || name == "ivf"
    }
    /// The index lies elsewhere in the file and is read only at the first seek.
    package var readsIndexLate: Bool { self == .matroska }
    /// After a seek the place of every sound sample is known exactly.
    package var isSampleExact: Bool { self == .isoMedia || self == .flac || self == .au || holdsPlainPCM }
    /// Linear PCM lies in it in one piece, which can be read without packets.
    package var holdsPlainPCM: Bool { isOne(of: [.wav, .wave64, .aiff, .caf]) }

    private func isOne(of formats: Set<ContainerFormat>) -> Bool { formats.contains(self) }
}
