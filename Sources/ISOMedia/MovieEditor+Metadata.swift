package import MediaBase

extension MovieEditor {
    /// Adds metadata to the movie or a track: user data, the iTunes list, and QuickTime's named keys.
    ///
    /// QuickTime File Format, "User Data Atoms" and "Metadata". Entries whose value does not fit their place are
    /// skipped. An existing iTunes list is replaced.
    ///
    /// - Parameters:
    ///   - entries: The values, in the order to write; values with the same key are grouped.
    ///   - track: The track; `nil` for the movie.
    ///   - isQuickTime: True to write the `meta` box of the named keys without version and flags, as in QuickTime
    ///     files; false to include them, as in MPEG-4 files.
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
            case .isoText(let code): texts += group.entries.compactMap { Self.isoText($0, code) }
            case .iTunesName(let name):
                let head = Self.parts(ofLongKey: name)
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

    /// Returns a text as a length, a language and the text's bytes.
    private static func internationalText(_ entry: MetadataEntry) -> [UInt8] {
        guard let text = entry.coded?.bytes else { return [] }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt16(clamping: text.count))
        bytes.append(bigEndian: (entry.language ?? MediaLanguage(iso639: "und"))?.rawValue ?? 0)
        return bytes + text
    }

    /// Returns a box with version, flags, a language, and the text with a zero after it (3GPP TS 26.244, 8).
    private static func isoText(_ entry: MetadataEntry, _ code: FourCC) -> EditableBox? {
        guard let text = entry.coded?.bytes else { return nil }
        var bytes: [UInt8] = [0, 0, 0, 0]
        bytes.append(bigEndian: (entry.language ?? MediaLanguage(iso639: "und"))?.rawValue ?? 0)
        return EditableBox(code, bytes + text + [0])
    }

    /// Splits `com.apple.iTunes.name` into the meaning and the name; of other keys, the name follows the last dot.
    private static func parts(ofLongKey key: String) -> [(FourCC, String)] {
        let usual = "com.apple.iTunes"
        if key.hasPrefix(usual + ".") { return [("mean", usual), ("name", String(key.dropFirst(usual.count + 1)))] }
        guard let dot = key.lastIndex(of: ".") else { return [("mean", usual), ("name", key)] }
        return [("mean", String(key[..<dot])), ("name", String(key[key.index(after: dot)...]))]
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
        // iTunes expects this manufacturer code.
        fields.append(bigEndian: handler == "mdir" ? ("appl" as FourCC).rawValue : 0)
        let head = EditableBox("hdlr", fields + [UInt8](repeating: 0, count: 9))
        var meta = EditableBox("meta", holding: [head] + boxes)
        if hasVersion { meta.fields = [0, 0, 0, 0] }
        return meta
    }
}

extension MovieEditor {
    /// Sets a track's language (`mdhd`) to a three-letter code, which both QuickTime and MPEG-4 files allow.
    ///
    /// Any other text is ignored.
    package mutating func setLanguage(_ code: String, track: Int) throws(MediaError) {
        guard let language = MediaLanguage(iso639: code) else { return }
        try change(track: track, ["mdia", "mdhd"]) { (box) throws(MediaError) in
            box.fields.replace(at: box.fields.first == 1 ? 32 : 20, bigEndian: language.rawValue)
        }
    }
}

extension MovieEditor {
    /// Adds a name to the user data (`udta`, `name`) of a track that has none.
    ///
    /// QuickTime File Format, "User Data Atoms".
    package mutating func setName(_ name: String, track: Int) throws(MediaError) {
        let entry = EditableBox("name", Array(name.utf8))
        try change(track: track, []) { (box) throws(MediaError) in Self.add([entry], to: &box) }
    }
}

// MARK: - Dates and locations

extension MovieEditor {
    /// Sets the creation and modification times of the movie (`mvhd`) or a track (`tkhd`, `mdhd`).
    ///
    /// - Parameters:
    ///   - date: ISO 8601 in UTC, as libavformat writes it: `2008-05-12T20:59:27.000000Z`. Nothing is written if the
    ///     text has another form or the date does not fit the field.
    ///   - track: The track; `nil` for the movie.
    package mutating func setCreationTime(_ date: String, track: Int?) throws(MediaError) {
        guard let seconds = MovieDate(date)?.seconds else { return }
        func set(_ box: inout EditableBox) {
            let isLong = box.fields.first == 1
            guard isLong || seconds <= UInt64(UInt32.max) else { return }
            // Creation time, then modification time.
            for place in isLong ? [4, 12] : [4, 8] {
                if isLong {
                    box.fields.replace(at: place, bigEndian: seconds)
                } else {
                    box.fields.replace(at: place, bigEndian: UInt32(clamping: seconds))
                }
            }
        }
        if let track {
            try change(track: track, ["tkhd"]) { (box) throws(MediaError) in set(&box) }
            try change(track: track, ["mdia", "mdhd"]) { (box) throws(MediaError) in set(&box) }
        } else {
            try movie.change(["mvhd"]) { (box) throws(MediaError) in set(&box) }
        }
    }

    /// Adds the location at which the movie was recorded (`udta`, `©xyz`), verbatim.
    ///
    /// - Parameters:
    ///   - place: ISO 6709, such as `+48.8789+002.3376+048.928/`.
    ///   - language: The ISO 639-2 code; any other text is written as undetermined.
    package mutating func setLocation(_ place: String, language: String?) {
        let text = Array(place.utf8)
        guard let length = UInt16(exactly: text.count) else { return }
        let code = language.flatMap { MediaLanguage(iso639: $0) } ?? MediaLanguage(iso639: "und")
        var fields: [UInt8] = []
        fields.append(bigEndian: length)
        fields.append(bigEndian: code?.rawValue ?? 0)
        Self.add([EditableBox("©xyz", fields + text)], to: &movie)
    }
}

/// A time as movie headers store it: whole seconds since 1904 (ISO/IEC 14496-12, 8.2.2).
private struct MovieDate {
    let seconds: UInt64

    /// Parses `2008-05-12T20:59:27Z`, with or without a fraction of a second; `nil` for other forms and dates before
    /// 1904.
    init?(_ text: String) {
        let form = "dddd-dd-ddTdd:dd:dd"
        let head = text.utf8.prefix(form.utf8.count)
        guard text.utf8.last == UInt8(ascii: "Z"), head.count == form.utf8.count,
            text.utf8.dropFirst(head.count).dropLast().allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) })
        else { return nil }
        var digits: [Int64] = []
        for (byte, kind) in zip(head, form.utf8) {
            if kind == UInt8(ascii: "d") {
                guard (0x30...0x39).contains(byte) else { return nil }
                digits.append(Int64(byte) - 0x30)
            } else if byte != kind {
                return nil
            }
        }
        func number(_ range: Range<Int>) -> Int64 { digits[range].reduce(0) { $0 * 10 + $1 } }
        let (month, day) = (number(4..<6), number(6..<8))
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        // Counting the year from March makes the leap day its last day.
        let year = number(0..<4) - (month <= 2 ? 1 : 0)
        let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day
        // 1 January 1904, counted in the same way.
        let first: Int64 = 695_362
        let time = (days - first) * 86400 + number(8..<10) * 3600 + number(10..<12) * 60 + number(12..<14)
        guard let seconds = UInt64(exactly: time) else { return nil }
        self.seconds = seconds
    }
}

extension MediaLanguage {
    /// Packs three lowercase letters into five bits each; `nil` for any other text.
    package init?(iso639 code: String) {
        let letters = Array(code.utf8)
        guard letters.count == 3, letters.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
        self.init(rawValue: letters.reduce(0) { $0 << 5 | UInt16($1 - 0x60) })
    }
}

extension MetadataEntry {
    /// The well-known type and bytes of the value as stored in its location; `nil` if the location cannot hold it.
    package var coded: (type: UInt32, bytes: [UInt8])? {
        switch key {
        case .isoText(let code):
            guard MetadataKeys.isoTexts.contains(code), let text = plainText, !text.isEmpty else { return nil }
            return (1, Array(text.utf8))
        case .userText:
            guard let text = plainText, text.utf8.count <= Int(UInt16.max) else { return nil }
            return (1, Array(text.utf8))
        case .iTunes(let code):
            if let length = Self.pairs[code] { return pair(length) }
            if let length = Self.integers[code] { return wholeNumber.map { (21, Self.bytes($0, atLeast: length)) } }
            // The other keys hold text, except for pictures in `covr`.
            if case .data = value { return code == "covr" ? picture : nil }
            return code == "covr" ? nil : value.text.map { (1, Array($0.utf8)) }
        case .named("com.apple.quicktime.artwork"): return picture
        case .iTunesName, .named: return free
        }
    }

    /// The type and bytes of a picture; `nil` for other kinds than JPEG, PNG and BMP, of which players know nothing.
    private var picture: (type: UInt32, bytes: [UInt8])? {
        guard case .data(let bytes) = value, case let type = Self.pictureType(bytes), type != 0 else { return nil }
        return (type, bytes)
    }

    private var plainText: String? {
        switch value {
        case .integer, .float: nil
        default: value.text
        }
    }

    private var wholeNumber: Int64? {
        switch value {
        case .integer(let number): number
        case .float(let number): Int64(exactly: number)
        default: value.text.flatMap { Int64($0) }
        }
    }

    /// The type and bytes of the value for locations that accept every type.
    private var free: (type: UInt32, bytes: [UInt8]) {
        switch value {
        case .data(let bytes): return (Self.pictureType(bytes), bytes)
        case .text, .date, .location, .numbers: return (1, Array((value.text ?? "").utf8))
        case .integer(let number):
            let bytes = Self.bytes(number, atLeast: 1)
            return (bytes.count == 8 ? 74 : 21, bytes)
        case .float(let number):
            var bytes: [UInt8] = []
            let short = Float(number)
            if Double(short) == number {
                bytes.append(bigEndian: short.bitPattern)
                return (23, bytes)
            }
            bytes.append(bigEndian: number.bitPattern)
            return (24, bytes)
        }
    }

    private func pair(_ length: Int) -> (type: UInt32, bytes: [UInt8])? {
        guard let text = value.text else { return nil }
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map { UInt16($0) }
        guard (1...2).contains(words.count), let place = words[0], let total = words.count == 2 ? words[1] : 0 else {
            return nil
        }
        var bytes: [UInt8] = [0, 0]
        bytes.append(bigEndian: place)
        bytes.append(bigEndian: total)
        return (0, bytes + [UInt8](repeating: 0, count: length - bytes.count))
    }

    private static func bytes(_ number: Int64, atLeast length: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: number)
        let fitting = [1, 2, 4, 8].first { $0 >= length && ($0 == 8 || number >> Int64(8 * $0 - 1) == number >> 63) }
        return Array(bytes.suffix(fitting ?? 8))
    }

    /// Returns the well-known type of image data: JPEG, PNG, BMP, or none.
    private static func pictureType(_ bytes: [UInt8]) -> UInt32 {
        switch PictureFileFormat(bytes) {
        case .jpeg: 13
        case .png: 14
        case .bmp: 27
        case nil: 0
        }
    }
}
