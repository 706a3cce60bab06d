import ISOMedia
import MediaBase
import Testing

/// Inputs that no program writes: none may trap, hang or take memory by a file's word.
struct HostileInputTests {
    /// Whether reading ends at all, with a value or with one of the two errors that content can cause.
    private func ends(_ bytes: Bytes) -> Bool {
        do {
            let header = try MovieHeader(reading: ArrayByteSource(bytes))
            return header.warnings.count <= 101
        } catch {
            return error.code == .damaged || error.code == .unknownFormat
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func cutAtEveryByte() {
        let movie = Movie.everything()
        let failures = movie.indices.filter { !ends(Array(movie.prefix($0))) }
        #expect(failures.isEmpty)
    }

    @Test(.timeLimit(.minutes(2)), arguments: [0x00, 0x01, 0x7F, 0xFF] as [UInt8])
    func everyByteReplaced(by value: UInt8) {
        var movie = Movie.everything()
        var failures: [Int] = []
        for place in movie.indices {
            let byte = movie[place]
            movie[place] = value
            if !ends(movie) { failures.append(place) }
            movie[place] = byte
        }
        #expect(failures.isEmpty)
    }

    @Test(.timeLimit(.minutes(2)), arguments: [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
    func everyWordReplaced(by value: UInt32) {
        let movie = Movie.everything()
        let failures = (0..<movie.count - 3).filter { place in
            var changed = movie
            changed.replaceSubrange(place..<place + 4, with: u32(value))
            return !ends(changed)
        }
        #expect(failures.isEmpty)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["moov", "trak", "udta", "tapt", "moof"] as [FourCC])
    func nestingTenThousandDeep(type: FourCC) throws {
        let levels = 10_000
        var nested: Bytes = []
        for level in 0..<levels { nested += u32(UInt32((levels - level) * 8)) + code(type) }
        let file = box("moov", Movie.mvhd(), nested)
        let header = try MovieHeader(reading: ArrayByteSource(file))
        #expect(header.timescale == 600)
        #expect(ends(nested))
    }

    /// Boxes that hold themselves by their types, and tracks that refer to each other and to themselves.
    @Test func referencesThatGoInCircles() throws {
        let meta = fullBox("meta", fullBox("meta", fullBox("meta", box("ilst", box("----", box("ilst"))))))
        let references = box("tref", box("chap", u32(1, 2, 1)), box("tmcd", u32(2)), box("tref", u32(1)))
        let header = try Movie.header(
            Movie.trak(parts: references + meta), Movie.trak(id: 2, parts: box("tref", box("chap", u32(1)))), meta,
            box("udta", meta, box("udta", meta)))
        #expect(header.tracks.first?.references["chap"] == [1, 2, 1])
        #expect(header.track(id: 2)?.references["chap"] == [1])
    }

    /// QuickTime's second version of a sound entry has its rate as a floating-point number.
    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300, 44100.5])
    func ratesThatAreNoNumber(rate: Double) throws {
        let entry = box(
            "lpcm", zeros(6), u16(1), u16(2, 0), zeros(4), u16(3, 16, 0xFFFE, 0), u32(0x10000, 72),
            u64(rate.bitPattern), u32(2, 0x7F00_0000, 16, 0, 2, 1))
        let header = try Movie.header(Movie.trak(handler: "soun", tables: Movie.stsd(entry)))
        #expect(header.tracks.first?.sampleEntries.first?.sound?.sampleRate == 0)
    }

    @Test func nestedBoxesOfSizeZero() throws {
        let endless = (0..<1000).flatMap { _ in u32(0) + code("trak") }
        let header = try MovieHeader(reading: ArrayByteSource(u32(0) + code("moov") + Movie.mvhd() + endless))
        #expect(header.timescale == 600)
        #expect(header.tracks.count == 1)
        #expect(header.warnings.contains("boxes more than 16 deep were not read"))
    }

    @Test func hundredsOfThousandsOfBoxes() throws {
        let many = (0..<150_000).flatMap { _ in box("free") }
        let header = try MovieHeader(reading: ArrayByteSource(box("moov", Movie.mvhd(), many)))
        #expect(header.timescale == 600)
        #expect(header.warnings == ["more boxes than the limit boxes=100000: the rest was not read"])
    }

    @Test(arguments: ["elst", "stts", "stsz", "stss", "stco", "co64", "stsd", "dref", "trun"] as [FourCC])
    func countsOfFourBillion(type: FourCC) throws {
        let claim = fullBox(type, u32(.max, .max, .max, .max))
        let header = try Movie.header(
            Movie.trak(parts: box("edts", claim), dref: box("dinf", claim), tables: Movie.stsd(claim) + claim),
            box("mvex"), after: box("moof", box("traf", fullBox("tfhd", u32(1)), claim)))
        #expect(header.tracks.count == 1)
    }
}
