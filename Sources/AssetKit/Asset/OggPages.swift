import MediaBase

/// The last pages of an Ogg file: where a stream ends, its last page says so.
///
/// RFC 3533, 6.
enum OggPages {
    /// Bytes of a page before its table of segments, and of the longest page.
    private static let headLength = 27
    private static let longest = headLength + 255 + 255 * 255
    private static let endOfStream: UInt8 = 4

    /// Whether the last page is cut, or says that its stream goes on.
    ///
    /// The last page of a whole file ends a stream also where streams are multiplexed or follow each other. Something
    /// else may stand behind it, such as a tag; where that is longer than a page, nothing is told.
    ///
    /// - Throws: what the source throws.
    static func breakOff(_ source: any ByteSource) throws(MediaError) -> Bool {
        guard let size = source.size else { return false }
        let count = min(size, UInt64(2 * longest))
        let bytes = try source.read(at: size - count, count: Int(count))
        var last: UInt8?
        var place = 0
        while place + 4 <= bytes.count {
            guard bytes[place] == 0x4F, bytes[place..<place + 4].elementsEqual("OggS".utf8) else {
                place += 1
                continue
            }
            let table = place + headLength
            guard table <= bytes.count, table + Int(bytes[table - 1]) <= bytes.count else { return true }
            // A page of version 0, the only one, or something that looks like one.
            guard bytes[place + 4] == 0 else {
                place += 4
                continue
            }
            let content = table + Int(bytes[table - 1])
            let end = bytes[table..<content].reduce(content) { $0 + Int($1) }
            guard end <= bytes.count else { return true }
            last = bytes[place + 5]
            place = end
        }
        return last.map { $0 & endOfStream == 0 } ?? false
    }
}
