/// Data references of QuickTime movies, by which a movie says that its samples lie in another file.
public enum DataReference {
    /// A Macintosh alias record that leads to an absolute path (as libavformat reads it: type 2 behind 150 bytes).
    public static func alias(to path: String) -> [UInt8] {
        let text = Array(path.utf8) + (path.utf8.count.isMultiple(of: 2) ? [] : [0])
        var record = [UInt8](repeating: 0, count: 4 + 10)
        record += [1, 0x76] + [UInt8](repeating: 0, count: 26 + 12)
        record += [5] + Array("media".utf8) + [UInt8](repeating: 0, count: 58 + 16)
        record += [0, 1, 0, 1] + [UInt8](repeating: 0, count: 16)
        record += [0, 2, UInt8(path.utf8.count >> 8), UInt8(path.utf8.count & 255)] + text
        return record + [0xFF, 0xFF, 0, 0]
    }

    /// The movie with the first data reference of its media replaced, and the boxes around it made to fit.
    public static func replacing(_ kind: String, _ content: [UInt8], in movie: [UInt8]) throws -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func size(_ at: Int) -> Int { movie[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
        var (result, growth, place, around) = (movie, 0, 0, [Int]())
        // Down into the boxes that hold the media's `dref`: it is the second one in a QuickTime movie, under `minf`.
        var path = ["moov", "trak", "mdia", "minf", "dinf", "dref"]
        while let name = path.first, place + 8 <= movie.count {
            if movie[place + 4..<place + 8].elementsEqual(name.utf8) {
                around.append(place)
                path.removeFirst()
                place += path.isEmpty ? 16 : 8
            } else {
                guard size(place) >= 8 else { break }
                place += size(place)
            }
        }
        guard path.isEmpty else { throw TestSupportError("the movie has no data reference") }
        let entry = number(8 + content.count) + Array(kind.utf8) + content
        growth = entry.count - size(place)
        result.replaceSubrange(place..<place + size(place), with: entry)
        for box in around { result.replaceSubrange(box..<box + 4, with: number(size(box) + growth)) }
        return result
    }
}
