import LibAV
import MediaBase
import SystemCalls
import Threading

/// The settings for decoding audio in chunks.
struct ChunkSettings: Sendable, Hashable {
    /// The approximate size of a chunk's decoded audio in bytes, at 32 bits per sample.
    var bytes = 3 << 20
    /// The number of decoding threads.
    var threads = 1
    /// Indicates whether chunks are decoded in parallel, for which packets are read ahead.
    var readsAhead = true

    /// The maximum number of threads; more would only hold more audio in memory.
    static let maximumThreads = 16
}

/// Decodes a track's audio in chunks, several in parallel, with the result of a single decoder.
///
/// Chunks are cut at positions that depend on the packets alone, so the result does not depend on the number of
/// threads. The container is read once, in order. Each chunk has its own decoder, which first decodes the last
/// packets before the chunk. The decoder of the chunk before decodes one packet too many: the outputs of both
/// decoders for that packet must agree by the codec's ``ChunkingRule``. If they do not, or at a packet with a new
/// header, the decoder that has seen all packets decodes the rest serially.
///
/// Only one thread may use it at a time.
final class ParallelAudioDecoder: AudioSource {
    private let setup: DecoderSetup
    private let rule: ChunkingRule
    private let workers: ChunkWorkers
    private let reduction: (any AudioReduction)?
    private var hasBegun = false
    /// The chunk that is being delivered.
    private var current: DecodedChunk?
    private var queue = AudioEventQueue()
    /// The serial decoder of the rest; until pending events are delivered, `serialDecoder` holds its decoder.
    private var serial: FrameSource?
    private var serialDecoder: PacketDecoder?
    /// Packets that were already read and are to be decoded serially.
    private var serialPackets: [CompressedSample] = []
    private var serialPosition = 0
    /// The error that ended the packets after `serialPackets`.
    private var serialError: MediaError?

    /// The encoder's priming: the number of samples that the decoder has to skip before the first frame.
    var skippedSamples: Int64 { serial?.skippedSamples ?? queue.tally.skippedSamples }

    /// Creates a source for a track whose codec has a rule; nothing is read yet.
    init(
        _ setup: DecoderSetup, _ rule: ChunkingRule, _ borders: ChunkBorders, threads: Int,
        _ reduction: (any AudioReduction)?
    ) {
        self.setup = setup
        self.rule = rule
        self.reduction = reduction
        workers = ChunkWorkers(setup, rule, AudioChunker(borders), reduction, count: threads)
    }

    deinit { workers.stop() }

    /// Returns the next audio; `nil` at the end.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if there were packets but none could be decoded.
    func nextAudio(from packets: PacketQueue) throws(MediaError) -> DecodedAudio? {
        while true {
            if let serial {
                guard let frame = try serial.next(from: remaining(packets)) else { return nil }
                return .frame(frame)
            }
            if let audio = queue.next(reportingTo: packets) { return audio }
            guard try advance(packets) else {
                try queue.tally.checkEnd()
                return nil
            }
        }
    }

    /// Delivers the rest of the chunk frame by frame, from the first frame of the reduced audio on.
    func takeBack(_ run: ReducedRun) throws(MediaError) {
        reduction?.discard(run.partial)
        queue.fill(try run.eventsOfChunk(), from: run.firstEvent)
    }

    /// Advances to the next chunk or to serial decoding; returns false at the end.
    private func advance(_ packets: PacketQueue) throws(MediaError) -> Bool {
        if let decoder = serialDecoder.take() {
            serial = FrameSource(continuing: decoder, queue.tally)
            return true
        }
        if !hasBegun {
            hasBegun = true
            guard let ahead = packets.ahead else {
                try decodeRest([])
                return true
            }
            if let chunk = workers.first(from: ahead) {
                // A track of at most one chunk needs no threads.
                if chunk.isLast {
                    workers.stop()
                    try decodeRest(chunk.packets)
                    return true
                }
                workers.begin(chunk)
            }
        }
        guard let (chunk, decoded) = workers.next() else {
            let rest = workers.rest()
            if let head = rest.head {
                try decodeRest([head])
                return true
            }
            if let error = rest.error { throw error }
            deliver(nil)
            // Reads the end, so that a truncated container is reported now.
            _ = try packets.next()
            return false
        }
        if case .failed(let error) = decoded.outcome { throw error }
        let isStart = chunk.number == 0
        let isSound = if case .decoded = decoded.outcome { true } else { false }
        guard isSound, isStart || current.map({ decoded.follows($0, rule) }) ?? false else {
            let rest = workers.rest()
            serialError = rest.error
            try decodeRest(chunk.packets + rest.packets)
            return true
        }
        if let current { workers.takeBack(current) }
        deliver(decoded)
        return true
    }

    private func deliver(_ chunk: DecodedChunk?) {
        current = chunk
        queue.fill(chunk?.takeEvents() ?? [])
    }

    /// Prepares serial decoding of all further packets, by the decoder that has seen all previous ones.
    private func decodeRest(_ read: [CompressedSample]) throws(MediaError) {
        serialPackets = read
        if let previous = current, let decoder = previous.takeDecoder() {
            // This decoder has already decoded the first packet, whose output is still to be delivered.
            serialPosition = 1
            serialDecoder = consume decoder
            queue.fill(previous.overlap)
        } else {
            serialDecoder = PacketDecoder(try Decoder.open(setup, threads: 1))
        }
    }

    /// Returns the remaining packets, starting with those that were already read.
    private func remaining(_ packets: PacketQueue) -> PacketQueue {
        guard serialPosition < serialPackets.count || serialError != nil else { return packets }
        return PacketQueue(
            next: { () throws(MediaError) in
                guard self.serialPosition < self.serialPackets.count else {
                    if let error = self.serialError { throw error }
                    return try packets.next()
                }
                defer { self.serialPosition += 1 }
                let sample = self.serialPackets[self.serialPosition]
                // The packets were read ahead, which does not report damage.
                if let damage = sample.damage { packets.reportDamage(damage) }
                return sample
            }, reportDamage: packets.reportDamage)
    }
}

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
