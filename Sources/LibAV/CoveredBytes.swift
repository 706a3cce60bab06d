import MediaBase

/// Bytes of a file that libavformat is kept from, since its versions make different things of them.
///
/// It reads others in their place; our own readers see what is in the file.
struct CoveredBytes {
    /// Where the first one lies in the file.
    var position: Int64
    /// What is read instead.
    var shown: [UInt8]

    /// A box's four-byte code at a position as `free`, which everybody passes over.
    private init(code position: Int64) {
        self.position = position
        shown = Array("free".utf8)
    }

    private init(position: Int64, shown: [UInt8]) {
        self.position = position
        self.shown = shown
    }
}

// MARK: - Boxes of MP4 and QuickTime

extension CoveredBytes {
    /// How many boxes of the top level are looked at, and how much of a movie box.
    private static let mostBoxes = 64
    private static let mostBytes = 64 << 20
    /// How many apertures are hidden; each is looked for in all that is read.
    private static let mostApertures = 1000

    /// The still pictures beside a movie: libavformat takes them for tracks from 7.0 on, with the numbers of tracks.
    ///
    /// ISO/IEC 23008-12, 7: a file of a sequence of images has a `meta` box and a `moov` box.
    static func stillPictures(_ io: InputIO) throws(MediaError) -> [CoveredBytes] {
        let brands: Set<String> = ["avis", "avif", "msf1", "mif1", "heic", "heix", "hevc", "hevx"]
        let head = try io.bytes(at: 0, count: 12)
        guard head.count == 12, head[4..<8].elementsEqual("ftyp".utf8),
            brands.contains(String(decoding: head[8...], as: UTF8.self))
        else { return [] }
        let boxes = try topLevel(io)
        guard boxes.contains(where: { $0.code == "moov" }) else { return [] }
        return boxes.filter { $0.code == "meta" }.map { CoveredBytes(code: $0.range.lowerBound + 4) }
    }

    /// The clean apertures (`clap`) in the movie box: libavformat 7.1 refuses a file for one that is odd.
    static func cleanApertures(_ io: InputIO) throws(MediaError) -> [CoveredBytes] {
        guard let movie = try topLevel(io).first(where: { $0.code == "moov" }) else { return [] }
        let count = Int(clamping: min(movie.range.upperBound - movie.range.lowerBound, Int64(mostBytes)))
        let bytes = try io.bytes(at: UInt64(clamping: movie.range.lowerBound), count: count)
        // Eight numbers in a box of their own (ISO/IEC 14496-12, 12.1.4).
        let header: [UInt8] = [0, 0, 0, 40] + Array("clap".utf8)
        var places: [CoveredBytes] = []
        var place = 0
        while place + 40 <= bytes.count, places.count < mostApertures {
            if bytes[place + 4] == header[4], bytes[place..<place + 8].elementsEqual(header) {
                places.append(CoveredBytes(code: movie.range.lowerBound + Int64(place) + 4))
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

// MARK: - The packet table of CAF

extension CoveredBytes {
    /// How many chunks are passed over.
    private static let mostChunks = 1000

    /// The number of real samples in a CAF's packet table, and of those before and after them: all are real.
    ///
    /// From 8.1 on libavformat counts the times of packets from the first real sample, and cannot be moved before it.
    static func packetTable(ofCAF io: InputIO) throws(MediaError) -> [CoveredBytes] {
        var place: UInt64 = 8
        for _ in 0..<mostChunks where io.isSeekable {
            let head = try io.bytes(at: place, count: 12)
            guard head.count == 12 else { break }
            let (next, overflow) = (place + 12).addingReportingOverflow(number(head[4...]))
            guard head[..<4].elementsEqual("pakt".utf8) else {
                guard !overflow, next < UInt64(Int64.max) else { break }
                place = next
                continue
            }
            // The number of packets; then 64 bits for the real samples, and 32 bits each for the others.
            let table = try io.bytes(at: place + 12, count: 24)
            guard table.count == 24 else { break }
            let (before, after) = (number(table[16..<20]), number(table[20...]))
            let all = number(table[8..<16]).addingReportingOverflow(before + after)
            guard before + after > 0, before < 1 << 31, after < 1 << 31, !all.overflow else { break }
            let shown = (0..<8).map { UInt8(truncatingIfNeeded: all.partialValue >> (56 - 8 * $0)) }
            return [CoveredBytes(position: Int64(place) + 20, shown: shown + [UInt8](repeating: 0, count: 8))]
        }
        return []
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
