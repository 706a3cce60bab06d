internal import AssetKit
internal import Glibc
internal import Inspection
internal import MediaAnalysis
internal import MediaBase

/// Measures the audio of one track in one pass; the meters of consecutive parts can be joined.
struct AudioQualityMeter: AudioMeter {
    private let form: AudioTrackForm
    private let request: MeasurementRequest
    private(set) var frames: Int64 = 0
    private var planes: PlanarSamples
    private var steps: LoudnessSteps
    private let weights: [Double]
    private var loudness: LoudnessMeter
    private var peaks: [TruePeakMeter]
    private var balance: StereoCorrelation
    private var silences: [SilenceDetector]
    private var clippings: [ClippingDetector]
    private var flatTops: [FlatTopDetector]
    private var outline: SoundOutline?

    /// The number of frames measured at once, small enough for the fastest cache.
    private static let sliceFrames = 4096

    init(
        _ request: MeasurementRequest, _ form: AudioTrackForm, startingAt frame: Int64, of frames: Int64
    ) throws(MediaError) {
        let channels = form.channelLayout.channels
        let rate = Double(form.sampleRate)
        // Parts begin with a second.
        let step = frame / Int64(form.sampleRate) * Int64(LoudnessSteps.perSecond)
        self.form = form
        self.request = request
        planes = try PlanarSamples(channels: channels)
        steps = try LoudnessSteps(sampleRate: form.sampleRate, channels: channels, startingAt: step)
        weights = ChannelWeights.weights(layout: form.channelLayout.name, channels: channels)
        loudness = LoudnessMeter(weights: weights)
        let start = LoudnessSteps.start(of: step, sampleRate: form.sampleRate)
        peaks = Array(
            repeating: TruePeakMeter(sampleRate: form.sampleRate, startingAt: start), count: channels)
        balance = StereoCorrelation(
            channels: channels, second: request.checks.contains(.correlation) ? form.sampleRate : 0, isFirst: step == 0)
        if request.drawsSound { outline = SoundOutline(channels: channels, sampleRate: form.sampleRate) }
        silences = Self.silences(request).map { run in
            SilenceDetector(
                channels: channels, threshold: Float(run.parameters.amplitude),
                minimum: run.parameters.minimum(unitsPerSecond: rate))
        }
        clippings = request.parameters(of: .clipping).map { parameters in
            ClippingDetector(
                channels: channels, significantBits: form.significantBits,
                minimum: Self.shortestClipping(parameters))
        }
        flatTops = request.parameters(of: .clipping).map { parameters in
            FlatTopDetector(
                channels: channels, significantBits: form.significantBits, sampleRate: form.sampleRate,
                minimum: Self.shortestClipping(parameters), startingAt: start)
        }
    }

    /// Returns the minimum number of consecutive samples that count as clipping.
    private static func shortestClipping(_ parameters: RunParameters) -> Int64 {
        Int64(min(max(parameters.threshold, 1), 1e9))
    }

    private static func silences(_ request: MeasurementRequest) -> [MeasurementRequest.Run] {
        request.runs.filter { $0.check == .silence || $0.check == .channelSilence }
    }

    // MARK: Appending audio

    func accepts(_ form: AudioTrackForm) -> Bool {
        form.sampleRate == self.form.sampleRate && form.channelLayout == self.form.channelLayout
            && form.significantBits == self.form.significantBits
    }

    mutating func append(_ audio: AudioBuffer, frames: Int) {
        var start = 0
        while start < frames {
            let end = min(start + Self.sliceFrames, frames)
            planes.fill(audio, start..<end)
            measure()
            start = end
        }
    }

    /// Measures planes; their number must match the number of channels.
    mutating func append(_ channels: [[Float]]) {
        guard channels.count == planes.channels else { return }
        let frames = channels.map(\.count).min() ?? 0
        var start = 0
        while start < frames {
            let end = min(start + Self.sliceFrames, frames)
            for channel in channels.indices {
                let plane = channels[channel]
                planes.fill(plane.span.extracting(start..<end), channel: channel)
            }
            measure()
            start = end
        }
    }

    mutating func append(_ samples: RawPCMReader.Samples, frames: Int) {
        eachSlice(of: samples, frames: frames) { $0.measure() }
    }

    mutating func warmUp(_ samples: RawPCMReader.Samples, frames: Int) {
        eachSlice(of: samples, frames: frames) { meter in
            meter.steps.warmUp(meter.planes)
            for index in meter.flatTops.indices { meter.flatTops[index].warmUp(meter.planes) }
            for channel in meter.peaks.indices {
                let plane = meter.planes.planes[channel]
                meter.peaks[channel].warmUp(plane.span.extracting(first: meter.planes.frames))
            }
        }
    }

    private mutating func eachSlice(
        of samples: RawPCMReader.Samples, frames: Int, _ body: (inout AudioQualityMeter) -> Void
    ) {
        let channels = planes.channels
        var start = 0
        while start < frames {
            let range = start * channels..<min(start + Self.sliceFrames, frames) * channels
            switch samples {
            case .uint8(let numbers): planes.fill(numbers.span.extracting(range))
            case .int16(let numbers): planes.fill(numbers.span.extracting(range))
            case .int32(let numbers): planes.fill(numbers.span.extracting(range))
            case .float32(let numbers): planes.fill(numbers.span.extracting(range))
            case .float64(let numbers): planes.fill(numbers.span.extracting(range))
            }
            body(&self)
            start += Self.sliceFrames
        }
    }

    mutating func appendSilence(frames count: Int64) {
        // A time stamp may have any value, so limit the number of frames.
        let count = min(count, 1 << 62 - frames)
        let stretch = Int64(form.sampleRate) * Int64(FlatTopDetector.stretchSeconds)
        // The filters decay during the measured part of the silence; the rest changes nothing and can be skipped.
        let skipped = max(0, count / stretch - 1)
        measureSilence(frames: count - skipped * stretch)
        skipSilence(stretches: skipped, frames: skipped * stretch)
    }

    private mutating func skipSilence(stretches: Int64, frames count: Int64) {
        guard count > 0 else { return }
        frames += count
        let seconds = stretches * Int64(FlatTopDetector.stretchSeconds)
        loudness.append(steps.takeSteps())
        loudness.appendSilence(steps: seconds * Int64(LoudnessSteps.perSecond))
        steps.skipSilence(seconds: seconds)
        for channel in peaks.indices { peaks[channel].skipSilence(frames: count) }
        balance.appendSilence(frames: count)
        outline?.appendSilence(frames: count)
        for index in silences.indices { silences[index].appendSilence(frames: count) }
        for index in clippings.indices { clippings[index].appendSilence(frames: count) }
        for index in flatTops.indices { flatTops[index].skipSilence(stretches: stretches) }
    }

    private mutating func measureSilence(frames count: Int64) {
        var left = count
        while left > 0 {
            planes.fillSilence(frames: Int(min(left, Int64(Self.sliceFrames))))
            measure()
            left -= Int64(Self.sliceFrames)
        }
    }

    private mutating func measure() {
        frames += Int64(planes.frames)
        steps.append(planes)
        balance.append(planes)
        for channel in peaks.indices {
            let plane = planes.planes[channel]
            peaks[channel].append(plane.span.extracting(first: planes.frames))
        }
        outline?.append(planes)
        for index in silences.indices { silences[index].append(planes) }
        for index in clippings.indices { clippings[index].append(planes) }
        for index in flatTops.indices { flatTops[index].append(planes) }
    }

    // MARK: Parts

    private static let partSteps: Int64 = 3000
    /// The maximum number of parts, regardless of the duration.
    private static let maximumParts: Int64 = 1 << 16

    static func parts(of frames: Range<Int64>, _ track: RawPCMTrack, _ form: AudioTrackForm) -> RawPCMParts {
        let rate = form.sampleRate
        let steps = frames.upperBound / Int64(max(1, rate / LoudnessSteps.perSecond)) + 1
        // Parts consist of whole ten-second stretches, which some measurements evaluate as a unit.
        let stretch = Int64(FlatTopDetector.stretchSeconds * LoudnessSteps.perSecond)
        let length = max(partSteps, (steps / maximumParts / stretch + 1) * stretch)
        let ranges = stride(from: Int64(0), through: steps, by: Int64.Stride(length)).map { step in
            let start = LoudnessSteps.start(of: step, sampleRate: rate)
            return start..<max(start, min(frames.upperBound, LoudnessSteps.start(of: step + length, sampleRate: rate)))
        }
        return RawPCMParts(
            ranges: ranges.filter { !$0.isEmpty }, warmUp: Int64(KWeighting.memorySeconds * Double(rate)),
            blockFrames: 1 << 15)
    }

    mutating func finishPart() {
        for channel in peaks.indices { peaks[channel].finishPart() }
    }

    mutating func append(next part: AudioQualityMeter) {
        var part = part
        loudness.append(steps.takeSteps())
        loudness.append(part.steps.takeSteps())
        steps = part.steps
        for channel in peaks.indices {
            part.peaks[channel].add(peaks[channel])
            peaks[channel] = part.peaks[channel]
        }
        balance.append(part.balance)
        if let next = part.outline { outline?.append(next) }
        for index in silences.indices { silences[index].append(part.silences[index]) }
        for index in clippings.indices { clippings[index].append(part.clippings[index]) }
        for index in flatTops.indices { flatTops[index].append(part.flatTops[index]) }
        frames += part.frames
    }

    // MARK: Results

    /// Finishes the measurements.
    ///
    /// - Parameter lateStart: The number of frames of silence inserted for a late start.
    mutating func finish(trackIndex: Int, lateStart: Int64 = 0) -> Measurements.Track {
        loudness.append(steps.takeSteps())
        for channel in peaks.indices { peaks[channel].finish() }
        var sound = sound
        sound.start = time(lateStart)
        return Measurements.Track(trackIndex: trackIndex, sound: sound, runs: runs, outline: outline)
    }

    private func time(_ frame: Int64) -> MediaTime {
        MediaTime(value: frame, timescale: Int32(clamping: form.sampleRate))
    }

    private var sound: Measurements.Sound {
        let found = loudness.result
        func loudest(_ maximum: LoudnessMeter.Maximum?) -> Measurements.Loudest? {
            maximum.map {
                Measurements.Loudest(
                    loudness: $0.loudness, start: time(LoudnessSteps.start(of: $0.step, sampleRate: form.sampleRate)),
                    end: time(LoudnessSteps.start(of: $0.step + $0.steps, sampleRate: form.sampleRate)))
            }
        }
        func place(_ sample: Int64?) -> Measurements.Range? {
            guard let sample, frames > 0 else { return nil }
            // A peak in the filter's decay after the last sample is assigned to that sample.
            let first = min(max(sample, 0), frames - 1)
            return .init(start: time(first), end: time(first + 1))
        }
        let channels = peaks.indices.map { channel in
            Measurements.Channel(
                weight: weights[channel], truePeak: peaks[channel].decibels.ifFinite,
                truePeakRange: place(peaks[channel].truePeakPlace),
                samplePeak: (20 * log10(Double(peaks[channel].samplePeak))).ifFinite,
                samplePeakRange: place(peaks[channel].samplePeakPlace),
                rms: balance.decibels(channel).ifFinite, dcOffset: balance.offset(channel))
        }
        let pairs = (0..<balance.pairCount).map { pair in
            let windows = balance.windows.correlations(pair: pair)
            let least = windows.enumerated().filter { !$1.isNaN }.min { $0.element < $1.element }
            return Measurements.Pair(
                channels: [2 * pair, 2 * pair + 1], correlation: balance.correlation(pair: pair),
                lowest: least.map { index, correlation in
                    .init(
                        correlation: Double(correlation), start: time(Int64(index) * Int64(form.sampleRate)),
                        end: time(Int64(index + CorrelationWindows.length) * Int64(form.sampleRate)))
                }, highestDifference: Double(balance.highestDifference(pair: pair) ?? 0), windows: windows)
        }
        return Measurements.Sound(
            sampleRate: form.sampleRate, start: .zero, duration: time(frames), integratedLoudness: found.integrated,
            loudnessRange: found.range, momentaryMaximum: loudest(found.momentaryMaximum),
            shortTermMaximum: loudest(found.shortTermMaximum), truePeak: channels.compactMap(\.truePeak).max(),
            channels: channels, pairs: pairs)
    }

    private var runs: [Measurements.Runs] {
        var result: [Measurements.Runs] = []
        func add(
            _ finder: RunFinder, _ check: Check, _ parameters: RunParameters, channel: Int? = nil,
            and more: (runs: [Range<Int64>], count: Int64, total: Int64) = ([], 0, 0)
        ) {
            let runs =
                more.runs.isEmpty ? finder.runs : (finder.runs + more.runs).sorted { $0.lowerBound < $1.lowerBound }
            result.append(
                Measurements.Runs(
                    check: check.id, threshold: parameters.threshold,
                    minimumDuration: parameters.minimumSeconds, channel: channel, count: finder.count + more.count,
                    total: time(finder.total + more.total),
                    ranges: runs.prefix(RunFinder.maximumRuns).map {
                        .init(start: time($0.lowerBound), end: time($0.upperBound))
                    }))
        }
        for (run, detector) in zip(Self.silences(request), silences) {
            if run.check == .silence {
                add(detector.all, run.check, run.parameters)
            } else {
                for (channel, finder) in detector.channels.enumerated() {
                    add(finder, run.check, run.parameters, channel: channel)
                }
            }
        }
        for (index, parameters) in request.parameters(of: .clipping).enumerated() {
            for (channel, finder) in clippings[index].channels.enumerated() {
                add(
                    finder, .clipping, parameters, channel: channel, and: flatTops[index].result(channel: channel))
            }
        }
        return result
    }
}

extension AudioTrackForm {
    /// The number of significant bits of an integer source; `nil` for floating point.
    fileprivate var significantBits: Int? {
        guard let sampleFormat else { return statedBits }
        guard sampleFormat != .float32, sampleFormat != .float64 else { return nil }
        return statedBits ?? sampleFormat.bytesPerSample * 8
    }
}
