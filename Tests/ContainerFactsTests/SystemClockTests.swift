import LibAV
import SystemPackage
import TestSupport
import Testing

@testable import ContainerFacts

/// The clock of transport and program streams.
@Suite struct SystemClockTests {
    /// A transport packet with a clock of 33 bits, or without one.
    private func packet(_ clock: Int64?, size: Int = 188) -> [UInt8] {
        var bytes: [UInt8] = [0x47, 0x01, 0x23, clock == nil ? 0x10 : 0x30]
        if let clock {
            bytes += [7, 0x10] + (0..<4).map { UInt8(truncatingIfNeeded: clock >> (25 - 8 * $0)) }
            bytes += [UInt8(clock & 1) << 7 | 0x7E, 0]
        }
        return bytes + [UInt8](repeating: 0xFF, count: size - bytes.count)
    }

    @Test(arguments: [188, 192, 204], [0, 17])
    func theFirstReferenceIsFound(size: Int, junk: Int) {
        let stored: Int64 = 0x1_2345_6789
        let bytes =
            [UInt8](repeating: 0, count: junk)
            + [nil, nil, stored, nil, 5, nil, nil].flatMap { packet($0, size: size) }
        let found = SystemClock.transportClocks(in: bytes)
        #expect(found.map(\.stream) == [0x123, 0x123] && found.map(\.ticks) == [stored, 5])
        #expect(SystemClock.transportClocks(in: Array(bytes.prefix(junk + 2 * size))).isEmpty)
    }

    /// The references that ffprobe's packets, which are decoded at these times, must be near.
    @Test func thePackHeaderOfAProgramStream() throws {
        let head = Array(try Fixtures.bytes("mpegps.mpg").prefix(1 << 16))
        let clock = try #require(SystemClock.programClocks(in: head).first)
        let first = try #require(
            try FFmpeg.probe([
                "-select_streams", "v:0", "-show_entries", "packet=dts", "-of", "csv=p=0",
                try Fixtures.path("mpegps.mpg"),
            ]).compactMap { Int64($0.prefix { $0 != "," }) }.first)
        // A packet is sent at most a second before it is decoded.
        #expect((0...90_000).contains(first - clock.ticks))
        // MPEG-1: 0010, then 3, 15 and 15 bits, each with a marker bit behind it.
        let old: [UInt8] = [0, 0, 1, 0xBA, 0x21 | 5 << 1, 0x12, 0x35, 0x9A, 0xBD, 0, 0, 0]
        let (high, middle, low) = (Int64(5), Int64(0x1235 >> 1), Int64(0x9ABD >> 1))
        #expect(SystemClock.programClocks(in: old).first?.ticks == high << 30 | middle << 15 | low)
    }

    /// Two whole recordings, and one with the first second of another behind it.
    @Test func onlyAClockThatJumpsIsSuspicious() throws {
        let folder = try TemporaryFolder()
        let whole = try Fixtures.bytes("mpegts-10s.ts")
        let path = try folder.write("twice.ts", whole + whole)
        let short = try folder.write("short.ts", whole + whole.prefix(188 * 60))
        let files = [
            (try Fixtures.path("mpegts-10s.ts"), false), (try Fixtures.path("damaged.ts"), false), (path, true),
            (short, true),
        ]
        for (path, jumps) in files {
            #expect(SystemClock.seemsToJump(in: try InputFile(opening: .path(FilePath(path)))) == jumps)
        }
    }
}
