import Bitstreams
import ISOMedia
import LibAV
public import MediaBase

/// What a container says of itself as a whole.
public struct ContainerInfo: Sendable, Hashable {
    /// The kind of container.
    public var format: ContainerFormat
    /// The first brand of an ISO or QuickTime file, such as `isom` or `qt  `; `nil` for other formats.
    public var majorBrand: String?
    /// The version of the first brand; `nil` for other formats.
    public var majorBrandVersion: Int?
    /// The other brands that the file claims to follow.
    public var compatibleBrands: [String]
    /// Length in bytes; `nil` for a stream.
    public var sizeBytes: Int64?
    /// Bits a second over all tracks; `nil` where unknown.
    public var bitRate: Int64?
    /// The earliest time stamp in the container's own clock; `nil` where unknown.
    ///
    /// Where that clock starts anywhere (TS, PS, MTS), all times of the asset are counted from here.
    public var startTime: MediaTime?
    /// The first frame's timecode, of the first timecode track or of the container as a whole; `nil` where there is
    /// none.
    public var startTimecode: String?
    /// Whether the samples lie in fragments (`moof`); `nil` where the format has no such thing.
    public var isFragmented: Bool?
    /// Whether the index (`moov`) lies before the media; `nil` where the format has no such thing.
    public var isIndexFirst: Bool?
    /// The programs of a transport stream.
    public var programs: [Program]

    /// One program of a transport stream.
    public struct Program: Sendable, Hashable {
        /// The number that the program map gives it.
        public var number: Int
        /// The service's name; `nil` where it has none.
        public var name: String?
        /// The indices of its tracks.
        public var trackIndices: [Int]
        /// The time stamp, in the program's own clock, from which the times of its tracks are counted; `nil` where
        /// unknown.
        public var startTime: MediaTime?
        /// How long it lasts: until the last of its tracks of pictures or sound ends; `nil` where unknown.
        public var duration: MediaTime?
    }

    /// What is said of a composition, which is in no file.
    init(of composition: Composition) {
        format = .composition
        compatibleBrands = []
        startTime = .zero
        programs = []
    }

    init(_ file: InputFile, start: MediaTime?, movie: ISOMovie?) {
        format = file.format
        majorBrand = movie?.header.fileType?.majorBrand.text
        majorBrandVersion = movie?.header.fileType.map { Int($0.minorVersion) }
        compatibleBrands = movie?.header.fileType?.compatibleBrands.map(\.text) ?? []
        sizeBytes = file.length.map { $0 + file.passedOver }
        bitRate = file.bitRate
        startTime = start
        isFragmented = movie?.header.isFragmented
        isIndexFirst = movie?.header.isMovieBeforeMedia
        programs = file.programs.map { Program(number: $0.number, name: $0.name, trackIndices: $0.streams) }
    }
}

extension ContainerInfo {
    /// Says when the programs begin and how long they last.
    ///
    /// - Parameter origin: Tells the container's time that is zero for a track; `nil` where unknown.
    mutating func completePrograms(_ tracks: [AssetTrack], origin: (_ index: Int) -> MediaTime?) {
        for place in programs.indices {
            let media = programs[place].trackIndices.compactMap { index in tracks.first { $0.index == index } }
                .filter { [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture }
            let lead = media.first { $0.mediaType == .video } ?? media.first
            programs[place].startTime = lead.flatMap { origin($0.index) }
            programs[place].duration = media.map(\.timeRange.end).filter(\.isNumeric).max()
        }
    }
    /// Works out the bit rate by the duration that was found, cut to whole bits: libavformat goes by the header's, and its
    /// versions round differently.
    mutating func setBitRate(duration: MediaTime) {
        guard let sizeBytes, let bytes = UInt64(exactly: sizeBytes), duration.isNumeric,
            let ticks = UInt64(exactly: duration.value), let scale = UInt64(exactly: duration.timescale), ticks > 0
        else { return }
        let (bits, overflow) = bytes.multipliedReportingOverflow(by: 8)
        let product = bits.multipliedFullWidth(by: scale)
        guard !overflow, product.high < ticks else { return }
        bitRate = Int64(exactly: ticks.dividingFullWidth(product).quotient)
    }
}

/// How many frames a track has a second, and who says so.
struct FrameRate: Sendable, Hashable {
    /// The rate that is stated; else one on whose clock the first frames lie; `nil` where nothing is known.
    var nominal: Rational?
    /// Averaged over the track, or over its first frames; `nil` where nothing is known.
    var average: Rational?
    /// Nobody states the rates: both are libavformat's guess by the first time stamps.
    var isEstimate = false

    /// Nothing is known.
    init() {}

    /// The rates of a stream of pictures.
    ///
    /// The tables of an MP4 or QuickTime file come first, then what the container's header or the codec's states, then what
    /// reading all packets showed, and at last libavformat's estimate (`r_frame_rate`), which is another one in each of its
    /// versions.
    ///
    /// - Parameters:
    ///   - edits: What the boxes say of the track; `nil` for other formats.
    ///   - measured: What reading all packets showed; `nil` where they were not read.
    init(of stream: StreamInfo, edits: TrackEdits?, measured: PacketStatistics?) {
        // libavformat makes up one tick of the clock.
        if edits?.isEmpty == true, measured == nil { return }
        nominal = stream.nominalFrameRate
        average = stream.averageFrameRate
        guard stream.attachedPicture == nil else { return }
        let found = measured?.frameDuration.average.flatMap { Rational($0)?.inverse }
        if let rate = edits?.constantRate {
            nominal = rate
        } else if edits != nil, edits?.isFragmented == false, edits?.isConstantRate == false {
            // The average is that of the tables; on which clock all frames lie is supposed.
            isEstimate = true
        } else if let rate = stream.statedFrameRate {
            // libavformat averages over the first time stamps.
            nominal = rate
            average = measured?.isEven == false ? found ?? rate : rate
        } else if let found {
            // Clocks of milliseconds round what is measured; a supposed rate that fits is the right one.
            let isFitting = nominal.map { (found.doubleValue / $0.doubleValue - 1).magnitude < 0.002 } ?? false
            average = measured?.isEven == true && isFitting ? nominal : found
            nominal = measured?.isEven == true ? average : nil
        } else {
            isEstimate = nominal != nil || average != nil
        }
    }
}

extension StreamInfo {
    /// Takes the rate that the codec's header fixes, where the container states none.
    mutating func stateCodedFrameRate() {
        guard statedFrameRate == nil, attachedPicture == nil,
            ["h264", "mpeg1video", "mpeg2video"].contains(format.codec)
        else { return }
        let headers = PictureHeaders(codec: format.codec, header: format.extradata, sample: [])
        statedFrameRate = headers.sequence?.fixedFrameRate
    }
}
