import MediaBase

/// One of the chapters that a movie lists in its user data (`udta/chpl`), as Nero's programs write them.
///
/// There is no specification; programs agree on a version, flags, four unknown bytes (version 1), a count of one byte,
/// and for each chapter a time of eight bytes and a text of one byte's length.
package struct ChapterMark: Hashable, Sendable {
    /// When it begins, in units of 100 ns.
    package var start: UInt64

    /// Its title; may be empty.
    package var title: String

    /// Units a second of ``start``.
    package static let timescale: Int32 = 10_000_000

    /// Reads a `chpl` payload, as far as it goes.
    static func list(_ reader: inout BigEndianReader) throws(MediaError) -> [ChapterMark] {
        let (version, _) = try reader.versionAndFlags()
        if version > 0 { try reader.skip(4) }
        var marks: [ChapterMark] = []
        for _ in 0..<(try reader.uint8()) {
            guard reader.remaining >= 9 else { break }
            let start = try reader.uint64()
            let length = Int(try reader.uint8())
            // One that is cut off is as good as none: its time may be anything.
            guard length <= reader.remaining else { break }
            marks.append(ChapterMark(start: start, title: text(try reader.take(length))))
        }
        return marks
    }
}
