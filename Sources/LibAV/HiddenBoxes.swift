import MediaBase

/// Boxes of MP4 and QuickTime files that libavformat is kept from, since its versions make different things of them.
///
/// They are read as `free`, which everybody passes over; our own readers see what is in the file. Positions are those of
/// the four-byte codes.
enum HiddenBoxes {
    /// How many boxes of the top level are looked at, and how much of a movie box.
    private static let mostBoxes = 64
    private static let mostBytes = 64 << 20
    /// How many apertures are hidden; each is looked for in all that is read.
    private static let mostApertures = 1000

    /// The still pictures beside a movie: libavformat takes them for tracks from 7.0 on, with the numbers of tracks.
    ///
    /// ISO/IEC 23008-12, 7: a file of a sequence of images has a `meta` box and a `moov` box.
    static func stillPictures(_ io: InputIO) throws(MediaError) -> [Int64] {
        let brands: Set<String> = ["avis", "avif", "msf1", "mif1", "heic", "heix", "hevc", "hevx"]
        let head = try io.bytes(at: 0, count: 12)
        guard head.count == 12, head[4..<8].elementsEqual("ftyp".utf8),
            brands.contains(String(decoding: head[8...], as: UTF8.self))
        else { return [] }
        let boxes = try topLevel(io)
        guard boxes.contains(where: { $0.code == "moov" }) else { return [] }
        return boxes.filter { $0.code == "meta" }.map { $0.range.lowerBound + 4 }
    }

    /// The clean apertures (`clap`) in the movie box: libavformat 7.1 refuses a file for one that is odd.
    static func cleanApertures(_ io: InputIO) throws(MediaError) -> [Int64] {
        guard let movie = try topLevel(io).first(where: { $0.code == "moov" }) else { return [] }
        let count = Int(clamping: min(movie.range.upperBound - movie.range.lowerBound, Int64(mostBytes)))
        let bytes = try io.bytes(at: UInt64(clamping: movie.range.lowerBound), count: count)
        // Eight numbers in a box of their own (ISO/IEC 14496-12, 12.1.4).
        let header: [UInt8] = [0, 0, 0, 40] + Array("clap".utf8)
        var places: [Int64] = []
        var place = 0
        while place + 40 <= bytes.count, places.count < mostApertures {
            if bytes[place + 4] == header[4], bytes[place..<place + 8].elementsEqual(header) {
                places.append(movie.range.lowerBound + Int64(place) + 4)
                place += 40
            } else {
                place += 1
            }
        }
        return places
    }

    private static func topLevel(_ io: InputIO) throws(MediaError) -> [(code: String, range: Range<Int64>)] {
        var boxes: [(code: String, range: Range<Int64>)] = []
        var place: Int64 = 0
        while boxes.count < mostBoxes, let length = io.length, place < length {
            let head = try io.bytes(at: UInt64(clamping: place), count: 16)
            guard head.count >= 8 else { break }
            var size = head[..<4].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if size == 1, head.count == 16 { size = head[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            let (sum, overflow) = place.addingReportingOverflow(Int64(clamping: size))
            let end = size == 0 || overflow ? length : min(sum, length)
            guard end >= place + 8 else { break }
            boxes.append((String(decoding: head[4..<8], as: UTF8.self), place..<end))
            place = end
        }
        return boxes
    }
}
