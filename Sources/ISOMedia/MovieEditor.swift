package import MediaBase

/// Edits the header (`moov`) of a finished movie: edit lists, clean apertures, sizes, and media offsets.
///
/// The editor works only on the bytes of the header; the caller writes them to the file.
package struct MovieEditor: Sendable {
    var movie: EditableBox
    /// The indexes of the tracks among the movie's boxes.
    private let tracks: [Int]

    /// The movie's time units per second.
    package let timescale: Int32

    /// Parses a movie header.
    ///
    /// - Parameter bytes: The whole `moov` box.
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if the bytes are not a valid `moov` box.
    package init(_ bytes: [UInt8]) throws(MediaError) {
        movie = try EditableBox(parsing: bytes)
        guard movie.type == "moov", let header = movie.first("mvhd") else {
            throw MediaError(.damaged, "the file has no movie header")
        }
        timescale = try Self.timescale(header.fields)
        tracks = (movie.children ?? []).enumerated().filter { $0.element.type == "trak" }.map(\.offset)
    }

    /// The number of tracks.
    package var trackCount: Int { tracks.count }

    /// The header in its current state.
    package var bytes: [UInt8] { movie.bytes }

    /// Reads the time units per second from the fields of a movie or media header.
    private static func timescale(_ fields: [UInt8]) throws(MediaError) -> Int32 {
        var reader = BigEndianReader(fields)
        let (version, _) = try reader.versionAndFlags()
        try reader.skip(version == 1 ? 16 : 8)
        guard let scale = Int32(exactly: try reader.uint32()), scale > 0 else {
            throw MediaError(.damaged, "the movie's header has no timescale")
        }
        return scale
    }

    /// Changes a track's box, or the movie's box if `track` is `nil`.
    mutating func change(track: Int?, _ body: (inout EditableBox) throws(MediaError) -> Void) throws(MediaError) {
        if let track { try change(track: track, [], body) } else { try body(&movie) }
    }

    mutating func change(
        track: Int, _ path: [FourCC], _ body: (inout EditableBox) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard tracks.indices.contains(track), let box = movie.children?[tracks[track]] else {
            throw MediaError(.invalidArgument, "the movie has no track \(track)")
        }
        var changed = box
        try changed.change(path[...], body)
        movie.children?[tracks[track]] = changed
    }

    /// Returns a track's box; `nil` if there is no such track.
    func box(ofTrack track: Int) -> EditableBox? {
        tracks.indices.contains(track) ? movie.children?[tracks[track]] : nil
    }

    /// Returns the time units per second of a track's media.
    package func mediaTimescale(ofTrack track: Int) throws(MediaError) -> Int32 {
        guard tracks.indices.contains(track),
            let header = movie.children?[tracks[track]].first("mdia")?.first("mdhd")
        else { throw MediaError(.damaged, "a track has no media header") }
        return try Self.timescale(header.fields)
    }
}

// MARK: - Edit lists

extension MovieEditor {
    /// Replaces a track's edit list, and updates the durations that depend on it.
    ///
    /// ISO/IEC 14496-12, 8.6.6. The track's duration is the sum of its edits (8.3.2), or 0 for unknown if the last edit
    /// has no duration, and the movie's is that of its longest track (8.2.2).
    package mutating func setEdits(_ edits: [EditListEntry], track: Int) throws(MediaError) {
        let isLong = edits.contains { $0.segmentDuration > UInt64(Int32.max) || $0.mediaTime > Int64(Int32.max) }
        var fields: [UInt8] = [isLong ? 1 : 0, 0, 0, 0]
        fields.append(bigEndian: UInt32(clamping: edits.count))
        for edit in edits {
            if isLong {
                fields.append(bigEndian: edit.segmentDuration)
                fields.append(bigEndian: edit.mediaTime)
            } else {
                fields.append(bigEndian: UInt32(clamping: edit.segmentDuration))
                fields.append(bigEndian: Int32(clamping: edit.mediaTime))
            }
            fields.append(bigEndian: edit.rateInteger)
            fields.append(bigEndian: edit.rateFraction)
        }
        let list = EditableBox("edts", holding: [EditableBox("elst", fields)])
        let sum = edits.reduce(UInt64(0)) { $0.addingReportingOverflow($1.segmentDuration).partialValue }
        let duration = edits.last?.segmentDuration == 0 ? 0 : sum
        try change(track: track, []) { (box) throws(MediaError) in
            box.children?.removeAll { $0.type == "edts" }
            let place = (box.firstIndex(of: "tapt") ?? box.firstIndex(of: "tkhd")).map { $0 + 1 } ?? 0
            box.children?.insert(list, at: place)
        }
        try change(track: track, ["tkhd"]) { (box) throws(MediaError) in
            Self.setDuration(duration, at: 20, long: 28, in: &box.fields)
        }
        try updateMovieDuration()
    }

    /// Shortens the edits of timecode tracks that outlast their media, as written by libavformat 9.
    package mutating func endTimecodesWithTheirMedia() throws(MediaError) {
        for track in 0..<trackCount {
            guard let box = movie.children?[tracks[track]], let media = box.first("mdia"),
                let handler = media.first("hdlr")?.fields, handler.dropFirst(8).starts(with: "tmcd".utf8),
                let header = media.first("mdhd")?.fields, let list = box.first("edts")?.first("elst")?.fields
            else { continue }
            var edits = BigEndianReader(list)
            guard let edit = try? EditListEntry.list(&edits), edit.count == 1, let only = edit.first, !only.isEmpty
            else {
                continue
            }
            var reader = BigEndianReader(header)
            let (version, _) = try reader.versionAndFlags()
            try reader.skip(version == 1 ? 20 : 12)
            guard let ticks = try reader.duration(version: version), let value = Int64(exactly: ticks) else { continue }
            let duration = MediaTime(value: value, timescale: try mediaTimescale(ofTrack: track))
            let longest = UInt64(clamping: duration.converted(toTimescale: timescale).value)
            guard longest > 0, only.segmentDuration > longest else { continue }
            var shorter = only
            shorter.segmentDuration = longest
            try setEdits([shorter], track: track)
        }
    }

    /// Sets the media header's duration to the sum of the sample durations (8.4.2.3), which some writers compute
    /// differently.
    package mutating func setMediaDuration(track: Int) throws(MediaError) {
        var sum: UInt64 = 0
        try change(track: track, ["mdia", "minf", "stbl", "stts"]) { (box) throws(MediaError) in
            var reader = BigEndianReader(box.fields)
            _ = try reader.versionAndFlags()
            for _ in 0..<min(Int(clamping: try reader.uint32()), reader.remaining / 8) {
                let (count, length) = (try reader.uint32(), try reader.uint32())
                sum = sum.addingReportingOverflow(UInt64(count) * UInt64(length)).partialValue
            }
        }
        let duration = sum
        guard duration > 0 else { return }
        try change(track: track, ["mdia", "mdhd"]) { (box) throws(MediaError) in
            Self.setDuration(duration, at: 16, long: 24, in: &box.fields)
        }
    }

    private mutating func updateMovieDuration() throws(MediaError) {
        var longest: UInt64 = 0
        for index in tracks {
            guard let fields = movie.children?[index].first("tkhd")?.fields else { continue }
            var reader = BigEndianReader(fields)
            guard let (version, _) = try? reader.versionAndFlags(), (try? reader.skip(version == 1 ? 24 : 16)) != nil,
                let duration = try? reader.duration(version: version)
            else { continue }
            longest = max(longest, duration)
        }
        let duration = longest
        try movie.change(["mvhd"]) { (box) throws(MediaError) in
            Self.setDuration(duration, at: 16, long: 24, in: &box.fields)
        }
    }

    /// Writes a duration at the offset for the header's version; keeps the old value if the new one does not fit.
    private static func setDuration(_ duration: UInt64, at short: Int, long: Int, in fields: inout [UInt8]) {
        if fields.first == 1 {
            fields.replace(at: long, bigEndian: duration)
        } else if duration < UInt64(UInt32.max) {
            fields.replace(at: short, bigEndian: UInt32(clamping: duration))
        }
    }

    /// Sets whether a track is enabled by default (`tkhd` flag 1).
    package mutating func setEnabled(_ isEnabled: Bool, track: Int) throws(MediaError) {
        try change(track: track, ["tkhd"]) { (box) throws(MediaError) in
            guard box.fields.count > 3 else { return }
            box.fields[3] = isEnabled ? box.fields[3] | 1 : box.fields[3] & ~1
        }
    }

    /// Sets the group of tracks of which one is used at a time (`tkhd`); 0 for none.
    package mutating func setAlternateGroup(_ group: Int16, track: Int) throws(MediaError) {
        try change(track: track, ["tkhd"]) { (box) throws(MediaError) in
            let place = box.fields.first == 1 ? 46 : 34
            guard box.fields.count >= place + 2 else { return }
            box.fields.replace(at: place, bigEndian: UInt16(bitPattern: group))
        }
    }
}

// MARK: - Media offsets

extension MovieEditor {
    /// Increases all chunk offsets by `distance` bytes; offsets beyond 32 bits change `stco` to `co64` (8.7.5).
    ///
    /// - Parameter reserve: The maximum number of bytes by which the header may still grow, considered in the choice of
    ///   64-bit offsets.
    package mutating func moveMedia(by distance: UInt64, reserve: UInt64 = 0) throws(MediaError) {
        for track in tracks.indices {
            try change(track: track, ["mdia", "minf", "stbl"]) { (table) throws(MediaError) in
                if let index = table.firstIndex(of: "stco"), let box = table.children?[index] {
                    table.children?[index] = try Self.moved(box, entrySize: 4, by: distance, reserve: reserve)
                } else if let index = table.firstIndex(of: "co64"), let box = table.children?[index] {
                    table.children?[index] = try Self.moved(box, entrySize: 8, by: distance, reserve: reserve)
                }
            }
        }
    }

    private static func moved(
        _ box: EditableBox, entrySize: Int, by distance: UInt64, reserve: UInt64
    ) throws(MediaError) -> EditableBox {
        var reader = BigEndianReader(box.fields)
        _ = try reader.versionAndFlags()
        let count = min(Int(clamping: try reader.uint32()), reader.remaining / entrySize)
        var offsets: [UInt64] = []
        offsets.reserveCapacity(count)
        for _ in 0..<count {
            let offset = entrySize == 8 ? try reader.uint64() : UInt64(try reader.uint32())
            let (sum, overflow) = offset.addingReportingOverflow(distance)
            guard !overflow, sum < UInt64(Int64.max) else { throw MediaError(.damaged, "a chunk lies beyond any file") }
            offsets.append(sum)
        }
        let isLong = entrySize == 8 || (offsets.max() ?? 0) + reserve > UInt64(UInt32.max)
        var fields = Array(box.fields.prefix(4))
        fields.reserveCapacity(8 + count * (isLong ? 8 : 4))
        fields.append(bigEndian: UInt32(clamping: count))
        for offset in offsets {
            if isLong { fields.append(bigEndian: offset) } else { fields.append(bigEndian: UInt32(clamping: offset)) }
        }
        return EditableBox(isLong ? "co64" : "stco", fields)
    }
}

// MARK: - Apertures

extension MovieEditor {
    /// Adds Dolby Vision's configuration record to a track's first sample entry, if it has none.
    ///
    /// - Throws: `damaged` if the contents of a box are not as expected.
    package mutating func addDolbyVision(
        _ record: HDRInfo.DolbyVisionConfiguration, track: Int
    ) throws(MediaError) {
        try change(track: track, ["mdia", "minf", "stbl", "stsd"]) { (table) throws(MediaError) in
            guard let entry = table.children?.first else { return }
            var picture = try VisualSampleEntryEditor(entry)
            picture.addDolbyVision(record)
            table.children?[0] = picture.entry
        }
    }

    /// Makes the sizes of a video track in `clap`, `tapt` and `tkhd` consistent with its stored size and `pasp`.
    ///
    /// - Parameters:
    ///   - aperture: The new clean aperture; `nil` keeps the existing one.
    ///   - writesTrackAperture: True to write QuickTime's `tapt` if pixels are not square or an aperture is given.
    package mutating func setAperture(
        _ aperture: CleanAperture?, track: Int, writesTrackAperture: Bool
    ) throws(MediaError) {
        var sizes: ApertureSizes?
        try change(track: track, ["mdia", "minf", "stbl", "stsd"]) { (table) throws(MediaError) in
            guard let entry = table.children?.first else { return }
            var picture = try VisualSampleEntryEditor(entry)
            if let aperture { try picture.setCleanAperture(aperture) }
            sizes = ApertureSizes(encoded: picture.dimensions, ratio: picture.pixelAspect, aperture: aperture)
            table.children?[0] = picture.entry
        }
        guard let sizes else { return }
        try change(track: track, []) { (box) throws(MediaError) in
            box.children?.removeAll { $0.type == "tapt" }
            guard writesTrackAperture, sizes.isWorthSaying, let place = box.firstIndex(of: "tkhd") else { return }
            box.children?.insert(sizes.trackAperture, at: place + 1)
        }
        try change(track: track, ["tkhd"]) { (box) throws(MediaError) in
            let size = box.fields.count - 8
            box.fields.replace(at: size, bigEndian: sizes.clean.width)
            box.fields.replace(at: size + 4, bigEndian: sizes.clean.height)
        }
    }
}

/// The three sizes derived from a picture, its pixel aspect and its clean aperture, in 16.16 fixed point.
private struct ApertureSizes {
    let clean: FixedPointSize
    let production: FixedPointSize
    let encoded: FixedPointSize
    let isWorthSaying: Bool

    /// Calculates the sizes; `nil` if a size does not fit.
    init?(encoded size: Dimensions, ratio: Rational, aperture: CleanAperture?) {
        func fixed(_ width: Rational, _ height: Rational) -> FixedPointSize? {
            let unit = Rational(1 << 16)
            guard let width = width.multiplied(by: unit)?.rounded(),
                let height = height.multiplied(by: unit)?.rounded(),
                let columns = UInt32(exactly: width), let rows = UInt32(exactly: height)
            else { return nil }
            return FixedPointSize(width: columns, height: rows)
        }
        let (width, height) = (Rational(Int64(size.width)), Rational(Int64(size.height)))
        guard let squared = width.multiplied(by: ratio),
            let cleanWidth = (aperture?.width ?? width).multiplied(by: ratio),
            let clean = fixed(cleanWidth, aperture?.height ?? height), let production = fixed(squared, height),
            let encoded = fixed(width, height)
        else { return nil }
        self.clean = clean
        self.production = production
        self.encoded = encoded
        isWorthSaying = aperture != nil || ratio != .one
    }

    /// The sizes as QuickTime's `tapt` box.
    var trackAperture: EditableBox {
        func box(_ type: FourCC, _ size: FixedPointSize) -> EditableBox {
            var fields: [UInt8] = [0, 0, 0, 0]
            fields.append(bigEndian: size.width)
            fields.append(bigEndian: size.height)
            return EditableBox(type, fields)
        }
        return EditableBox("tapt", holding: [box("clef", clean), box("prof", production), box("enof", encoded)])
    }
}
