import LibAV
import MediaBase
import Synchronization

/// What joins an input to its writer while it is written: the pipeline, the thread that encodes, and the shared container.
final class WriterLink: Sendable {
    private let core: WriterCore
    private let lane: Int
    private let pipeline: any EncodingPipeline
    private let session: SessionFacts
    /// `nil` for samples that are written as they are, on the thread that appends them.
    private let worker: EncodingWorker?
    /// One thread uses the pipeline at a time.
    private let turn = Mutex(false)

    /// - Parameter encodes: Whether samples are encoded, which a thread of its own does.
    init(
        core: WriterCore, lane: Int, pipeline: any EncodingPipeline, session: SessionFacts, encodes: Bool,
        isRealTime: Bool
    ) throws(MediaError) {
        self.core = core
        self.lane = lane
        self.pipeline = pipeline
        self.session = session
        // Pictures are large, and whoever appends has the next one ready.
        let usual = pipeline is VideoEncodingPipeline ? 1 : 4
        worker = encodes ? EncodingWorker(capacity: isRealTime ? 32 : usual) : nil
        try worker?.start(
            prepare: { (buffer) throws(MediaError) in try pipeline.prepared(buffer) },
            encode: { [sink] (buffer) throws(MediaError) in try pipeline.append(buffer, to: sink) },
            finish: { [sink] () throws(MediaError) in
                try pipeline.finish(to: sink)
                try core.finish(lane: lane, presented: session.clipped(pipeline.presented))
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

    var isReady: Bool {
        guard (try? core.check()) != nil else { return false }
        return worker?.isReady ?? true
    }

    /// From where stored samples were written, on the source's time line; `nil` for others, and where there were none.
    var storedFrom: MediaTime? { turn.withLock { _ in (pipeline as? StoredWritingPipeline)?.storedFrom } }

    func append(_ buffer: SampleBuffer) throws(MediaError) {
        try core.check()
        guard let worker else {
            return try turn.withLock { _ throws(MediaError) in
                do throws(MediaError) { try pipeline.append(buffer, to: sink) } catch { throw core.fail(error) }
            }
        }
        guard worker.append(buffer) else {
            try core.check()
            throw MediaError(.cancelled, "cancelled")
        }
    }

    /// Appends, waiting without a thread; a task that is cancelled meanwhile throws so, and appends nothing.
    func append(_ buffer: SampleBuffer) async throws(MediaError) {
        guard let worker else {
            let append: (SampleBuffer) throws(MediaError) -> Void = self.append
            return try append(buffer)
        }
        while true {
            try core.check()
            switch worker.appendAtOnce(buffer) {
            case true?: return
            case false?: throw MediaError(.cancelled, "cancelled")
            case nil:
                if Task.isCancelled { throw MediaError(.cancelled, "cancelled") }
                await worker.waitForRoom()
            }
        }
    }

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
                    try core.finish(lane: lane, presented: session.clipped(pipeline.presented))
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
