package import Bitstreams
import ISOMedia
import LibAV
public import MediaBase

// Properties stated by coded pictures themselves, independently of the container.

extension Asset {
    /// The number of bytes read from a sample; headers are at its beginning.
    private static let headerLength = 64 << 10
    /// The maximum number of packets to read while searching for the first packet of each track.
    private static let maximumPackets = 1000

    /// Reads the headers of each track's coded pictures, by the track's ``AssetTrack/index``.
    ///
    /// The headers are taken from the codec's header as stored by the container and, if this is incomplete, from the
    /// beginning of the first sample. Tracks with other codecs or unreadable headers are omitted. Nothing is decoded.
    /// For a stream that can be read only once, only the codec headers are read.
    package func pictureHeaders() throws(MediaError) -> [Int: PictureHeaders] {
        let contents = try contents()
        let tracks = contents.tracks.filter { track in
            track.mediaType == .video && !track.isAttachedPicture
                && track.formatDescriptions.first.map { PictureHeaders.codecs.contains($0.codec) } ?? false
        }
        let samples = try firstSamples(of: tracks.filter(\.needsSampleForHeaders))
        var headers: [Int: PictureHeaders] = [:]
        for track in tracks {
            guard let format = track.formatDescriptions.first else { continue }
            let read = PictureHeaders(
                codec: format.codec, header: format.extradata, sample: samples[track.index] ?? [])
            if read.sequence != nil || !read.messages.isEmpty { headers[track.index] = read }
        }
        return headers
    }

    /// Returns the HDR metadata of a track: the container's, completed by the coded pictures if it lacks brightness
    /// data.
    func hdr(of track: AssetTrack) throws(MediaError) -> HDRInfo? {
        let stored = track.formatDescriptions.first?.video?.hdr
        let isWhole = stored?.masteringDisplay != nil && stored?.contentLightLevel != nil
        // A composition's tracks have no headers of their own.
        guard composition == nil, !isWhole else { return stored }
        return HDRInfo(stored, headers: try pictureHeaders()[track.index])
    }

    /// Reads the beginning of each track's first sample; tracks without samples are omitted.
    private func firstSamples(of tracks: [AssetTrack]) throws(MediaError) -> [Int: [UInt8]] {
        guard !tracks.isEmpty, canBeReadAgain else { return [:] }
        var samples: [Int: [UInt8]] = [:]
        for track in tracks {
            guard let place = track.firstSample else { continue }
            let count = Int(clamping: min(UInt64(Self.headerLength), place.upperBound - place.lowerBound))
            samples[track.index] = sourceBytes(at: place.lowerBound, count: count)
        }
        var left = Set(tracks.map(\.index).filter { samples[$0] == nil })
        guard !left.isEmpty else { return samples }
        let file = try openForLookUp(nil, readsAhead: false)
        var count = 0
        while !left.isEmpty, count < Self.maximumPackets, let packet = try readOn(file) {
            count += 1
            if left.remove(packet.streamIndex) != nil {
                samples[packet.streamIndex] = packet.prefix(Self.headerLength)
            }
        }
        return samples
    }
}

extension AssetTrack {
    fileprivate var needsSampleForHeaders: Bool {
        guard let format = formatDescriptions.first else { return false }
        if format.extradata.isEmpty || PictureHeaders.codecsNeedingSample.contains(format.codec) { return true }
        // H.264 states the order of fields with its pictures.
        return format.codec == "h264"
            && PictureHeaders(codec: "h264", header: format.extradata, sample: []).sequence?.scan == .interlaced
    }
}

extension PictureHeaders {
    /// The colours stated by the headers, in libavutil's names; `nil` if they state none.
    package var color: ColorInfo? {
        guard let sequence else { return nil }
        let points = sequence.color ?? SequenceInfo.CodePoints()
        var color = ColorInfo(
            primaries: points.primaries, transfer: points.transfer, matrix: points.matrix,
            isFullRange: points.isFullRange)
        color.chromaLocation = Self.name(ofChromaLocation: sequence.chromaLocation)
        return color.isUnknown ? nil : color
    }

    /// Returns libavutil's name for a chroma sample location as numbered by ITU-T H.273.
    static func name(ofChromaLocation number: Int?) -> String? {
        number.flatMap { [0: "left", 1: "center", 2: "topleft", 3: "top", 4: "bottomleft", 5: "bottom"][$0] }
    }

    /// The field order stated by the headers: `progressive`, `interlaced` if the order is unknown, `tt` or `bb`.
    package var fieldOrder: String? {
        switch sequence?.scan {
        case .progressive: "progressive"
        case .interlaced: "interlaced"
        case .topFieldFirst: "tt"
        case .bottomFieldFirst: "bb"
        case nil: nil
        }
    }
}

extension HDRInfo {
    /// Combines the HDR metadata of the container and of the coded pictures; `nil` if there is none.
    ///
    /// The container's values, which libavformat passes on, take precedence.
    package init?(_ container: HDRInfo?, headers: PictureHeaders?) {
        self = container ?? HDRInfo()
        let messages = headers?.messages
        masteringDisplay = masteringDisplay ?? messages?.masteringDisplay
        contentLightLevel = contentLightLevel ?? messages?.contentLightLevel
        if messages?.hasHDR10Plus == true { hdr10Plus = true }
        // Code point 18 of ITU-T H.273; such a stream declares itself as BT.2020 for the sake of old displays.
        if messages?.preferredTransfer == 18, transferFamily == nil { transferFamily = "HLG" }
        if self == HDRInfo() { return nil }
    }
}

extension AssetTrack {
    /// Frames per second as counted by timecodes: the nominal rate, halved if this counts fields.
    package var pictureRate: Rational? {
        Rational.pictureRate(
            nominal: nominalFrameRate, average: averageFrameRate,
            fieldOrder: formatDescriptions.first?.video?.fieldOrder)
    }
}

extension StreamInfo {
    /// Frames per second, as in ``AssetTrack/pictureRate``.
    var pictureRate: Rational? {
        Rational.pictureRate(nominal: nominalFrameRate, average: averageFrameRate, fieldOrder: format.video?.fieldOrder)
    }
}

extension Rational {
    /// Computes the value of ``AssetTrack/pictureRate``.
    fileprivate static func pictureRate(nominal: Rational?, average: Rational?, fieldOrder: String?) -> Rational? {
        guard let nominal, let average else { return nominal ?? average }
        let ratio = nominal.doubleValue / average.doubleValue
        let isInterlaced = fieldOrder.map { $0 != "progressive" } ?? false
        guard isInterlaced, ratio > 1.9, ratio < 2.1 else { return nominal }
        return nominal.divided(by: Rational(2))
    }
}

/// The timecode of a track's first frame, as stored in a QuickTime timecode track.
public struct TrackTimecode: Sendable, Hashable {
    /// The number of the first frame, and the way in which frames are counted.
    public let start: Timecode
    /// The reel or tape to which the counter belongs; `nil` if it is not named.
    public let source: String?
    /// The frames per second that the track states for display; cameras that write 29 for 29.97 mean 30.
    public let writtenFrameCount: Int

    /// Reads the timecode of a `tmcd` track; `nil` for other tracks, for plain counters, and if the numbers are
    /// invalid.
    ///
    /// The rate is derived from the duration of a frame and rounded. The number of frames per second in the same box is
    /// 29 in files of some cameras whose counter runs at 30.
    init?(_ track: MovieTrack) {
        guard let entry = track.sampleEntries.first?.timecode, let counter = track.timecodeCounter,
            entry.flags & 8 == 0, entry.frameDuration > 0, let timescale = Int32(exactly: entry.timescale),
            timescale > 0,
            let nominal = Rational(Int64(timescale), Int64(entry.frameDuration)).rounded(),
            let rate = Self.rate(nominal, duration: entry.frameDuration, timescale, drops: entry.flags & 1 != 0)
        else { return nil }
        let number = entry.flags & 4 != 0 ? Int64(Int32(bitPattern: counter)) : Int64(counter)
        start = Timecode(frameNumber: number, rate: rate)
        source = entry.sourceName
        writtenFrameCount = Int(entry.numberOfFrames)
    }

    private static func rate(_ nominal: Int64, duration: UInt32, _ timescale: Int32, drops: Bool) -> Timecode.Rate? {
        guard let nominal = Int(exactly: nominal) else { return nil }
        let duration = MediaTime(value: Int64(duration), timescale: timescale)
        return try? Timecode.Rate(nominal: nominal, frameDuration: duration, isDropFrame: drops)
    }
}

/// The `TIMECODE` tag of a Matroska track or file, which states the timecode of its first frame.
///
/// Matroska does not define the format of the text. It is used only if it is a valid timecode at the frame rate.
enum MatroskaTimecode {
    /// libavformat's key for timecodes in other containers.
    private static let key = "timecode"

    /// Renames the tag to the key that timecodes have in other containers; returns the entries unchanged if it is no
    /// timecode.
    ///
    /// - Parameter rate: The frame rate; `nil` if there are no frames or it is unknown.
    static func settled(
        _ entries: [(key: String, value: String)], rate: Rational?
    ) -> [(key: String, value: String)] {
        guard let rate, !entries.contains(where: { $0.key == key }),
            let place = entries.firstIndex(where: { $0.key.lowercased() == key }),
            let fields = try? Timecode.Fields(parsing: entries[place].value), !fields.isNegative,
            let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: fields.isDropFrame),
            (try? Timecode(fields, rate: counting)) != nil
        else { return entries }
        var entries = entries
        entries[place].key = key
        return entries
    }
}

extension AssetContents {
    /// Renames the timecode tags of a Matroska file and its tracks to the key used in other containers.
    ///
    /// - Returns: The file's metadata.
    static func settleTimecodes(of streams: inout [StreamInfo], in file: InputFile) -> [(key: String, value: String)] {
        guard file.format == .matroska else { return file.metadata }
        func rate(_ stream: StreamInfo) -> Rational? {
            stream.format.mediaType == .video && stream.attachedPicture == nil ? stream.pictureRate : nil
        }
        let fileRate = streams.lazy.compactMap(rate).first
        for place in streams.indices {
            streams[place].metadata = MatroskaTimecode.settled(streams[place].metadata, rate: rate(streams[place]))
        }
        return MatroskaTimecode.settled(file.metadata, rate: fileRate)
    }
}
