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

extension MovieHeader {
    /// Where a file ends by its own word: the end of its last box, whether the file reaches that far or not, or of the last
    /// segment that an index (`sidx`) lists.
    ///
    /// What follows a box and is none that such a file has on its top level is left out: it may be anything.
    ///
    /// - Returns: The position behind the last box; `nil` where that is said to reach to the file's end, whatever that
    ///   is, and where the source does not begin with a box.
    /// - Throws: what the source throws.
    package static func declaredEnd(
        of source: any ByteSource, limits: BoxLimits = BoxLimits()
    ) throws(MediaError) -> UInt64? {
        var place: UInt64 = 0
        var indexed: UInt64 = 0
        for _ in 0..<limits.topLevelBoxes {
            var reader = BigEndianReader(try source.read(at: place, count: 16))
            guard let size32 = try? reader.uint32(), let type = try? reader.fourCC(), TopLevelBoxes.isKnown(type)
            else { break }
            if size32 == 0 { return nil }
            let size = size32 == 1 ? (try? reader.uint64()) ?? 0 : UInt64(size32)
            guard size >= (size32 == 1 ? 16 : 8) else { break }
            let (end, overflow) = place.addingReportingOverflow(size)
            if overflow { return .max }
            if type == "sidx" {
                let content = try source.read(at: place, count: Int(clamping: min(size, longestIndex)))
                indexed = max(indexed, endOfSegments(content.dropFirst(size32 == 1 ? 16 : 8), after: end) ?? 0)
            }
            place = end
        }
        return place > 0 ? max(place, indexed) : nil
    }

    /// The longest segment index: 65535 segments of 12 bytes, and what comes before them.
    private static let longestIndex: UInt64 = 65535 * 12 + 48

    /// Where the last segment ends that an index lists (ISO/IEC 14496-12, 8.16.3); `nil` where it is cut off.
    private static func endOfSegments(_ payload: ArraySlice<UInt8>, after end: UInt64) -> UInt64? {
        var reader = BigEndianReader(Array(payload))
        func sum() throws(MediaError) -> UInt64 {
            let (version, _) = try reader.versionAndFlags()
            try reader.skip(version == 0 ? 12 : 16)
            var sum = end.addingClamped(version == 0 ? UInt64(try reader.uint32()) : try reader.uint64())
            try reader.skip(2)
            for _ in 0..<(try reader.uint16()) {
                sum = sum.addingClamped(UInt64(try reader.uint32() & 0x7FFF_FFFF))
                try reader.skip(8)
            }
            return sum
        }
        return try? sum()
    }

    /// Reports whether there is a fragment among the first boxes of a file.
    ///
    /// - Throws: what the source throws.
    package static func beginsWithFragments(_ source: any ByteSource) throws(MediaError) -> Bool {
        var place: UInt64 = 0
        for _ in 0..<16 {
            var reader = BigEndianReader(try source.read(at: place, count: 16))
            guard let size32 = try? reader.uint32(), let type = try? reader.fourCC(), TopLevelBoxes.isKnown(type)
            else { return false }
            if type == "moof" { return true }
            let size = size32 == 1 ? (try? reader.uint64()) ?? 0 : UInt64(size32)
            guard size >= 8, case let (end, overflow) = place.addingReportingOverflow(size), !overflow else {
                return false
            }
            place = end
        }
        return false
    }

    /// Reports whether the fragments that a file has end before the time at which the movie is to end (`mehd`); by half a second,
    /// since that time is rounded and may come from an edit list.
    ///
    /// - Throws: what reading the header throws.
    package static func fragmentsEndEarly(
        in source: any ByteSource, limits: BoxLimits = BoxLimits()
    ) throws(MediaError) -> Bool {
        let movie = try MovieHeader(reading: source, limits: limits)
        guard movie.areFragmentsComplete, let stated = movie.fragmentedDuration, let scale = movie.timescale, scale > 0
        else { return false }
        let ends = movie.fragments.compactMap { fragments -> Double? in
            guard let own = movie.track(id: fragments.trackID)?.media?.timescale, own > 0 else { return nil }
            return Double(fragments.endDecodeTime) / Double(own)
        }
        return (ends.max() ?? 0) + 0.5 < Double(stated) / Double(scale)
    }
}

/// What a file's segment indexes say of one stream: how far the segments reach that they list.
///
/// ISO/IEC 14496-12, 8.16.3 (sidx). In files of one track or more the stream is a track.
package struct SegmentIndex: Hashable, Sendable {
    /// The stream's number.
    package var streamID: UInt32

    /// Units a second of the times; `nil` where 0 is written.
    package var timescale: UInt32?

    /// When the first segment begins, in ``timescale``.
    package var start: UInt64

    /// When the last segment ends, in ``timescale``; does not pass the highest number.
    package var end: UInt64
}

extension SegmentIndex {
    /// Reads a `sidx` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, _) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        streamID = try reader.uint32()
        timescale = try reader.timescale()
        start = version == 1 ? try reader.uint64() : UInt64(try reader.uint32())
        try reader.skip(version == 1 ? 8 : 4)
        try reader.skip(2)
        end = start
        for _ in 0..<(try reader.uint16()) {
            // A segment's size, its duration, and where it can be entered.
            try reader.skip(4)
            end = end.addingClamped(UInt64(try reader.uint32()))
            try reader.skip(4)
        }
    }

    /// Reads all of a file's, joined by stream; one that lists others covers no more than they do.
    static func list(_ boxes: [Box], reader: inout BoxReader) throws(MediaError) -> [SegmentIndex] {
        var indexes: [SegmentIndex] = []
        for box in boxes {
            guard let index = try reader.parse(box, SegmentIndex.init) else { continue }
            let same = indexes.firstIndex { $0.streamID == index.streamID && $0.timescale == index.timescale }
            if let same {
                indexes[same].start = min(indexes[same].start, index.start)
                indexes[same].end = max(indexes[same].end, index.end)
            } else if indexes.count < maximumStreams {
                indexes.append(index)
            }
        }
        return indexes
    }

    private static let maximumStreams = 1000
}
