import LibAV
import MediaBase
import TimeStretching

/// Delivers the audio of a composition's track as one continuous run of samples, with silence in gaps.
///
/// Sample n plays at n/rate. A segment contains the samples from its start up to, but not including, its end. If a
/// segment does not start at a whole sample of its source, the nearest samples are used, less than half a sample off.
/// Only one source is open at a time.
final class CompositionSound: SamplePipeline {
    private let start: CompositionStart
    private let index: Int
    private let form: Form
    private let format: FormatDescription
    private let algorithm: AudioTimePitchAlgorithm
    private var clips: ArraySlice<Composition.Segment>
    private var clip: (any ClipSound)?
    /// The next sample to deliver, and the end of the samples to deliver.
    private var place: Int64
    private let end: Int64
    /// Audio that follows silence which is delivered first.
    private var held: (place: Int64, sound: AudioBuffer)?

    /// The format of the delivered audio.
    struct Form {
        let sampleFormat: SampleFormat
        let isPlanar: Bool
        let sampleRate: Int
        let channelLayout: ChannelLayout
        var resamplesFinely = false
        var rate: Int32 { Int32(clamping: sampleRate) }
        var settings: AudioSettings {
            var settings = AudioSettings(
                sampleFormat: sampleFormat, isPlanar: isPlanar, sampleRate: sampleRate, channelLayout: channelLayout)
            settings.resamplesFinely = resamplesFinely
            return settings
        }
    }

    /// The maximum number of samples of silence in one buffer.
    private static let silence: Int64 = 8192

    init(
        _ start: CompositionStart, _ track: Composition.Track, index: Int, range: OutputRange, settings: AudioSettings
    ) throws(MediaError) {
        let native = track.segments.lazy.compactMap { $0.source?.track.formatDescriptions.first?.audio }.first
        let sampleFormat = settings.sampleFormat ?? native?.sampleFormat ?? .float32
        form = Form(
            sampleFormat: sampleFormat,
            isPlanar: settings.isPlanar ?? (settings.sampleFormat == nil && native?.isPlanar == true),
            sampleRate: settings.sampleRate ?? native?.sampleRate ?? 48000,
            channelLayout: settings.channelLayout ?? native?.channelLayout ?? .stereo,
            resamplesFinely: settings.resamplesFinely)
        guard (1...Limits.sampleRate).contains(form.sampleRate) else {
            throw MediaError(
                .invalidArgument, "a sample rate of \(form.sampleRate) is outside 1 to \(Limits.sampleRate)")
        }
        self.start = start
        self.index = index
        format = form.formatDescription
        place = range.start.sampleIndex(rate: form.rate, rounding: .up) ?? 0
        end = (range.end ?? track.end).sampleIndex(rate: form.rate, rounding: .up) ?? 0
        clips = range.isEmpty ? [] : track.clips(in: range)[...]
        algorithm = settings.timePitchAlgorithm
        if clips.contains(where: keepsPitch) {
            // Nobody wants to learn of this after an hour.
            try TimeStretcher.check(sampleRate: form.sampleRate, channels: form.channelLayout.channels)
        }
    }

    /// Returns true if a segment plays faster or slower at its own pitch.
    private func keepsPitch(_ segment: Composition.Segment) -> Bool {
        guard algorithm == .spectral, !segment.isEmpty, let stretch = segment.stretch else { return false }
        return TimeStretcher.supports(stretch: stretch)
    }

    /// Returns the next run of samples.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while place < end {
            if let waiting = held {
                if waiting.place > place { return try silent(until: min(waiting.place, end)) }
                held = nil
                if let buffer = try delivered(waiting.sound, at: waiting.place) { return buffer }
                continue
            }
            guard let segment = clips.first else { return try silent(until: end) }
            if let sound = try nextSound(of: segment) {
                held = sound
                continue
            }
            clip = nil
            clips.removeFirst()
            let over = segment.end.sampleIndex(rate: form.rate, rounding: .up) ?? end
            if place < min(over, end) { return try silent(until: min(over, end)) }
        }
        clip = nil
        return nil
    }

    /// Returns the next audio of a segment, cut to the segment, and the number of its first sample.
    private func nextSound(of segment: Composition.Segment) throws(MediaError) -> (place: Int64, sound: AudioBuffer)? {
        guard let source = segment.source else { return nil }
        let first = max(segment.start.sampleIndex(rate: form.rate, rounding: .up) ?? 0, place)
        let last = min(segment.end.sampleIndex(rate: form.rate, rounding: .up) ?? end, end)
        guard first < last else { return nil }
        if clip == nil {
            let request = ClipSoundRequest(
                segment: segment, source: source, samples: first..<last, form: form, start: start, trackIndex: index)
            clip =
                if segment.stretch == nil {
                    try PlainClipSound(request)
                } else if keepsPitch(segment) {
                    try SpectralClipSound(request)
                } else {
                    try VarispeedClipSound(request)
                }
        }
        while let (begins, sound) = try clip?.next() {
            let from = min(max(first - begins, 0), Int64(sound.sampleCount))
            let to = min(max(last - begins, 0), Int64(sound.sampleCount))
            guard from < to else {
                if begins >= last { return nil }
                continue
            }
            guard let part = try sound.part(Int(from)..<Int(to)) else { continue }
            return (begins + from, part)
        }
        return nil
    }

    /// Returns the audio to deliver now, without samples before the current position.
    private func delivered(_ sound: AudioBuffer, at begins: Int64) throws(MediaError) -> SampleBuffer? {
        let late = min(max(place - begins, 0), Int64(sound.sampleCount))
        guard let part = try sound.part(Int(late)..<sound.sampleCount) else { return nil }
        return buffer(part)
    }

    private func silent(until next: Int64) throws(MediaError) -> SampleBuffer {
        let count = Int(min(next - place, Self.silence))
        let value: UInt8 = form.sampleFormat == .uint8 ? 128 : 0
        return buffer(
            try AudioBuffer(
                sampleCount: count, sampleFormat: form.sampleFormat, isPlanar: form.isPlanar,
                sampleRate: form.sampleRate, channelLayout: form.channelLayout
            ) { _, bytes in
                guard value != 0 else { return }
                for place in 0..<bytes.byteCount { bytes.storeBytes(of: value, toByteOffset: place, as: UInt8.self) }
            })
    }

    private func buffer(_ sound: AudioBuffer) -> SampleBuffer {
        let time = MediaTime(value: place, timescale: form.rate)
        place += Int64(sound.sampleCount)
        return SampleBuffer(
            ofTrack: index, presentationTime: time,
            duration: MediaTime(value: Int64(sound.sampleCount), timescale: form.rate), formatDescription: format,
            content: .sound(sound))
    }
}

/// The part of a segment's audio to read, and its format.
struct ClipSoundRequest {
    let segment: Composition.Segment
    let source: Composition.Source
    /// The samples of the composition to deliver.
    let samples: Range<Int64>
    let form: CompositionSound.Form
    let start: CompositionStart
    let trackIndex: Int

    /// The source times of the first wanted sample and of the end of the last one.
    var sourceRange: (start: MediaTime, end: MediaTime) {
        let rate = form.rate
        return (
            segment.sourceTime(at: MediaTime(value: samples.lowerBound, timescale: rate)),
            segment.sourceTime(at: MediaTime(value: samples.upperBound, timescale: rate))
        )
    }

    /// The source's sample rate; the output's rate if the source's is unknown.
    var sourceRate: Int {
        let rate = source.track.formatDescriptions.first?.audio?.sampleRate ?? form.sampleRate
        return (1...Limits.sampleRate).contains(rate) ? rate : form.sampleRate
    }

    /// Opens a part of the source for reading.
    func open(from: MediaTime, to: MediaTime, settings: AudioSettings) throws(MediaError) -> ClipReader {
        try ClipReader(
            source, of: segment, range: MediaTimeRange(start: max(from, .zero), end: to), settings: .audio(settings),
            for: start, trackIndex: trackIndex)
    }
}

/// The audio of one segment.
protocol ClipSound: AnyObject {
    /// Returns the next run of samples and its position in the composition; may exceed the requested range.
    func next() throws(MediaError) -> (place: Int64, sound: AudioBuffer)?
}

/// Reads the audio of a segment at normal speed, resampling it if the rates differ.
final class PlainClipSound: ClipSound {
    private let reader: ClipReader
    private let rate: Int32
    /// The offset from the composition's sample numbers to the source's.
    private let offset: Int64

    /// - Parameter offset: The offset from the request's sample numbers to the source's; `nil` for that of the segment.
    init(_ request: ClipSoundRequest, offset: Int64? = nil) throws(MediaError) {
        let segment = request.segment
        rate = request.form.rate
        let own = (segment.sourceStart - segment.start).sampleIndex(rate: rate, rounding: .halfAwayFromZero)
        let offset = offset ?? own ?? 0
        self.offset = offset
        var (from, to) = (
            MediaTime(value: request.samples.lowerBound + offset, timescale: rate),
            MediaTime(value: request.samples.upperBound + offset, timescale: rate)
        )
        if request.sourceRate != request.form.sampleRate {
            // The resampler also receives the audio before and after the segment, and starts where samples of both
            // rates coincide. So a cut does not change its output.
            let common = Rational(Int64(request.sourceRate), Int64(rate)).den
            let grid = Int32(clamping: Int64(rate) / max(1, common))
            let margin = MediaTime(value: 1, timescale: 10)
            from = (from - margin).converted(toTimescale: max(1, grid), rounding: .down)
            to += margin
        }
        reader = try request.open(from: from, to: to, settings: request.form.settings)
    }

    func next() throws(MediaError) -> (place: Int64, sound: AudioBuffer)? {
        while let buffer = try reader.next() {
            guard let sound = buffer.audioBuffer,
                let place = buffer.presentationTime.sampleIndex(rate: rate, rounding: .halfAwayFromZero)
            else { continue }
            return (place - offset, sound)
        }
        return nil
    }
}
