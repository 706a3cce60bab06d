import LibAV
import MediaBase
import Threading

/// Connects an input to its writer during writing: the pipeline, the encoding thread, and the shared muxer.
final class InputSession: Sendable {
    private let core: MuxSession
    private let lane: Int
    private let pipeline: any EncodingPipeline
    /// The encoding thread; `nil` for stored samples, which are written on the appending thread.
    private let encoder: EncodingWorker?
    /// The thread that scales and converts video frames for the encoder, so that neither waits for the other.
    private let scaler: EncodingWorker?
    /// Serialises access to the pipeline for threads that append stored samples.
    private let turn = Mutex(false)
    private let checks: Mutex<SampleChecks>

    /// - Parameter encodes: True to encode samples, on a separate thread.
    init(
        core: MuxSession, lane: Int, pipeline: any EncodingPipeline, checks: SampleChecks, encodes: Bool,
        isRealTime: Bool
    ) throws(MediaError) {
        self.core = core
        self.lane = lane
        self.pipeline = pipeline
        self.checks = Mutex(checks)
        let video = pipeline as? VideoEncodingPipeline
        encoder = encodes ? EncodingWorker(capacity: video?.framesReady ?? (isRealTime ? 32 : 4)) : nil
        // Video frames are large, and the appending thread already holds the next one.
        scaler = encodes && video != nil ? EncodingWorker(capacity: isRealTime ? 32 : 1) : nil
        let fail: @Sendable (MediaError) -> Void = { error in _ = core.fail(error) }
        try encoder?.start(
            encode: { [sink] (buffer) throws(MediaError) in try pipeline.append(buffer, to: sink) },
            finish: { [sink] () throws(MediaError) in
                try pipeline.finish(to: sink)
                try core.finish(lane: lane, presented: pipeline.shown)
            }, fail: fail)
        do throws(MediaError) {
            try scaler?.start(
                encode: { [encoder] (buffer) throws(MediaError) in
                    _ = encoder?.append(try pipeline.prepared(buffer))
                }, finish: { [encoder] in encoder?.finish() },
                fail: { [encoder] error in
                    fail(error)
                    encoder?.stop()
                })
        } catch {
            encoder?.stop()
            throw error
        }
    }

    /// The thread to which samples are appended; `nil` for stored samples.
    private var worker: EncodingWorker? { scaler ?? encoder }

    private var sink: TrackSink { TrackSink(core: core, lane: lane) }

    /// The shared muxer, restricted to one input.
    private struct TrackSink: PacketSink {
        let core: MuxSession
        let lane: Int

        func begin(_ stream: WrittenStream) throws(MediaError) { try core.begin(stream, lane: lane) }
        func add(_ packet: consuming Packet) throws(MediaError) { try core.add(packet, lane: lane) }
    }

    /// Indicates whether appending a sample returns or throws without waiting.
    var isReady: Bool { isOver || worker?.isReady ?? true }

    /// Indicates whether writing has ended by a failure or a cancellation.
    var isOver: Bool { (try? core.check()) == nil }

    /// Throws if a sample cannot be appended; an invalid sample does not fail the writer.
    private func check(_ buffer: SampleBuffer) throws(MediaError) {
        try core.check()
        do throws(MediaError) {
            try checks.withLock { (checks) throws(MediaError) in try checks.check(buffer) }
        } catch {
            throw core.located(error)
        }
    }

    /// The source time from which on stored samples were written; `nil` for encoded tracks and before the first sample.
    var storedFrom: MediaTime? { turn.withLock { _ in (pipeline as? PassthroughWritingPipeline)?.storedFrom } }

    /// Appends a sample; blocks while the encoder's queue is full.
    func appendNow(_ buffer: SampleBuffer) throws(MediaError) {
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

    /// Appends a sample, waiting without blocking a thread; if the task is cancelled meanwhile, throws and appends
    /// nothing.
    func append(_ buffer: SampleBuffer) async throws(MediaError) {
        guard let worker else { return try appendNow(buffer) }
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

    /// Calls `body` once, at once or on another thread, when appending would return or throw without waiting.
    func whenReady(_ body: @escaping @Sendable () -> Void) {
        if let worker { worker.whenReady(body) } else { body() }
    }

    /// Marks the input as finished; the worker still encodes the samples that wait.
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

    func waitUntilDone() {
        scaler?.waitUntilDone()
        encoder?.waitUntilDone()
    }

    func stop() {
        scaler?.stop()
        encoder?.stop()
    }
}

/// Checks the samples that are appended to an input: their kind, coding and order.
///
/// Every way of appending runs these checks, so all of them refuse the same samples, before any work is done.
struct SampleChecks: Sendable {
    private let mediaType: MediaType
    private let settings: AssetWriterInput.Settings
    private let fileType: MediaFileType
    /// The codec of stored samples, from the format hint or the first sample.
    private var codec: String?
    /// The sample rate of the audio so far, in hertz.
    private var sampleRate: Int?
    /// True until the first stored video sample, which must be a sync sample.
    var needsSyncSample = false
    /// The start and end of the last sample.
    private var last: (start: MediaTime, end: MediaTime)?

    init(_ mediaType: MediaType, _ settings: AssetWriterInput.Settings, codec: String?, in fileType: MediaFileType) {
        self.mediaType = mediaType
        self.settings = settings
        self.codec = codec
        self.fileType = fileType
    }

    /// Throws if a sample cannot follow the previous ones.
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
            guard !needsSyncSample || mediaType != .video || buffer.isSync else {
                throw MediaError(
                    .invalidArgument,
                    "the first sample, at \(buffer.presentationTime.seconds) s, needs others before it to be decoded; "
                        + "append from a sync sample on, or set beginsWithSyncSample to false")
            }
        }
        try checkOrder(of: buffer)
    }

    /// Records a sample that was appended.
    mutating func note(_ buffer: SampleBuffer) {
        if settings == .stored { codec = codec ?? buffer.formatDescription.codec }
        needsSyncSample = false
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

    /// The maximum overlap of audio with the audio before it, which exceeds rounding of times and clock jitter.
    private static let longestOverlap = MediaTime(value: 1, timescale: 100)
    /// The rounding of Matroska's times, because of which runs of a few samples may even start together.
    private static let coarsestTick = MediaTime(value: 1, timescale: 1000)

    private func checkOrder(of buffer: SampleBuffer) throws(MediaError) {
        // Samples hidden by an edit list are exempt: they keep the times of their file.
        guard let last, let start = place(of: buffer), !buffer.attachments.contains(.isNotShown) else { return }
        let isInOrder: Bool
        if let sound = Self.sound(buffer) {
            let half = min(last.end - last.start, sound.duration).multiplied(by: 1, dividedBy: 2)
            isInOrder = start >= last.end - min(Self.longestOverlap, max(half, Self.coarsestTick))
        } else {
            // Packets that show nothing are decoded together with the next one, as in VP9.
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

    /// Returns the time by which samples are ordered; `nil` for stored video without a decode time.
    private func place(of buffer: SampleBuffer) -> MediaTime? {
        guard settings == .stored else { return buffer.presentationTime }
        if mediaType == .video { return buffer.decodeTime.flatMap { $0.isNumeric ? $0 : nil } }
        let time = buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime ?? .indefinite
        return time.isNumeric ? time : nil
    }

    /// Returns the sample rate of linear PCM and its duration by the number of samples; `nil` for other samples.
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
