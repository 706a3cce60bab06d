import LibAV
import MediaBase

/// Decoded sound as linear PCM, each sample at its exact place on the presentation's time line.
///
/// Places are counted in samples from the first one; time stamps are consulted only to notice a hole, because many
/// containers round them to a millisecond. What lies before zero (priming), after the edit list's end, or outside the
/// asked range is cut to the sample.
final class AudioPipeline: SamplePipeline {
    private let frames: any SoundSource
    private let track: AssetTrack
    private let origin: MediaTime
    private let range: OutputRange
    private let settings: AudioSettings
    private var format: FormatDescription
    private var place: SamplePlace
    private var converter: SampleConverter?
    /// Where the converter's next sample belongs, at the rate that comes out.
    private var outputPlace: Int64?
    /// Where the sound ends that the converter was given, and at which rate that is counted.
    private var inputEnd: (place: Int64, rate: Int32)?
    /// Sound behind a hole, which waits until all that the converter held of what lies before it is delivered.
    private var held: Frame?
    private var heldPlace: Int64 = 0
    private var isOver = false
    /// Whether packets follow each other without a gap by the container's rules (Ogg; of Opus RFC 7845, 4.1), so that a
    /// hole in the sound is what got lost; others may leave silence out.
    private let isSeamless: Bool
    /// Whether damage was told of since the last sound; a hole behind it is no damage of its own.
    private var hasToldDamage = false
    /// Decoded samples before time 0, which are not delivered.
    private var samplesBeforeZero: Int64 = 0

    /// Samples before time 0 that are not delivered, also those that the decoder was told to leave out.
    var samplesCutBeforeZero: Int64 { frames.skippedSamples + samplesBeforeZero }

    /// - Parameters:
    ///   - isFromStart: Whether the first packet will be the track's first; otherwise time stamps say exactly where
    ///     decoding begins.
    ///   - threads: Codec threads where the track is decoded in one go.
    ///   - segments: How it is decoded in segments; `nil` for in one go.
    ///   - digester: What is made of the sound while it is decoded in segments.
    init(
        _ file: InputFile, track: AssetTrack, format: FormatDescription, origin: MediaTime, range: OutputRange,
        settings: AudioSettings, isFromStart: Bool, threads: Int, segments: SegmentSettings?, digester: SoundDigester?
    ) throws(MediaError) {
        // libavcodec leaves out the wrong samples where several threads decode.
        let trims = file.edits[track.index]?.trims ?? false
        if let segments, !trims, let audio = format.audio, let rule = ChunkingRule(format),
            Self.isWorthwhile(segments, rule, audio, range)
        {
            frames = try ParallelAudioDecoder(
                file, track: track, format: audio, rule: rule, settings: segments, digester: digester)
        } else {
            frames = try FrameSource(file, track: track.index, threads: trims ? 1 : threads)
        }
        isSeamless = file.format.isSeamless
        self.track = track
        self.format = format
        self.origin = origin
        self.range = range
        self.settings = settings
        place = SamplePlace(timeBase: track.timeBase, snapsToZero: isFromStart, codec: format.codec)
    }

    /// Whether there is more than a segment, and more than one thread or values that depend on the segments.
    private static func isWorthwhile(
        _ segments: SegmentSettings, _ rule: ChunkingRule, _ format: AudioFormat, _ range: OutputRange
    ) -> Bool {
        guard segments.threads > 1 || rule.seam == .alike else { return false }
        guard let end = range.end else { return true }
        let samples = (end - range.start).sampleIndex(rate: Int32(clamping: max(1, format.sampleRate)), rounding: .up)
        return samples.map { $0 > AudioChunker.samples(in: segments.bytes, format) } ?? true
    }

    /// The next run of samples in the range.
    func next(from queue: PacketQueue) throws(MediaError) -> SampleBuffer? {
        var packets = queue
        packets.reportDamage = { damage in
            self.hasToldDamage = true
            queue.reportDamage(damage)
        }
        while !isOver {
            if let frame = held.take() {
                if let buffer = try delivered(frame, at: heldPlace) { return buffer }
                continue
            }
            guard let sound = try frames.nextSound(from: packets) else { return try finish() }
            switch consume sound {
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
                if let buffer = try delivered(frame, at: start) { return buffer }
            case .digested(let sound):
                guard let start = place(of: sound) else {
                    try frames.takeBack(sound)
                    continue
                }
                tellHole(rate: sound.form.sampleRate, packets)
                if isOver(at: start, rate: sound.form.sampleRate) { return try finish() }
                let kept = kept(count: sound.sampleCount, rate: sound.form.sampleRate, at: start)
                if kept.isEmpty { continue }
                if sound.form.isCorrupt {
                    for timing in sound.timings {
                        reportDamage(timing.ticks, count: timing.sampleCount, rate: sound.form.sampleRate, packets)
                    }
                }
                return buffer(AudioBuffer(sound), isDamaged: sound.form.isCorrupt, at: start)
            }
        }
        return nil
    }

    /// Counts the hole before a run that was just placed, where it is damage and nothing else told of it.
    private func tellHole(rate: Int, _ packets: PacketQueue) {
        let hole = place.takeHole()
        defer { hasToldDamage = false }
        guard isSeamless, !hasToldDamage, let hole else { return }
        let (start, end) = (hole.lowerBound, hole.upperBound)
        guard MediaTime(value: end, timescale: Int32(clamping: rate)) > range.start else { return }
        let time = MediaTime(value: start, timescale: Int32(clamping: rate)) + origin
        reportDamage(time.ticks(in: track.timeBase, rounding: .down), count: Int(end - start), rate: rate, packets)
    }

    /// Counts so many samples that are damaged or missing.
    private func reportDamage(_ ticks: Int64?, count: Int, rate: Int, _ packets: PacketQueue) {
        let length = MediaTime(value: Int64(count), timescale: Int32(clamping: rate))
        packets.reportDamage(
            PacketDecoder.Damage(ticks: ticks, duration: length.ticks(in: track.timeBase, rounding: .up) ?? 0))
    }

    /// Where a run of samples lies; `nil` where it is of no use.
    private func place(of ticks: Int64?, count: Int, rate: Int) -> Int64? {
        guard count > 0, rate > 0, rate <= Limits.sampleRate else { return nil }
        let time = ticks.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
        let start = place.place(count: count, rate: rate, time: time)
        // So far out is no moment of any presentation, and all sums below stay inside 64 bits.
        guard start.magnitude < 1 << 62 else { return nil }
        if start < 0 { samplesBeforeZero += min(-start, Int64(count)) }
        return start
    }

    /// Where some digested sound lies; `nil`, and nothing is counted, where frames have to be looked at one by one: where
    /// they do not follow each other, some are to be cut, or they are to be converted.
    private func place(of sound: DigestedSound) -> Int64? {
        let form = sound.form
        guard form.sampleRate > 0, form.sampleRate <= Limits.sampleRate, inputEnd == nil else { return nil }
        var place = place
        var first: Int64?
        var next: Int64 = 0
        if let ticks = sound.timings.first?.ticks, sound.isEven(timeBase: track.timeBase) {
            // Then none but the first can be out of place.
            let time = MediaTime(ticks: ticks, timeBase: track.timeBase) - origin
            let start = place.place(count: sound.sampleCount, rate: form.sampleRate, time: time)
            guard start >= 0, start < 1 << 62 else { return nil }
            first = start
        } else {
            for timing in sound.timings {
                let time = timing.ticks.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
                let start = place.place(count: timing.sampleCount, rate: form.sampleRate, time: time)
                guard start >= 0, start < 1 << 62, first == nil || start == next else { return nil }
                first = first ?? start
                next = start + Int64(timing.sampleCount)
            }
        }
        guard let first else { return nil }
        let kept = kept(count: sound.sampleCount, rate: form.sampleRate, at: first)
        guard kept.isEmpty || (kept.count == sound.sampleCount && converter?.passes(form) == true) else { return nil }
        self.place = place
        return first
    }

    private func isOver(at start: Int64, rate: Int) -> Bool {
        range.end?.sampleIndex(rate: Int32(clamping: rate), rounding: .up).map { start >= $0 } ?? false
    }

    /// Which of a run's samples lie in the range.
    private func kept(count: Int, rate: Int, at start: Int64) -> Range<Int> {
        let (rate, count) = (Int32(clamping: rate), Int64(count))
        /// How many of the run's samples lie before a place.
        func samples(before place: Int64) -> Int64 {
            let (distance, overflow) = place.subtractingReportingOverflow(start)
            return overflow ? (place > start ? count : 0) : min(max(distance, 0), count)
        }
        let from = samples(before: range.start.sampleIndex(rate: rate, rounding: .up) ?? 0)
        let to = range.end?.sampleIndex(rate: rate, rounding: .up).map(samples(before:)) ?? count
        return Int(min(from, to))..<Int(to)
    }

    /// What a converter that changes the rate still holds.
    private func finish() throws(MediaError) -> SampleBuffer? {
        isOver = true
        guard let rest = try converter?.drain() else { return nil }
        return try buffer(rest, at: outputPlace ?? 0)
    }

    /// The frame's part that lies in the range, converted; `nil` where none of it does.
    private func delivered(_ frame: consuming Frame, at start: Int64) throws(MediaError) -> SampleBuffer? {
        let rate = Int32(clamping: frame.sampleRate)
        let kept = kept(count: frame.sampleCount, rate: frame.sampleRate, at: start)
        guard !kept.isEmpty else { return nil }
        let (from, to) = (Int64(kept.lowerBound), Int64(kept.upperBound))
        try configureConverter(for: frame)
        guard converter != nil else { return nil }
        if let inputEnd, inputEnd != (start + from, rate) {
            // After a hole, or at another rate, the converter begins anew.
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
        // The rate changes: the converter gets just the samples of the range and keeps its own count.
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
        return AudioBuffer(frame, range: range).map { buffer($0, isDamaged: isDamaged, at: place) }
    }

    private func buffer(_ sound: AudioBuffer, isDamaged: Bool, at place: Int64) -> SampleBuffer {
        let rate = Int32(clamping: sound.sampleRate)
        return SampleBuffer(
            track: track, presentationTime: MediaTime(value: place, timescale: rate),
            duration: MediaTime(value: Int64(sound.sampleCount), timescale: rate), isSync: true,
            formatDescription: format, attachments: isDamaged ? [.isDamaged] : [], content: .sound(sound))
    }
}

extension SampleConverter {
    /// Whether sound of a form comes out as it is.
    fileprivate func passes(_ form: SoundForm) -> Bool {
        format == form.format && isPlanar == form.isPlanar && sampleRate == form.sampleRate
            && channelLayout == form.channelLayout
    }
}

/// Counts where each run of decoded samples belongs on the presentation's time line.
///
/// Runs follow each other without a gap unless a time stamp says that a hole of more than a tolerance lies between:
/// less is the rounding of time stamps, or the jitter of a recorder's clock.
struct SamplePlace {
    private let timeBase: Rational
    private let snapsToZero: Bool
    private var next: Int64?
    private var rate = 0
    private var hole: Range<Int64>?

    /// The smallest hole that is one: a single lost packet of the codec is longer.
    private let tolerance: MediaTime

    /// The tolerance for a codec.
    ///
    /// Where short Vorbis blocks meet long ones, muxers write the end of a page too late by what the long block would
    /// have had: 448 samples with libvorbis's block sizes, just over 10 ms at 44.1 kHz.
    static func tolerance(of codec: String) -> MediaTime {
        MediaTime(value: 1, timescale: codec == "vorbis" ? 50 : 100)
    }

    /// - Parameters:
    ///   - timeBase: The unit of the track's time stamps, which tells how coarse they are.
    ///   - snapsToZero: Whether the first run is the track's first, so that a time stamp within one tick of zero is zero.
    ///   - codec: libavcodec's name of the codec.
    init(timeBase: Rational, snapsToZero: Bool, codec: String) {
        tolerance = Self.tolerance(of: codec)
        self.timeBase = timeBase
        self.snapsToZero = snapsToZero
    }

    /// The place of a run's first sample, in samples from zero; negative for priming.
    ///
    /// - Parameters:
    ///   - count: How many samples the run has.
    ///   - rate: Samples a second; where it changes in mid-stream, the count goes on at the same moment.
    ///   - time: The run's time stamp; `nil` where it has none.
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

    /// The hole before a run that was placed since this was asked for the last time, in samples from zero at the run's
    /// rate; `nil` where there is none.
    mutating func takeHole() -> Range<Int64>? { hole.take() }

    /// Whether time stamps cannot name every sample.
    private func isCoarse(at rate: Int) -> Bool {
        MediaTime(timeBase) > MediaTime(value: 1, timescale: Int32(clamping: rate))
    }
}
