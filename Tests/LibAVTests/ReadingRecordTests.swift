import LibAV
import MediaBase
import TestSupport
import Testing

/// The digest of a file that is read in all kinds of order, against sha256sum.
@Suite struct ReadingRecordTests {
    private static let file = Result { try Fixtures.bytes("mpegts-10s.ts") }
    private static let digest = Result {
        let text = try Program.run("sha256sum", [Fixtures.path("mpegts-10s.ts")]).output
        return String(text.prefix { $0 != " " })
    }

    /// Reads the rest, and returns the number of bytes that took, and the digest.
    private static func finish(_ record: ReadingRecord, _ bytes: [UInt8]) throws -> (rest: Int, digest: String) {
        var rest = 0
        try record.readRemainder(upTo: UInt64(bytes.count)) { offset, count in
            let found = Array(bytes[Int(offset)...].prefix(count))
            rest += found.count
            return found
        }
        return (rest, (try record.finish() ?? []).hexadecimal)
    }

    private static func note(_ range: Range<Int>, of bytes: [UInt8], in record: ReadingRecord) {
        record.note(bytes.span.bytes.extracting(range.clamped(to: 0..<bytes.count)), at: UInt64(range.lowerBound))
    }

    @Test(arguments: [1, 1000, 4096, 65_536, 10_000_000]) func partsInOrderAreEnough(length: Int) throws {
        let bytes = try Self.file.get()
        let record = ReadingRecord(digest: .sha256)
        for start in stride(from: 0, to: bytes.count, by: length) {
            Self.note(start..<start + length, of: bytes, in: record)
        }
        #expect(record.bytesRead == UInt64(bytes.count))
        let (rest, digest) = try Self.finish(record, bytes)
        #expect(try rest == 0 && digest == Self.digest.get())
        #expect(try (record.finish() ?? []).hexadecimal == digest)
    }

    /// Parts that begin before the place, that are known, and that lie within another.
    @Test func overlappingPartsCountOnce() throws {
        let bytes = try Self.file.get()
        let record = ReadingRecord(digest: .sha256)
        for range in [0..<10, 0..<10, 5..<20_000, 100..<200, 19_999..<20_001, 0..<bytes.count] {
            Self.note(range, of: bytes, in: record)
        }
        let (rest, digest) = try Self.finish(record, bytes)
        #expect(try rest == 0 && digest == Self.digest.get())
    }

    /// Parts that come in any order, some twice and with others around them, with a fixed seed.
    @Test(arguments: 0..<20) func partsInAnyOrderAreEnough(seed: UInt64) throws {
        var chance = SeededGenerator(state: seed)
        let bytes = try Self.file.get()
        let record = ReadingRecord(digest: .sha256)
        var parts = stride(from: 0, to: bytes.count, by: 7919).map {
            $0..<$0 + 7919 + Int.random(in: 0...99, using: &chance)
        }
        parts += (0..<20).map { _ in
            let start = Int.random(in: 0..<bytes.count, using: &chance)
            return start..<start + Int.random(in: 0...50_000, using: &chance)
        }
        for part in parts.shuffled(using: &chance) { Self.note(part, of: bytes, in: record) }
        let (rest, digest) = try Self.finish(record, bytes)
        #expect(try rest == 0 && digest == Self.digest.get())
    }

    /// What is missing is read, and no more than what follows it.
    @Test func theRestIsRead() throws {
        let bytes = try Self.file.get()
        let record = ReadingRecord(digest: .sha256)
        Self.note(0..<1000, of: bytes, in: record)
        Self.note(2000..<3000, of: bytes, in: record)
        #expect(record.position == 1000 && record.bytesRead == 2000)
        let (rest, digest) = try Self.finish(record, bytes)
        #expect(try rest == bytes.count - 1000 && digest == Self.digest.get())
    }

    /// Bytes that come much too early are not kept: 40 MB of zeros, whose digest Python's hashlib gives.
    @Test func onlySoMuchIsKept() throws {
        let bytes = [UInt8](repeating: 0, count: 40 << 20)
        let record = ReadingRecord(digest: .sha256)
        let half = 20 << 20
        Self.note(half..<bytes.count, of: bytes, in: record)
        #expect(record.position == 0)
        Self.note(0..<half, of: bytes, in: record)
        #expect(record.position == UInt64(bytes.count))
        let late = ReadingRecord(digest: .sha256)
        for start in stride(from: bytes.count - (1 << 20), to: 0, by: -(1 << 20)) {
            Self.note(start..<start + (1 << 20), of: bytes, in: late)
        }
        Self.note(0..<1 << 20, of: bytes, in: late)
        // Of the 39 MB that waited, those that were wanted last were given up.
        #expect(late.position == 33 << 20)
        let wanted = "80a3721188e40218b08b26776bc53bdae81e4784fff71d71450a197319cba113"
        #expect(try Self.finish(record, bytes).digest == wanted)
        #expect(try Self.finish(late, bytes).digest == wanted)
    }

    @Test func severalThreadsMayRead() throws {
        let bytes = try Self.file.get()
        let record = ReadingRecord(digest: .sha256)
        let readers = (0..<4).map { reader in
            Background {
                for start in stride(from: reader * 4096, to: bytes.count, by: 4 * 4096) {
                    Self.note(start..<start + 4096, of: bytes, in: record)
                }
            }
        }
        for reader in readers { try reader.value(within: 60) }
        #expect(record.bytesRead == UInt64(bytes.count))
        let (rest, digest) = try Self.finish(record, bytes)
        #expect(try rest == 0 && digest == Self.digest.get())
    }

    @Test func bytesMayBeCountedOnly() throws {
        let record = ReadingRecord()
        Self.note(0..<100, of: try Self.file.get(), in: record)
        #expect(record.bytesRead == 100 && record.position == 0)
        #expect(try record.finish() == nil)
    }

    @Test func aSourceThatEndsEarlyHasChanged() throws {
        let record = ReadingRecord(digest: .sha256)
        let error = mediaError {
            try record.readRemainder(upTo: 100) { offset, _ in offset < 50 ? [UInt8](repeating: 1, count: 50) : [] }
        }
        #expect(error?.code == .changed)
    }

    /// A source on the way to its readers notes the same, and passes on no more than was asked for.
    @Test func aSourceIsRecorded() throws {
        let bytes = try Self.file.get()
        let record = ReadingRecord(digest: .sha256)
        let source = RecordedSource(ArrayByteSource(bytes), in: record)
        #expect(source.size == UInt64(bytes.count))
        for start in stride(from: 0, to: bytes.count, by: 30_000) {
            #expect(try source.read(at: UInt64(start), count: 30_000) == Array(bytes[start...].prefix(30_000)))
        }
        let (rest, digest) = try Self.finish(record, bytes)
        #expect(try rest == 0 && digest == Self.digest.get() && record.bytesRead == UInt64(bytes.count))
    }
}
