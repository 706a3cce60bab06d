package import MediaBase
import Threading

/// The bytes of a slow source, kept in memory in blocks and fetched ahead of their readers.
///
/// It makes a source as good as its latency allows: what is read straight on is fetched in several large ranges at once,
/// what is asked for here and there in ranges that begin small, and what somebody knows to be needed, such as an index, in
/// one range (``willRead(_:)``). At most 64 MiB are kept; what was used longest ago goes first.
///
/// Thread-safe; all readers of a source share one cache.
package final class BlockCache: Sendable {
    /// The amount that was fetched.
    package struct Statistics: Sendable, Hashable {
        /// The number of ranges that the source was asked for.
        package var requests = 0
        /// The number of bytes that it returned.
        package var bytes = 0
    }

    private struct Block: Sendable {
        let bytes: [UInt8]
        var lastUse: Int
    }

    private struct State: Sendable {
        var blocks: [Int: Block] = [:]
        /// The ranges of blocks that are being fetched.
        var fetches: [Range<Int>] = []
        /// The errors of fetches, until a reader has got them.
        var errors: [(blocks: Range<Int>, error: MediaError)] = []
        var runs: [ReadingRun] = []
        /// Counts the uses of blocks.
        var clock = 0
        /// The end of the source if it turned out to be shorter than its size.
        var end: UInt64
        var statistics = Statistics()
    }

    private static let blockBytes = 1 << 15
    private static let maximumBlocks = 2048
    /// The number of blocks that ``willRead(_:)`` fetches at most; the others are fetched when they are read.
    private static let maximumExpectedBlocks = maximumBlocks / 2
    private static let maximumRuns = 16
    private static let maximumFetches = 8
    private static let maximumErrors = 32
    private static let threads = ThreadPool(maximumIdleThreads: maximumFetches)

    private let source: any ByteSource
    private let size: UInt64
    private let state: Monitor<State>

    /// Creates an empty cache of a source whose size is known.
    package init(_ source: any ByteSource, size: UInt64) {
        self.source = source
        self.size = size
        state = Monitor(State(end: size))
    }

    /// The amount that was fetched so far.
    package var statistics: Statistics { state.read(\.statistics) }

    /// The number of blocks that are kept.
    var blockCount: Int { state.read { $0.blocks.count } }

    /// Fills a buffer with bytes of the source, and returns their number, which is smaller at its end.
    ///
    /// - Parameters:
    ///   - offset: The offset of the first byte.
    ///   - buffer: The buffer to fill.
    ///   - readsAhead: True if what follows is likely to be read next.
    ///   - stop: Returns the reason to give up, which is asked while the source is waited for.
    /// - Throws: The source's error, or the reason.
    package func read(
        at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer, readsAhead: Bool,
        stop: () -> MediaError?
    ) throws(MediaError) -> Int {
        let end = min(offset.addingReportingOverflow(UInt64(buffer.count)).partialValue, size)
        guard end > offset else { return 0 }
        let blocks = blocks(offset..<end)
        fetch(state.updateQuietly { Self.wanted(blocks, readsAhead: readsAhead, within: self.blocks(0..<size), &$0) })
        var filled = 0
        for index in blocks {
            let block = try block(index, stop: stop)
            let skipped = filled == 0 ? Int(offset - UInt64(index) * UInt64(Self.blockBytes)) : 0
            let part = block.dropFirst(skipped).prefix(Int(end - offset) - filled)
            UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: part)
            filled += part.count
            // The source ends here.
            if skipped + part.count < block.count || block.count < Self.blockBytes { break }
        }
        return filled
    }

    /// Fetches bytes that will be read soon, in one range, up to half of what is kept.
    package func willRead(_ range: Range<UInt64>) {
        let range = range.clamped(to: 0..<size)
        guard !range.isEmpty else { return }
        let expected = blocks(range).prefix(Self.maximumExpectedBlocks)
        fetch(state.updateQuietly { Self.missing(in: expected, &$0) })
    }

    private func blocks(_ bytes: Range<UInt64>) -> Range<Int> {
        let count = UInt64(Self.blockBytes)
        return Int(clamping: bytes.lowerBound / count)..<Int(clamping: (bytes.upperBound + count - 1) / count)
    }

    /// Returns the bytes of a block, for which it waits.
    private func block(_ index: Int, stop: () -> MediaError?) throws(MediaError) -> [UInt8] {
        enum Found: Sendable {
            case bytes([UInt8])
            case error(MediaError)
            case nothing
        }
        func look(_ state: inout State) -> Found? {
            if let bytes = state.blocks[index]?.bytes {
                state.clock += 1
                state.blocks[index]?.lastUse = state.clock
                return .bytes(bytes)
            }
            if let place = state.errors.firstIndex(where: { $0.blocks.contains(index) }) {
                return .error(state.errors.remove(at: place).error)
            }
            if state.end <= UInt64(index) * UInt64(Self.blockBytes) { return .bytes([]) }
            return state.fetches.contains { $0.contains(index) } ? nil : .nothing
        }
        var found = state.updateQuietly(look)
        while true {
            switch found {
            case .bytes(let bytes): return bytes
            case .error(let error): throw error
            case .nothing:
                // It was fetched and has been replaced since.
                fetch(state.updateQuietly { Self.missing(in: index..<index + 1, &$0) })
            case nil: break
            }
            if let reason = stop() { throw reason }
            found = state.wait(atMost: .milliseconds(100), look)
        }
    }

    /// Returns the ranges to fetch for a read of blocks, and notes them as being fetched.
    private static func wanted(
        _ blocks: Range<Int>, readsAhead: Bool, within all: Range<Int>, _ state: inout State
    ) -> [Range<Int>] {
        let place = state.runs.firstIndex { $0.continues(with: blocks) }
        var run = place.map { state.runs.remove(at: $0) } ?? ReadingRun(at: blocks.lowerBound)
        var fetches: [Range<Int>] = []
        let isMissing = { (index: Int) in
            state.blocks[index] == nil && !state.fetches.contains { $0.contains(index) }
        }
        let demand = run.demand(blocks, missing: blocks.first(where: isMissing), within: all, countsAhead: readsAhead)
        if let demand { fetches += missing(in: demand, &state) }
        while readsAhead, state.fetches.count < maximumFetches, let ahead = run.ahead(within: all) {
            fetches += missing(in: ahead, &state)
        }
        state.runs.insert(run, at: 0)
        if state.runs.count > maximumRuns { state.runs.removeLast() }
        return fetches
    }

    /// Returns the parts of a range that are neither there nor being fetched, and notes them as being fetched.
    private static func missing(in blocks: Range<Int>, _ state: inout State) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        for index in blocks where state.blocks[index] == nil && !state.fetches.contains(where: { $0.contains(index) }) {
            if let last = parts.last, last.upperBound == index {
                parts[parts.count - 1] = last.lowerBound..<index + 1
            } else {
                parts.append(index..<index + 1)
            }
        }
        state.fetches += parts
        return parts
    }

    /// Has ranges of blocks read by other threads.
    private func fetch(_ parts: [Range<Int>]) {
        for part in parts { Self.threads.run { self.load(part) } }
    }

    private func load(_ part: Range<Int>) {
        let start = UInt64(part.lowerBound) * UInt64(Self.blockBytes)
        let wanted = Int(min(UInt64(part.upperBound) * UInt64(Self.blockBytes), size) - start)
        let result = Result { () throws(MediaError) in try source.read(at: start, count: wanted) }
        state.update { state in
            state.fetches.removeAll { $0 == part }
            state.statistics.requests += 1
            switch result {
            case .failure(let error):
                state.errors.append((part, error))
                if state.errors.count > Self.maximumErrors { state.errors.removeFirst() }
            case .success(let bytes):
                let bytes = bytes.prefix(wanted)
                state.statistics.bytes += bytes.count
                if bytes.count < wanted { state.end = min(state.end, start + UInt64(bytes.count)) }
                for index in part {
                    let block = bytes.dropFirst((index - part.lowerBound) * Self.blockBytes).prefix(Self.blockBytes)
                    guard !block.isEmpty else { break }
                    state.clock += 1
                    state.blocks[index] = Block(bytes: Array(block), lastUse: state.clock)
                }
                Self.makeRoom(&state)
            }
        }
    }

    /// Removes the blocks that were used longest ago, a quarter of them at a time, if there are too many.
    private static func makeRoom(_ state: inout State) {
        guard state.blocks.count > maximumBlocks else { return }
        let uses = state.blocks.values.map(\.lastUse).sorted()
        let oldest = uses[state.blocks.count - maximumBlocks * 3 / 4]
        state.blocks = state.blocks.filter { $0.value.lastUse >= oldest }
    }
}

/// A place in a source that somebody reads straight on from, in blocks.
private struct ReadingRun: Sendable {
    /// The block after the last one that was read.
    private var next: Int
    /// The block up to which everything was asked for.
    private var frontier: Int
    /// The number of blocks read one after the other.
    private var consumed = 0
    /// The number of times that a block was missing.
    private var misses = 0

    /// The number of blocks that the first, second … request for a missing block fetches at least: 64 KiB to 4 MiB.
    private static let demands = [2, 8, 16, 32, 64, 128]
    /// The number of blocks that were read straight on before others are fetched ahead: 1 MiB.
    private static let trust = 32
    /// The greatest number of blocks that are fetched ahead: 16 MiB, in four ranges.
    private static let maximumWindow = 512

    init(at block: Int) {
        next = block
        frontier = block
    }

    /// Returns true if a read goes on from here.
    func continues(with blocks: Range<Int>) -> Bool {
        blocks.lowerBound <= next && blocks.lowerBound >= next - 1 && blocks.upperBound >= next
    }

    /// Moves on over a read, and returns the range to fetch if a block of it is missing.
    mutating func demand(
        _ blocks: Range<Int>, missing first: Int?, within all: Range<Int>, countsAhead: Bool
    ) -> Range<Int>? {
        if countsAhead { consumed += blocks.upperBound - next }
        next = blocks.upperBound
        frontier = max(frontier, next)
        guard let first else { return nil }
        // Somebody who has read on through what was announced goes on.
        let trusted = consumed >= Self.trust ? min(consumed, Self.demands[Self.demands.count - 1]) : 0
        let least = max(trusted, Self.demands[min(misses, Self.demands.count - 1)])
        misses += 1
        let range = (first..<max(blocks.upperBound, first + least)).clamped(to: all)
        frontier = max(frontier, range.upperBound)
        return range
    }

    /// Returns the next range to fetch ahead; `nil` if enough is on its way.
    ///
    /// No more is fetched ahead than was read, so that at most half is fetched in vain.
    mutating func ahead(within all: Range<Int>) -> Range<Int>? {
        guard consumed >= Self.trust || misses >= 3 else { return nil }
        let window = min(Self.maximumWindow, max(Self.trust, consumed))
        let part = max(Self.trust, window / 4)
        guard frontier - next <= window - part, frontier < all.upperBound else { return nil }
        let range = (frontier..<frontier + part).clamped(to: all)
        frontier = range.upperBound
        return range
    }
}
