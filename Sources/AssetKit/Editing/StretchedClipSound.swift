import LibAV
import MediaAnalysis
import MediaBase

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
