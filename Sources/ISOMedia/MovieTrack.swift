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
            let duration = version == 1 ? try reader.uint64() : UInt64(try reader.uint32())
            let time = version == 1 ? try reader.int64() : Int64(try reader.int32())
            entries.append(
                EditListEntry(
                    segmentDuration: duration, mediaTime: time, rateInteger: try reader.int16(),
                    rateFraction: try reader.int16()))
        }
        return entries
    }
}
