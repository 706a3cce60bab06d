package import MediaBase

/// The metadata of FLAC, Vorbis, Opus and other codecs in Ogg: a list of `FIELD=value` (Vorbis I, 5; RFC 7845, 5.2;
/// RFC 9639, 8.6).
package enum VorbisComments {
    /// The maximum number of comments that are read.
    private static let maximumCount = 10_000

    /// Reads the comments after a packet's or a block's own header; those behind damage are missing.
    ///
    /// Comments with numbers of the field `CHAPTER` are chapters, and left out.
    static func items(_ bytes: ArraySlice<UInt8>) -> [MetadataItem] {
        var rest = bytes
        guard takeText(&rest) != nil, let count = takeNumber(&rest) else { return [] }
        var items: [MetadataItem] = []
        for _ in 0..<min(count, maximumCount) {
            guard let comment = takeText(&rest), let sign = comment.firstIndex(of: UInt8(ascii: "=")) else { break }
            let field = String(decoding: comment[..<sign], as: UTF8.self)
            guard !field.isEmpty, !isChapter(field) else { continue }
            let identifier = MetadataIdentifier(keySpace: .vorbis, key: field)
            let content = comment[comment.index(after: sign)...]
            if identifier == .vorbisPicture {
                if let item = content.base64Decoded.flatMap({ FLACPicture.item($0[...]) }) { items.append(item) }
                continue
            }
            let text = String(decoding: content, as: UTF8.self)
            items.append(MetadataItem(identifier, MetadataItem.Value(text: text, name: identifier.name)))
        }
        return items
    }

    /// Returns an item as a comment; `nil` if it is bytes without a place, or its field has characters that fields lack.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - holdsPictures: True to write pictures as comments; FLAC has blocks for them.
    package static func comment(_ item: MetadataItem, holdsPictures: Bool) -> [UInt8]? {
        if case .data = item.value {
            guard holdsPictures, let block = FLACPicture.block(item) else { return nil }
            return Array("METADATA_BLOCK_PICTURE=\(block.base64)".utf8)
        }
        guard let text = item.value.text else { return nil }
        let field = field(of: item)
        guard !field.isEmpty, field.utf8.allSatisfy({ (0x20...0x7D).contains($0) && $0 != 0x3D }) else { return nil }
        return Array("\(field)=\(text)".utf8)
    }

    /// Returns the field for an item: the one with the same meaning, or its own name.
    private static func field(of item: MetadataItem) -> String {
        (item.identifier.converted(to: .vorbis)?.key ?? item.name).uppercased()
    }

    private static func isChapter(_ field: String) -> Bool {
        let upper = field.uppercased()
        guard upper.hasPrefix("CHAPTER") else { return false }
        let number = upper.dropFirst(7).prefix(3)
        return number.count == 3 && number.allSatisfy(\.isNumber)
    }

    /// Reads a length of four bytes and as many bytes.
    static func takeText(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let count = takeNumber(&rest), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard rest.count >= 4 else { return nil }
        defer { rest = rest.dropFirst(4) }
        return Int(truncatingIfNeeded: rest.prefix(4).littleEndian)
    }

    /// Returns a number as four bytes, the least significant first.
    static func bytes(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
}

// MARK: - Comments in place of a placeholder

extension VorbisComments {
    /// Comments of which libavformat writes only a placeholder of the same size, which they then replace in the file.
    ///
    /// Its dictionaries have one value a key, and it renames some keys.
    package struct Written: Sendable {
        private let comments: [[UInt8]]

        /// Creates the list; `nil` if there is nothing to write.
        package init?(_ comments: [[UInt8]]) {
            guard !comments.isEmpty else { return nil }
            self.comments = comments
        }

        private static let field = "X"

        /// The key and value of the placeholder.
        package var placeholder: (key: String, value: String) {
            let size = comments.reduce(0) { $0 + 4 + $1.count } - 4 - Self.field.utf8.count - 1
            return (Self.field, String(repeating: " ", count: max(0, size)))
        }

        /// Returns comments with the placeholder replaced, of the same size; `nil` if it is not there.
        ///
        /// - Parameter bytes: The comments from the vendor's length on.
        func replacing(in bytes: [UInt8]) -> [UInt8]? {
            var rest = bytes[...]
            guard takeText(&rest) != nil, case let countPlace = rest.startIndex, let count = takeNumber(&rest) else {
                return nil
            }
            let wanted = Array("\(Self.field)=".utf8) + placeholder.value.utf8
            for _ in 0..<min(count, maximumCount) {
                let start = rest.startIndex
                guard let comment = takeText(&rest) else { return nil }
                guard comment.elementsEqual(wanted) else { continue }
                let own = comments.flatMap { VorbisComments.bytes($0.count) + $0 }
                guard own.count == comment.count + 4 else { return nil }
                var changed = bytes
                changed.replaceSubrange(start..<start + own.count, with: own)
                changed.replaceSubrange(
                    countPlace..<countPlace + 4, with: VorbisComments.bytes(count - 1 + comments.count))
                return changed
            }
            return nil
        }
    }
}

/// FLAC's picture block, which Ogg's comments hold as text (RFC 9639, 8.8).
enum FLACPicture {
    /// Reads a block; `nil` if it is damaged or the picture is an address.
    static func item(_ bytes: ArraySlice<UInt8>) -> MetadataItem? {
        var reader = BigEndianReader(Array(bytes))
        func text(_ reader: inout BigEndianReader) throws(MediaError) -> String {
            String(decoding: try reader.take(Int(try reader.uint32())), as: UTF8.self)
        }
        do throws(MediaError) {
            let type = try reader.uint32()
            let mimeType = try text(&reader)
            let info = try text(&reader)
            try reader.skip(16)
            let picture = try reader.take(Int(try reader.uint32()))
            guard mimeType != "-->", !picture.isEmpty else { return nil }
            var item = MetadataItem(.vorbisPicture, .data(Array(picture)))
            item.extraAttributes[.pictureType] = "\(type)"
            item.extraAttributes[.mimeType] = mimeType
            if !info.isEmpty { item.extraAttributes[.info] = info }
            return item
        } catch {
            return nil
        }
    }

    /// Returns the block for a picture; `nil` if the item is none.
    static func block(_ item: MetadataItem) -> [UInt8]? {
        let types: [MetadataItem.DataType: String] = [
            .jpeg: "image/jpeg", .png: "image/png", .gif: "image/gif", .bmp: "image/bmp",
        ]
        guard case .data(let picture) = item.value, let type = types[item.dataType] else { return nil }
        var bytes: [UInt8] = []
        func add(_ number: Int) { bytes.append(contentsOf: VorbisComments.bytes(number).reversed()) }
        func add(_ text: [UInt8]) {
            add(text.count)
            bytes += text
        }
        add(item.pictureType)
        add(Array(type.utf8))
        add(Array((item.extraAttributes[.info] ?? "").utf8))
        // Zero stands for a size that is not stated.
        for _ in 0..<4 { add(0) }
        add(picture)
        return bytes
    }
}

extension MetadataItem {
    /// The kind of a picture by ID3's number; the front cover if none is stated.
    package var pictureType: Int {
        extraAttributes[.pictureType].flatMap { Int($0) }.flatMap { (0...20).contains($0) ? $0 : nil } ?? 3
    }
}
