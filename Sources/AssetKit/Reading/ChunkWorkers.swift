import LibAV
import MediaBase
import SystemCalls
import Threading

/// Threads that cut a track into chunks and decode them; each thread decodes what it has cut.
///
/// The threads take turns: one reads the packets of the next chunk, in order, and decodes them while the next thread
/// reads. So no packet moves between threads, and no thread is needed for reading alone. The threads run until
/// ``stop()``.
final class ChunkWorkers: Sendable {
    /// The remaining chunks and packets when parallel decoding ends.
    struct Rest: Sendable {
        /// The chunks that were cut but not delivered.
        var chunks: [AudioChunk]
        /// The packet after those chunks.
        var head: CompressedSample?
        /// The error that ended the packets.
        var error: MediaError?

        /// All remaining packets, in order.
        var packets: [CompressedSample] { chunks.flatMap(\.packets) + [head].compactMap(\.self) }
    }

    private let setup: DecoderSetup
    private let reduction: (any AudioReduction)?
    private let count: Int
    private let keepsDecoders: Bool
    private let feed: Mutex<Feed>
    private let schedule = Monitor(Schedule())
    private let hasThreads = Atomic(false)
    /// A copy of the schedule's flag, for the thread that is about to read.
    private let isStopped = Atomic(false)
    /// The decoders of chunks that are done.
    private let decoders = Mutex<[DecoderBox]>([])

    /// The source of chunks; the thread that holds its lock reads.
    private struct Feed: Sendable {
        var cutter: AudioChunker
        var next: (@Sendable () throws(MediaError) -> CompressedSample?)?
    }

    private struct Schedule: Sendable {
        /// The first chunk, which the caller has cut.
        var first: AudioChunk?
        /// The number of chunks that were started, and of those that were delivered.
        var begun = 0
        var given = 0
        /// The chunks that were cut but not delivered, in order.
        var cut: [AudioChunk] = []
        var results: [Int: DecodedChunk] = [:]
        var isOver = false
        var isStopped = false

        /// Returns the next task for a thread; `nil` if there is no room yet.
        mutating func turn(_ room: Int) -> Turn? {
            if isStopped { return .end }
            if let chunk = first.take() { return .decode(chunk) }
            if isOver { return .end }
            guard begun < given + room else { return nil }
            begun += 1
            return .cut(given: given)
        }

        /// Returns the next chunk and its result; `.some(nil)` at the end, `nil` if it is not ready.
        mutating func take() -> (AudioChunk, DecodedChunk)?? {
            guard let chunk = cut.first else { return isOver ? .some(nil) : nil }
            guard let result = results.removeValue(forKey: chunk.number) else { return nil }
            cut.removeFirst()
            given += 1
            return (chunk, result)
        }
    }

    private enum Turn: Sendable {
        case decode(AudioChunk)
        case cut(given: Int)
        case end
    }

    /// - Parameter count: The number of threads; with one, the calling thread does all the work.
    init(
        _ setup: DecoderSetup, _ rule: ChunkingRule, _ cutter: AudioChunker, _ reduction: (any AudioReduction)?,
        count: Int
    ) {
        self.setup = setup
        self.reduction = reduction
        self.count = count
        keepsDecoders = rule.keepsDecoders
        feed = Mutex(Feed(cutter: cutter))
    }

    /// Cuts the first chunk; returns `nil` if there is none.
    ///
    /// - Parameter next: Returns the next packet; may be called from any thread.
    func first(from next: @escaping @Sendable () throws(MediaError) -> CompressedSample?) -> AudioChunk? {
        feed.withLock { $0.next = next }
        return cut()
    }

    /// Starts with the first chunk and continues with the others.
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

    /// The maximum number of chunks that are started but not delivered; it keeps all threads busy and limits memory.
    private var room: Int { count + 1 }

    private func work() {
        // Memory is freed most cheaply by the thread that allocated it, so it keeps chunks until no other thread
        // does.
        var kept: [AudioChunk] = []
        while true {
            switch schedule.wait({ [room] in $0.turn(room) }) {
            case .decode(let chunk):
                kept.append(chunk)
                decode(chunk)
            case .cut(let given):
                kept.removeAll { $0.number < given }
                guard let chunk = cut() else { return }
                kept.append(chunk)
                decode(chunk)
            case .end: return
            }
        }
    }

    /// Reads the packets of the next chunk; returns `nil` if there is none.
    private func cut() -> AudioChunk? {
        feed.withLock { feed in
            guard let next = feed.next, !isStopped.load(ordering: .acquiring) else { return nil }
            let chunk = feed.cutter.next(from: next)
            if let chunk {
                // Consumers wait for results, so this update need not wake them.
                schedule.updateQuietly { $0.cut.append(chunk) }
            } else {
                schedule.update { $0.isOver = true }
            }
            return chunk
        }
    }

    private func decode(_ chunk: AudioChunk) {
        let used = decoders.withLock { $0.popLast() }
        let result = chunk.decode(setup, reduction, reusing: used?.take())
        schedule.update { $0.results[chunk.number] = result }
    }

    /// Returns the next chunk and its result, in order, after waiting for them; `nil` at the end.
    func next() -> (AudioChunk, DecodedChunk)? {
        guard !hasThreads.load(ordering: .relaxed) else { return schedule.wait { $0.take() } }
        if let chunk = schedule.update({ $0.first.take() }) ?? cut() { decode(chunk) }
        return schedule.update { $0.take() } ?? nil
    }

    /// Takes the decoder of a chunk with valid seams, for reuse.
    func takeBack(_ chunk: DecodedChunk) {
        guard keepsDecoders, chunk.leavesNothingBehind, let decoder = chunk.takeDecoder() else { return }
        let box = DecoderBox(decoder)
        decoders.withLock { if $0.count < count { $0.append(box) } }
    }

    /// Makes the threads end after their current task.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        schedule.update { $0.isStopped = true }
    }

    /// Ends parallel decoding after the thread that is reading, and returns the remaining chunks and packets.
    func rest() -> Rest {
        stop()
        let (head, error) = feed.withLock { ($0.cutter.head, $0.cutter.error) }
        return Rest(chunks: schedule.update { $0.cut }, head: head, error: error)
    }
}

/// A decoder that can be taken out once.
private final class DecoderBox: Sendable {
    private let decoder: Mutex<PacketDecoder?>

    init(_ decoder: consuming PacketDecoder) { self.decoder = Mutex(decoder) }

    func take() -> PacketDecoder? { decoder.withLock { $0.take() } }
}
