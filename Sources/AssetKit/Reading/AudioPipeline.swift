import LibAV
import MediaBase

/// Decoded sound as linear PCM, each sample at its exact place on the presentation's time line.
///
/// Places are counted in samples from the first one; time stamps are consulted only to notice a hole, because many
/// containers round them to a millisecond. What lies before zero (priming), after the edit list's end, or outside the
/// asked range is cut to the sample.
final class AudioPipeline: SamplePipeline {
    private let frames: FrameSource
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
    /// Decoded samples before time 0, which are not delivered.
    private var samplesBeforeZero: Int64 = 0

    /// Samples before time 0 that are not delivered, also those that the decoder was told to leave out.
    var samplesCutBeforeZero: Int64 { frames.skippedSamples + samplesBeforeZero }

    /// - Parameter isFromStart: Whether the first packet will be the track's first; otherwise time stamps say exactly
    ///   where decoding begins.
    init(
        _ file: InputFile, track: AssetTrack, format: FormatDescription, origin: MediaTime, range: OutputRange,
        settings: AudioSettings, isFromStart: Bool, threads: Int
    ) throws(MediaError) {
        frames = try FrameSource(file, track: track.index, threads: threads)
        self.track = track
        self.format = format
        self.origin = origin
        self.range = range
        self.settings = settings
        place = SamplePlace(timeBase: track.timeBase, snapsToZero: isFromStart, codec: format.codec)
    }

    /// The next run of samples in the range.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while !isOver {
            if let frame = held.take() {
                if let buffer = try delivered(frame, at: heldPlace) { return buffer }
                continue
            }
            guard let frame = try frames.next(from: packets) else { return try finish() }
            guard frame.sampleCount > 0, frame.sampleRate > 0, frame.sampleRate <= Limits.sampleRate else { continue }
            let time = frame.pts.map { MediaTime(ticks: $0, timeBase: track.timeBase) - origin }
            let start = place.place(count: frame.sampleCount, rate: frame.sampleRate, time: time)
            // So far out is no moment of any presentation, and all sums below stay inside 64 bits.
            guard start.magnitude < 1 << 62 else { continue }
            if start < 0 { samplesBeforeZero += min(-start, Int64(frame.sampleCount)) }
            let rate = Int32(clamping: frame.sampleRate)
            if let end = range.end?.sampleIndex(rate: rate, rounding: .up), start >= end { return try finish() }
            if let buffer = try delivered(frame, at: start) { return buffer }
        }
        return nil
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
        let count = Int64(frame.sampleCount)
        /// How many of the frame's samples lie before a place.
        func samples(before place: Int64) -> Int64 {
            let (distance, overflow) = place.subtractingReportingOverflow(start)
            return overflow ? (place > start ? count : 0) : min(max(distance, 0), count)
        }
        let from = samples(before: range.start.sampleIndex(rate: rate, rounding: .up) ?? 0)
        let to = range.end?.sampleIndex(rate: rate, rounding: .up).map(samples(before:)) ?? count
        guard from < to else { return nil }
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
            return try buffer(converted, range: Int(from)..<Int(to), at: start + from)
        }
        // The rate changes: the converter gets just the samples of the range and keeps its own count.
        let cut = try frame.cropped(to: Int(from)..<Int(to))
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
            channelLayout: settings.channelLayout ?? frame.channelLayout)
        format.audio?.sampleFormat = made.format
        format.audio?.isPlanar = made.isPlanar
        format.audio?.sampleRate = made.sampleRate
        format.audio?.channelLayout = made.channelLayout
        converter = consume made
    }

    private func buffer(
        _ frame: consuming Frame, range: Range<Int>? = nil, at place: Int64
    ) throws(MediaError) -> SampleBuffer? {
        let rate = Int32(clamping: frame.sampleRate)
        let range = range ?? 0..<frame.sampleCount
        let isDamaged = frame.isCorrupt
        guard let sound = AudioBuffer(frame, range: range) else { return nil }
        return SampleBuffer(
            track: track, presentationTime: MediaTime(value: place, timescale: rate),
            duration: MediaTime(value: Int64(range.count), timescale: rate), isSync: true, formatDescription: format,
            attachments: isDamaged ? [.isDamaged] : [], content: .sound(sound))
    }
}
