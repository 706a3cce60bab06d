import LibAV
import MediaAnalysis
import MediaBase
import TimeStretching

/// Reads the audio of a segment that plays faster or slower at its own pitch.
///
/// The source's audio before and after the segment is stretched too, so that a cut does not change the result. A read
/// that starts near the segment's start begins with it. One that starts later begins at one of a series of places, up to
/// eleven seconds before, so that it does not have to stretch an hour for the last minute: the same audio at the same time, but
/// not the same samples, since the phases of a phase vocoder depend on where it began.
final class SpectralClipSound: ClipSound {
    private let request: ClipSoundRequest
    private let source: PlainClipSound
    private var stretcher: TimeStretcher
    private var converter: SampleConverter
    /// The next sample of the composition to make.
    private var place: Int64
    /// The next sample of the source that the stretcher asks for, counted from that at which it began.
    private var wanted: Int64
    private var held: (place: Int64, sound: AudioBuffer)?

    private static let run: Int64 = 2048
    /// The distance between places at which stretching may begin: of the timeline, or of the source if that is longer.
    private static let seconds = 10.0

    init(_ request: ClipSoundRequest) throws(MediaError) {
        self.request = request
        let (segment, form) = (request.segment, request.form)
        let stretch = segment.stretch ?? .one
        stretcher = try TimeStretcher.make(
            sampleRate: form.sampleRate, channels: form.channelLayout.channels, stretch: stretch)
        converter = try SampleConverter(
            to: form.sampleFormat, isPlanar: form.isPlanar, sampleRate: form.sampleRate,
            channelLayout: form.channelLayout)
        // What is made before that is not delivered, but overlaps what is.
        place = Self.begin(of: request, stretch) - Int64(stretcher.rise)
        wanted = -Int64(stretcher.leadIn)
        let first = segment.sourceTime(at: MediaTime(value: place, timescale: form.rate))
        let count = Double(request.samples.upperBound - place) / stretch.doubleValue
        // No audio is as long as what is cut here.
        let limit: Int64 = 1 << 60
        let end = Int64(min(max(count.rounded(.up), 0), Double(limit)))
        let offset = first.sampleIndex(rate: form.rate, rounding: .halfAwayFromZero) ?? 0
        source = try PlainClipSound(
            ClipSoundRequest(
                segment: segment, source: request.source, samples: wanted..<end + Int64(stretcher.leadOut),
                form: CompositionSound.Form(
                    sampleFormat: .float32, isPlanar: true, sampleRate: form.sampleRate,
                    channelLayout: form.channelLayout, resamplesFinely: true),
                start: request.start, trackIndex: request.trackIndex),
            offset: min(max(offset, -limit), limit))
    }

    /// Returns the sample of the composition at which stretching begins.
    private static func begin(of request: ClipSoundRequest, _ stretch: Rational) -> Int64 {
        let rate = request.form.rate
        let first = request.segment.start.sampleIndex(rate: rate, rounding: .up) ?? request.samples.lowerBound
        let passed = request.samples.lowerBound - first
        let step = Int64((Double(rate) * seconds * min(1, stretch.doubleValue)).rounded(.up))
        guard passed >= 3 * step else { return first }
        return first + (passed - step / 10) / step * step
    }

    func next() throws(MediaError) -> (place: Int64, sound: AudioBuffer)? {
        let begins = place
        let count = Int(min(Self.run, request.samples.upperBound - begins))
        guard count > 0 else { return nil }
        let channels = try stretcher.read(count) { count, samples throws(MediaError) in try give(count, &samples) }
        let form = request.form
        let frame = try Frame.sound(
            count, format: .float32, isPlanar: true, sampleRate: form.sampleRate, channelLayout: form.channelLayout
        ) { plane, bytes in
            guard channels.indices.contains(plane) else { return }
            for (index, value) in channels[plane].enumerated() {
                bytes.storeBytes(of: value, toByteOffset: index * 4, as: Float.self)
            }
        }
        place += Int64(count)
        let converted = try converter.convert(frame)
        return AudioBuffer(converted, range: 0..<count).map { (begins, $0) }
    }

    /// Writes the next samples of the source; silence where it has none.
    private func give(_ count: Int, _ samples: inout [[Float]]) throws(MediaError) {
        let end = wanted + Int64(count)
        for channel in samples.indices {
            for index in 0..<count { samples[channel][index] = 0 }
        }
        while true {
            if held == nil { held = try source.next() }
            guard let (begins, sound) = held, begins < end else { break }
            let part = (begins..<begins + Int64(sound.sampleCount)).clamped(to: wanted..<end)
            for channel in samples.indices {
                sound.withSamples(of: Float.self, plane: channel) { values in
                    for index in part where Int(index - begins) < values.count {
                        samples[channel][Int(index - wanted)] = values[Int(index - begins)]
                    }
                }
            }
            guard begins + Int64(sound.sampleCount) <= end else { break }
            held = nil
        }
        wanted = end
    }
}

/// Reads the audio of a segment that plays faster or slower; its pitch follows the speed.
///
/// Each sample is interpolated at its exact position between the source's samples, so no drift accumulates.
final class VarispeedClipSound: ClipSound {
    private let request: ClipSoundRequest
    private let reader: ClipReader
    private let interpolator: SoundInterpolator
    private var converter: SampleConverter
    /// The source's samples, one array per channel, and the number of the first sample.
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

    /// Returns the position of a composition's sample in the source: the preceding sample's number and a fraction.
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
            // A gap is silent. A gap of more than a minute is not filled, to save memory.
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
        // Removes samples in bulk, which is cheaper.
        guard count > 16384 else { return }
        for channel in channels.indices { channels[channel].removeFirst(Int(count)) }
        first += count
    }
}
