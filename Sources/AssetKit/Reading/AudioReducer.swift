import LibAV
package import MediaBase
import Threading

/// Reduces decoded audio to what a consumer needs of it, such as peaks, on the thread that decodes.
///
/// A partial result replaces some thousand samples, which saves the memory of a few seconds of audio and the time to move
/// them between threads. Only one thread uses a reducer at a time.
package protocol AudioReducer<Partial> {
    /// The result of reducing consecutive audio.
    associatedtype Partial: Sendable
    /// Appends audio that follows the previous buffer and has the same format.
    mutating func append(_ audio: AudioBuffer)
    /// Returns the result for all audio that was appended since the last call.
    mutating func finish() -> Partial
}

/// Creates a reducer for each chunk of a track, on any thread.
package typealias MakeAudioReducer<Partial: Sendable> = @Sendable () -> any AudioReducer<Partial>

/// Audio of which only a partial result is left.
package struct ReducedAudio<Partial: Sendable>: Sendable {
    /// The time of the first sample.
    package let presentationTime: MediaTime
    /// The result of the output's reducer.
    package let partial: Partial
    private let run: ReducedRun

    init(_ partial: Partial, of run: ReducedRun, at presentationTime: MediaTime) {
        self.partial = partial
        self.run = run
        self.presentationTime = presentationTime
    }

    /// The number of samples in each channel.
    package var sampleCount: Int { run.sampleCount }
    /// The number of samples per second.
    package var sampleRate: Int { run.form.sampleRate }
    /// The channel layout.
    package var channelLayout: ChannelLayout { run.form.channelLayout }
    /// The storage format of a sample.
    package var sampleFormat: SampleFormat { run.form.format }

    /// Decodes the audio once more and returns its samples, in order.
    package func decodedAgain() throws(MediaError) -> [AudioBuffer] {
        var buffers: [AudioBuffer] = []
        for event in try run.eventsOfChunk().dropFirst(run.firstEvent).prefix(run.timings.count) {
            guard case .frame(let box) = event, let frame = box.take() else { continue }
            let count = frame.sampleCount
            if let buffer = AudioBuffer(frame, range: 0..<count) { buffers.append(buffer) }
        }
        guard buffers.map(\.sampleCount) == run.timings.map(\.sampleCount) else { throw .cannotDecodeAgain }
        return buffers
    }
}

/// The samples of a ``TrackOutput``, or the partial results that its reducers have made of them.
package enum DeliveredSamples<Partial: Sendable>: Sendable {
    /// Samples that no reducer has seen: all of an output without reducers or of one decoder, otherwise those at the
    /// edges of chunks.
    case samples(SampleBuffer)
    /// The partial result of many frames.
    case reduced(ReducedAudio<Partial>)
}

/// The reducers of an output, and their results that nobody has taken yet.
///
/// Decoding knows a result by its number only, so that just the two ends know its type.
protocol AudioReduction: AnyObject, Sendable {
    /// Makes a reducer for a chunk.
    func chunkReducer() -> any ChunkReducer
    /// Forgets a result whose audio is decoded again.
    func discard(_ partial: Int)
}

/// Reduces the audio of a chunk.
protocol ChunkReducer {
    mutating func append(_ audio: AudioBuffer)
    /// Returns the number of the result for all audio that was appended since the last call.
    mutating func finish() -> Int
}

/// The reducers of one kind.
final class Reduction<Partial: Sendable>: AudioReduction {
    private let makeReducer: MakeAudioReducer<Partial>
    private let state = Mutex(State())

    private struct State: Sendable {
        var next = 0
        var partials: [Int: Partial] = [:]
    }

    private struct Chunk: ChunkReducer {
        var reducer: any AudioReducer<Partial>
        let reduction: Reduction

        mutating func append(_ audio: AudioBuffer) { reducer.append(audio) }

        mutating func finish() -> Int { reduction.keep(reducer.finish()) }
    }

    init(_ makeReducer: @escaping MakeAudioReducer<Partial>) { self.makeReducer = makeReducer }

    func chunkReducer() -> any ChunkReducer { Chunk(reducer: makeReducer(), reduction: self) }

    private func keep(_ partial: Partial) -> Int {
        state.withLock { state in
            state.next += 1
            state.partials[state.next] = partial
            return state.next
        }
    }

    /// Returns a result and forgets it.
    func take(_ number: Int) -> Partial? { state.withLock { $0.partials.removeValue(forKey: number) } }

    func discard(_ number: Int) { _ = take(number) }
}

/// The properties of audio frames, apart from their samples and their length.
struct AudioForm: Sendable, Hashable {
    let sampleRate: Int
    let channelLayout: ChannelLayout
    let format: SampleFormat
    let isPlanar: Bool
    let isCorrupt: Bool

    /// Creates the form of a frame; `nil` if it holds no audio of a known format.
    init?(_ frame: borrowing Frame) {
        guard let (format, isPlanar) = frame.sampleFormat else { return nil }
        sampleRate = frame.sampleRate
        channelLayout = frame.channelLayout
        self.format = format
        self.isPlanar = isPlanar
        isCorrupt = frame.isCorrupt
    }
}

/// Consecutive frames of one form that a reducer has replaced.
struct ReducedRun: Sendable {
    /// A frame's timestamp in the stream's time base, and its length.
    struct Timing: Sendable {
        let ticks: Int64?
        let sampleCount: Int
    }

    let form: AudioForm
    let timings: [Timing]
    /// The number of samples per channel in all frames.
    let sampleCount: Int
    /// The number of the result.
    let partial: Int
    /// The index of the first frame among the events of the chunk without reducers.
    let firstEvent: Int
    private let chunk: AudioChunk
    private let setup: DecoderSetup

    init(
        _ form: AudioForm, _ timings: [Timing], _ partial: Int, in chunk: AudioChunk, _ setup: DecoderSetup,
        firstEvent: Int
    ) {
        self.form = form
        self.timings = timings
        sampleCount = timings.reduce(0) { $0 + $1.sampleCount }
        self.partial = partial
        self.chunk = chunk
        self.setup = setup
        self.firstEvent = firstEvent
    }

    /// Returns true if the timestamps show exactly that each frame starts at the end of the one before.
    func isEven(timeBase: Rational) -> Bool {
        guard let start = timings.first?.ticks, timeBase.num > 0, timeBase.den > 0,
            case let (unit, overflow) = timeBase.num.multipliedReportingOverflow(by: Int64(form.sampleRate)),
            !overflow, unit > 0
        else { return false }
        var samples: Int64 = 0
        for timing in timings {
            let (scaled, overflow) = samples.multipliedReportingOverflow(by: timeBase.den)
            let (steps, rest) = scaled.quotientAndRemainder(dividingBy: unit)
            guard !overflow, rest == 0, let ticks = timing.ticks,
                case let (end, wraps) = start.addingReportingOverflow(steps), !wraps, ticks == end
            else { return false }
            samples += Int64(timing.sampleCount)
        }
        return true
    }

    /// Decodes the whole chunk again without a reducer and returns its events.
    func eventsOfChunk() throws(MediaError) -> [AudioEvent] {
        let decoded = chunk.decode(setup, nil)
        switch decoded.outcome {
        case .decoded: return decoded.takeEvents()
        case .failed(let error): throw error
        case .isTooLarge: throw .cannotDecodeAgain
        }
    }
}

extension MediaError {
    fileprivate static var cannotDecodeAgain: MediaError {
        MediaError(.libraryFailure, "audio cannot be decoded a second time")
    }
}

/// Collects the decoding results of packets; consecutive frames of one form are reduced to a ``ReducedRun``.
struct AudioGatherer {
    /// The results so far; call ``endRun()`` first if frames are reduced.
    private(set) var events: [AudioEvent] = []
    /// The size of the audio so far in bytes, including reduced audio.
    private(set) var byteCount = 0

    private let chunk: AudioChunk
    private let setup: DecoderSetup
    private var reducer: (any ChunkReducer)?
    /// The number of results so far if nothing were reduced.
    private var place = 0
    /// The form of the frames in the current run; `timings` has an entry for each of them.
    private var form: AudioForm?
    private var timings: [ReducedRun.Timing] = []
    private var samples = 0

    /// The number of samples per channel that completes a run; the memory that it needs stays small enough to be reused.
    private static let maximumSamples = 1 << 14

    /// - Parameter reduction: Makes the reducer that replaces frames; `nil` to keep frames.
    init(_ chunk: AudioChunk, _ setup: DecoderSetup, _ reduction: (any AudioReduction)?) {
        self.chunk = chunk
        self.setup = setup
        reducer = reduction?.chunkReducer()
    }

    /// Decodes a packet, or the end, and collects the results.
    ///
    /// - Parameter keepsFrames: True to keep the frames.
    mutating func take(
        _ sample: CompressedSample?, _ decoder: inout PacketDecoder, keepsFrames: Bool = false
    ) throws(MediaError) {
        let reduces = reducer != nil && !keepsFrames
        try decoder.decode(
            sample, tell: { append($0) },
            frame: { frame in if reduces { reduce(frame) } else { append(.frame(FrameBox(frame))) } })
    }

    /// Completes the current run and adds it to the results.
    mutating func endRun() {
        guard let form = form.take(), let partial = reducer?.finish() else { return }
        let first = place - timings.count
        events.append(.reduced(ReducedRun(form, timings, partial, in: chunk, setup, firstEvent: first)))
        timings = []
        samples = 0
    }

    private mutating func append(_ event: AudioEvent) {
        endRun()
        byteCount += event.byteCount
        events.append(event)
        place += 1
    }

    private mutating func reduce(_ frame: consuming Frame) {
        let timing = ReducedRun.Timing(ticks: frame.pts, sampleCount: frame.sampleCount)
        guard let form = AudioForm(frame), timing.sampleCount > 0 else { return append(.frame(FrameBox(frame))) }
        guard let buffer = AudioBuffer(frame, range: 0..<timing.sampleCount) else { return }
        if self.form != form {
            endRun()
            self.form = form
        }
        byteCount += timing.sampleCount * form.channelLayout.channels * form.format.bytesPerSample
        timings.append(timing)
        place += 1
        samples += timing.sampleCount
        reducer?.append(buffer)
        if samples >= Self.maximumSamples { endRun() }
    }
}
