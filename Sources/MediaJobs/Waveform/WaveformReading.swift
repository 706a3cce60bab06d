internal import AssetKit
internal import MediaBase

/// The measured audio of a track in a range.
struct MeasuredSound {
    var sampleRate: Int
    var channelLayout: ChannelLayout
    /// The time of the first sample.
    var start: MediaTime
    /// The number of samples in each channel.
    var frames: Int64
    /// The number of samples before time 0 that were left out; `nil` if reading started later.
    var cutBeforeZero: Int64?
    /// The number of samples of silence that replace a late start.
    var lateStart: Int64
    /// The number of samples of silence that replace holes.
    var holes: Int64
    var measured: WaveformMeter.Result
    var damage: DamageReport
}

/// Reads a track's audio from its decoder, trims and pads it to the range, and measures it.
struct WaveformReading {
    private let asset: Asset
    private let track: AssetTrack
    private let range: WaveformRange
    private let request: WaveformMeter.Request
    private let options: WaveformOptions

    /// Prepares to read a track without reading anything.
    init(
        asset: Asset, track: AssetTrack, range: WaveformRange, _ request: WaveformMeter.Request,
        _ options: WaveformOptions
    ) {
        self.asset = asset
        self.track = track
        self.range = range
        self.request = request
        self.options = options
    }

    /// Reads and measures the audio up to the end of the range.
    func measure(progress: ((Double, Double) -> Void)?) throws -> MeasuredSound {
        if let plain = try RawPCMTrack(asset, track: track), let measured = try measure(plain, progress: progress) {
            return measured
        }
        let (reader, output) = try reader(from: range.start)
        var sound = ContinuousSound(output, from: range.start)
        let run = try rest(of: &sound, run: nil, progress: progress) ?? startWithoutSound()
        let cut = range.start == .zero ? output.samplesCutBeforeZero : nil
        return try finished(run, cutBeforeZero: cut, reader.damage)
    }

    /// Measures the linear PCM part directly from the file, and the rest through the decoder.
    ///
    /// Returns `nil` if the range starts after that part, or if the decoder's format differs from that of `plain`.
    private func measure(_ plain: RawPCMTrack, progress: ((Double, Double) -> Void)?) throws -> MeasuredSound? {
        let rate = Int32(clamping: plain.sampleRate)
        let first = range.start.sampleIndex(rate: rate, rounding: .up) ?? 0
        guard first < plain.frames else { return nil }
        let (reader, output) = try reader(from: MediaTime(value: plain.frames, timescale: rate))
        var sound = ContinuousSound(output, from: MediaTime(value: plain.frames, timescale: rate))
        // Compare with the format that the decoder produces.
        guard case .sound(let buffer) = try sound.nextPiece(), buffer.sampleFormat == plain.sampleFormat,
            !buffer.isPlanar, buffer.sampleRate == plain.sampleRate, buffer.channelLayout.channels == plain.channels
        else { return nil }
        var run = try start(sampleRate: buffer.sampleRate, layout: buffer.channelLayout)
        let end = run.limit.map { min(plain.frames, first + $0) } ?? plain.frames
        let reading = WaveformPlainReading(
            sound: plain, request: request, significantBits: Self.significantBits(of: track), threads: options.threads)
        let meter = try reading.measure(first..<end) { done in
            if let progress { run.tell(progress, done: done) }
        }
        run.take(meter, frames: end - first)
        if !run.isFull { try run.append(buffer) }
        if !run.isFull { run = try rest(of: &sound, run: run, progress: progress) ?? run }
        return try finished(run, cutBeforeZero: range.start == .zero ? 0 : nil, reader.damage)
    }

    /// Returns a started reader and its output from a time on.
    private func reader(from start: MediaTime) throws(MediaError) -> (AssetReader, TrackOutput) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = options.threads
        reader.decodesSoundInSegments = !options.isSerial
        // The end is applied in this type, because a hole before it becomes visible only with the first audio after it.
        reader.timeRange = MediaTimeRange(start: start, duration: .positiveInfinity)
        let (mode, bits) = (request.mode, Self.significantBits(of: track))
        let output = TrackOutput(track: track) {
            WaveformDigester(mode, significantBits: bits)
        }
        try reader.add(output)
        try reader.startReading()
        return (reader, output)
    }

    /// Measures the remaining audio up to the range's end; returns `nil` if there is none and nothing was measured
    /// before.
    private func rest(
        of sound: inout ContinuousSound, run begun: consuming Run?, progress: ((Double, Double) -> Void)?
    ) throws(MediaError) -> Run? {
        var run = begun
        var silence: Int64 = 0
        while let piece = try sound.nextPiece() {
            switch piece {
            case .silence(let frames): silence += frames
            case .sound(let buffer):
                if run == nil { run = try start(sampleRate: buffer.sampleRate, layout: buffer.channelLayout) }
                if silence > 0 { try run?.appendSilence(silence) }
                silence = 0
                try run?.append(buffer)
                if let progress { run?.tell(progress) }
                if run?.isFull == true { return run }
            }
        }
        return run
    }

    private static func significantBits(of track: AssetTrack) -> Int? {
        track.formatDescriptions.first?.audio?.bitsPerSample
    }

    private func start(sampleRate: Int, layout: ChannelLayout) throws(MediaError) -> Run {
        let meter = try WaveformMeter(
            request, sampleRate: sampleRate, channels: layout.channels,
            significantBits: Self.significantBits(of: track))
        return Run(meter: meter, layout: layout, range: range, trackEnd: track.timeRange.end)
    }

    /// Starts a measurement with the format from the header of a track without samples.
    ///
    /// Throws if the header declares that the track has content.
    private func startWithoutSound() throws(MediaError) -> Run {
        guard range.start == .zero else {
            let end = track.timeRange.end
            let known = end.isNumeric ? "; it ends at \(end.seconds) s" : ""
            throw MediaError(.outOfRange, "there is no sound from \(range.start.seconds) s on\(known)")
        }
        guard let format = track.formatDescriptions.first?.audio, format.sampleRate > 0, format.channels > 0 else {
            throw MediaError(.damaged, "track \(track.index) has no sound, and says of none how it would be")
        }
        let isFragmented = try asset.loadNow(.container).isFragmented == true
        guard !track.statesContent(inFragments: isFragmented) else { throw track.errorOfNothing }
        return try start(sampleRate: format.sampleRate, layout: format.channelLayout)
    }

    private func finished(
        _ run: Run, cutBeforeZero: Int64?, _ damage: DamageReport
    ) throws -> MeasuredSound {
        MeasuredSound(
            sampleRate: run.meter.sampleRate, channelLayout: run.layout, start: run.start, frames: run.done,
            cutBeforeZero: cutBeforeZero, lateStart: run.lateStart, holes: run.holes,
            measured: try run.meter.finish(), damage: damage)
    }
}

/// A measurement in progress, which accepts only frames within the range.
private struct Run {
    private(set) var meter: WaveformMeter
    let layout: ChannelLayout
    /// The time of the first sample.
    let start: MediaTime
    private(set) var done: Int64 = 0
    private(set) var lateStart: Int64 = 0
    private(set) var holes: Int64 = 0
    /// The number of frames in the range; `nil` for all up to the track's end.
    let limit: Int64?
    /// The expected number of frames, for progress only.
    private let expected: Int64?

    init(meter: WaveformMeter, layout: ChannelLayout, range: WaveformRange, trackEnd: MediaTime) {
        self.meter = meter
        self.layout = layout
        let rate = Int32(clamping: meter.sampleRate)
        let first = range.start.sampleIndex(rate: rate, rounding: .up) ?? 0
        start = MediaTime(value: first, timescale: rate)
        func frames(until end: MediaTime?) -> Int64? {
            end?.sampleIndex(rate: rate, rounding: .up).map { $0.subtractingReportingOverflow(first).partialValue }
        }
        limit = frames(until: range.end)
        expected = limit ?? frames(until: trackEnd)
    }

    var isFull: Bool { limit.map { done >= $0 } ?? false }

    private func fitting(_ frames: Int64) -> Int64 { limit.map { max(0, min(frames, $0 - done)) } ?? frames }

    mutating func append(_ sound: AudioBuffer) throws(MediaError) {
        let frames = fitting(Int64(sound.sampleCount))
        guard frames > 0 else { return }
        try meter.append(sound, frames: Int(frames))
        meter.makeRoom()
        done += frames
    }

    mutating func appendSilence(_ frames: Int64) throws(MediaError) {
        let frames = fitting(frames)
        if done == 0 { lateStart += frames } else { holes += frames }
        try meter.appendSilence(frames: frames)
        done += frames
    }

    /// Continues with a measurement of the first frames.
    mutating func take(_ meter: WaveformMeter, frames: Int64) {
        self.meter = meter
        done = frames
    }

    func tell(_ progress: (Double, Double) -> Void) { tell(progress, done: done) }

    func tell(_ progress: (Double, Double) -> Void, done: Int64) {
        let fraction = expected.map { Double(done) / Double(max(1, $0)) } ?? 0
        progress(fraction, Double(done) / Double(meter.sampleRate))
    }
}
