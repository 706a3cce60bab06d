import ISOMedia
import Testing

struct TrackHeaderTests {
    @Test func shortHeader() throws {
        let header = try #require(try Movie.header(box("trak", Movie.tkhd(id: 9, flags: 6))).tracks.first?.header)
        #expect(header.trackID == 9)
        #expect(!header.isEnabled)
        #expect(header.duration == 1200)
        #expect(header.layer == -1)
        #expect(header.volume == 256)
        #expect(header.matrix == [65536, 0, 0, 0, 65536, 0, 0, 0, 1 << 30])
        #expect(header.size == FixedPointSize(width: 640 << 16, height: 480 << 16))
    }

    @Test func longHeaderWithTurnedMatrix() throws {
        let matrix = i32(0, 65536, 0, -65536, 0, 0, 480 << 16, 0, 1 << 30)
        let tkhd = fullBox(
            "tkhd", version: 1, flags: 0xF, u64(1, 2), u32(3, 0), u64(1 << 33), zeros(8), u16(0, 0, 0, 0), matrix,
            u32(0x8000, 0))
        let header = try #require(try Movie.header(box("trak", tkhd)).tracks.first?.header)
        #expect(header.trackID == 3)
        #expect(header.isEnabled)
        #expect(header.flags == 0xF)
        #expect(header.duration == 1 << 33)
        #expect(header.matrix == [0, 65536, 0, -65536, 0, 0, 480 << 16, 0, 1 << 30])
        #expect(header.size == FixedPointSize(width: 0x8000, height: 0))
    }

    @Test func unknownDurationIsNil() throws {
        let tracks = try Movie.header(box("trak", Movie.tkhd(duration: .max))).tracks
        #expect(tracks.first?.header != nil)
        #expect(tracks.first?.header?.duration == nil)
    }

    @Test func damagedHeaderLeavesTheTrack() throws {
        let header = try Movie.header(box("trak", fullBox("tkhd", zeros(20)), box("mdia", Movie.mdhd())))
        #expect(header.tracks.count == 1)
        #expect(header.tracks.first?.trackID == nil)
        #expect(header.tracks.first?.media?.timescale == 30000)
        #expect(header.warnings.count == 1)
    }

    @Test func aperturesAreRaw() throws {
        let tapt = box(
            "tapt", fullBox("clef", u32(0x280_0000, 0x1E0_0000)), fullBox("prof", u32(0x28E_8BA3, 0x1E0_0000)),
            fullBox("enof", u32(0x2D0_0000)))
        let header = try Movie.header(Movie.trak(parts: tapt))
        let apertures = try #require(header.tracks.first?.apertures)
        #expect(apertures.clean == FixedPointSize(width: 640 << 16, height: 480 << 16))
        #expect(apertures.production == FixedPointSize(width: 0x28E_8BA3, height: 480 << 16))
        #expect(apertures.encoded == nil)
        #expect(header.warnings.count == 1)
    }
}
