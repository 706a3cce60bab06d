package import MediaBase

/// The contents of an MP4 or QuickTime file's boxes that libavformat does not pass on.
///
/// All numbers are as written in the file. Values that are absent or damaged are `nil` or empty; ``warnings`` lists
/// what was damaged. Only headers, descriptions and tables are read, never `mdat`, except for the four bytes of a
/// timecode sample.
///
/// ISO/IEC 14496-12, QuickTime File Format.
package struct MovieHeader: Hashable, Sendable {
    /// The brands (`ftyp`); `nil` in old QuickTime files.
    package var fileType: FileType?

    /// The movie's creation time (`mvhd`), as formatted by ``CreationTime``; `nil` if 0 is written.
    package var creationTime: String?

    /// The movie's time units per second (`mvhd`); `nil` if absent or 0.
    package var timescale: UInt32?

    /// The movie's duration in ``timescale`` (`mvhd`); `nil` if absent or marked as unknown.
    package var duration: UInt64?

    /// The movie's matrix a, b, u, c, d, v, x, y, w (`mvhd`), applied after a track's matrix.
    package var matrix: [Int32]?

    /// True if the movie may continue in fragments (`mvex`).
    package var isFragmented = false

    /// The movie's duration including its fragments, in ``timescale`` (`mehd`).
    package var fragmentedDuration: UInt64?

    /// True if `moov` precedes the first `mdat`; `nil` if there is no `mdat`.
    package var isMovieBeforeMedia: Bool?

    /// The tracks, in file order.
    package var tracks: [MovieTrack] = []

    /// The totals of the fragments, sorted by track ID; empty if ``isFragmented`` is false.
    package var fragments: [FragmentSummary] = []

    /// True if all fragments were counted; false if a limit was reached.
    package var areFragmentsComplete = true

    /// The time ranges that the segment indexes cover, by stream.
    package var segmentIndexes: [SegmentIndex] = []

    /// The keys and values of the movie's metadata.
    package var metadataKeys = MetadataKeys()

    /// The movie's name from its user data (`udta`).
    package var name: String?

    /// The chapters in the movie's user data (`udta/chpl`), in file order.
    ///
    /// Chapters in a chapter track are not included.
    package var chapters: [ChapterMark] = []

    /// The damaged or unusual parts of the file, one sentence each.
    package var warnings: [String] = []

    /// Returns the track with the given ID, or `nil` if there is none.
    package func track(id: UInt32) -> MovieTrack? { tracks.first { $0.trackID == id } }
}

/// The brands that a file conforms to.
///
/// ISO/IEC 14496-12, 4.3 (ftyp).
package struct FileType: Hashable, Sendable {
    /// The brand that describes the best use of the file.
    package var majorBrand: FourCC

    /// The minor version of the major brand.
    package var minorVersion: UInt32

    /// The other brands that the file conforms to, in file order, without the zeros that QuickTime pads with.
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
    /// Reads the boxes of a file.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - limits: The limits on what is read.
    /// - Throws: `unknownFormat` if the source does not start with a box of such a file, `limitExceeded` if a limit
    ///   ends the search for the movie box, `damaged` if there is no movie box, and any error that the source throws.
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
            let created = try reader.time(version: version)
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
    /// Returns the byte offset at which the file should end, as declared by its boxes.
    ///
    /// This is the end of the last box, even if the file is shorter, or the end of the last segment that an index
    /// (`sidx`) lists, whichever is later. Data after a box is ignored if it does not start with a known top-level box,
    /// because it may be anything.
    ///
    /// - Returns: The offset after the last byte; `nil` if the last box extends to the end of the file, or if the
    ///   source does not start with a box.
    /// - Throws: Any error that the source throws.
    package static func declaredEnd(
        of source: any ByteSource, limits: BoxLimits = BoxLimits()
    ) throws(MediaError) -> UInt64? {
        var place: UInt64 = 0
        var indexed: UInt64 = 0
        for _ in 0..<limits.topLevelBoxes {
            guard let (type, headerSize, size) = try topLevelBox(at: place, in: source) else { break }
            guard let size else { return nil }
            guard size >= headerSize else { break }
            let (end, overflow) = place.addingReportingOverflow(size)
            if overflow { return .max }
            if type == "sidx" {
                let content = try source.read(at: place, count: Int(clamping: min(size, longestIndex)))
                indexed = max(indexed, endOfSegments(content.dropFirst(headerSize), after: end) ?? 0)
            }
            place = end
        }
        return place > 0 ? max(place, indexed) : nil
    }

    /// Reads the header of a box that is known on the top level; its size is `nil` if it extends to the end of the file.
    private static func topLevelBox(
        at place: UInt64, in source: any ByteSource
    ) throws(MediaError) -> (type: FourCC, headerSize: Int, size: UInt64?)? {
        var reader = BigEndianReader(try source.read(at: place, count: 16))
        guard let size = try? reader.uint32(), let type = try? reader.fourCC(), TopLevelBoxes.isKnown(type)
        else { return nil }
        return size == 1 ? (type, 16, (try? reader.uint64()) ?? 0) : (type, 8, size == 0 ? nil : UInt64(size))
    }

    /// The maximum size of a segment index: 65535 segments of 12 bytes, and the fields before them.
    private static let longestIndex: UInt64 = 65535 * 12 + 48

    /// Returns the end of the last segment that an index lists (ISO/IEC 14496-12, 8.16.3), or `nil` if the index is
    /// truncated.
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

    /// Reports whether there is a fragment (`moof`) among the first 16 boxes of a file.
    ///
    /// - Throws: Any error that the source throws.
    package static func beginsWithFragments(_ source: any ByteSource) throws(MediaError) -> Bool {
        var place: UInt64 = 0
        for _ in 0..<16 {
            guard let (type, _, size) = try topLevelBox(at: place, in: source) else { return false }
            if type == "moof" { return true }
            guard let size, size >= 8, case let (end, overflow) = place.addingReportingOverflow(size), !overflow else {
                return false
            }
            place = end
        }
        return false
    }

    /// Reports whether a file's fragments end more than half a second before the declared end of the movie (`mehd`).
    ///
    /// The tolerance is needed because the declared duration is rounded and may come from an edit list.
    ///
    /// - Throws: Any error that reading the header throws.
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

/// The time range that a file's segment indexes list for one stream.
///
/// ISO/IEC 14496-12, 8.16.3 (sidx). In files with tracks, the stream is a track.
package struct SegmentIndex: Hashable, Sendable {
    /// The stream's ID.
    package var streamID: UInt32

    /// The time units per second; `nil` if 0 is written.
    package var timescale: UInt32?

    /// The start time of the first segment, in ``timescale``.
    package var start: UInt64

    /// The end time of the last segment, in ``timescale``, clamped to `UInt64.max`.
    package var end: UInt64
}

extension SegmentIndex {
    /// Reads a `sidx` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, _) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        streamID = try reader.uint32()
        timescale = try reader.timescale()
        start = try reader.time(version: version)
        try reader.skip(version == 1 ? 8 : 4)
        try reader.skip(2)
        end = start
        for _ in 0..<(try reader.uint16()) {
            // The segment's size, its duration and its stream access point.
            try reader.skip(4)
            end = end.addingClamped(UInt64(try reader.uint32()))
            try reader.skip(4)
        }
    }

    /// Reads all segment indexes of a file and merges those of the same stream.
    ///
    /// An index of other indexes covers the same time as they do, so it does not extend the range.
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
