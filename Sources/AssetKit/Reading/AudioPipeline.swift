import LibAV
import MediaBase

/// Delivers decoded audio as linear PCM, with each sample at its exact position on the presentation's time line.
///
/// Positions are counted in samples from the first one. Timestamps serve only to detect gaps, because many containers
/// round them to a millisecond. Samples before zero (priming), after the edit list's end, or outside the requested
/// range are cut off exactly.
final class AudioPipeline: SamplePipeline {
    private let frames: any AudioSource
    private let track: AssetTrack
    private let origin: MediaTime
    private let range: OutputRange
    private let settings: AudioSettings
    private var format: FormatDescription
    private var clock: SampleClock
    private var converter: SampleConverter?
    /// The position of the converter's next sample, at the output rate.
    private var outputPlace: Int64?
    /// The end of the audio that was sent to the converter, and the rate in which it is counted.
    private var inputEnd: (place: Int64, rate: Int32)?
    /// Audio after a gap, which waits until the converter's samples from before the gap are delivered.
    private var held: Frame?
    private var heldPlace: Int64 = 0
    private var isOver = false
    /// True if the container requires packets without gaps (Ogg; for Opus RFC 7845, 4.1), so that a gap means lost
    /// audio.
    ///
    /// In other containers, gaps may stand for silence.
    private let isSeamless: Bool
    /// True if damage was reported since the last audio; a gap after it is then not reported again.
    private var hasToldDamage = false
    /// The number of decoded samples before time 0, which are not delivered.
    private var samplesBeforeZero: Int64 = 0

    /// The number of omitted samples before time 0, including those that the decoder itself skipped.
    var samplesCutBeforeZero: Int64 { frames.skippedSamples + samplesBeforeZero }

    /// - Parameter reduction: Reduces audio that is decoded in chunks; `nil` to keep all samples.
    init(_ setup: AudioPipelineSetup, _ reduction: (any AudioReduction)?) throws(MediaError) {
        (track, format, origin) = (setup.track, setup.format, setup.origin)
        (range, settings) = (setup.range, setup.settings)
        isSeamless = setup.file.format.isSeamless
        clock = SampleClock(timeBase: track.timeBase, snapsToZero: setup.isFromStart, codec: format.codec)
        frames = try setup.source(reduction)
    }

    /// Returns the next run of samples in the range.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for audio that a reducer has seen.
    func next(from queue: PacketQueue) throws(MediaError) -> SampleBuffer? {
        switch try nextAudio(from: queue) {
        case nil: nil
        case .samples(let buffer): buffer
        case .reduced: throw MediaError(.invalidArgument, "the samples are gone: a reducer has seen them")
        }
    }

    /// Returns the next run of samples in the range, or what a reducer has made of them.
    func nextAudio(from queue: PacketQueue) throws(MediaError) -> PipelineAudio? {
        var packets = queue
        packets.reportDamage = { damage in
            self.hasToldDamage = true
            queue.reportDamage(damage)
        }
        while !isOver {
            if let frame = held.take() {
                if let buffer = try delivered(frame, at: heldPlace) { return .samples(buffer) }
                continue
            }
            guard let audio = try frames.nextAudio(from: packets) else { return try finish() }
            switch consume audio {
            case .frame(let frame):
                let (ticks, isCorrupt) = (frame.pts, frame.isCorrupt)
                guard let start = place(of: ticks, count: frame.sampleCount, rate: frame.sampleRate) else {
                    continue
                }
                tellHole(rate: frame.sampleRate, packets)
                if isOver(at: start, rate: frame.sampleRate) { return try finish() }
                if isCorrupt, !kept(count: frame.sampleCount, rate: frame.sampleRate, at: start).isEmpty {
                    reportDamage(ticks, count: frame.sampleCount, rate: frame.sampleRate, packets)
                }
                if let buffer = try delivered(frame, at: start) { return .samples(buffer) }
            case .reduced(let run):
                guard let start = place(of: run) else {
                    try frames.takeBack(run)
                    continue
                }
                let rate = run.form.sampleRate
                tellHole(rate: rate, packets)
                if isOver(at: start, rate: rate) { return try finish() }
                if kept(count: run.sampleCount, rate: rate, at: start).isEmpty { continue }
                if run.form.isCorrupt {
                    for timing in run.timings {
                        reportDamage(timing.ticks, count: timing.sampleCount, rate: rate, packets)
                    }
                }
                return .reduced(run, at: MediaTime(value: start, timescale: Int32(clamping: rate)))
            }
        }
        return nil
    }

    /// Reports the gap before the latest run if it is damage that was not reported otherwise.
    private func tellHole(rate: Int, _ packets: PacketQueue) {
        let hole = clock.takeHole()
        defer { hasToldDamage = false }
        guard isSeamless, !hasToldDamage, let hole else { return }
        let (start, end) = (hole.lowerBound, hole.upperBound)
        guard MediaTime(value: end, timescale: Int32(clamping: rate)) > range.start else { return }
        let time = MediaTime(value: start, timescale: Int32(clamping: rate)) + origin
        reportDamage(time.ticks(in: track.timeBase, rounding: .down), count: Int(end - start), rate: rate, packets)
    }

    /// Reports a number of samples as damaged or missing.
    private func reportDamage(_ ticks: Int64?, count: Int, rate: Int, _ packets: PacketQueue) {
        let length = MediaTime(value: Int64(count), timescale: Int32(clamping: rate))
        packets.reportDamage(
            PacketDecoder.Damage(ticks: ticks, duration: length.ticks(in: track.timeBase, rounding: .up) ?? 0))
    }

    /// Returns the position of a run of samples; `nil` if the run is unusable.
    private func place(of ticks: Int64?, count: Int, rate: Int) -> Int64? {
        guard count > 0, rate > 0, rate <= Limits.sampleRate else { return nil }
        let time = ticks.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
        let start = clock.place(count: count, rate: rate, time: time)
        // No presentation extends beyond this limit, and all sums below fit into 64 bits.
        guard start.magnitude < 1 << 62 else { return nil }
        if start < 0 { samplesBeforeZero += min(-start, Int64(count)) }
        return start
    }

    /// Returns the position of reduced audio; `nil`, without counting it, if its frames must be processed individually.
    ///
    /// This applies if the frames do not follow each other, some samples must be cut, or the frames must be converted.
    private func place(of run: ReducedRun) -> Int64? {
        let form = run.form
        guard form.sampleRate > 0, form.sampleRate <= Limits.sampleRate, inputEnd == nil else { return nil }
        var clock = clock
        var first: Int64?
        var next: Int64 = 0
        if let ticks = run.timings.first?.ticks, run.isEven(timeBase: track.timeBase) {
            // In this case only the first frame can be out of place.
            let time = MediaTime(ticks: ticks, timeBase: track.timeBase) - origin
            let start = clock.place(count: run.sampleCount, rate: form.sampleRate, time: time)
            guard start >= 0, start < 1 << 62 else { return nil }
            first = start
        } else {
            for timing in run.timings {
                let time = timing.ticks.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
                let start = clock.place(count: timing.sampleCount, rate: form.sampleRate, time: time)
                guard start >= 0, start < 1 << 62, first == nil || start == next else { return nil }
                first = first ?? start
                next = start + Int64(timing.sampleCount)
            }
        }
        guard let first else { return nil }
        let kept = kept(count: run.sampleCount, rate: form.sampleRate, at: first)
        guard kept.isEmpty || (kept.count == run.sampleCount && converter?.passes(form) == true) else { return nil }
        self.clock = clock
        return first
    }

    private func isOver(at start: Int64, rate: Int) -> Bool {
        range.end?.sampleIndex(rate: Int32(clamping: rate), rounding: .up).map { start >= $0 } ?? false
    }

    /// Returns the range of a run's samples that lie in the requested range.
    private func kept(count: Int, rate: Int, at start: Int64) -> Range<Int> {
        let (rate, count) = (Int32(clamping: rate), Int64(count))
        /// Returns the number of the run's samples before a position.
        func samples(before place: Int64) -> Int64 {
            let (distance, overflow) = place.subtractingReportingOverflow(start)
            return overflow ? (place > start ? count : 0) : min(max(distance, 0), count)
        }
        let from = samples(before: range.start.sampleIndex(rate: rate, rounding: .up) ?? 0)
        let to = range.end?.sampleIndex(rate: rate, rounding: .up).map(samples(before:)) ?? count
        return Int(min(from, to))..<Int(to)
    }

    /// Returns the samples that a resampling converter still holds.
    private func finish() throws(MediaError) -> PipelineAudio? {
        isOver = true
        guard let rest = try converter?.drain() else { return nil }
        return try buffer(rest, at: outputPlace ?? 0).map(PipelineAudio.samples)
    }

    /// Returns the part of the frame in the range, converted; `nil` if no part lies in the range.
    private func delivered(_ frame: consuming Frame, at start: Int64) throws(MediaError) -> SampleBuffer? {
        let rate = Int32(clamping: frame.sampleRate)
        let kept = kept(count: frame.sampleCount, rate: frame.sampleRate, at: start)
        guard !kept.isEmpty else { return nil }
        let (from, to) = (Int64(kept.lowerBound), Int64(kept.upperBound))
        try configureConverter(for: frame)
        guard converter != nil else { return nil }
        if let inputEnd, inputEnd != (start + from, rate) {
            // After a gap or a change of rate, the converter is drained and restarted.
            held = consume frame
            heldPlace = start
            self.inputEnd = nil
            let place = outputPlace.take() ?? 0
            guard let rest = try converter?.drain() else { return nil }
            return try buffer(rest, at: place)
        }
        guard let outputRate = converter?.sampleRate, outputRate != Int(rate) else {
            guard let converted = try converter?.convert(frame) else { return nil }
            outputPlace = nil
            return try buffer(converted, range: kept, at: start + from)
        }
        // When resampling, the converter receives only the samples in the range and counts its own output.
        let cut = try frame.cropped(to: kept)
        let begins = MediaTime(value: start + from, timescale: rate)
        let expected = begins.sampleIndex(rate: Int32(clamping: outputRate), rounding: .halfAwayFromZero) ?? 0
        let here = outputPlace ?? expected
        guard let converted = try converter?.convert(cut) else { return nil }
        outputPlace = here.addingReportingOverflow(Int64(converted.sampleCount)).partialValue
        inputEnd = (start + to, rate)
        return converted.sampleCount > 0 ? try buffer(converted, at: here) : nil
    }

    private func configureConverter(for frame: borrowing Frame) throws(MediaError) {
        guard converter == nil, let (native, isPlanar) = frame.sampleFormat else { return }
        let made = try SampleConverter(
            to: settings.sampleFormat ?? native,
            isPlanar: settings.isPlanar ?? (settings.sampleFormat == nil && isPlanar),
            sampleRate: settings.sampleRate ?? frame.sampleRate,
            channelLayout: settings.channelLayout ?? frame.channelLayout, resamplesFinely: settings.resamplesFinely)
        format.audio?.sampleFormat = made.format
        format.audio?.isPlanar = made.isPlanar
        format.audio?.sampleRate = made.sampleRate
        format.audio?.channelLayout = made.channelLayout
        converter = consume made
    }

    private func buffer(
        _ frame: consuming Frame, range: Range<Int>? = nil, at place: Int64
    ) throws(MediaError) -> SampleBuffer? {
        let range = range ?? 0..<frame.sampleCount
        let isDamaged = frame.isCorrupt
        guard let audio = AudioBuffer(frame, range: range) else { return nil }
        let rate = Int32(clamping: audio.sampleRate)
        return SampleBuffer(
            track: track, presentationTime: MediaTime(value: place, timescale: rate),
            duration: MediaTime(value: Int64(audio.sampleCount), timescale: rate), isSync: true,
            formatDescription: format, attachments: isDamaged ? [.isDamaged] : [], content: .sound(audio))
    }
}

/// The parts of an ``AudioPipeline``.
struct AudioPipelineSetup {
    let file: InputFile
    let track: AssetTrack
    let format: FormatDescription
    /// The container time of the presentation's zero.
    let origin: MediaTime
    let range: OutputRange
    let settings: AudioSettings
    /// True if the first packet is the track's first; otherwise timestamps define exactly where decoding starts.
    let isFromStart: Bool
    /// The number of codec threads where the audio is not decoded in chunks.
    let threads: Int
    /// The settings for decoding in chunks; `nil` for one decoder from start to end.
    let chunks: ChunkSettings?

    /// Opens the decoder, or prepares decoding in chunks where the codec allows it and it changes something.
    fileprivate func source(
        _ reduction: (any AudioReduction)?
    ) throws(MediaError) -> any AudioSource {
        // With several decoding threads, libavcodec trims the wrong samples.
        let trims = file.edits[track.index]?.trims ?? false
        guard let chunks, !trims, let audio = format.audio, let rule = ChunkingRule(format),
            rule.seam == .alike || chunks.readsAhead && chunks.threads > 1, exceedsChunk(chunks.bytes, audio)
        else { return try FrameSource(file, track: track.index, threads: trims ? 1 : threads) }
        let setup = try DecoderSetup(file, stream: track.index)
        let borders = ChunkBorders(rule, format: audio, timeBase: track.timeBase, bytes: chunks.bytes)
        guard chunks.readsAhead else { return try SerialAudioDecoder(setup, rule, borders) }
        return ParallelAudioDecoder(setup, rule, borders, threads: chunks.threads, reduction)
    }

    private func exceedsChunk(_ bytes: Int, _ format: AudioFormat) -> Bool {
        guard let end = range.end else { return true }
        let samples = (end - range.start).sampleIndex(rate: Int32(clamping: max(1, format.sampleRate)), rounding: .up)
        return samples.map { $0 > ChunkBorders.samples(in: bytes, format) } ?? true
    }
}

extension SampleConverter {
    /// Returns true if audio of a form passes through unchanged.
    fileprivate func passes(_ form: AudioForm) -> Bool {
        format == form.format && isPlanar == form.isPlanar && sampleRate == form.sampleRate
            && channelLayout == form.channelLayout
    }
}

/// Counts the position of each run of decoded samples on the presentation's time line.
///
/// Runs follow each other without a gap unless a timestamp differs by more than a tolerance. Smaller differences are
/// rounding of timestamps, or jitter of a recorder's clock.
struct SampleClock {
    private let timeBase: Rational
    private let snapsToZero: Bool
    private var next: Int64?
    private var rate = 0
    private var hole: Range<Int64>?

    /// The largest difference that is not a gap; even a single lost packet of the codec is longer.
    private let tolerance: MediaTime

    /// Returns the tolerance for a codec.
    ///
    /// At a transition between short and long Vorbis blocks, muxers write the end of a page too late by what the long
    /// block would have contributed: 448 samples with libvorbis's block sizes, just over 10 ms at 44.1 kHz.
    static func tolerance(of codec: String) -> MediaTime {
        MediaTime(value: 1, timescale: codec == "vorbis" ? 50 : 100)
    }

    /// - Parameters:
    ///   - timeBase: The time base of the track's timestamps, which determines their precision.
    ///   - snapsToZero: True if the first run is the track's first, so that a timestamp within one tick of zero means
    ///     zero.
    ///   - codec: libavcodec's name of the codec.
    init(timeBase: Rational, snapsToZero: Bool, codec: String) {
        tolerance = Self.tolerance(of: codec)
        self.timeBase = timeBase
        self.snapsToZero = snapsToZero
    }

    /// Returns the position of a run's first sample, in samples from zero; negative for priming.
    ///
    /// - Parameters:
    ///   - count: The number of samples in the run.
    ///   - rate: The sample rate. If it changes within the stream, counting continues at the same time.
    ///   - time: The run's timestamp; `nil` if it has none.
    mutating func place(count: Int, rate: Int, time: MediaTime?) -> Int64 {
        let scale = Int32(clamping: rate)
        if rate != self.rate, let place = next, self.rate > 0 {
            let moment = MediaTime(value: place, timescale: Int32(clamping: self.rate))
            next = moment.sampleIndex(rate: scale, rounding: .halfAwayFromZero)
        }
        self.rate = rate
        let stamped = time?.sampleIndex(rate: scale, rounding: .halfAwayFromZero)
        var start = next ?? stamped ?? 0
        if let expected = next, let time, let stamped {
            let due = MediaTime(value: expected, timescale: scale)
            if time > due + tolerance + MediaTime(timeBase) + MediaTime(timeBase) {
                start = stamped
                if expected < stamped { hole = expected..<stamped }
            }
        } else if next == nil, snapsToZero, let time, isCoarse(at: rate) {
            let slack = MediaTime(timeBase)
            if time <= slack, time >= -slack { start = 0 }
        }
        let (after, overflow) = start.addingReportingOverflow(Int64(count))
        next = overflow ? .max : after
        return start
    }

    /// Returns and clears the latest gap before a run, in samples from zero at the run's rate; `nil` if there is none.
    mutating func takeHole() -> Range<Int64>? { hole.take() }

    /// Returns true if timestamps are too coarse for single samples.
    private func isCoarse(at rate: Int) -> Bool {
        MediaTime(timeBase) > MediaTime(value: 1, timescale: Int32(clamping: rate))
    }
}
