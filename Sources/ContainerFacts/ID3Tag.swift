package import MediaBase

/// An ID3v2 tag: versions 2.2, 2.3 and 2.4.
///
/// id3.org, "ID3 tag version 2.4.0 - Main Structure" and "- Native Frames".
package struct ID3Tag {
    /// The frames with a meaning that is known, as items, in their order.
    package private(set) var items: [MetadataItem] = []

    /// The maximum size of a tag that is read, and the maximum number of frames.
    private static let maximumBytes = 64 << 20
    private static let maximumFrames = 10_000

    private let version: UInt8

    /// Returns the size of a tag with its header, given the first ten bytes of a file; 0 if it begins with none.
    static func size(_ head: [UInt8]) -> UInt64 {
        guard head.count == 10, head.starts(with: "ID3".utf8), head[3] < 0xFF, head[6..<10].allSatisfy({ $0 < 0x80 })
        else { return 0 }
        return UInt64(synchsafe(head[6..<10])) + (head[5] & 0x10 == 0 ? 10 : 20)
    }

    /// Reads the tag at an offset; `nil` if there is none, or of another version.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - offset: The place of the tag.
    /// - Throws: Any error of the source.
    package init?(_ source: any ByteSource, at offset: UInt64 = 0) throws(MediaError) {
        let head = try source.read(at: offset, count: 10)
        let size = Self.size(head)
        guard size > 10, size <= UInt64(Self.maximumBytes), (2...4).contains(head[3]) else { return nil }
        version = head[3]
        var bytes = try source.read(at: offset + 10, count: Int(size) - 10)[...]
        let isUnsynchronized = head[5] & 0x80 != 0
        if isUnsynchronized, version < 4 { bytes = Self.synchronized(bytes)[...] }
        if head[5] & 0x40 != 0, version > 2, bytes.count >= 4 {
            // The size of an extended header counts itself in version 4 only.
            let length = version == 4 ? Self.synchsafe(bytes.prefix(4)) : Int(bytes.prefix(4).bigEndian) + 4
            bytes = bytes.dropFirst(length)
        }
        for _ in 0..<Self.maximumFrames {
            guard let (id, flags, body) = takeFrame(&bytes) else { break }
            // Compressed and encrypted frames are not read.
            guard flags & (version == 4 ? 0x0C : 0xC0) == 0 else { continue }
            var content = body
            if version == 4, flags & 0x01 != 0 { content = content.dropFirst(4) }
            if version == 4, flags & 0x02 != 0 || isUnsynchronized { content = Self.synchronized(content)[...] }
            items += Self.items(id, content)
        }
        joinDates()
    }

    /// Reads the tags that follow each other in a sample of timed metadata.
    ///
    /// - Returns: The items of all tags, and false if bytes are left that are no tag.
    package static func items(ofSample bytes: [UInt8]) -> (items: [MetadataItem], isWhole: Bool) {
        let bytes = completed(bytes)
        let source = ArrayByteSource(bytes)
        var items: [MetadataItem] = []
        var place = 0
        while place < bytes.count {
            let size = Int(clamping: size(Array(bytes[place...].prefix(10))))
            guard size > 0, size <= bytes.count - place, let tag = try? ID3Tag(source, at: UInt64(place)) else {
                // Some writers fill samples with zeros.
                return (items, bytes[place...].allSatisfy { $0 == 0 } && place > 0)
            }
            items += tag.items
            guard items.count <= maximumFrames else { return (Array(items.prefix(maximumFrames)), false) }
            place += size
        }
        return (items, true)
    }

    /// Returns a sample with the five bytes that libavformat takes for the header of an access unit.
    ///
    /// libavformat 5.1 skips them in every stream of type 0x15 (ISO/IEC 13818-1, 2.12.4), but Apple's streams have the tag
    /// alone, whose version is 2.4: "Timed Metadata for HTTP Live Streaming". Sizes of version 2.3 are recognized too.
    private static func completed(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.starts(with: "ID3".utf8), bytes.count > 9, bytes[0] & 0x0F == 0,
            bytes[1..<5].allSatisfy({ $0 < 0x80 }), case let size = synchsafe(bytes[1..<5]), size <= bytes.count - 5
        else { return bytes }
        let hasFrame = bytes[5..<9].allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
        guard hasFrame || bytes[0] & 0x40 != 0 else { return bytes }
        return Array("ID3".utf8) + [4, 0] + bytes
    }

    /// Joins the year, the day and the time of version 2.3 to one date.
    private mutating func joinDates() {
        func text(_ key: String) -> String? {
            let item = items.first { $0.identifier == MetadataIdentifier(keySpace: .id3, key: key) }
            return item?.value.text.flatMap {
                $0.utf8.count == 4 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? $0 : nil
            }
        }
        guard let year = text("TYER"), let day = text("TDAT"),
            let place = items.firstIndex(where: { $0.identifier == .id3MetadataYear })
        else { return }
        var date = "\(year)-\(day.suffix(2))-\(day.prefix(2))"
        if let time = text("TIME") { date += " \(time.prefix(2)):\(time.suffix(2))" }
        items[place].value = .date(date)
        items.removeAll { ["TDAT", "TIME"].contains($0.key) }
    }

    private func takeFrame(_ rest: inout ArraySlice<UInt8>) -> (String, UInt16, ArraySlice<UInt8>)? {
        let (idLength, headSize) = version == 2 ? (3, 6) : (4, 10)
        guard rest.count >= headSize else { return nil }
        let id = rest.prefix(idLength)
        guard id.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }) else { return nil }
        let sizeBytes = rest.dropFirst(idLength).prefix(version == 2 ? 3 : 4)
        var size = Int(sizeBytes.bigEndian)
        if version == 4, sizeBytes.allSatisfy({ $0 < 0x80 }) {
            let safe = Self.synchsafe(sizeBytes)
            // iTunes wrote sizes of version 4 as in version 3: the next frame tells which is right.
            if safe == size || isFrame(rest.dropFirst(headSize + safe)) || !isFrame(rest.dropFirst(headSize + size)) {
                size = safe
            }
        }
        let flags = version == 2 ? 0 : UInt16(truncatingIfNeeded: rest.dropFirst(8).prefix(2).bigEndian)
        let content = rest.dropFirst(headSize)
        guard size <= content.count else { return nil }
        rest = content.dropFirst(size)
        return (String(decoding: id, as: UTF8.self), flags, content.prefix(size))
    }

    /// Returns true at the end, at padding and where a frame begins.
    private func isFrame(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= 4 else { return bytes.isEmpty }
        return bytes.prefix(4).allSatisfy { $0 == 0 || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    private static func synchsafe(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 7 | Int($1 & 0x7F) } }

    /// Removes the zeros that were put after bytes of all ones.
    private static func synchronized(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var last: UInt8 = 0
        for byte in bytes {
            if byte != 0 || last != 0xFF { result.append(byte) }
            last = byte
        }
        return result
    }
}

// MARK: - Frames

extension ID3Tag {
    /// The frames of version 2.2 by those of the later ones.
    private static let renamed: [String: String] = [
        "TT1": "TIT1", "TT2": "TIT2", "TT3": "TIT3", "TP1": "TPE1", "TP2": "TPE2", "TP3": "TPE3", "TP4": "TPE4",
        "TAL": "TALB", "TCM": "TCOM", "TXT": "TEXT", "TCO": "TCON", "TRK": "TRCK", "TPA": "TPOS", "TYE": "TYER",
        "TCR": "TCOP", "TPB": "TPUB", "TEN": "TENC", "TSS": "TSSE", "TBP": "TBPM", "TRC": "TSRC", "TLA": "TLAN",
        "TCP": "TCMP", "TXX": "TXXX", "WXX": "WXXX", "COM": "COMM", "ULT": "USLT", "PIC": "APIC", "UFI": "UFID",
        "POP": "POPM", "TDA": "TDAT", "TIM": "TIME", "TOR": "TORY", "TOA": "TOPE", "TOT": "TOAL", "TKE": "TKEY",
    ]

    private static func items(_ id: String, _ bytes: ArraySlice<UInt8>) -> [MetadataItem] {
        guard let first = bytes.first else { return [] }
        let rest = bytes.dropFirst()
        let identifier = MetadataIdentifier(keySpace: .id3, key: renamed[id] ?? id)
        switch identifier.key {
        case "TXXX":
            let texts = texts(rest, first)
            guard texts.count > 1 else { return [] }
            return texts.dropFirst().map {
                MetadataItem(identifier, .text($0), extraAttributes: texts[0].isEmpty ? [:] : [.info: texts[0]])
            }
        case "WXXX":
            let (info, address) = text(rest, first)
            let value = MetadataItem.Value.text(latin(address.prefix { $0 != 0 }))
            return [MetadataItem(identifier, value, extraAttributes: info.isEmpty ? [:] : [.info: info])]
        case "COMM", "USLT":
            guard rest.count > 3 else { return [] }
            let (info, body) = text(rest.dropFirst(3), first)
            var item = MetadataItem(identifier, .text(text(body, first).text))
            let code = String(decoding: rest.prefix(3), as: UTF8.self).lowercased()
            let isCode = code.utf8.allSatisfy { (0x61...0x7A).contains($0) } && code != "xxx" && code != "und"
            if isCode { item.language = code }
            if !info.isEmpty { item.extraAttributes[.info] = info }
            // As libavformat names it.
            if identifier.key == "USLT", !info.isEmpty { item.name = "lyrics-" + info }
            return [item]
        case "APIC": return picture(identifier, isShort: id == "PIC", encoding: first, rest).map { [$0] } ?? []
        case "PRIV", "UFID":
            let owner = latin(bytes.prefix { $0 != 0 })
            var item = MetadataItem(identifier, .data(Array(bytes.dropFirst(owner.unicodeScalars.count + 1))))
            item.extraAttributes[.owner] = owner
            if identifier.key == "PRIV" { item.name = "id3v2_priv." + owner }
            return [item]
        case "POPM":
            let owner = bytes.prefix { $0 != 0 }
            guard let rating = bytes.dropFirst(owner.count + 1).first else { return [] }
            return [MetadataItem(identifier, .integer(Int64(rating)), extraAttributes: [.owner: latin(owner)])]
        case let key where key.hasPrefix("T"):
            return texts(rest, first).filter { !$0.isEmpty }.map {
                MetadataItem(
                    identifier, MetadataItem.Value(text: key == "TCON" ? genre($0) : $0, name: identifier.name))
            }
        case let key where key.hasPrefix("W"):
            return [MetadataItem(identifier, .text(latin(bytes.prefix { $0 != 0 })))]
        default: return []
        }
    }

    /// Reads a picture: its media type, kind, description and bytes.
    ///
    /// Version 2.2 has three letters for the type.
    private static func picture(
        _ identifier: MetadataIdentifier, isShort: Bool, encoding: UInt8, _ bytes: ArraySlice<UInt8>
    ) -> MetadataItem? {
        let type = isShort ? bytes.prefix(3) : bytes.prefix { $0 != 0 }
        let rest = bytes.dropFirst(type.count + (isShort ? 0 : 1))
        guard let kind = rest.first else { return nil }
        let (info, picture) = text(rest.dropFirst(), encoding)
        let name = latin(type)
        guard !picture.isEmpty, name != "-->" else { return nil }
        var item = MetadataItem(identifier, .data(Array(picture)))
        item.extraAttributes[.pictureType] = "\(kind)"
        item.extraAttributes[.mimeType] = isShort ? ["JPG": "image/jpeg", "PNG": "image/png"][name] ?? name : name
        if !info.isEmpty { item.extraAttributes[.info] = info }
        return item
    }

    /// Returns the name of a genre that is a number, alone or in parentheses, of ID3's list; other texts as they are.
    private static func genre(_ text: String) -> String {
        var digits = text[...]
        if digits.first == "(", let end = digits.firstIndex(of: ")") {
            guard digits.index(after: end) == digits.endIndex else { return text }
            digits = digits.dropFirst().prefix(upTo: end)
        }
        guard let number = Int(digits), ID3Genre.names.indices.contains(number) else { return text }
        return ID3Genre.names[number]
    }

    private static func latin(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }

    /// Reads one text up to its zero, and returns what follows.
    private static func text(_ bytes: ArraySlice<UInt8>, _ encoding: UInt8) -> (text: String, rest: ArraySlice<UInt8>) {
        guard encoding == 1 || encoding == 2 else {
            let text = bytes.prefix { $0 != 0 }
            let decoded = encoding == 0 ? latin(text) : String(decoding: text, as: UTF8.self)
            return (decoded, bytes.dropFirst(text.count + 1))
        }
        var units: [UInt16] = []
        var place = bytes.startIndex
        // Without a mark, texts are big-endian.
        let isLittle = encoding == 1 && bytes.starts(with: [0xFF, 0xFE])
        if isLittle || (encoding == 1 && bytes.starts(with: [0xFE, 0xFF])) { place += 2 }
        while place + 1 < bytes.endIndex {
            let (one, other) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            place += 2
            let unit = isLittle ? other << 8 | one : one << 8 | other
            if unit == 0 { return (String(decoding: units, as: UTF16.self), bytes[place...]) }
            units.append(unit)
        }
        return (String(decoding: units, as: UTF16.self), bytes[bytes.endIndex...])
    }

    /// Reads all texts of a frame; version 4 separates them by zeros.
    private static func texts(_ bytes: ArraySlice<UInt8>, _ encoding: UInt8) -> [String] {
        var texts: [String] = []
        var rest = bytes
        repeat {
            let (text, after) = text(rest, encoding)
            texts.append(text)
            rest = after
        } while !rest.isEmpty && texts.count < 1000
        return texts
    }
}

/// ID3's list of genres, by number (ID3v1, and Winamp's additions that libavformat knows).
enum ID3Genre {
    static let names: [String] = """
        Blues,Classic Rock,Country,Dance,Disco,Funk,Grunge,Hip-Hop,Jazz,Metal,New Age,Oldies,Other,Pop,R&B,Rap,Reggae,Rock,\
        Techno,Industrial,Alternative,Ska,Death Metal,Pranks,Soundtrack,Euro-Techno,Ambient,Trip-Hop,Vocal,Jazz+Funk,\
        Fusion,Trance,Classical,Instrumental,Acid,House,Game,Sound Clip,Gospel,Noise,AlternRock,Bass,Soul,Punk,Space,\
        Meditative,Instrumental Pop,Instrumental Rock,Ethnic,Gothic,Darkwave,Techno-Industrial,Electronic,Pop-Folk,\
        Eurodance,Dream,Southern Rock,Comedy,Cult,Gangsta,Top 40,Christian Rap,Pop/Funk,Jungle,Native American,Cabaret,\
        New Wave,Psychadelic,Rave,Showtunes,Trailer,Lo-Fi,Tribal,Acid Punk,Acid Jazz,Polka,Retro,Musical,Rock & Roll,\
        Hard Rock,Folk,Folk-Rock,National Folk,Swing,Fast Fusion,Bebob,Latin,Revival,Celtic,Bluegrass,Avantgarde,\
        Gothic Rock,Progressive Rock,Psychedelic Rock,Symphonic Rock,Slow Rock,Big Band,Chorus,Easy Listening,Acoustic,\
        Humour,Speech,Chanson,Opera,Chamber Music,Sonata,Symphony,Booty Bass,Primus,Porn Groove,Satire,Slow Jam,Club,\
        Tango,Samba,Folklore,Ballad,Power Ballad,Rhythmic Soul,Freestyle,Duet,Punk Rock,Drum Solo,A capella,Euro-House,\
        Dance Hall
        """.split(separator: ",").map(String.init)
}
