import MediaBase

/// The contents of one track's boxes in an MP4 or QuickTime file; absent or damaged values are `nil` or empty.
///
/// ISO/IEC 14496-12, 8.3 (trak).
package struct MovieTrack: Hashable, Sendable {
    /// The track's header (`tkhd`).
    package var header: TrackHeader?

    /// The media's header (`mdhd`).
    package var media: MediaHeader?

    /// The kind of media (`hdlr`).
    package var handler: MediaHandler?

    /// The edit list (`elst`); `nil` if there is none, in which case the media plays from its start.
    package var edits: [EditListEntry]?

    /// The start times of the frames on screen at the starts of edits, keyed by the edits' media times.
    ///
    /// All are in the media's timescale. Edits that start at the media's first sample need no entry.
    package var pictureTimes: [Int64: Int64] = [:]

    /// QuickTime's aperture sizes (`tapt`).
    package var apertures: TrackApertures?

    /// The sample descriptions (`stsd`).
    package var sampleEntries: [SampleEntry] = []

    /// The totals of the sample tables (`stbl`).
    package var tables: SampleTables?

    /// The end time of the last sample in presentation order, in the media's timescale; `nil` if unknown.
    ///
    /// The samples together last for the sum of their durations (`stts`). If they are presented in a different order,
    /// the durations describe only decode times, and the media's stated duration (`mdhd`) is used if it is longer.
    package var endTime: Int64? {
        guard let tables, let earliest = tables.earliestTime, let samples = tables.timeToSample else { return nil }
        let length = tables.hasOffsets ? max(samples.duration, media?.duration ?? 0) : samples.duration
        return earliest.addingClamped(Int64(clamping: length))
    }

    /// The boxes that describe a track of text, timecode or data for another movie, or the reason why there are none.
    ///
    /// `nil` for video, audio and tracks without a handler.
    package var carriage: Carriage?

    /// The IDs of the tracks that this track refers to (`tref`), by kind of reference, such as `chap`.
    package var references: [FourCC: [UInt32]] = [:]

    /// True if the samples of the first sample entry are in this file (`dref`), which is the default.
    package var isSelfContained = true

    /// The first sample of a timecode track as written: the number of frames before the track's first frame.
    ///
    /// The bits are a signed number if the sample entry has flag 4 (negative times). `nil` for other tracks, and if the
    /// sample cannot be read.
    package var timecodeCounter: UInt32?

    /// The keys and values of the track's metadata.
    package var metadataKeys = MetadataKeys()

    /// The track's name from its user data (`udta`).
    package var name: String?

    /// The track ID from the header.
    package var trackID: UInt32? { header?.trackID }
}

extension MovieTrack {
    /// Reads a `trak` box.
    ///
    /// - Parameters:
    ///   - tree: The boxes of the movie.
    ///   - node: The index of `trak` in `tree`.
    ///   - reader: The reader of the file.
    init(_ tree: BoxTree, at node: Int, reader: inout BoxReader) throws(MediaError) {
        header = try reader.parse(tree.box("tkhd", from: node), TrackHeader.init)
        edits = try reader.parse(tree.box("edts", "elst", from: node), EditListEntry.list)
        if let tapt = tree.child("tapt", of: node) {
            apertures = try TrackApertures(tree.boxes(in: tapt), reader: &reader)
        }
        for box in tree.boxes(in: tree.child("tref", of: node)) {
            references[box.type, default: []] += try reader.parse(box, Self.trackIDs) ?? []
        }
        name = try UserText.name(in: tree.boxes(in: tree.child("udta", of: node)), reader: &reader)
        try metadataKeys.read(tree, at: node, reader: &reader)
        guard let mdia = tree.child("mdia", of: node) else {
            reader.warn("a track has no media (trak at offset \(tree.nodes[node].box.offset))")
            return
        }
        try readMedia(tree, at: mdia, reader: &reader)
        guard let handler, !["vide", "soun"].contains(handler.type) else { return }
        carriage =
            isSelfContained
            ? try TrackDescription.read(tree, at: node, handler: handler, reader: &reader)
            : .impossible("its samples are in another file")
    }

    private mutating func readMedia(_ tree: BoxTree, at mdia: Int, reader: inout BoxReader) throws(MediaError) {
        media = try reader.parse(tree.box("mdhd", from: mdia), MediaHeader.init)
        handler = try reader.parse(tree.box("hdlr", from: mdia), MediaHandler.init)
        guard let stbl = tree.descendant(["minf", "stbl"], of: mdia) else { return }
        sampleEntries = try SampleEntry.list(
            tree.box("stsd", from: stbl), handler: handler?.type, reader: &reader)
        let tables = try SampleTables(tree, at: stbl, reader: &reader)
        self.tables = tables
        if handler?.type == "vide", let edits {
            let moments = edits.map(\.mediaTime).filter { $0 > 0 }
            pictureTimes = try SampleTimes.onScreen(at: moments, tree, stbl: stbl, reader: &reader)
        }
        if let index = sampleEntries.first?.dataReferenceIndex {
            isSelfContained = try Self.isSelfContained(
                tree.box("minf", "dinf", "dref", from: mdia), entry: index, reader: &reader)
        }
        if isSelfContained, sampleEntries.first?.timecode != nil, let offset = tables.firstChunkOffset {
            var sample = BigEndianReader(try reader.bytes(at: offset, count: 4))
            timecodeCounter = try? sample.uint32()
            if timecodeCounter == nil { reader.warn("the timecode at offset \(offset) lies outside the file") }
        }
    }

    /// Reports whether a data reference (numbered from 1) points to the same file; true if the entry does not exist.
    private static func isSelfContained(
        _ dref: Box?, entry: UInt16, reader: inout BoxReader
    ) throws(MediaError) -> Bool {
        guard let dref else { return true }
        let boxes = try reader.boxes(in: dref.payload.dropping(8))
        guard entry > 0, Int(entry) <= boxes.count else { return true }
        let flags = try reader.parse(boxes[Int(entry) - 1], prefix: 4) { reader throws(MediaError) in
            try reader.versionAndFlags().flags
        }
        return flags.map { $0 & 1 != 0 } ?? true
    }

    /// Reads the payload of a reference, which is a list of track IDs.
    private static func trackIDs(_ reader: inout BigEndianReader) throws(MediaError) -> [UInt32] {
        var trackIDs: [UInt32] = []
        while reader.remaining >= 4 { trackIDs.append(try reader.uint32()) }
        return trackIDs
    }
}

/// One edit of a track: the part of the media to play, for how long, and at which rate.
///
/// ISO/IEC 14496-12, 8.6.6 (elst).
package struct EditListEntry: Hashable, Sendable {
    /// The duration of the edit, in the movie's timescale; 0 in a fragmented file means "to the end".
    package var segmentDuration: UInt64

    /// The media time at which the edit starts, in the media's timescale; −1 for an empty edit.
    package var mediaTime: Int64

    /// The integer part of the rate: 1 for normal speed, 0 for a dwell on one moment.
    package var rateInteger: Int16

    /// The fractional part of the rate, in units of 1/65536.
    package var rateFraction: Int16

    /// Creates an entry from its fields.
    package init(segmentDuration: UInt64, mediaTime: Int64, rateInteger: Int16 = 1, rateFraction: Int16 = 0) {
        self.segmentDuration = segmentDuration
        self.mediaTime = mediaTime
        self.rateInteger = rateInteger
        self.rateFraction = rateFraction
    }

    /// True if the edit shows nothing of the media.
    package var isEmpty: Bool { mediaTime == -1 }
}

extension EditListEntry {
    /// Reads an `elst` payload, up to the number of entries that it declares and contains.
    static func list(_ reader: inout BigEndianReader) throws(MediaError) -> [EditListEntry] {
        let (version, _) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        let claimed = try reader.uint32()
        let held = reader.remaining / (version == 1 ? 20 : 12)
        if UInt64(claimed) > UInt64(held) { reader.note("claims \(claimed) entries and holds \(held)") }
        let count = min(Int(clamping: claimed), held)
        var entries: [EditListEntry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let duration = try reader.time(version: version)
            let time = version == 1 ? try reader.int64() : Int64(try reader.int32())
            entries.append(
                EditListEntry(
                    segmentDuration: duration, mediaTime: time, rateInteger: try reader.int16(),
                    rateFraction: try reader.int16()))
        }
        return entries
    }
}

/// A width and a height in unsigned 16.16 fixed point.
package struct FixedPointSize: Hashable, Sendable {
    /// The width in units of 1/65536 pixel.
    package var width: UInt32

    /// The height in units of 1/65536 pixel.
    package var height: UInt32

    /// Creates a size from its raw numbers.
    package init(width: UInt32, height: UInt32) {
        self.width = width
        self.height = height
    }
}

/// A track's ID, flags, duration and display size in the movie.
///
/// ISO/IEC 14496-12, 8.3.2 (tkhd).
package struct TrackHeader: Hashable, Sendable {
    /// The track ID; not 0 in a valid file.
    package var trackID: UInt32

    /// All 24 flag bits: 1 enabled, 2 in the movie, 4 in the preview, 8 (ISO) the size is an aspect ratio.
    package var flags: UInt32

    /// The track's duration, in the movie's timescale; `nil` if marked as unknown.
    package var duration: UInt64?

    /// The stacking order: lower numbers are closer to the viewer.
    package var layer: Int16

    /// The group of tracks of which one is to be used at a time; 0 if the track belongs to none.
    package var alternateGroup: Int16 = 0
    /// The volume in 8.8 fixed point; 256 is full volume.
    package var volume: Int16

    /// The matrix a, b, u, c, d, v, x, y, w: 16.16 fixed point, except u, v and w, which are 2.30.
    package var matrix: [Int32]

    /// The size before the matrix is applied.
    package var size: FixedPointSize

    /// True if the track is enabled.
    package var isEnabled: Bool { flags & 1 != 0 }
}

extension TrackHeader {
    /// Reads a `tkhd` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, flags) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        try reader.skip(version == 1 ? 16 : 8)
        trackID = try reader.uint32()
        self.flags = flags
        try reader.skip(4)
        duration = try reader.duration(version: version)
        try reader.skip(8)
        layer = try reader.int16()
        alternateGroup = try reader.int16()
        volume = try reader.int16()
        try reader.skip(2)
        matrix = try reader.matrix()
        size = try reader.fixedPointSize()
    }
}

/// The three sizes that QuickTime stores for a track, before the track's matrix is applied.
///
/// QuickTime File Format, "Track Aperture Mode Dimensions" (tapt).
package struct TrackApertures: Hashable, Sendable {
    /// The display size: cropped to the clean aperture, with square pixels (`clef`).
    package var clean: FixedPointSize?

    /// The size of the whole picture with square pixels (`prof`).
    package var production: FixedPointSize?

    /// The size of the whole picture in stored pixels (`enof`).
    package var encoded: FixedPointSize?
}

extension TrackApertures {
    /// Reads the child boxes of a `tapt` box.
    init(_ boxes: [Box], reader: inout BoxReader) throws(MediaError) {
        for box in boxes {
            switch box.type {
            case "clef": clean = try reader.parse(box, Self.dimensions) ?? clean
            case "prof": production = try reader.parse(box, Self.dimensions) ?? production
            case "enof": encoded = try reader.parse(box, Self.dimensions) ?? encoded
            default: break
            }
        }
    }

    private static func dimensions(_ reader: inout BigEndianReader) throws(MediaError) -> FixedPointSize {
        try reader.skip(4)
        return try reader.fixedPointSize()
    }
}

extension BigEndianReader {
    /// Reads a transformation matrix of nine numbers.
    mutating func matrix() throws(MediaError) -> [Int32] {
        var matrix: [Int32] = []
        for _ in 0..<9 { matrix.append(try int32()) }
        return matrix
    }

    /// Reads a width and a height in 16.16 fixed point.
    mutating func fixedPointSize() throws(MediaError) -> FixedPointSize {
        FixedPointSize(width: try uint32(), height: try uint32())
    }
}

/// The creation time, timescale, duration and language of a track's media.
///
/// ISO/IEC 14496-12, 8.4.2 (mdhd).
package struct MediaHeader: Hashable, Sendable {
    /// The media's creation time, as formatted by ``CreationTime``; `nil` if 0 is written.
    package var creationTime: String?

    /// The media's time units per second; `nil` if 0 is written.
    package var timescale: UInt32?

    /// The media's duration without edits, in ``timescale``; `nil` if marked as unknown.
    package var duration: UInt64?

    /// The language of the media.
    package var language: MediaLanguage
}

extension MediaHeader {
    /// Reads an `mdhd` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        let (version, _) = try reader.versionAndFlags()
        try reader.expect(version: version, atMost: 1)
        creationTime = CreationTime.text(try reader.time(version: version))
        try reader.skip(version == 1 ? 8 : 4)
        timescale = try reader.timescale()
        duration = try reader.duration(version: version)
        language = MediaLanguage(rawValue: try reader.uint16())
    }
}

/// Creation times in a movie's headers: whole seconds since 1904 (ISO/IEC 14496-12, 8.2.2).
package enum CreationTime {
    /// The number of seconds from 1904 to 1970.
    private static let epoch: UInt64 = 2_082_844_800

    /// Formats a time as ISO 8601, as libavformat does; `nil` for 0 and from the year 10000 on.
    ///
    /// Numbers that would be dates before 1970 count from 1970, because some writers store them so.
    package static func text(_ seconds: UInt64) -> String? {
        let time = seconds >= epoch ? seconds - epoch : seconds
        guard seconds > 0, time < 253_402_300_800 else { return nil }
        let day = Int(time % 86400)
        // Days since 1 March of year 0, so that a leap day is the last day of its year; 400 years have 146,097 days.
        let days = Int(time / 86400) + 719_468
        let inEra = days % 146_097
        let yearOfEra = (inEra - inEra / 1460 + inEra / 36524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * inYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        let year = yearOfEra + days / 146_097 * 400 + (month <= 2 ? 1 : 0)
        let dayOfMonth = inYear - (153 * march + 2) / 5 + 1
        let date = "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(dayOfMonth, to: 2))"
        let clock = [day / 3600, day / 60 % 60, day % 60].map { padded($0, to: 2) }.joined(separator: ":")
        return "\(date)T\(clock).000000Z"
    }
}

extension BigEndianReader {
    /// Reads a timescale; 0 becomes `nil`, with a note.
    mutating func timescale() throws(MediaError) -> UInt32? {
        let value = try uint32()
        if value == 0 { note("has the timescale 0") }
        return value == 0 ? nil : value
    }
}

/// Decodes UTF-8 up to the first zero, replacing invalid bytes.
func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
}
