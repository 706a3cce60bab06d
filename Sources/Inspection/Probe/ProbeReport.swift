package import AssetKit
package import MediaBase

/// Reads the declared properties of a file into a report.
///
/// ```swift
/// let report = try ProbeJob(asset: Asset(path: "a.mov")).run()
/// ```
///
/// The job reads headers, and only as many packets as it needs to determine each track's format.
package struct ProbeJob: Sendable {
    private let asset: Asset
    private let isStrict: Bool
    private let scans: Bool

    /// Makes a job.
    ///
    /// - Parameters:
    ///   - asset: The file; its options determine whether all packets are read.
    ///   - scans: True to read all packets and report on them; an asset with precise timing needs only one pass.
    ///   - isStrict: True if damage in the file's structure, and in packets that are read, is an error instead of a
    ///     warning.
    package init(asset: Asset, scans: Bool = false, isStrict: Bool = false) {
        self.scans = scans
        self.asset = asset
        self.isStrict = isStrict
    }

    /// Reads the file.
    ///
    /// - Throws: The errors of opening the asset; `damaged` for damage if the job is strict.
    package func run() throws(MediaError) -> ProbeReport {
        var warnings = try asset.loadNow(.warnings)
        let skipped = try asset.skippedBytes()
        if skipped > 0 { warnings.append(DamageSummary.text(ofSkipped: skipped)) }
        if !scans, try asset.isCutOff() { warnings.append(Self.breakOff) }
        try check(warnings)
        let container = try asset.loadNow(.container)
        let tracks = try asset.loadNow(.tracks)
        let headers = try asset.pictureHeaders()
        let statistics = scans ? try asset.packetStatistics() : [:]
        if scans {
            warnings += Self.warnings(ofDamageIn: statistics)
            // If the header shows what is missing of a track, there is already a warning.
            if try asset.isTruncated(), !warnings.contains(where: { $0.hasPrefix("the file breaks off") }) {
                warnings.append(Self.breakOff)
            }
            try check(warnings)
        }
        if container.isDurationEstimated { warnings.append(Self.estimate) }
        return ProbeReport(
            container: ContainerReport(container, duration: try asset.loadNow(.duration)),
            tracks: tracks.map {
                TrackReport($0, in: container, headers: headers[$0.index], statistics: statistics[$0.index])
            },
            chapters: try asset.loadNow(.chapters).map { ChapterReport($0) },
            metadata: try asset.loadNow(.metadata).map { MetadataReport($0) },
            attachments: tracks.compactMap { AttachmentReport($0) },
            programs: container.programs.map { ProgramReport($0) },
            warnings: warnings)
    }

    private static let breakOff = "the file breaks off before its end"
    private static let estimate = "the duration is an estimate from the bit rate; --scan measures it"

    private func check(_ warnings: [String]) throws(MediaError) {
        guard isStrict, let first = warnings.first else { return }
        throw MediaError(.damaged, "is damaged: \(first)", path: asset.displayName)
    }

    /// Returns a warning for each track with packets that the demuxer found damaged.
    private static func warnings(ofDamageIn statistics: [Int: PacketStatistics]) -> [String] {
        statistics.sorted { $0.key < $1.key }.compactMap { index, found -> String? in
            switch found.corruptCount {
            case 0: nil
            case 1: "1 packet of track \(index) is damaged"
            default: "\(found.corruptCount) packets of track \(index) are damaged"
            }
        }
    }
}

/// The result of `probe` for one file.
///
/// Here and in its parts, properties are declared in the order of the schema, which the encoder keeps. Unknown values
/// are `nil`, and the encoder omits them. `docs/schema/probe.json` describes each key.
package struct ProbeReport: Encodable, Sendable {
    /// The container as a whole.
    package var container: ContainerReport
    /// The tracks, in the container's order.
    package var tracks: [TrackReport]
    /// The chapters, in order.
    package var chapters: [ChapterReport]
    /// The metadata of the container as a whole.
    package var metadata: [MetadataReport]
    /// The attached files and pictures.
    package var attachments: [AttachmentReport]
    /// The programs of a transport stream.
    package var programs: [ProgramReport]
    /// The warnings about the file's structure, one sentence each.
    package var warnings: [String]
}

/// A time range of the presentation.
package struct TimeRangeReport: Encodable, Sendable {
    /// The start time.
    package var start: MediaTime?
    /// The duration.
    package var duration: MediaTime?

    init(_ range: MediaTimeRange) {
        start = range.start.ifNumeric
        duration = range.duration.ifNumeric
    }
}

/// A chapter.
package struct ChapterReport: Encodable, Sendable {
    /// The title.
    package var title: String?
    /// The time range.
    package var timeRange: TimeRangeReport

    init(_ chapter: Chapter) {
        title = chapter.title
        timeRange = TimeRangeReport(chapter.timeRange)
    }
}

extension MediaTime {
    /// The time, or `nil` if it is not numeric; a report omits unknown values.
    var ifNumeric: MediaTime? { isNumeric ? self : nil }
}

/// The declared properties of a container as a whole.
package struct ContainerReport: Encodable, Sendable {
    /// The format's short name, which is the first of ``formatNames``.
    package var format: String
    /// The names of all formats of the family, such as `mov`, `mp4`, `m4a`.
    package var formatNames: [String]
    /// The major brand of an ISO or QuickTime file, padded with blanks to four characters.
    package var majorBrand: String?
    /// The version of the major brand.
    package var majorBrandVersion: Int?
    /// The other brands with which the file claims to be compatible; `nil` for other formats.
    package var compatibleBrands: [String]?
    /// The duration of the presentation.
    package var duration: MediaTime?
    /// The bit rate of all tracks together, in bits per second.
    package var bitRate: Int64?
    /// The size in bytes; `nil` for a stream.
    package var sizeBytes: Int64?
    /// The earliest time stamp, on the container's own clock.
    package var startTime: MediaTime?
    /// The timecode of the first frame.
    package var startTimecode: String?
    /// True if the samples are stored in fragments; `nil` for formats that have none.
    package var fragmented: Bool?
    /// True if the index precedes the media; `nil` for formats to which this does not apply.
    package var indexFirst: Bool?

    init(_ container: ContainerInfo, duration: MediaTime) {
        formatNames = container.format.names
        format = container.format.name
        majorBrand = container.majorBrand
        majorBrandVersion = container.majorBrandVersion
        compatibleBrands = majorBrand == nil ? nil : container.compatibleBrands
        self.duration = duration.ifNumeric
        bitRate = container.bitRate
        sizeBytes = container.sizeBytes
        startTime = container.startTime?.ifNumeric
        startTimecode = container.startTimecode
        fragmented = container.isFragmented
        indexFirst = container.isIndexFirst
    }
}

/// A program of a transport stream.
package struct ProgramReport: Encodable, Sendable {
    /// The program number in the program map.
    package var number: Int
    /// The name of the service.
    package var name: String?
    /// The indices of its tracks.
    package var trackIndices: [Int]
    /// The time stamp, on the program's own clock, from which the times of its tracks are counted.
    package var startTime: MediaTime?
    /// The duration.
    package var duration: MediaTime?

    init(_ program: ContainerInfo.Program) {
        number = program.number
        name = program.name
        trackIndices = program.trackIndices
        startTime = program.startTime?.ifNumeric
        duration = program.duration?.ifNumeric
    }
}

/// A file or a picture attached to the container.
package struct AttachmentReport: Encodable, Sendable {
    /// The index of the track.
    package var trackIndex: Int
    /// The kind: `picture` for cover art, `file` for all others.
    package var kind: String
    /// The file name.
    package var fileName: String?
    /// The MIME type.
    package var mimeType: String?
    /// The size in bytes.
    package var sizeBytes: Int

    /// Makes the report of an attachment; returns `nil` for other tracks.
    init?(_ track: AssetTrack) {
        func text(_ key: String) -> String? { track.metadata.first { $0.name == key }?.value.text }
        let format = track.formatDescriptions.first
        if let picture = track.attachedPicture {
            kind = "picture"
            sizeBytes = picture.count
        } else if track.mediaType == .attachment {
            kind = "file"
            sizeBytes = format?.extradata.count ?? 0
        } else {
            return nil
        }
        trackIndex = track.index
        fileName = text("filename")
        mimeType = text("mimetype") ?? format.flatMap { Self.pictureTypes[$0.codec] }
    }

    private static let pictureTypes = [
        "png": "image/png", "mjpeg": "image/jpeg", "gif": "image/gif", "bmp": "image/bmp", "webp": "image/webp",
        "tiff": "image/tiff",
    ]
}

/// An item of descriptive metadata.
package struct MetadataReport: Encodable, Sendable {
    /// The vocabulary that the key belongs to.
    package var keySpace: String
    /// The key, by ffmpeg's name.
    package var key: String
    /// The key as the file has it, after its vocabulary.
    package var identifier: String
    /// The type of the value: `text`, `number`, `date`, `location` or `data`.
    package var type: String
    /// The value; `nil` for bytes.
    package var value: Value?
    /// The number of bytes; `nil` for other types.
    package var sizeBytes: Int?
    /// The language of the value.
    package var language: String?

    /// A value as JSON represents it.
    package enum Value: Encodable, Sendable {
        /// A string.
        case text(String)
        /// A whole number.
        case integer(Int64)
        /// A number.
        case number(Double)

        /// Encodes the value without a wrapper; a whole number has no fraction.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .integer(let number): try container.encode(number)
            case .number(let number):
                if let whole = Int64(exactly: number) {
                    try container.encode(whole)
                } else {
                    try container.encode(number)
                }
            }
        }
    }

    /// The names of vocabularies; all others are `common`.
    private static let vocabularies: [MetadataKeySpace: String] = [
        .iTunes: "iTunes", .iTunesLongKey: "iTunes", .quickTimeMetadata: "quickTime", .quickTimeUserData: "quickTime",
        .isoUserData: "quickTime", .id3: "id3", .matroska: "matroska", .vorbis: "vorbis",
    ]

    init(_ item: MetadataItem) {
        keySpace = Self.vocabularies[item.keySpace] ?? "common"
        key = item.name
        identifier = item.identifier.rawValue
        language = item.language
        switch item.value {
        case .text(let text): (type, value) = ("text", .text(text))
        case .integer(let number): (type, value) = ("number", .integer(number))
        case .float(let number): (type, value) = ("number", .number(number))
        case .date(let date): (type, value) = ("date", .text(date))
        case .location(let location): (type, value) = ("location", .text(location))
        case .numbers: (type, value) = ("text", .text(item.value.text ?? ""))
        case .data(let bytes): (type, sizeBytes) = ("data", bytes.count)
        }
    }
}
