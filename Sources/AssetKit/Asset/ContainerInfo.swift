import ContainerFacts
import ISOMedia
import LibAV
public import MediaBase

/// The properties of a container as a whole.
public struct ContainerInfo: Sendable, Hashable {
    /// The kind of container.
    public var format: ContainerFormat
    /// The major brand of an ISO or QuickTime file, such as `isom` or `qt `; `nil` for other formats.
    public var majorBrand: String?
    /// The version of the major brand; `nil` for other formats.
    public var majorBrandVersion: Int?
    /// The other brands with which the file claims to be compatible.
    public var compatibleBrands: [String]
    /// The size in bytes; `nil` for a stream.
    public var sizeBytes: Int64?
    /// The total bit rate of all tracks in bits per second; `nil` if unknown.
    public var bitRate: Int64?
    /// The earliest timestamp on the container's own clock; `nil` if unknown.
    ///
    /// If that clock starts at an arbitrary time (TS, PS, MTS), all times of the asset are relative to this one.
    public var startTime: MediaTime?
    /// The timecode of the first frame, from the first timecode track or the container as a whole; `nil` if there is
    /// none.
    public var startTimecode: String?
    /// True if the samples are stored in fragments (`moof`); `nil` for formats without fragments.
    public var isFragmented: Bool?
    /// True if the index (`moov`) precedes the media; `nil` for formats without such an index.
    public var isIndexFirst: Bool?
    /// The programs of a transport stream.
    public var programs: [Program]

    /// A program of a transport stream.
    public struct Program: Sendable, Hashable {
        /// The program number from the program map.
        public var number: Int
        /// The name of the service; `nil` if it has none.
        public var name: String?
        /// The indices of the program's tracks.
        public var trackIndices: [Int]
        /// The timestamp, on the program's own clock, to which the times of its tracks are relative; `nil` if unknown.
        public var startTime: MediaTime?
        /// The duration up to the end of the program's last video or audio track; `nil` if unknown.
        public var duration: MediaTime?
    }

    /// Creates the description of media that is not stored in one file, and starts at zero.
    init(format: ContainerFormat) {
        self.format = format
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
    /// Sets the start times and durations of the programs.
    ///
    /// - Parameter origin: Returns the container's time that is zero for a track; `nil` if unknown.
    mutating func completePrograms(_ tracks: [AssetTrack], origin: (_ index: Int) -> MediaTime?) {
        for place in programs.indices {
            let media = programs[place].trackIndices.compactMap { index in tracks.first { $0.index == index } }
                .filter { [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture }
            let lead = media.first { $0.mediaType == .video } ?? media.first
            programs[place].startTime = lead.flatMap { origin($0.index) }
            programs[place].duration = media.map(\.timeRange.end).filter(\.isNumeric).max()
        }
    }
    /// Computes the bit rate from the measured duration, rounded down to whole bits.
    ///
    /// libavformat uses the header's duration instead, and its versions round differently.
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

/// The frame rates of a track, and their reliability.
struct FrameRate: Sendable, Hashable {
    /// The stated rate, or otherwise a rate whose clock fits the first frames; `nil` if unknown.
    var nominal: Rational?
    /// The average rate of the track or of its first frames; `nil` if unknown.
    var average: Rational?
    /// True if neither rate is stated, so that both are libavformat's estimates from the first timestamps.
    var isEstimate = false

    /// Creates unknown rates.
    init() {}

    /// Determines the frame rates of a video stream.
    ///
    /// The tables of an MP4 or QuickTime file take precedence. Next come the rate stated by the container's header or
    /// the codec, and the result of reading all packets. The last resort is libavformat's estimate (`r_frame_rate`),
    /// which differs between its versions.
    ///
    /// - Parameters:
    ///   - edits: The track's data from the boxes; `nil` for other formats.
    ///   - measured: The result of reading all packets; `nil` if they were not read.
    init(of stream: StreamInfo, edits: MovieTrackFacts?, measured: PacketStatistics?) {
        // For an empty track, libavformat makes up a rate of one clock tick per frame.
        if edits?.isEmpty == true, measured == nil { return }
        nominal = stream.nominalFrameRate
        average = stream.averageFrameRate
        guard stream.attachedPicture == nil else { return }
        let found = measured?.frameDuration.average.flatMap { Rational($0)?.inverse }
        if let rate = edits?.constantRate {
            nominal = rate
        } else if edits != nil, edits?.isFragmented == false, edits?.isConstantRate == false {
            // The average comes from the tables, but the clock on which all frames lie is a guess.
            isEstimate = true
        } else if let rate = stream.statedFrameRate {
            // libavformat averages only over the first timestamps.
            nominal = rate
            average = measured?.isEven == false ? found ?? rate : rate
        } else if let found {
            // Millisecond clocks round the measured rate; an estimated rate that fits is the correct one.
            let isFitting = nominal.map { (found.doubleValue / $0.doubleValue - 1).magnitude < 0.002 } ?? false
            average = measured?.isEven == true && isFitting ? nominal : found
            nominal = measured?.isEven == true ? average : nil
        } else {
            isEstimate = nominal != nil || average != nil
        }
    }
}
