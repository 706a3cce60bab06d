internal import AssetKit
internal import MediaAnalysis
internal import MediaBase
internal import SystemCalls
import Threading

/// Measures linear PCM straight from the file, part by part on all cores, and what comes behind it as ever.
struct QCPlainReading {
    private let sound: PlainSound
    private let track: AssetTrack
    private let reading: QCReading

    /// Steps of 10 ms that a worker takes at once, and frames that it reads at once.
    private static let partSteps: Int64 = 3000
    private static let blockFrames = 1 << 15
    /// Parts at most, however long the sound is.
    private static let mostParts: Int64 = 1 << 16

    init(_ sound: PlainSound, _ track: AssetTrack, _ reading: QCReading) {
        self.sound = sound
        self.track = track
        self.reading = reading
    }

    /// Measures all of the track; `nil` where the sound is not what it seems to be.
    func measure(progress: ((Double, Double) -> Void)?) throws -> QCMeasurements? {
        let start = MediaTime(value: sound.frames, timescale: Int32(clamping: sound.sampleRate))
        let reader = try AssetReader(asset: reading.asset)
        reader.timeRange = MediaTimeRange(start: start, duration: .positiveInfinity)
        let output = TrackOutput(track: track, audioSettings: AudioSettings())
        try reader.add(output)
        try reader.startReading()
        var rest = ContinuousSound(output, from: start)
        // The decoder's own word on what the samples are.
        guard case .sound(let first) = try rest.nextPiece(), first.sampleFormat == sound.sampleFormat,
            !first.isPlanar, first.sampleRate == sound.sampleRate, first.channelLayout.channels == sound.channels
        else { return nil }
        let form = QCReading.form(of: first, track)
        var meter = try measureParts(form, progress: progress)
        meter.append(first)
        while let piece = try rest.nextPiece() {
            switch piece {
            case .silence(let frames): meter.appendSilence(frames: frames)
            case .sound(let buffer):
                guard QCReading.form(of: buffer, track) == form else { return nil }
                meter.append(buffer)
            }
        }
        return QCMeasurements(tracks: [meter.finish(trackIndex: track.index)], damage: DamageSummary(reader.damage))
    }

    private func measureParts(
        _ form: QCSoundMeter.Form, progress: ((Double, Double) -> Void)?
    ) throws -> QCSoundMeter {
        var whole = try QCSoundMeter(form, reading.request)
        let steps = sound.frames / Int64(max(1, sound.sampleRate / LoudnessSteps.perSecond)) + 1
        // Whole stretches of ten seconds, in which some measurements look for what belongs together.
        let stretch = Int64(FlatTopDetector.stretchSeconds * LoudnessSteps.perSecond)
        let length = max(Self.partSteps, (steps / Self.mostParts / stretch + 1) * stretch)
        let starts = Array(stride(from: Int64(0), through: steps, by: Int64.Stride(length))).filter {
            LoudnessSteps.start(of: $0, sampleRate: sound.sampleRate) < sound.frames
        }
        let workers = reading.threads > 0 ? reading.threads : availableProcessors()
        let (request, rate, frames) = (reading.request, Double(max(1, sound.sampleRate)), Double(sound.frames))
        try concurrentForEach(starts, workers: workers) { [sound] step in
            try Self.measurePart(sound, form, request, from: step, steps: length)
        } deliver: { _, part in
            whole.append(part)
            progress?(Double(whole.frames) / frames, Double(whole.frames) / rate)
        }
        return whole
    }

    private static func measurePart(
        _ sound: PlainSound, _ form: QCSoundMeter.Form, _ request: QCRequest, from step: Int64, steps: Int64
    ) throws -> QCSoundMeter {
        let rate = sound.sampleRate
        let start = LoudnessSteps.start(of: step, sampleRate: rate)
        let end = min(sound.frames, LoudnessSteps.start(of: step + steps, sampleRate: rate))
        var meter = try QCSoundMeter(form, request, startingAt: step)
        var reader = PlainSoundReader(sound, blockFrames: blockFrames)
        var place = max(0, start - Int64(KWeighting.memorySeconds * Double(rate)))
        while place < end {
            let limit = place < start ? start : end
            let count = Int(min(Int64(try reader.read(from: place)), limit - place))
            if place < start {
                meter.warmUp(reader.samples, frames: count)
            } else {
                meter.append(reader.samples, frames: count)
            }
            place += Int64(count)
        }
        meter.finishPart()
        return meter
    }
}
