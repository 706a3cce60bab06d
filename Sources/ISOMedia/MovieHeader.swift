package import MediaBase

/// What the boxes of an MP4 or QuickTime file say beyond what libavformat passes on.
///
/// All numbers are as they are written; what is absent or damaged is `nil` or empty, and ``warnings`` tells what was
/// damaged. Only headers, descriptions and tables are read, never `mdat`, except for a timecode's four bytes.
///
/// ISO/IEC 14496-12, QuickTime File Format.
package struct MovieHeader: Hashable, Sendable {
    /// The brands (`ftyp`); an old QuickTime file has none.
    package var fileType: FileType?

    /// When the movie came into being (`mvhd`), as ``CreationTime`` writes it; `nil` where 0 is written.
    package var creationTime: String?

    /// Units a second of the movie's times (`mvhd`); `nil` also where 0 is written.
    package var timescale: UInt32?

    /// How long the movie is, in ``timescale`` (`mvhd`); `nil` also where "not known" is written.
    package var duration: UInt64?

    /// The movie's matrix a, b, u, c, d, v, x, y, w, applied after a track's (`mvhd`).
    package var matrix: [Int32]?

    /// Whether the movie may go on in fragments (`mvex`).
    package var isFragmented = false

    /// How long the movie is with its fragments, in ``timescale`` (`mehd`).
    package var fragmentedDuration: UInt64?

    /// Whether `moov` stands before the first `mdat`; `nil` without `mdat`.
    package var isMovieBeforeMedia: Bool?

    /// The tracks, in file order.
    package var tracks: [MovieTrack] = []

    /// What the fragments add up to, by track number; empty where ``isFragmented`` is false.
    package var fragments: [FragmentSummary] = []

    /// Whether all fragments were counted; false where a limit cut them off.
    package var areFragmentsComplete = true

    /// What the segment indexes say, by stream.
    package var segmentIndexes: [SegmentIndex] = []

    /// The keys of the movie's metadata.
    package var metadataKeys = MetadataKeys()

    /// The name among the movie's user data (`udta`).
    package var name: String?

    /// The chapters among the movie's user data (`udta/chpl`), in file order; empty for those of a track.
    package var chapters: [ChapterMark] = []

    /// What was damaged or odd, one sentence each.
    package var warnings: [String] = []

    /// The track with a number, or `nil`.
    package func track(id: UInt32) -> MovieTrack? { tracks.first { $0.trackID == id } }
}

/// The brands that a file conforms to.
///
/// ISO/IEC 14496-12, 4.3 (ftyp).
package struct FileType: Hashable, Sendable {
    /// The best use of the file.
    package var majorBrand: FourCC

    /// The major brand's minor version.
    package var minorVersion: UInt32

    /// The brands that the file conforms to as well, in file order; zeros, with which QuickTime fills up, are left out.
    package var compatibleBrands: [FourCC]
}

extension FileType {
    /// Reads an `ftyp` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        majorBrand = try reader.fourCC()
        minorVersion = try reader.uint32()
        compatibleBrands = []
        while reader.remaining >= 4 {
            let brand = try reader.fourCC()
            if brand.rawValue != 0 { compatibleBrands.append(brand) }
        }
    }
}

extension MovieHeader {
    /// Reads a file's boxes.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - limits: What is not gone beyond.
    /// - Throws: `unknownFormat` where the source does not begin with a box of such a file, `limitExceeded` where a
    ///   limit ends the search for the movie box, `damaged` where there is none, and what the source throws.
    package init(reading source: any ByteSource, limits: BoxLimits = BoxLimits()) throws(MediaError) {
        var reader = BoxReader(source, limits: limits)
        let top = try TopLevelBoxes(&reader)
        guard let moov = top.movie else {
            if top.isKnownFormat, reader.reachedLimit {
                throw MediaError(
                    .limitExceeded,
                    "the movie box (moov) was not found within the limit boxes=\(limits.boxes); raise that to read it")
            }
            throw top.isKnownFormat
                ? MediaError(.damaged, "no movie box (moov) was found: the recording may not have been finished")
                : MediaError(.unknownFormat, "the content is not MP4 or QuickTime")
        }
        fileType = try reader.parse(top.fileType, FileType.init)
        isMovieBeforeMedia = top.media.map { moov.offset < $0.offset }

        let tree = try BoxTree(moov, reader: &reader)
        try readMovieHeader(tree.box("mvhd"), reader: &reader)
        name = try UserText.name(in: tree.boxes(in: tree.child("udta", of: 0)), reader: &reader)
        chapters = try reader.parse(tree.box("udta", "chpl"), prefix: 1 << 17, ChapterMark.list) ?? []
        try metadataKeys.read(tree, at: 0, reader: &reader)
        for node in tree.children("trak", of: 0) {
            tracks.append(try MovieTrack(tree, at: node, reader: &reader))
        }
        if tree.child("cmov", of: 0) != nil { reader.warn("the movie box is compressed (cmov) and was not read") }
        if let mvex = tree.child("mvex", of: 0) {
            isFragmented = true
            fragmentedDuration = try reader.parse(tree.box("mvex", "mehd"), Self.extendedDuration) ?? nil
            var scanner = try FragmentScanner(tree, mvex: mvex, tracks: tracks, reader: &reader)
            for moof in top.fragments { try scanner.add(moof, reader: &reader) }
            fragments = scanner.result
            areFragmentsComplete = !reader.reachedLimit
            segmentIndexes = try SegmentIndex.list(top.segmentIndexes, reader: &reader)
        }
        warnings = reader.warnings
    }

    private mutating func readMovieHeader(_ box: Box?, reader: inout BoxReader) throws(MediaError) {
        let fields = try reader.parse(box) { reader throws(MediaError) in
            let (version, _) = try reader.versionAndFlags()
            try reader.expect(version: version, atMost: 1)
            let created = version == 1 ? try reader.uint64() : UInt64(try reader.uint32())
            try reader.skip(version == 1 ? 8 : 4)
            let times = (timescale: try reader.timescale(), duration: try reader.duration(version: version))
            try reader.skip(16)
            return (times, matrix: try reader.matrix(), created: created)
        }
        guard let fields else { return }
        creationTime = CreationTime.text(fields.created)
        timescale = fields.0.timescale
        duration = fields.0.duration
        matrix = fields.matrix
    }

    private static func extendedDuration(_ reader: inout BigEndianReader) throws(MediaError) -> UInt64? {
        let (version, _) = try reader.versionAndFlags()
        return try reader.duration(version: version)
    }
}
