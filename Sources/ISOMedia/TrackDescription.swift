package import MediaBase

/// The boxes that describe a track of timed text, timecode or data, without its samples, to be written into a movie.
///
/// Sample entry and media header are kept byte for byte, so that any kind of sample can be stored again, including
/// kinds that libavformat does not know. ISO/IEC 14496-12, 8.4 and 8.5; QuickTime File Format, "Media Atoms".
package struct TrackDescription: Hashable, Sendable {
    /// The kind of media (`hdlr`), such as `meta`, `tmcd`, `text` or `sbtl`.
    package var handler: FourCC

    /// The handler's name; empty if it has none.
    package var handlerName: String

    /// The media header's boxes (`gmhd`, `nmhd`, `sthd`…) with everything inside them.
    package var mediaHeader: [UInt8]

    /// The sample entry: one box of the sample description (`stsd`).
    package var sampleEntry: [UInt8]

    /// The geometry in the track's header (`tkhd`): layer, group, volume, matrix and size; `nil` for the usual one.
    package var geometry: [UInt8]?

    /// The extended language tag (`elng`); `nil` if there is none.
    package var extendedLanguage: [UInt8]?

    /// The number of bytes at the start of every sample entry: size, type, zeros, and the data reference.
    private static let entryHeaderBytes = 16

    /// The type of the sample entry, such as `mebx` or `gpmd`.
    package var format: FourCC {
        var reader = BigEndianReader(Array(sampleEntry.dropFirst(4).prefix(4)))
        return (try? reader.fourCC()) ?? "    "
    }

    /// The sample entry after the fields that every entry has.
    package var formatFields: [UInt8] { Array(sampleEntry.dropFirst(Self.entryHeaderBytes)) }

    /// Creates the description of a new track from the type of its sample entry and the fields that are specific to it.
    ///
    /// `tmcd` becomes a timecode track, and every other type a track of timed metadata.
    package init(format: FourCC, fields: [UInt8]) {
        var entry: [UInt8] = []
        entry.append(bigEndian: UInt32(clamping: Self.entryHeaderBytes + fields.count))
        entry.append(bigEndian: format.rawValue)
        entry += [0, 0, 0, 0, 0, 0, 0, 1]
        sampleEntry = entry + fields
        handler = format == "tmcd" ? "tmcd" : "meta"
        handlerName = format == "tmcd" ? "TimeCodeHandler" : ""
        // The graphics mode "dither copy" with grey as the colour to operate on, as QuickTime writes it.
        let general = EditableBox("gmin", [0, 0, 0, 0, 0, 0x40, 0x80, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 0])
        var children = [general]
        if format == "tmcd" {
            // How the timecode is drawn: the system's font in 12 points, black on white, without a name.
            var fields: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0]
            fields += [255, 255, 255, 255, 255, 255, 0]
            children.append(EditableBox("tmcd", holding: [EditableBox("tcmi", fields)]))
        }
        mediaHeader = EditableBox("gmhd", holding: children).bytes
    }
}

// MARK: - Reading

extension TrackDescription {
    /// The types of the boxes that a media information box (`minf`) has besides the media header.
    private static let otherInformation: Set<FourCC> = ["hdlr", "dinf", "stbl"]

    /// The boxes of a sample table that describe single samples in ways that are lost with a new table.
    private static let perSample: Set<FourCC> = ["subs", "saiz", "senc", "stps"]

    /// The largest description that is kept, in bytes.
    private static let largest = 1 << 20

    /// Reads the description of a track that is neither video nor audio.
    ///
    /// - Parameters:
    ///   - tree: The boxes of the movie.
    ///   - node: The index of `trak` in `tree`.
    ///   - handler: The kind of media.
    /// - Returns: The description, or the reason why the track cannot be stored in another movie, in words that follow
    ///   "because".
    /// - Throws: Any error that the reader's source throws.
    static func read(
        _ tree: BoxTree, at node: Int, handler: MediaHandler, reader: inout BoxReader
    ) throws(MediaError) -> Carriage {
        guard let minf = tree.descendant(["mdia", "minf"], of: node), let stbl = tree.child("stbl", of: minf) else {
            return .impossible("it has no sample description")
        }
        if handler.type == "hint" { return .impossible("its samples describe the packets of its own file") }
        if handler.type == "clcp" { return .impossible("libavformat passes on only a part of its closed captions") }
        let lost = tree.boxes(in: stbl).first { perSample.contains($0.type) }
        if let lost { return .impossible("its samples have properties (\(lost.type)) that cannot be copied") }
        if try hasEmptySample(tree, stbl: stbl, reader: &reader) {
            return .impossible("it has empty samples, which libavformat does not store")
        }
        let entries = try reader.boxes(in: (tree.box("stsd", from: stbl)?.payload ?? 0..<0).dropping(8))
        guard let index = try usedEntry(tree, stbl: stbl, count: entries.count, reader: &reader),
            entries.indices.contains(index - 1)
        else { return .impossible("its samples have several descriptions") }
        let protected: Set<FourCC> = ["encm", "enct", "encs", "encu", "encv", "enca"]
        guard !protected.contains(entries[index - 1].type) else { return .impossible("it is encrypted") }
        func bytes(_ box: Box) throws(MediaError) -> [UInt8]? {
            guard box.payloadSize <= UInt64(largest), box.headerSize == 8 else { return nil }
            let payload = try reader.parse(box) { reader in reader.takeRest() }
            return payload.map { EditableBox(box.type, Array($0)).bytes }
        }
        guard var entry = try bytes(entries[index - 1]), entry.count >= entryHeaderBytes else {
            return .impossible("its sample description is damaged or too large")
        }
        // The samples of the new movie are in the same file, which is its first data reference.
        entry.replace(at: 14, bigEndian: UInt16(1))
        var description = TrackDescription(format: entries[index - 1].type, fields: [])
        description.sampleEntry = entry
        description.handler = handler.type
        description.handlerName = handler.name
        description.mediaHeader = []
        for box in tree.boxes(in: minf) where !otherInformation.contains(box.type) {
            guard let header = try bytes(box) else { return .impossible("its media header is damaged or too large") }
            description.mediaHeader += header
        }
        description.geometry = try reader.parse(tree.box("tkhd", from: node)) { reader throws(MediaError) in
            let (version, _) = try reader.versionAndFlags()
            try reader.skip(version == 1 ? 40 : 28)
            return Array(try reader.take(geometryBytes))
        }
        description.extendedLanguage = try tree.box("mdia", "elng", from: node).flatMap(bytes)
        return .possible(description)
    }

    /// Returns true if the table of sample sizes (`stsz`) has a size of 0.
    private static func hasEmptySample(
        _ tree: BoxTree, stbl: Int, reader: inout BoxReader
    ) throws(MediaError) -> Bool {
        let table = tree.box("stsz", from: stbl)
        let head = try reader.parse(table, prefix: 12) { reader throws(MediaError) in
            try reader.skip(4)
            return (size: try reader.uint32(), count: try reader.uint32())
        }
        guard let table, let head, head.size == 0 else { return false }
        var hasEmpty = false
        try reader.forEachEntry(of: table, from: 12, entrySize: 4, count: head.count) { entry throws(MediaError) in
            if try entry.uint32() == 0 { hasEmpty = true }
        }
        return hasEmpty
    }

    /// The bytes of a track's header from its layer to its end.
    static let geometryBytes = 52

    /// Returns the number, from 1, of the sample entry that all samples use; `nil` if they use several.
    private static func usedEntry(
        _ tree: BoxTree, stbl: Int, count: Int, reader: inout BoxReader
    ) throws(MediaError) -> Int? {
        guard count > 1 else { return count == 1 ? 1 : nil }
        var used: Set<UInt32> = []
        if let table = tree.box("stsc", from: stbl), let count = try reader.entryCount(of: table) {
            try reader.forEachEntry(of: table, from: 8, entrySize: 12, count: count) { entry throws(MediaError) in
                try entry.skip(8)
                let number = try entry.uint32()
                if used.count < 2 { used.insert(number) }
            }
        }
        return used.count == 1 ? used.first.map { Int(clamping: $0) } : nil
    }
}

/// The possibility to store a track that is neither video nor audio in another movie.
package enum Carriage: Hashable, Sendable {
    /// It can, with this description.
    case possible(TrackDescription)
    /// It cannot, for a reason in words that follow "because".
    case impossible(String)

    /// The description; `nil` if there is none.
    package var description: TrackDescription? {
        if case .possible(let description) = self { description } else { nil }
    }
}

// MARK: - Writing

extension MovieEditor {
    /// Replaces the boxes that describe a track's media.
    ///
    /// - Parameters:
    ///   - description: The new boxes.
    ///   - track: The index of the track.
    ///   - isQuickTime: True for a QuickTime file, in which the handler's name has a length byte.
    /// - Throws: `damaged` if the description is not made of boxes.
    package mutating func setDescription(
        _ description: TrackDescription, track: Int, isQuickTime: Bool
    ) throws(MediaError) {
        let header = try EditableBox.list(description.mediaHeader)
        let entry = try EditableBox.list(description.sampleEntry)
        try change(track: track, ["mdia"]) { (media) throws(MediaError) in
            guard let handler = media.firstIndex(of: "hdlr") else { return }
            media.children?[handler] = Self.handlerBox(description, isQuickTime: isQuickTime)
            media.children?.removeAll { $0.type == "elng" }
            if let language = description.extendedLanguage, let place = media.firstIndex(of: "mdhd") {
                media.children?.insert(contentsOf: try EditableBox.list(language), at: place + 1)
            }
        }
        try change(track: track, ["mdia", "minf"]) { (information) throws(MediaError) in
            information.children?.removeAll { !["hdlr", "dinf", "stbl"].contains($0.type) }
            information.children?.insert(contentsOf: header, at: 0)
        }
        try change(track: track, ["mdia", "minf", "stbl", "stsd"]) { (table) throws(MediaError) in
            table.fields = [0, 0, 0, 0, 0, 0, 0, UInt8(clamping: entry.count)]
            table.children = entry
        }
        guard let geometry = description.geometry, geometry.count == TrackDescription.geometryBytes else { return }
        try change(track: track, ["tkhd"]) { (box) throws(MediaError) in
            guard box.fields.count > geometry.count else { return }
            box.fields.replaceSubrange((box.fields.count - geometry.count)..., with: geometry)
        }
    }

    private static func handlerBox(_ description: TrackDescription, isQuickTime: Bool) -> EditableBox {
        var fields: [UInt8] = [0, 0, 0, 0]
        fields.append(bigEndian: isQuickTime ? ("mhlr" as FourCC).rawValue : 0)
        fields.append(bigEndian: description.handler.rawValue)
        fields += [UInt8](repeating: 0, count: 12)
        let name = Array(description.handlerName.utf8.prefix(255))
        fields += isQuickTime ? [UInt8(clamping: name.count)] + name : name + [0]
        return EditableBox("hdlr", fields)
    }

    /// Returns the ID of a track from its header; `nil` if the track has no valid header.
    package func trackID(ofTrack track: Int) -> UInt32? {
        guard let fields = box(ofTrack: track)?.first("tkhd")?.fields else { return nil }
        var reader = BigEndianReader(fields)
        guard let (version, _) = try? reader.versionAndFlags(), (try? reader.skip(version == 1 ? 16 : 8)) != nil else {
            return nil
        }
        return try? reader.uint32()
    }

    /// Adds references of a track to others (`tref`) to those that it has; ISO/IEC 14496-12, 8.3.3.
    ///
    /// - Parameters:
    ///   - references: The IDs of the tracks by the type of reference, in order.
    ///   - track: The index of the track that refers to them.
    package mutating func addReferences(
        _ references: [(type: FourCC, trackIDs: [UInt32])], track: Int
    ) throws(MediaError) {
        guard references.contains(where: { !$0.trackIDs.isEmpty }) else { return }
        try change(track: track, []) { (box) throws(MediaError) in
            var list = box.first("tref")?.children ?? []
            for (type, trackIDs) in references where !trackIDs.isEmpty {
                var added: [UInt8] = []
                for trackID in trackIDs { added.append(bigEndian: trackID) }
                if let place = list.firstIndex(where: { $0.type == type }) {
                    list[place].fields += added
                } else {
                    list.append(EditableBox(type, added))
                }
            }
            box.children?.removeAll { $0.type == "tref" }
            let place = (box.firstIndex(of: "edts") ?? box.firstIndex(of: "tkhd")).map { $0 + 1 } ?? 0
            box.children?.insert(EditableBox("tref", holding: list), at: place)
        }
    }
}

/// The kind of media in a track, identified by the component that handles it.
///
/// ISO/IEC 14496-12, 8.4.3 (hdlr).
package struct MediaHandler: Hashable, Sendable {
    /// The kind of media: `vide`, `soun`, `tmcd`, `text`, `sbtl`, `meta` and others.
    package var type: FourCC

    /// The handler's name, often that of the encoder or the track; empty if not stated.
    package var name: String
}

extension MediaHandler {
    /// Reads an `hdlr` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        try reader.skip(4)
        let componentType = try reader.uint32()
        type = try reader.fourCC()
        try reader.skip(min(12, reader.remaining))
        name = Self.name(reader.takeRest(), isQuickTime: componentType != 0)
    }

    /// Decodes a name, which has a length byte first in QuickTime and a terminating zero in ISO files.
    ///
    /// Some ISO files also have a length byte. So the first byte is taken as a length if it is not a printable
    /// character or matches the length exactly. Only QuickTime fills in the component type.
    private static func name(_ bytes: ArraySlice<UInt8>, isQuickTime: Bool) -> String {
        let rest = bytes.dropFirst()
        guard let count = bytes.first.map(Int.init), count <= rest.count else { return text(bytes) }
        let isCount = isQuickTime || count < 0x20 || count == rest.prefix { $0 != 0 }.count
        return text(isCount ? rest.prefix(count) : bytes)
    }
}
