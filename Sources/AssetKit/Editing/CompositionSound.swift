import LibAV
import MediaAnalysis
import MediaBase

/// The sound of a composition's track as one unbroken run of samples, gaps and holes silent.
///
/// Sample n sounds at n/rate. A segment has the samples from its start on and before its end; where it does not begin at
/// a whole sample of its source, the nearest ones are taken, by less than half a sample aside. One source is open at a
/// time.
final class CompositionSound: SamplePipeline {
    private let start: CompositionStart
    private let index: Int
    private let form: Form
    private let format: FormatDescription
    private var clips: ArraySlice<Composition.Segment>
    private var clip: (any ClipSound)?
    /// The next sample to deliver, and the first one that is not wanted.
    private var place: Int64
    private let end: Int64
    /// Sound that belongs behind silence that is delivered first.
    private var held: (place: Int64, sound: AudioBuffer)?

    /// What comes out.
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

    /// Samples of silence in one buffer at most.
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
    }

    /// The next run of samples.
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

    /// The next sound of a segment, cut to it, and the number of its first sample.
    private func nextSound(of segment: Composition.Segment) throws(MediaError) -> (place: Int64, sound: AudioBuffer)? {
        guard let source = segment.source else { return nil }
        let first = max(segment.start.sampleIndex(rate: form.rate, rounding: .up) ?? 0, place)
        let last = min(segment.end.sampleIndex(rate: form.rate, rounding: .up) ?? end, end)
        guard first < last else { return nil }
        if clip == nil {
            let request = ClipSoundRequest(
                segment: segment, source: source, samples: first..<last, form: form, start: start, trackIndex: index)
            clip = segment.stretch == nil ? try PlainClipSound(request) : try StretchedClipSound(request)
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

    /// Sound that is due now, but for what lies before.
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

/// What of a segment's sound is read, and in which form.
struct ClipSoundRequest {
    let segment: Composition.Segment
    let source: Composition.Source
    /// The composition's samples that are wanted.
    let samples: Range<Int64>
    let form: CompositionSound.Form
    let start: CompositionStart
    let trackIndex: Int

    /// The moments of the source that the first wanted sample shows, and the one behind the last.
    var sourceRange: (start: MediaTime, end: MediaTime) {
        let rate = form.rate
        return (
            segment.sourceTime(at: MediaTime(value: samples.lowerBound, timescale: rate)),
            segment.sourceTime(at: MediaTime(value: samples.upperBound, timescale: rate))
        )
    }

    /// Samples a second of the source; what comes out where that is not known.
    var sourceRate: Int {
        let rate = source.track.formatDescriptions.first?.audio?.sampleRate ?? form.sampleRate
        return (1...Limits.sampleRate).contains(rate) ? rate : form.sampleRate
    }

    /// Reads a part of the source.
    func open(from: MediaTime, to: MediaTime, settings: AudioSettings) throws(MediaError) -> ClipReader {
        try ClipReader(
            source, of: segment, range: MediaTimeRange(start: max(from, .zero), end: to), settings: .audio(settings),
            for: start, trackIndex: trackIndex)
    }
}

/// The sound of one segment.
protocol ClipSound: AnyObject {
    /// The next run of samples, and the composition's number of the first; may reach beyond what was asked for.
    func next() throws(MediaError) -> (place: Int64, sound: AudioBuffer)?
}

/// The sound of a segment at its source's own speed, at another sample rate perhaps.
final class PlainClipSound: ClipSound {
    private let reader: ClipReader
    private let rate: Int32
    /// By how many samples the source's numbers are ahead of the composition's.
    private let offset: Int64

    init(_ request: ClipSoundRequest) throws(MediaError) {
        let segment = request.segment
        rate = request.form.rate
        offset = (segment.sourceStart - segment.start).sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
        var (from, to) = (
            MediaTime(value: request.samples.lowerBound + offset, timescale: rate),
            MediaTime(value: request.samples.upperBound + offset, timescale: rate)
        )
        if request.sourceRate != request.form.sampleRate {
            // The resampler gets what sounds before and after, and begins where samples of both rates fall together,
            // so that a cut does not change what it makes.
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

/// The sound of a segment that is played faster or slower; its pitch changes with the speed.
///
/// Each sample is read at its exact place between the source's samples, so that nothing drifts however long it is.
final class StretchedClipSound: ClipSound {
    private let request: ClipSoundRequest
    private let reader: ClipReader
    private let interpolator: SoundInterpolator
    private var converter: SampleConverter
    /// Samples of the source, a channel each, and the number of the first.
    private var channels: [[Float]]
    private var first: Int64 = 0
    private var isStarted = false
    private var isAtEnd = false
    private var place: Int64

    private static let run: Int64 = 2048

    init(_ request: ClipSoundRequest) throws(MediaError) {
        self.request = request
        let stretch = request.segment.stretch ?? .one
        let speed = stretch.inverse?.doubleValue ?? 1
        interpolator = SoundInterpolator(
            step: speed * Double(request.sourceRate) / Double(max(1, request.form.sampleRate)))
        let form = request.form
        converter = try SampleConverter(
            to: form.sampleFormat, isPlanar: form.isPlanar, sampleRate: form.sampleRate,
            channelLayout: form.channelLayout)
        channels = Array(repeating: [], count: form.channelLayout.channels)
        place = request.samples.lowerBound
        let margin = MediaTime(value: Int64(interpolator.reach) + 1, timescale: Int32(clamping: request.sourceRate))
        let (from, to) = request.sourceRange
        reader = try request.open(
            from: from - margin, to: to + margin,
            settings: AudioSettings(
                sampleFormat: .float32, isPlanar: true, sampleRate: request.sourceRate,
                channelLayout: form.channelLayout))
    }

    func next() throws(MediaError) -> (place: Int64, sound: AudioBuffer)? {
        let begins = place
        let count = min(Self.run, request.samples.upperBound - begins)
        guard count > 0 else { return nil }
        let (whole, part) = position(of: begins)
        let (lastWhole, _) = position(of: begins + count)
        try read(upTo: lastWhole + Int64(interpolator.reach) + 2)
        discard(before: whole - Int64(interpolator.reach) - 1)
        let offset = Double(whole - first) + part
        let form = request.form
        let frame = try Frame.sound(
            Int(count), format: .float32, isPlanar: true, sampleRate: form.sampleRate,
            channelLayout: form.channelLayout
        ) { plane, bytes in
            if channels.indices.contains(plane) { interpolator.read(channels[plane], from: offset, into: &bytes) }
        }
        place += count
        let converted = try converter.convert(frame)
        guard let sound = AudioBuffer(converted, range: 0..<Int(count)) else { return nil }
        return (begins, sound)
    }

    /// Where a sample of the composition lies among the source's: the number of the one before, and how far behind it.
    private func position(of sample: Int64) -> (whole: Int64, part: Double) {
        let time = request.segment.sourceTime(at: MediaTime(value: sample, timescale: request.form.rate))
        let rate = Int32(clamping: request.sourceRate)
        let whole = time.sampleIndex(rate: rate, rounding: .down) ?? 0
        return (whole, (time - MediaTime(value: whole, timescale: rate)).seconds * Double(rate))
    }

    private func read(upTo last: Int64) throws(MediaError) {
        while !isAtEnd, !isStarted || first + Int64(channels.first?.count ?? 0) < last {
            guard let buffer = try reader.next() else {
                isAtEnd = true
                return
            }
            guard let sound = buffer.audioBuffer,
                let begins = buffer.presentationTime.sampleIndex(rate: Int32(clamping: request.sourceRate))
            else { continue }
            if !isStarted { first = begins }
            isStarted = true
            // A hole is silent. What would fill more than the whole run ahead is not worth the memory.
            let hole = begins - first - Int64(channels.first?.count ?? 0)
            if hole > Int64(request.sourceRate) * 60 {
                for channel in channels.indices { channels[channel] = [] }
                first = begins
            }
            for channel in channels.indices {
                let missing = Int(begins - first) - channels[channel].count
                if missing > 0 { channels[channel].append(contentsOf: repeatElement(0, count: missing)) }
                sound.withSamples(of: Float.self, plane: channel) { samples in
                    for index in samples.indices { channels[channel].append(samples[index]) }
                }
            }
        }
    }

    private func discard(before sample: Int64) {
        let count = min(sample - first, Int64(channels.first?.count ?? 0))
        // In bulk, so that it stays cheap.
        guard count > 16384 else { return }
        for channel in channels.indices { channels[channel].removeFirst(Int(count)) }
        first += count
    }
}
