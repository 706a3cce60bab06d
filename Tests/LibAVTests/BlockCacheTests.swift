import MediaBase
import Synchronization
import Testing

@testable import LibAV

/// Reads through the cache of a source that counts what it is asked for.
@Suite struct BlockCacheTests {
    /// A source whose byte at an offset is known, and that may be short or fail.
    private final class Counted: ByteSource {
        let size: UInt64?
        let endsAt: UInt64
        let failure: MediaError?
        private let asked = Mutex<[(offset: UInt64, count: Int)]>([])

        init(_ size: UInt64, endsAt: UInt64 = .max, failure: MediaError? = nil) {
            (self.size, self.endsAt, self.failure) = (size, endsAt, failure)
        }

        var ranges: [(offset: UInt64, count: Int)] { asked.withLock(\.self) }

        /// Bytes that repeat only after a prime number of them, so that a block at a wrong place is noticed.
        private static let pattern = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }

        static func bytes(at offset: UInt64, count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count)
            var place = Int(offset % UInt64(pattern.count))
            while bytes.count < count {
                bytes += pattern[place...].prefix(count - bytes.count)
                place = 0
            }
            return bytes
        }

        func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
            asked.withLock { $0.append((offset, count)) }
            if let failure { throw failure }
            guard offset < endsAt else { return [] }
            return Self.bytes(at: offset, count: Int(min(UInt64(count), endsAt - offset)))
        }
    }

    /// Reads a range, in parts of 64 KiB as libavformat does, and returns true if all bytes are right.
    private func reads(
        _ range: Range<UInt64>, of cache: BlockCache, readsAhead: Bool = true, part: Int = 1 << 16
    ) throws -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound {
            var bytes = [UInt8](repeating: 0, count: min(part, Int(range.upperBound - offset)))
            let count = try bytes.withUnsafeMutableBytes {
                try cache.read(at: offset, into: $0, readsAhead: readsAhead, stop: { nil })
            }
            guard count == bytes.count else { return false }
            guard bytes == Counted.bytes(at: offset, count: count) else { return false }
            offset += UInt64(count)
        }
        return true
    }

    @Test func bytesAreThoseOfTheSource() throws {
        let source = Counted(300_001)
        let cache = BlockCache(source, size: 300_001)
        #expect(try reads(0..<300_001, of: cache))
        for (start, end) in [(0, 1), (32_767, 32_769), (299_999, 300_001), (65_535, 200_000)] {
            #expect(try reads(UInt64(start)..<UInt64(end), of: cache, part: 7777))
        }
        var rest = [UInt8](repeating: 0, count: 100)
        let count = try rest.withUnsafeMutableBytes {
            try cache.read(at: 299_990, into: $0, readsAhead: false, stop: { nil })
        }
        #expect(count == 11)
        #expect(cache.statistics.bytes == 300_001)
    }

    /// What is read straight on is asked for in ranges that grow to 4 MiB, and nothing twice.
    @Test func readingStraightOnAsksForLargeRanges() throws {
        let size: UInt64 = 40 << 20
        let source = Counted(size)
        #expect(try reads(0..<size, of: BlockCache(source, size: size), part: 1 << 20))
        let ranges = source.ranges
        #expect(ranges.map { UInt64($0.count) }.reduce(0, +) == size)
        #expect(ranges.count < 45)
        #expect(ranges.map(\.count).max() == 4 << 20)
    }

    /// No more than the first range is asked for where somebody looks here and there.
    @Test func looksHereAndThereAskForLittle() throws {
        let size: UInt64 = 1 << 30
        let source = Counted(size)
        let cache = BlockCache(source, size: size)
        for place in 0..<20 {
            let start = UInt64(place) << 24
            #expect(try reads(start..<start + 4096, of: cache))
        }
        #expect(source.ranges.count == 20)
        #expect(source.ranges.allSatisfy { $0.count == 1 << 16 })
    }

    /// What is announced comes in one range, and is not asked for again.
    @Test func expectedBytesComeInOneRange() throws {
        let size: UInt64 = 1 << 30
        let source = Counted(size)
        let cache = BlockCache(source, size: size)
        cache.willRead(5_000_000..<9_000_000)
        #expect(try reads(5_000_000..<9_000_000, of: cache, readsAhead: false))
        #expect(source.ranges.count == 1)
        #expect(source.ranges.first.map { $0.count } ?? 0 < 4_000_000 + 2 * 32_768)
    }

    /// Blocks go when there are too many, and come again.
    @Test func memoryIsBounded() throws {
        let size: UInt64 = 200 << 20
        let cache = BlockCache(Counted(size), size: size)
        for start in stride(from: UInt64(0), to: size, by: 8 << 20) { cache.willRead(start..<start + 8 << 20) }
        #expect(try reads(0..<1 << 20, of: cache, readsAhead: false))
        #expect(try reads(size - 1 << 20..<size, of: cache, readsAhead: false))
        #expect(cache.blockCount <= 2048)
    }

    @Test func aShorterSourceEndsEarly() throws {
        let cache = BlockCache(Counted(1 << 20, endsAt: 100_000), size: 1 << 20)
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = try bytes.withUnsafeMutableBytes {
            try cache.read(at: 65_536, into: $0, readsAhead: true, stop: { nil })
        }
        #expect(count == 100_000 - 65_536)
        let after = try bytes.withUnsafeMutableBytes {
            try cache.read(at: 500_000, into: $0, readsAhead: true, stop: { nil })
        }
        #expect(after == 0)
    }

    @Test func errorsAreThoseOfTheSource() throws {
        let cache = BlockCache(Counted(1 << 20, failure: MediaError(.notFound, "gone")), size: 1 << 20)
        let error = #expect(throws: MediaError.self) { try reads(0..<10, of: cache) }
        #expect(error?.message == "gone")
    }

    /// A reader that is told to stop does not wait for a source that hangs.
    @Test func aReaderStopsWaiting() throws {
        final class Hanging: ByteSource {
            let size: UInt64? = 1 << 20
            let isReleased = Atomic(false)
            func read(at offset: UInt64, count: Int) throws(MediaError) -> [UInt8] {
                while !isReleased.load(ordering: .relaxed) {}
                return []
            }
        }
        let source = Hanging()
        defer { source.isReleased.store(true, ordering: .relaxed) }
        let cache = BlockCache(source, size: 1 << 20)
        var bytes = [UInt8](repeating: 0, count: 10)
        let error = #expect(throws: MediaError.self) {
            try bytes.withUnsafeMutableBytes {
                try cache.read(at: 0, into: $0, readsAhead: true, stop: { MediaError(.timedOut, "late") })
            }
        }
        #expect(error?.code == .timedOut)
    }

    /// Several readers at different places of one cache get right bytes.
    @Test func readersShareACache() async throws {
        let size: UInt64 = 20 << 20
        let cache = BlockCache(Counted(size), size: size)
        let areRight = try await withThrowingTaskGroup(of: Bool.self) { group in
            for reader in 0..<4 {
                group.addTask { try reads(UInt64(reader) * 4 << 20..<size, of: cache, part: 100_000) }
            }
            return try await group.reduce(true) { $0 && $1 }
        }
        #expect(areRight)
    }
}
