/// Edit lists of movies whose index lies at the file's end, so that they can be replaced.
public enum EditList {
    /// One entry: how long it lasts in the movie's timescale, where in the media it begins (-1 for an empty one), and how
    /// fast it plays.
    public struct Entry: Sendable {
        /// How long it lasts.
        public let duration: Int
        /// Where in the media it begins.
        public let mediaTime: Int
        /// How fast it plays.
        public let rate: Double

        /// An entry of these.
        public init(_ duration: Int, _ mediaTime: Int, rate: Double = 1) {
            (self.duration, self.mediaTime, self.rate) = (duration, mediaTime, rate)
        }
    }

    /// The movie with the edit list of a track replaced; without entries there is none.
    ///
    /// - Parameter track: The track's number in file order, from 0.
    public static func replacing(_ entries: [Entry], ofTrack track: Int = 0, in movie: [UInt8]) throws -> [UInt8] {
        func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        var result = movie
        var trak = 0
        for _ in 0...track {
            guard let next = place(of: "trak", in: movie, from: trak + 8) else {
                throw TestSupportError("the movie has no track \(track)")
            }
            trak = next
        }
        guard let edts = place(of: "edts", in: movie, from: trak), let moov = place(of: "moov", in: movie) else {
            throw TestSupportError("the movie has no edit list")
        }
        guard !entries.isEmpty else {
            result.replaceSubrange(edts + 4..<edts + 8, with: Array("free".utf8))
            return result
        }
        let list = entries.flatMap { entry in
            big(entry.duration) + big(entry.mediaTime) + big(Int(entry.rate * 65536))
        }
        let elst = big(16 + list.count) + Array("elst".utf8) + big(0) + big(entries.count) + list
        let size = Int(movie[edts..<edts + 4].reduce(0) { $0 << 8 | UInt32($1) })
        result.replaceSubrange(edts..<edts + size, with: big(8 + elst.count) + Array("edts".utf8) + elst)
        for box in [trak, moov] {
            let old = Int(movie[box..<box + 4].reduce(0) { $0 << 8 | UInt32($1) })
            result.replaceSubrange(box..<box + 4, with: big(old + 8 + elst.count - size))
        }
        return result
    }

    /// The edit list of the movie's first track that has one; version 0, as ffmpeg writes it.
    public static func entries(of movie: [UInt8]) -> [Entry] {
        guard let elst = place(of: "elst", in: movie) else { return [] }
        func number(_ at: Int) -> Int { Int(Int32(bitPattern: movie[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) })) }
        return (0..<number(elst + 12)).map { entry in
            let at = elst + 16 + 12 * entry
            return Entry(number(at), number(at + 4), rate: Double(number(at + 8)) / 65536)
        }
    }

    /// Where the first box of a type begins after the media, and not before a place.
    private static func place(of type: String, in movie: [UInt8], from first: Int = 0) -> Int? {
        let type = Array(type.utf8)
        let moov = Array("moov".utf8)
        let start = movie.indices.dropLast(4).last { movie[$0] == moov[0] && Array(movie[$0..<$0 + 4]) == moov } ?? 0
        return (max(4, start, first + 4)..<movie.count - 4).first {
            movie[$0] == type[0] && Array(movie[$0..<$0 + 4]) == type
        }
        .map { $0 - 4 }
    }
}
