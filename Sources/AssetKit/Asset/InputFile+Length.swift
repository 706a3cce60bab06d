import ISOMedia
import LibAV
import MatroskaMedia
import MediaBase

extension InputFile {
    /// Whether the file is shorter than its own header, index or last page says; to be asked when all has been read.
    ///
    /// Of a pipe only what reading it shows is known.
    var breaksOff: Bool { endsEarly || isCutOff }

    /// Whether it is so by the places in the file that the header or index names, for which nothing need be read.
    var isCutOff: Bool {
        if isCutShort { return true }
        if formatName == "ogg" { return (try? OggPages.breakOff(FileByteSource(file: self))) ?? false }
        guard let length, let end = statedEnd else { return false }
        return end > UInt64(clamping: length)
    }

    /// Formats whose header counts samples, and whose packets say exactly where they end.
    private static let countedFormats: Set<String> = ["flac", "tta", "wv"]

    /// Whether the packets that were read last end before the header says.
    ///
    /// Only where the header counts samples, or an MP3's tag its frames: what else states a duration may round it, or
    /// mean another track.
    private var endsEarly: Bool {
        if formatName.split(separator: ",").contains("mov") {
            guard isFragmented else { return false }
            return (try? MovieHeader.fragmentsEndEarly(in: FileByteSource(file: self), limits: BoxLimits(limits)))
                ?? false
        }
        let isMP3 = formatName == "mp3"
        guard isMP3 || Self.countedFormats.contains(formatName), statesDurations, let stream = stream(0),
            let duration = stream.duration, let end = readEnd(ofStream: 0)
        else { return false }
        guard isMP3 else { return end - (stream.startTime ?? .zero) < duration }
        // A tag that counts bytes is exact; one that counts frames may count itself, and leave out the last.
        guard let tag = xingTag, tag.byteCount == nil, tag.frameCount != nil else { return false }
        return end + MediaTime(value: 2 * 1152, timescale: 32000) < duration
    }

    /// Whether the first boxes of an MP4 include a fragment.
    private var isFragmented: Bool {
        let source = FileByteSource(file: self)
        return (try? MovieHeader.beginsWithFragments(source)) ?? false
    }

    /// Where the file's media ends by its header; `nil` where it does not say.
    private var statedEnd: UInt64? {
        if formatName == "mp3" { return xingTag?.statedEnd(inFileOf: UInt64(clamping: length ?? 0)) }
        let source = FileByteSource(file: self)
        if formatName.split(separator: ",").contains("mov") {
            return try? MovieHeader.statedEnd(of: source, limits: BoxLimits(limits))
        }
        if formatName.hasPrefix("matroska") { return try? MatroskaHeader.statedEnd(of: source) }
        if let chunks = SoundFileChunks(formatName: formatName) { return try? chunks.statedEnd(of: source) }
        return try? ContainerEnd(source, length: UInt64(clamping: length ?? 0)).stated(formatName: formatName)
    }

    /// The tag in an MP3's first frame; `nil` without one.
    private var xingTag: XingTag? {
        XingTag { position, count in (try? bytes(at: position, count: count)) ?? [] }
    }

    /// What is not worth telling: less than a frame of any codec, and what rounding makes.
    private static let leastShortfall = MediaTime(value: 1, timescale: 100)

    /// How much of some streams was read where less was there than the header says; `nil` where that is not known.
    ///
    /// To be asked at the end of a file that breaks off.
    func shortfall(of streams: [Int]) -> DamageReport.Shortfall? {
        streams.compactMap { index -> DamageReport.Shortfall? in
            guard let stream = stream(index), [.video, .audio].contains(stream.format.mediaType),
                let stated = stream.duration ?? (statesDurations ? duration : nil), stated.isNumeric,
                let end = readEnd(ofStream: index)
            else { return nil }
            let read = max(.zero, end - (stream.startTime ?? .zero))
            return read.isNumeric && stated - read > Self.leastShortfall
                ? DamageReport.Shortfall(stated: stated, read: read) : nil
        }.max { $0.stated - $0.read < $1.stated - $1.read }
    }
}
