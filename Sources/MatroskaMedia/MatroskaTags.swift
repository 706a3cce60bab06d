package import MediaBase

/// The tags and attached pictures of a Matroska or WebM file.
///
/// RFC 9559, 5.1.6 (Attachments), 5.1.8 (Tags), 5.1.2.12 (Title).
package struct MatroskaTags: Sendable {
    /// The tags of the file as a whole: its title, those without a target track or chapter, and attached pictures.
    package private(set) var ofFile: [MetadataItem] = []
    /// The tags of tracks, by UID.
    package private(set) var ofTracks: [UInt64: [MetadataItem]] = [:]

    /// The maximum size of an element that is read, the maximum number of elements to visit, and of tags.
    private static let maximumBytes: UInt64 = 32 << 20
    private static let maximumElements = 1000
    private static let maximumTags = 10_000

    private static let seekHead: EBMLID = 0x114D_9B74
    private static let info: EBMLID = 0x1549_A966
    private static let tags: EBMLID = 0x1254_C367
    private static let attachments: EBMLID = 0x1941_A469

    /// Reads the tags before the first cluster, and those that the seek head names.
    ///
    /// - Parameter source: The file.
    /// - Throws: Any error of the source.
    package init(reading source: any ByteSource) throws(MediaError) {
        func header(_ offset: UInt64) throws(MediaError) -> EBMLHeader? {
            EBMLHeader(try source.read(at: offset, count: EBMLHeader.longest))
        }
        guard let head = try header(0), head.id == 0x1A45_DFA3, let size = head.size, size <= 4096,
            case let start = UInt64(head.headerSize) + size, let segment = try header(start),
            segment.id == 0x1853_8067
        else { return }
        let origin = start + UInt64(segment.headerSize)
        var offset = origin
        var elsewhere: [UInt64] = []
        var seen: Set<UInt64> = []
        func visit(_ offset: UInt64, _ header: EBMLHeader) throws(MediaError) -> ArraySlice<UInt8>? {
            guard let size = header.size, size <= Self.maximumBytes, seen.insert(offset).inserted else { return nil }
            return try source.read(at: offset + UInt64(header.headerSize), count: Int(size))[...]
        }
        for _ in 0..<Self.maximumElements {
            guard let header = try header(offset), header.id != 0x1F43_B675, let size = header.size else { break }
            if header.id == Self.seekHead, size <= 65_536, let bytes = try visit(offset, header) {
                elsewhere += Self.positions(in: bytes).map { origin &+ $0 }
            } else if [Self.info, Self.tags, Self.attachments].contains(header.id),
                let bytes = try visit(offset, header)
            {
                read(header.id, bytes)
            }
            let (next, overflow) = (offset + UInt64(header.headerSize)).addingReportingOverflow(size)
            guard !overflow else { break }
            offset = next
        }
        var visited = 0
        while let place = elsewhere.popLast(), visited < Self.maximumElements {
            visited += 1
            guard !seen.contains(place), place > origin, place < UInt64(Int64.max), let header = try header(place),
                let bytes = try visit(place, header)
            else { continue }
            if header.id == Self.seekHead {
                elsewhere += Self.positions(in: bytes).map { origin &+ $0 }
            } else {
                read(header.id, bytes)
            }
        }
    }

    /// Returns the positions of tags, attachments and further seek heads' targets that a seek head names.
    private static func positions(in seekHead: ArraySlice<UInt8>) -> [UInt64] {
        EBMLElement.list(in: seekHead, limit: 100).compactMap { entry in
            let fields = entry.children
            let id = fields.first { $0.id == 0x53AB }.map {
                EBMLID(rawValue: UInt32(truncatingIfNeeded: $0.content.bigEndian))
            }
            guard let id, [Self.seekHead, info, tags, attachments].contains(id) else { return nil }
            return fields.first { $0.id == 0x53AC }?.unsigned
        }
    }

    private mutating func read(_ id: EBMLID, _ bytes: ArraySlice<UInt8>) {
        let elements = EBMLElement.list(in: bytes)
        switch id {
        case Self.info:
            if let title = elements.first(where: { $0.id == 0x7BA9 })?.text, !title.isEmpty {
                ofFile.insert(MetadataItem(.matroskaTitle, .text(title)), at: 0)
            }
        case Self.tags: for tag in elements where tag.id == 0x7373 { readTag(tag.children) }
        case Self.attachments:
            for file in elements where file.id == 0x61A7 {
                if let item = Self.picture(file.children) { ofFile.append(item) }
            }
        default: break
        }
    }

    private mutating func readTag(_ parts: [EBMLElement]) {
        let targets = parts.first { $0.id == 0x63C0 }?.children ?? []
        let tracks = targets.filter { $0.id == 0x63C5 }.compactMap(\.unsigned).filter { $0 != 0 }
        // Tags of chapters, editions and attachments are not those of the file.
        guard
            tracks.isEmpty == false
                || !targets.contains(where: { [0x63C4, 0x63C9, 0x63C6].contains($0.id) && $0.unsigned != 0 })
        else { return }
        let type = targets.first { $0.id == 0x63CA }?.text
        // A level that is not stated is 50, an album or film.
        let level = targets.first { $0.id == 0x68CA }?.unsigned ?? (type == nil ? nil : 50)
        var items: [MetadataItem] = []
        for part in parts where part.id == 0x67C8 { Self.add(part.children, under: nil, depth: 0, to: &items) }
        for place in items.indices {
            if let level { items[place].extraAttributes[.targetLevel] = "\(level)" }
            guard let type, !type.isEmpty else { continue }
            items[place].extraAttributes[.targetType] = type
            // As libavformat names those of the file.
            if tracks.isEmpty { items[place].name = type + "/" + items[place].key }
        }
        if tracks.isEmpty { ofFile += items }
        for track in tracks { ofTracks[track, default: []] += items }
    }

    /// Adds a tag and, after a slash, those inside it.
    private static func add(
        _ fields: [EBMLElement], under outer: String?, depth: Int, to items: inout [MetadataItem]
    ) {
        guard let name = fields.first(where: { $0.id == 0x45A3 })?.text, !name.isEmpty, depth < 8,
            items.count < maximumTags
        else { return }
        let identifier = MetadataIdentifier(keySpace: .matroska, key: outer.map { $0 + "/" + name } ?? name)
        // The newer field may state a region.
        let tag = fields.first { $0.id == 0x447B }?.text
        let code = fields.first { $0.id == 0x447A }?.text
        let language = tag.flatMap { $0.contains("-") ? $0 : nil } ?? code ?? tag
        var value: MetadataItem.Value?
        if let text = fields.first(where: { $0.id == 0x4487 })?.text {
            value = MetadataItem.Value(text: text, name: name)
        } else if let bytes = fields.first(where: { $0.id == 0x4485 })?.content {
            value = .data(Array(bytes))
        }
        if let value {
            items.append(
                MetadataItem(identifier, value, language: language.flatMap { ["", "und"].contains($0) ? nil : $0 }))
        }
        for field in fields where field.id == 0x67C8 {
            add(field.children, under: identifier.key, depth: depth + 1, to: &items)
        }
    }

    private static func picture(_ fields: [EBMLElement]) -> MetadataItem? {
        guard let type = fields.first(where: { $0.id == 0x4660 })?.text, type.hasPrefix("image/"),
            let bytes = fields.first(where: { $0.id == 0x465C })?.content, !bytes.isEmpty
        else { return nil }
        var item = MetadataItem(.matroskaAttachment, .data(Array(bytes)))
        item.extraAttributes[.mimeType] = type
        if let name = fields.first(where: { $0.id == 0x466E })?.text { item.extraAttributes[.fileName] = name }
        if let text = fields.first(where: { $0.id == 0x467E })?.text { item.extraAttributes[.info] = text }
        return item
    }
}
