package import MediaBase

extension MovieEditor {
    /// Gives the movie or a track metadata: user data, the list of iTunes, and QuickTime's named keys.
    ///
    /// QuickTime File Format, "User Data Atoms" and "Metadata". Entries that their place cannot hold are passed over. A
    /// list of iTunes that is there already is replaced.
    ///
    /// - Parameters:
    ///   - entries: The values, in their order; several of one key stand together.
    ///   - track: The track; `nil` for the movie.
    ///   - isQuickTime: Whether `meta` has no version, as in QuickTime's files, or one, as in those of MPEG-4.
    package mutating func setMetadata(
        _ entries: [MetadataEntry], track: Int?, isQuickTime: Bool
    ) throws(MediaError) {
        var texts: [EditableBox] = []
        var list: [EditableBox] = []
        var names: [String] = []
        var values: [EditableBox] = []
        var groups: [(key: MetadataEntry.Key, entries: [MetadataEntry])] = []
        for entry in entries where entry.coded != nil {
            if let place = groups.firstIndex(where: { $0.key == entry.key }) {
                groups[place].entries.append(entry)
            } else {
                groups.append((entry.key, [entry]))
            }
        }
        for group in groups {
            let data = group.entries.compactMap(Self.data)
            switch group.key {
            case .userText(let code): texts.append(EditableBox(code, group.entries.flatMap(Self.internationalText)))
            case .iTunes(let code): list.append(EditableBox(code, holding: data))
            case .iTunesName(let name):
                let head = [("mean", "com.apple.iTunes"), ("name", name)] as [(FourCC, String)]
                let words = head.map { EditableBox($0, [0, 0, 0, 0] + Array($1.utf8)) }
                list.append(EditableBox("----", holding: words + data))
            case .named(let name):
                names.append(name)
                values.append(EditableBox(FourCC(rawValue: UInt32(clamping: names.count)), holding: data))
            }
        }
        if !list.isEmpty { texts.append(Self.meta("mdir", [EditableBox("ilst", holding: list)], hasVersion: true)) }
        var named: EditableBox?
        if !names.isEmpty {
            var keys: [UInt8] = [0, 0, 0, 0]
            keys.append(bigEndian: UInt32(clamping: names.count))
            for name in names { keys += EditableBox("mdta", Array(name.utf8)).bytes }
            let boxes = [EditableBox("keys", keys), EditableBox("ilst", holding: values)]
            named = Self.meta("mdta", boxes, hasVersion: !isQuickTime)
        }
        let (userData, metadata) = (texts, named)
        try change(track: track) { (box) throws(MediaError) in
            if !userData.isEmpty { Self.add(userData, to: &box) }
            if let metadata { box.children?.append(metadata) }
        }
    }

    private static func add(_ boxes: [EditableBox], to box: inout EditableBox) {
        guard let place = box.firstIndex(of: "udta"), let old = box.children?[place] else {
            box.children?.append(EditableBox("udta", holding: boxes))
            return
        }
        var kept = old
        let replaces = boxes.contains { $0.type == "meta" }
        if replaces, let parts = try? EditableBox.list(Array(old.bytes.dropFirst(8))) {
            kept = EditableBox("udta", parts.filter { $0.type != "meta" }.flatMap(\.bytes))
        }
        kept.fields += boxes.flatMap(\.bytes)
        box.children?[place] = kept
    }

    /// A length, a language and so many bytes.
    private static func internationalText(_ entry: MetadataEntry) -> [UInt8] {
        guard let text = entry.coded?.bytes else { return [] }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt16(clamping: text.count))
        bytes.append(bigEndian: (entry.language ?? MediaLanguage(iso639: "und"))?.rawValue ?? 0)
        return bytes + text
    }

    private static func data(_ entry: MetadataEntry) -> EditableBox? {
        guard let (type, bytes) = entry.coded else { return nil }
        var fields: [UInt8] = []
        fields.append(bigEndian: type)
        fields.append(bigEndian: UInt32(entry.language?.rawValue ?? 0))
        return EditableBox("data", fields + bytes)
    }

    private static func meta(_ handler: FourCC, _ boxes: [EditableBox], hasVersion: Bool) -> EditableBox {
        var fields = [UInt8](repeating: 0, count: 8)
        fields.append(bigEndian: handler.rawValue)
        // iTunes looks for its maker.
        fields.append(bigEndian: handler == "mdir" ? ("appl" as FourCC).rawValue : 0)
        let head = EditableBox("hdlr", fields + [UInt8](repeating: 0, count: 9))
        var meta = EditableBox("meta", holding: [head] + boxes)
        if hasVersion { meta.fields = [0, 0, 0, 0] }
        return meta
    }
}
