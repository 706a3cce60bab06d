package import Bitstreams
import ISOMedia
import LibAV
public import MediaBase

// What coded pictures say of themselves, apart from what the container says of them.

extension Asset {
    /// How much of a sample is read; headers stand at its beginning.
    private static let headerLength = 64 << 10
    /// How many packets are passed over until each track's first was seen.
    private static let maximumPackets = 1000

    /// Reads the headers of each track's coded pictures, by the track's ``AssetTrack/index``.
    ///
    /// The codec's header as the container keeps it, and where that does not say all, the first sample's beginning. A
    /// track of another codec, or whose headers cannot be read, is left out. Nothing is decoded; a stream that can be
    /// read only once gives its codec headers alone.
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

    /// The HDR metadata of a track: the container's, and the coded pictures' where that leaves brightness open.
    func hdr(of track: AssetTrack) throws(MediaError) -> HDRInfo? {
        let stored = track.formatDescriptions.first?.video?.hdr
        let isWhole = stored?.masteringDisplay != nil && stored?.contentLightLevel != nil
        // A composition's tracks have no headers of their own.
        guard composition == nil, !isWhole else { return stored }
        return HDRInfo(stored, headers: try pictureHeaders()[track.index])
    }

    /// The beginnings of tracks' first samples; a track without any is left out.
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
        // H.264 tells the order of fields with its pictures.
        return format.codec == "h264"
            && PictureHeaders(codec: "h264", header: format.extradata, sample: []).sequence?.scan == .interlaced
    }
}

extension PictureHeaders {
    /// What the headers say of colours, by libavutil's names; `nil` where they say nothing.
    package var color: ColorInfo? {
        guard let sequence else { return nil }
        let points = sequence.color ?? SequenceInfo.CodePoints()
        var color = ColorInfo(
            primaries: points.primaries, transfer: points.transfer, matrix: points.matrix,
            isFullRange: points.isFullRange)
        color.chromaLocation = Self.name(ofChromaLocation: sequence.chromaLocation)
        return color.isUnknown ? nil : color
    }

    /// libavutil's name of a place of chroma samples that ITU-T H.273 numbers.
    static func name(ofChromaLocation number: Int?) -> String? {
        number.flatMap { [0: "left", 1: "center", 2: "topleft", 3: "top", 4: "bottomleft", 5: "bottom"][$0] }
    }

    /// What the headers say of fields: `progressive`, `interlaced` where the order is not told, `tt` or `bb`.
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
    /// What is known of both; the container's word, which libavformat passes on, goes before the pictures'.
    package init?(_ container: HDRInfo?, headers: PictureHeaders?) {
        self = container ?? HDRInfo()
        let messages = headers?.messages
        masteringDisplay = masteringDisplay ?? messages?.masteringDisplay
        contentLightLevel = contentLightLevel ?? messages?.contentLightLevel
        if messages?.hasHDR10Plus == true { hdr10Plus = true }
        // Code point 18 of ITU-T H.273; such a stream calls itself BT.2020 for the sake of old displays.
        if messages?.preferredTransfer == 18, transferFamily == nil { transferFamily = "HLG" }
        if self == HDRInfo() { return nil }
    }
}

extension AssetTrack {
    /// Pictures a second, by which timecodes count: the nominal rate, halved where that counts fields.
    package var pictureRate: Rational? {
        Rational.pictureRate(
            nominal: nominalFrameRate, average: averageFrameRate,
            fieldOrder: formatDescriptions.first?.video?.fieldOrder)
    }
}

extension StreamInfo {
    /// Pictures a second, as ``AssetTrack/pictureRate``.
    var pictureRate: Rational? {
        Rational.pictureRate(nominal: nominalFrameRate, average: averageFrameRate, fieldOrder: format.video?.fieldOrder)
    }
}

extension Rational {
    /// Pictures a second by what is known of a track: ``AssetTrack/pictureRate``.
    fileprivate static func pictureRate(nominal: Rational?, average: Rational?, fieldOrder: String?) -> Rational? {
        guard let nominal, let average else { return nominal ?? average }
        let ratio = nominal.doubleValue / average.doubleValue
        let isInterlaced = fieldOrder.map { $0 != "progressive" } ?? false
        guard isInterlaced, ratio > 1.9, ratio < 2.1 else { return nominal }
        return nominal.divided(by: Rational(2))
    }
}

/// The timecode of a track's first frame, as a timecode track of QuickTime keeps it.
public struct TrackTimecode: Sendable, Hashable {
    /// The first frame's number, and how frames are counted.
    public let start: Timecode
    /// The reel or tape that the counter belongs to; `nil` where it is not named.
    public let source: String?
    /// Frames a second as the track says that people count them; cameras that write 29 for 29.97 mean 30.
    public let writtenFrameCount: Int

    /// The timecode of a `tmcd` track; `nil` for others, for plain counters, and where the numbers make no sense.
    ///
    /// The rate is what a frame's duration gives, rounded: the number of frames a second in the same box is 29 in
    /// files of some cameras whose counter is one of 30.
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

/// The tag by which Matroska files tell the timecode of their first picture: `TIMECODE`, of a track or of the file.
///
/// Matroska gives its text no form; it counts where the pictures' rate has such a timecode.
enum MatroskaTimecode {
    /// libavformat's key for timecodes in other containers.
    private static let key = "timecode"

    /// Gives the tag the key that timecodes have in other containers; the entries as they are where it cannot be one.
    ///
    /// - Parameter rate: The pictures' rate; `nil` where there are none, or it is unknown.
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
    /// Gives the timecodes of a Matroska file and its tracks the key that they have in other containers.
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
