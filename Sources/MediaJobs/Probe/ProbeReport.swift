package import AssetKit
package import MediaBase

/// Finds out what a file says of itself: one asset in, a report out.
///
/// ```swift
/// let report = try ProbeJob(asset: Asset(path: "a.mov")).run()
/// ```
///
/// Headers are read, and as many packets as it takes to know each track's format; no more.
package struct ProbeJob: Sendable {
    private let asset: Asset
    private let isStrict: Bool
    private let scans: Bool

    /// Makes a job.
    ///
    /// - Parameters:
    ///   - asset: What is looked at; its options say whether all packets are read.
    ///   - scans: Whether all packets are read, for what they show; with an asset of precise timing in one pass.
    ///   - isStrict: Whether damage in the file's structure, and in packets where they are read, is an error instead of a
    ///     warning in the report.
    package init(asset: Asset, scans: Bool = false, isStrict: Bool = false) {
        self.scans = scans
        self.asset = asset
        self.isStrict = isStrict
    }

    /// Reads the file.
    ///
    /// - Throws: what opening the asset throws; `damaged` for damage where the job is strict.
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
            // What is missing of which track, where the header tells, is among the warnings already.
            if try asset.isTruncated(), !warnings.contains(where: { $0.hasPrefix("the file breaks off") }) {
                warnings.append(Self.breakOff)
            }
            try check(warnings)
        }
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

    private func check(_ warnings: [String]) throws(MediaError) {
        guard isStrict, let first = warnings.first else { return }
        throw MediaError(.damaged, "is damaged: \(first)", path: asset.displayName)
    }

    /// What is to be said of packets that the demuxer found damaged, one sentence a track.
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

/// What `probe` tells of one file.
///
/// Here and in all parts, the properties are declared in the schema's order, which the encoder keeps, and what is
/// unknown is `nil`, which it leaves out. `docs/schema/probe.json` describes each key.
package struct ProbeReport: Encodable, Sendable {
    /// The container as a whole.
    package var container: ContainerReport
    /// The tracks, in the container's order.
    package var tracks: [TrackReport]
    /// The chapters, in their order.
    package var chapters: [ChapterReport]
    /// The metadata of the container as a whole.
    package var metadata: [MetadataReport]
    /// Files and pictures that travel in the container.
    package var attachments: [AttachmentReport]
    /// The programs of a transport stream.
    package var programs: [ProgramReport]
    /// What was odd in the file's structure, one sentence each.
    package var warnings: [String]
}

/// A stretch of the presentation.
package struct TimeRangeReport: Encodable, Sendable {
    /// When it begins.
    package var start: MediaTime?
    /// How long it lasts.
    package var duration: MediaTime?

    init(_ range: MediaTimeRange) {
        start = range.start.ifNumeric
        duration = range.duration.ifNumeric
    }
}

/// A chapter.
package struct ChapterReport: Encodable, Sendable {
    /// Its title.
    package var title: String?
    /// When it begins and how long it lasts.
    package var timeRange: TimeRangeReport

    init(_ chapter: Chapter) {
        title = chapter.title
        timeRange = TimeRangeReport(chapter.timeRange)
    }
}

extension MediaTime {
    /// The time where it is a number; a report leaves out what is not known.
    var ifNumeric: MediaTime? { isNumeric ? self : nil }
}

/// What a container says of itself as a whole.
package struct ContainerReport: Encodable, Sendable {
    /// The format's short name: the first of ``formatNames``.
    package var format: String
    /// All names of the family of formats that is read alike, such as `mov`, `mp4`, `m4a`.
    package var formatNames: [String]
    /// The first brand of an ISO or QuickTime file, with the blanks that fill it up to four characters.
    package var majorBrand: String?
    /// The version of the first brand.
    package var majorBrandVersion: Int?
    /// The other brands that the file claims to follow; `nil` for other formats.
    package var compatibleBrands: [String]?
    /// How long the presentation lasts.
    package var duration: MediaTime?
    /// Bits a second over all tracks.
    package var bitRate: Int64?
    /// Length in bytes; `nil` for a stream.
    package var sizeBytes: Int64?
    /// The earliest time stamp in the container's own clock.
    package var startTime: MediaTime?
    /// The first frame's timecode.
    package var startTimecode: String?
    /// Whether samples lie in fragments; `nil` for formats without such a thing.
    package var fragmented: Bool?
    /// Whether the index lies before the media; `nil` for formats without such a thing.
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
    /// The number that the program map gives it.
    package var number: Int
    /// The service's name.
    package var name: String?
    /// The indices of its tracks.
    package var trackIndices: [Int]
    /// The time stamp, in the program's own clock, from which the times of its tracks are counted.
    package var startTime: MediaTime?
    /// How long it lasts.
    package var duration: MediaTime?

    init(_ program: ContainerInfo.Program) {
        number = program.number
        name = program.name
        trackIndices = program.trackIndices
        startTime = program.startTime?.ifNumeric
        duration = program.duration?.ifNumeric
    }
}

/// A file or a picture that travels in the container.
package struct AttachmentReport: Encodable, Sendable {
    /// Which track it is.
    package var trackIndex: Int
    /// `picture` for cover art, `file` for all else.
    package var kind: String
    /// Its name.
    package var fileName: String?
    /// Its media type.
    package var mimeType: String?
    /// Its length.
    package var sizeBytes: Int

    /// The attachment that a track is; `nil` for a track of other kind.
    init?(_ track: AssetTrack) {
        func text(_ key: String) -> String? { track.metadata.first { $0.identifier == key }?.value.text }
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

/// One piece of descriptive metadata.
package struct MetadataReport: Encodable, Sendable {
    /// Which vocabulary the key is of.
    package var keySpace: String
    /// The key.
    package var key: String
    /// What kind of value it is: `text`, `number`, `date`, `location` or `data`.
    package var type: String
    /// What it says; `nil` for bytes.
    package var value: Value?
    /// How many bytes it is; `nil` for all else.
    package var sizeBytes: Int?
    /// The language of the value.
    package var language: String?

    /// A value that JSON has.
    package enum Value: Encodable, Sendable {
        /// Words.
        case text(String)
        /// A number.
        case number(Double)

        /// Writes the value alone; a whole number without a fraction.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number):
                if let whole = Int64(exactly: number) {
                    try container.encode(whole)
                } else {
                    try container.encode(number)
                }
            }
        }
    }

    init(_ item: MetadataItem) {
        keySpace = item.keySpace.rawValue
        key = item.identifier
        language = item.language
        switch item.value {
        case .text(let text): (type, value) = ("text", .text(text))
        case .number(let number): (type, value) = ("number", .number(number))
        case .date(let date): (type, value) = ("date", .text(date))
        case .location(let location): (type, value) = ("location", .text(location))
        case .data(let bytes): (type, sizeBytes) = ("data", bytes.count)
        }
    }
}
