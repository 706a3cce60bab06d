import MediaBase

/// The texts among a movie's or a track's user data.
///
/// QuickTime File Format, "User Data Atoms" (udta).
enum UserText {
    /// The name: `name`, which is bare text, else the first of `©nam`'s texts; `nil` where neither says anything.
    static func name(in boxes: [Box], reader: inout BoxReader) throws(MediaError) -> String? {
        let bare = try reader.parse(boxes.first { $0.type == "name" }) { reader throws(MediaError) in
            text(reader.takeRest())
        }
        if let bare, !bare.isEmpty { return bare }
        return try reader.parse(boxes.first { $0.type == "©nam" }, international) ?? nil
    }

    /// Reads "international text": a length, a language and that many bytes, once for each language.
    ///
    /// - Returns: The first text, or `nil` where it is empty.
    static func international(_ reader: inout BigEndianReader) throws(MediaError) -> String? {
        let count = try reader.uint16()
        try reader.skip(2)
        let text = text(try reader.take(min(Int(count), reader.remaining)))
        return text.isEmpty ? nil : text
    }
}
