import LibAV
import MediaBase
import Threading

/// What joins an input to its writer while it is written: the pipeline, the thread that encodes, and the shared container.
final class WriterLink: Sendable {
    private let core: WriterCore
    private let lane: Int
    private let pipeline: any EncodingPipeline
    /// `nil` for samples that are written as they are, on the thread that appends them.
    private let worker: EncodingWorker?
    /// One thread uses the pipeline at a time.
    private let turn = Mutex(false)
    private let checks: Mutex<SampleChecks>

    /// - Parameter encodes: Whether samples are encoded, which a thread of its own does.
    init(
        core: WriterCore, lane: Int, pipeline: any EncodingPipeline, checks: SampleChecks, encodes: Bool,
        isRealTime: Bool
    ) throws(MediaError) {
        self.core = core
        self.lane = lane
        self.pipeline = pipeline
        self.checks = Mutex(checks)
        // Pictures are large, and whoever appends has the next one ready.
        let usual = pipeline is VideoEncodingPipeline ? 1 : 4
        worker = encodes ? EncodingWorker(capacity: isRealTime ? 32 : usual) : nil
        try worker?.start(
            prepare: { (buffer) throws(MediaError) in try pipeline.prepared(buffer) },
            encode: { [sink] (buffer) throws(MediaError) in try pipeline.append(buffer, to: sink) },
            finish: { [sink] () throws(MediaError) in
                try pipeline.finish(to: sink)
                try core.finish(lane: lane, presented: pipeline.shown)
            }, fail: { error in _ = core.fail(error) })
    }

    private var sink: LaneSink { LaneSink(core: core, lane: lane) }

    /// The container, as one input sees it.
    private struct LaneSink: PacketSink {
        let core: WriterCore
        let lane: Int

        func begin(_ stream: WrittenStream) throws(MediaError) { try core.begin(stream, lane: lane) }
        func add(_ packet: consuming Packet) throws(MediaError) { try core.add(packet, lane: lane) }
    }

    /// Whether a sample would be taken, or refused, without waiting.
    var isReady: Bool { isOver || worker?.isReady ?? true }

    /// Whether nothing is written any more, because of a failure or a cancellation.
    var isOver: Bool { (try? core.check()) == nil }

    /// Throws where a sample is not taken; one that is wrong by itself leaves the writer as it is.
    private func check(_ buffer: SampleBuffer) throws(MediaError) {
        try core.check()
        do throws(MediaError) {
            try checks.withLock { (checks) throws(MediaError) in try checks.check(buffer) }
        } catch {
            throw core.located(error)
        }
    }

    /// From where stored samples were written, on the source's time line; `nil` for others, and where there were none.
    var storedFrom: MediaTime? { turn.withLock { _ in (pipeline as? StoredWritingPipeline)?.storedFrom } }

    func append(_ buffer: SampleBuffer) throws(MediaError) {
        try check(buffer)
        if let worker {
            guard worker.append(buffer) else {
                try core.check()
                throw MediaError(.cancelled, "cancelled")
            }
        } else {
            try turn.withLock { _ throws(MediaError) in
                do throws(MediaError) { try pipeline.append(buffer, to: sink) } catch { throw core.fail(error) }
            }
        }
        checks.withLock { $0.note(buffer) }
    }

    /// Appends, waiting without a thread; a task that is cancelled meanwhile throws so, and appends nothing.
    func append(_ buffer: SampleBuffer) async throws(MediaError) {
        guard let worker else {
            let append: (SampleBuffer) throws(MediaError) -> Void = self.append
            return try append(buffer)
        }
        while true {
            try check(buffer)
            switch worker.appendAtOnce(buffer) {
            case true?: return checks.withLock { $0.note(buffer) }
            case false?: throw MediaError(.cancelled, "cancelled")
            case nil:
                if Task.isCancelled { throw MediaError(.cancelled, "cancelled") }
                await worker.waitForRoom()
            }
        }
    }

    /// Calls `body` once, when a sample would be taken, or refused, without waiting: at once, or on another thread.
    func whenReady(_ body: @escaping @Sendable () -> Void) {
        if let worker { worker.whenReady(body) } else { body() }
    }

    /// Says that no sample follows; the worker goes on with what waits.
    func finish() {
        guard let worker else {
            return turn.withLock { _ in
                do throws(MediaError) {
                    try core.check()
                    try pipeline.finish(to: sink)
                    try core.finish(lane: lane, presented: pipeline.shown)
                } catch {
                    _ = core.fail(error)
                }
            }
        }
        worker.finish()
    }

    func waitUntilDone() { worker?.waitUntilDone() }

    func stop() { worker?.stop() }
}
