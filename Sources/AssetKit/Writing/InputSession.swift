import LibAV
import MediaBase
import Threading

/// What joins an input to its writer while it is written: the pipeline, the thread that encodes, and the shared container.
final class InputSession: Sendable {
    private let core: MuxSession
    private let lane: Int
    private let pipeline: any EncodingPipeline
    /// `nil` for samples that are written as they are, on the thread that appends them.
    private let worker: EncodingWorker?
    /// One thread uses the pipeline at a time.
    private let turn = Mutex(false)
    private let checks: Mutex<SampleChecks>

    /// - Parameter encodes: Whether samples are encoded, which a thread of its own does.
    init(
        core: MuxSession, lane: Int, pipeline: any EncodingPipeline, checks: SampleChecks, encodes: Bool,
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

    private var sink: TrackSink { TrackSink(core: core, lane: lane) }

    /// The container, as one input sees it.
    private struct TrackSink: PacketSink {
        let core: MuxSession
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
    var storedFrom: MediaTime? { turn.withLock { _ in (pipeline as? PassthroughWritingPipeline)?.storedFrom } }

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

/// Checks the samples that are appended to an input: their kind, how they are coded, and their order.
///
/// Every way of appending comes through it, so that all of them refuse the same samples, and before any work is done.
struct SampleChecks: Sendable {
    private let mediaType: MediaType
    private let settings: AssetWriterInput.Settings
    private let fileType: MediaFileType
    /// How stored samples are coded: as the hint or the first one says.
    private var codec: String?
    /// Samples a second of the sound so far.
    private var sampleRate: Int?
    /// When the last sample begins, and where it ends.
    private var last: (start: MediaTime, end: MediaTime)?

    init(_ mediaType: MediaType, _ settings: AssetWriterInput.Settings, codec: String?, in fileType: MediaFileType) {
        self.mediaType = mediaType
        self.settings = settings
        self.codec = codec
        self.fileType = fileType
    }

    /// Throws where a sample cannot follow those so far.
    func check(_ buffer: SampleBuffer) throws(MediaError) {
        switch settings {
        case .audio:
            guard let sound = buffer.audioBuffer else {
                throw MediaError(.invalidArgument, "an audio input takes linear PCM, not other samples")
            }
            try check(sampleRate: sound.sampleRate)
            guard buffer.presentationTime.isNumeric else {
                throw MediaError(.invalidArgument, "a run of sound has no presentation time")
            }
        case .video:
            guard buffer.pixelBuffer != nil else {
                throw MediaError(.invalidArgument, "a video input takes pictures, not other samples")
            }
            guard buffer.presentationTime.isNumeric else {
                throw MediaError(.invalidArgument, "a picture has no presentation time")
            }
        case .stored:
            guard buffer.storedSample != nil else {
                throw MediaError(
                    .invalidArgument, "an input without settings takes stored samples; others need settings")
            }
            try check(stored: buffer.formatDescription)
        }
        try checkOrder(of: buffer)
    }

    /// Takes note of a sample that was appended.
    mutating func note(_ buffer: SampleBuffer) {
        if settings == .stored { codec = codec ?? buffer.formatDescription.codec }
        if let sound = Self.sound(buffer) { sampleRate = sampleRate ?? sound.rate }
        guard let start = place(of: buffer), !buffer.attachments.contains(.isNotShown) else { return }
        let length = Self.sound(buffer)?.duration ?? buffer.duration
        last = (start, length.isNumeric ? start + length : start)
    }

    private func check(stored format: FormatDescription) throws(MediaError) {
        guard format.mediaType == mediaType else {
            throw MediaError(
                .invalidArgument, "the input takes stored samples of \(mediaType), not of \(format.mediaType)")
        }
        if let codec {
            guard format.codec == codec else {
                throw MediaError(.invalidArgument, "the input's samples are \(codec); one of \(format.codec) came")
            }
        } else if !fileType.canHold(codec: format.codec, mediaType: mediaType) {
            throw MediaError(
                .unsupported, "\(fileType) files cannot hold \(format.codec); encode it, or choose another file type")
        }
        if let rate = PCMForm(format)?.rate { try check(sampleRate: Int(rate)) }
    }

    private func check(sampleRate rate: Int) throws(MediaError) {
        guard rate > 0, Int32(exactly: rate) != nil, rate == sampleRate ?? rate else {
            throw MediaError(.invalidArgument, "the sample rate changes from \(sampleRate ?? 0) to \(rate) Hz")
        }
    }

    // MARK: Order

    /// How far sound may reach into what comes after it: more than times are rounded by, or clocks jitter.
    private static let longestOverlap = MediaTime(value: 1, timescale: 100)
    /// The rounding of Matroska's times, by which runs of a few samples may even begin together.
    private static let coarsestTick = MediaTime(value: 1, timescale: 1000)

    private func checkOrder(of buffer: SampleBuffer) throws(MediaError) {
        // What an edit list hides lies where its file has it.
        guard let last, let start = place(of: buffer), !buffer.attachments.contains(.isNotShown) else { return }
        let isInOrder: Bool
        if let sound = Self.sound(buffer) {
            let half = min(last.end - last.start, sound.duration).multiplied(by: 1, dividedBy: 2)
            isInOrder = start >= last.end - min(Self.longestOverlap, max(half, Self.coarsestTick))
        } else {
            // Packets that show nothing themselves are decoded together with the next one, as VP9 has them.
            isInOrder = settings == .stored ? start >= last.start : start > last.start
        }
        guard !isInOrder else { return }
        let (what, order) =
            switch settings {
            case .audio: ("a run of sound", "one after the other")
            case .video: ("a picture", "in rising order of their times")
            case .stored: ("a stored sample", "in the order in which they are decoded")
            }
        throw MediaError(
            .invalidArgument,
            "\(what) at \(start.seconds) s comes after one at \(last.start.seconds) s; samples are appended \(order)")
    }

    /// The time by which samples are in order; `nil` for stored pictures that do not say when they are decoded.
    private func place(of buffer: SampleBuffer) -> MediaTime? {
        guard settings == .stored else { return buffer.presentationTime }
        if mediaType == .video { return buffer.decodeTime.flatMap { $0.isNumeric ? $0 : nil } }
        let time = buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime ?? .indefinite
        return time.isNumeric ? time : nil
    }

    /// How long linear PCM lasts by the number of its samples; `nil` for other samples.
    private static func sound(_ buffer: SampleBuffer) -> (rate: Int, duration: MediaTime)? {
        func duration(_ count: Int, _ rate: Int) -> MediaTime {
            MediaTime(value: Int64(count), timescale: Int32(clamping: max(1, rate)))
        }
        if let sound = buffer.audioBuffer {
            return (sound.sampleRate, duration(sound.sampleCount, sound.sampleRate))
        }
        guard let stored = buffer.storedSample, let form = PCMForm(buffer.formatDescription) else { return nil }
        return (Int(form.rate), duration(stored.size / form.frameBytes, Int(form.rate)))
    }
}
