import ISOMedia
import MediaBase
import Testing

struct SampleEntryTests {
    private func track(_ handler: FourCC, _ stsd: Bytes) throws -> (entries: [SampleEntry], warnings: [String]) {
        let header = try Movie.header(Movie.trak(handler: handler, tables: stsd))
        return (header.tracks.first?.sampleEntries ?? [], header.warnings)
    }

    @Test func pictureGeometryAndColor() throws {
        let clap = box("clap", u32(708, 1, 486, 2), i32(-3), u32(2), i32(5), u32(.max))
        let entry = Movie.visualEntry(
            "mp4v", box("pasp", u32(40, 33)), clap, box("colr", ascii("nclc"), u16(6, 1, 6)),
            box("colr", ascii("prof"), zeros(9)), box("fiel", u8(2, 9)), u32(0))
        let (entries, warnings) = try track("vide", Movie.stsd(entry, Movie.visualEntry("avc1")))
        #expect(entries.map(\.format) == ["mp4v", "avc1"])
        #expect(entries.map(\.dataReferenceIndex) == [1, 1])
        let visual = try #require(entries.first?.visual)
        #expect(visual.width == 720)
        #expect(visual.height == 480)
        #expect(visual.pixelAspect?.horizontalSpacing == 40)
        #expect(visual.pixelAspect?.verticalSpacing == 33)
        let aperture = try #require(visual.cleanAperture)
        #expect([aperture.width, aperture.height] == [Rational(708), Rational(243)])
        #expect([aperture.horizontalOffset, aperture.verticalOffset] == [Rational(-3, 2), .invalid])
        #expect(visual.colors == [.nclc(primaries: 6, transfer: 1, matrix: 6), .other(type: "prof", size: 9)])
        #expect(visual.fields?.count == 2)
        #expect(visual.fields?.detail == 9)
        #expect(entries.last?.visual?.pixelAspect == nil)
        #expect(entries.last?.visual?.colors == [])
        #expect(warnings.isEmpty)
    }

    @Test(arguments: [(u8(0x80), true), (u8(0x7F), false), ([], nil)] as [(Bytes, Bool?)])
    func nclxRange(tail: Bytes, isFullRange: Bool?) throws {
        let colr = box("colr", ascii("nclx"), u16(9, 16, 9), tail)
        let (entries, _) = try track("vide", Movie.stsd(Movie.visualEntry("hvc1", colr)))
        #expect(
            entries.first?.visual?.colors == [
                .nclx(primaries: 9, transfer: 16, matrix: 9, isFullRange: isFullRange)
            ])
    }

    @Test func childrenFollowAColorTable() throws {
        // Depth 2 with colour table 0: seed, flags, last index 3, four entries of eight bytes.
        let table = u32(0) + u16(0x8000, 3) + zeros(32)
        let entry = box(
            "rle ", zeros(6), u16(1), zeros(16), u16(32, 16), zeros(12), u16(1), zeros(32), u16(2, 0), table,
            box("pasp", u32(2, 1)))
        let (entries, warnings) = try track("vide", Movie.stsd(entry))
        #expect(entries.first?.visual?.width == 32)
        #expect(entries.first?.visual?.pixelAspect?.horizontalSpacing == 2)
        #expect(warnings.isEmpty)
    }

    @Test func timecodeEntry() throws {
        let named = Movie.timecodeEntry(box("name", u16(4, 0), ascii("R001")))
        let (entries, warnings) = try track("tmcd", Movie.stsd(named))
        let timecode = try #require(entries.first?.timecode)
        #expect(timecode.flags == 1)
        #expect(timecode.timescale == 30000)
        #expect(timecode.frameDuration == 1001)
        #expect(timecode.numberOfFrames == 30)
        #expect(timecode.sourceName == "R001")
        #expect(entries.first?.visual == nil)
        #expect(warnings.isEmpty)
    }

    @Test func otherMediaHaveOnlyAFormat() throws {
        let (entries, _) = try track("soun", Movie.stsd(box("mp4a", zeros(6), u16(2), zeros(20))))
        #expect(entries.map(\.format) == ["mp4a"])
        #expect(entries.first?.dataReferenceIndex == 2)
        #expect(entries.first?.visual == nil)
        #expect(entries.first?.timecode == nil)
    }

    @Test func damagedEntriesAndBoxesAreSkipped() throws {
        let short = box("avc1", zeros(6), u16(1), zeros(30))
        let entry = Movie.visualEntry("avc1", box("clap", zeros(31)), box("pasp", u32(1, 2)))
        let stsd = fullBox("stsd", u32(.max), box("none"), short, entry)
        let (entries, warnings) = try track("vide", stsd)
        #expect(entries.map(\.visual?.width) == [nil, 720])
        #expect(entries.last?.visual?.cleanAperture == nil)
        #expect(entries.last?.visual?.pixelAspect?.verticalSpacing == 2)
        #expect(warnings.count == 4)
    }
}
