import MediaBase

/// What an MP4 or QuickTime file says of one track; what is absent or damaged is `nil` or empty.
///
/// ISO/IEC 14496-12, 8.3 (trak).
package struct MovieTrack: Hashable, Sendable {
    /// The track's header (`tkhd`).
    package var header: TrackHeader?

    /// The media's header (`mdhd`).
    package var media: MediaHeader?

    /// The kind of media (`hdlr`).
    package var handler: MediaHandler?

    /// The edit list (`elst`); `nil` where there is none, and then the media plays from its start.
    package var edits: [EditListEntry]?

    /// When the picture begins that is on screen where an edit begins, by the edit's media time.
    ///
    /// Of edits that begin with the media's first sample there is none. All in the media's timescale.
    package var pictureTimes: [Int64: Int64] = [:]

    /// QuickTime's aperture sizes (`tapt`).
    package var apertures: TrackApertures?

    /// How the samples are coded (`stsd`).
    package var sampleEntries: [SampleEntry] = []

    /// What the sample tables add up to (`stbl`).
    package var tables: SampleTables?

    /// When the sample ends that is shown last, in the media's timescale; `nil` where that is not known.
    ///
    /// All samples together last as long as their durations (`stts`). Where some are shown in another order, those tell
    /// only when samples are decoded, and the media may last longer (`mdhd`).
    package var endTime: Int64? {
        guard let tables, let earliest = tables.earliestTime, let samples = tables.timeToSample else { return nil }
        let length = tables.hasOffsets ? max(samples.duration, media?.duration ?? 0) : samples.duration
        return earliest.addingClamped(Int64(clamping: length))
    }

    /// The other tracks that this one refers to, by the kind of reference such as `chap` (`tref`).
    package var references: [FourCC: [UInt32]] = [:]

    /// Whether the first sample entry's samples lie in this very file (`dref`); true where nothing else is said.
    package var isSelfContained = true

    /// A timecode track's first sample as it is written: the number of frames before its first frame.
    ///
    /// With the sample entry's flag 4 (negative times) the bits are a signed number. `nil` for other tracks, and where
    /// the sample cannot be read.
    package var timecodeCounter: UInt32?

    /// The keys of the track's metadata.
    package var metadataKeys = MetadataKeys()

    /// The name among the user data (`udta`).
    package var name: String?

    /// The number that names the track, from its header.
    package var trackID: UInt32? { header?.trackID }
}

extension MovieTrack {
    /// Reads a `trak` box.
    ///
    /// - Parameters:
    ///   - tree: The boxes of the movie.
    ///   - node: The place of `trak` in it.
    ///   - reader: Where to read.
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

    /// Whether a data reference (from 1) says that the media is in the same file; also where there is no such entry.
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

    /// Reads a reference's payload: track numbers up to its end.
    private static func trackIDs(_ reader: inout BigEndianReader) throws(MediaError) -> [UInt32] {
        var trackIDs: [UInt32] = []
        while reader.remaining >= 4 { trackIDs.append(try reader.uint32()) }
        return trackIDs
    }
}

/// One edit of a track: for how long it plays which part of the media, and how fast.
///
/// ISO/IEC 14496-12, 8.6.6 (elst).
package struct EditListEntry: Hashable, Sendable {
    /// How long the edit lasts, in the movie's timescale; 0 in a fragmented file means "to the end".
    package var segmentDuration: UInt64

    /// Where in the media it begins, in the media's timescale; −1 for an empty edit.
    package var mediaTime: Int64

    /// The rate's whole part: 1 for normal speed, 0 for a dwell on one moment.
    package var rateInteger: Int16

    /// The rate's fraction in 1/65536.
    package var rateFraction: Int16

    /// Makes an entry of its fields.
    package init(segmentDuration: UInt64, mediaTime: Int64, rateInteger: Int16 = 1, rateFraction: Int16 = 0) {
        self.segmentDuration = segmentDuration
        self.mediaTime = mediaTime
        self.rateInteger = rateInteger
        self.rateFraction = rateFraction
    }

    /// Whether nothing of the media is shown.
    package var isEmpty: Bool { mediaTime == -1 }
}

extension EditListEntry {
    /// Reads an `elst` payload: as many entries as it claims and holds.
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
