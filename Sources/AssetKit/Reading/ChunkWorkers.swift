import LibAV
import MediaBase
import SystemCalls
import Threading

/// Threads that cut a track into segments and decode them, each what it has cut itself; to be told when to end.
///
/// Whoever's turn it is reads the packets of the next segment, in order, and decodes them while the next one reads: no
/// packet has to be carried from one thread to another, and no thread is there for reading alone.
final class ChunkWorkers: Sendable {
    /// What is left when decoding side by side ends.
    struct Rest: Sendable {
        /// Segments that were cut and not given.
        var segments: [AudioChunk]
        /// The packet behind them.
        var head: CompressedSample?
        /// Why the packets broke off.
        var error: MediaError?

        /// The packets of all of it, in order.
        var packets: [CompressedSample] { segments.flatMap(\.packets) + [head].compactMap(\.self) }
    }

    private let setup: DecoderSetup
    private let digester: SoundDigester?
    private let count: Int
    private let keepsDecoders: Bool
    private let feed: Mutex<Feed>
    private let schedule = Monitor(Schedule())
    private let hasThreads = Atomic(false)
    /// The same as in the schedule, for who is about to read.
    private let isStopped = Atomic(false)
    /// Decoders whose segments are over.
    private let decoders = Mutex<[DecoderBox]>([])

    /// Where segments come from; who has it reads.
    private struct Feed: Sendable {
        var cutter: AudioChunker
        var next: (@Sendable () throws(MediaError) -> CompressedSample?)?
    }

    private struct Schedule: Sendable {
        /// The first segment, which the caller has cut.
        var first: AudioChunk?
        /// Segments that were begun, and those of them that were given.
        var begun = 0
        var given = 0
        /// Segments that were cut and not given, in order.
        var cut: [AudioChunk] = []
        var results: [Int: DecodedChunk] = [:]
        var isOver = false
        var isStopped = false

        /// What a thread is to do next; `nil` where there is no room yet.
        mutating func turn(_ room: Int) -> Turn? {
            if isStopped { return .end }
            if let segment = first.take() { return .decode(segment) }
            if isOver { return .end }
            guard begun < given + room else { return nil }
            begun += 1
            return .cut(given: given)
        }

        /// The next segment and what came of it; `.some(nil)` at the end, `nil` where it is not ready.
        mutating func take() -> (AudioChunk, DecodedChunk)?? {
            guard let segment = cut.first else { return isOver ? .some(nil) : nil }
            guard let result = results.removeValue(forKey: segment.number) else { return nil }
            cut.removeFirst()
            given += 1
            return (segment, result)
        }
    }

    private enum Turn: Sendable {
        case decode(AudioChunk)
        case cut(given: Int)
        case end
    }

    /// - Parameter count: How many threads; with one, all is done on the thread that asks.
    init(_ setup: DecoderSetup, _ rule: ChunkingRule, _ cutter: AudioChunker, digester: SoundDigester?, count: Int) {
        self.setup = setup
        self.digester = digester
        self.count = count
        keepsDecoders = rule.keepsDecoders
        feed = Mutex(Feed(cutter: cutter))
    }

    /// Cuts the first segment; `nil` where there is none.
    ///
    /// - Parameter next: The next packet, for any thread.
    func first(from next: @escaping @Sendable () throws(MediaError) -> CompressedSample?) -> AudioChunk? {
        feed.withLock { $0.next = next }
        return cut()
    }

    /// Begins with the first segment, and goes on to the others.
    func begin(_ first: AudioChunk) {
        schedule.update {
            $0.first = first
            $0.begun = 1
        }
        guard count > 1 else { return }
        for _ in 0..<count {
            do throws(WorkerThread.CannotStart) {
                let thread = try WorkerThread { self.work() }
                thread.detach()
                hasThreads.store(true, ordering: .relaxed)
            } catch {
                break
            }
        }
    }

    /// How many segments may be begun and not given, so that no thread is idle and memory stays bounded.
    private var room: Int { count + 1 }

    private func work() {
        // What a thread has allocated it frees with the least effort, so it keeps segments until nobody else does.
        var kept: [AudioChunk] = []
        while true {
            switch schedule.wait({ [room] in $0.turn(room) }) {
            case .decode(let segment):
                kept.append(segment)
                decode(segment)
            case .cut(let given):
                kept.removeAll { $0.number < given }
                guard let segment = cut() else { return }
                kept.append(segment)
                decode(segment)
            case .end: return
            }
        }
    }

    /// Reads the packets of the next segment; `nil` where there is none.
    private func cut() -> AudioChunk? {
        feed.withLock { feed in
            guard let next = feed.next, !isStopped.load(ordering: .acquiring) else { return nil }
            let segment = feed.cutter.next(from: next)
            if let segment {
                // What is waited for is what comes of it.
                schedule.updateQuietly { $0.cut.append(segment) }
            } else {
                schedule.update { $0.isOver = true }
            }
            return segment
        }
    }

    private func decode(_ segment: AudioChunk) {
        let used = decoders.withLock { $0.popLast() }
        let result = segment.decode(setup, digester: digester, reusing: used?.take())
        schedule.update { $0.results[segment.number] = result }
    }

    /// The next segment and what came of it, in order; waits for it; `nil` at the end.
    func next() -> (AudioChunk, DecodedChunk)? {
        guard !hasThreads.load(ordering: .relaxed) else { return schedule.wait { $0.take() } }
        if let segment = schedule.update({ $0.first.take() }) ?? cut() { decode(segment) }
        return schedule.update { $0.take() } ?? nil
    }

    /// Takes the decoder of a segment whose seams hold, for another one.
    func takeBack(_ segment: DecodedChunk) {
        guard keepsDecoders, segment.leavesNothingBehind, let decoder = segment.takeDecoder() else { return }
        let box = DecoderBox(decoder)
        decoders.withLock { if $0.count < count { $0.append(box) } }
    }

    /// Has the threads end after what they are at.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        schedule.update { $0.isStopped = true }
    }

    /// Ends decoding side by side; waits for who reads at the moment.
    func rest() -> Rest {
        stop()
        let (head, error) = feed.withLock { ($0.cutter.head, $0.cutter.error) }
        return Rest(segments: schedule.update { $0.cut }, head: head, error: error)
    }
}

/// A decoder that is taken out once.
private final class DecoderBox: Sendable {
    private let decoder: Mutex<PacketDecoder?>

    init(_ decoder: consuming PacketDecoder) { self.decoder = Mutex(decoder) }

    func take() -> PacketDecoder? { decoder.withLock { $0.take() } }
}
