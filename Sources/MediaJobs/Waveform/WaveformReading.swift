internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// The sound of a track in a range, measured.
struct MeasuredSound {
    var sampleRate: Int
    var channelLayout: ChannelLayout
    /// When the first sample sounds.
    var start: MediaTime
    /// Samples in each channel.
    var frames: Int64
    /// How many samples before time 0 were left out; `nil` where reading began later.
    var cutBeforeZero: Int64?
    /// How many of them are silence that stands for a late start.
    var lateStart: Int64
    /// How many of them are silence that stands for holes.
    var holes: Int64
    var measured: WaveformMeter.Result
    var damage: DamageReport
}

/// Reads a track's sound from its decoder, cut and filled to the range, and has it measured.
struct WaveformReading {
    private let reader: AssetReader
    private let output: TrackOutput
    private let track: AssetTrack
    private let range: WaveformRange
    private let request: WaveformMeter.Request

    /// Opens the decoder.
    init(
        asset: Asset, track: AssetTrack, range: WaveformRange, _ request: WaveformMeter.Request,
        _ options: WaveformOptions
    ) throws(MediaError) {
        reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = options.threads
        reader.decodesSoundInSegments = !options.isSerial
        // The end is found here: whether there is a hole before it shows only in the first sound after it.
        reader.timeRange = MediaTimeRange(start: range.start, duration: .positiveInfinity)
        let (mode, bits) = (request.mode, Self.significantBits(of: track))
        output = TrackOutput(track: track) {
            let digester = WaveformDigester(mode, significantBits: bits)
            // What cannot be digested is found again, and told, where the samples are measured.
            return { sound in try? digester.digest(sound, frames: sound.sampleCount) }
        }
        try reader.add(output)
        self.track = track
        self.range = range
        self.request = request
    }

    private static func significantBits(of track: AssetTrack) -> Int? {
        track.formatDescriptions.first?.audio?.bitsPerSample
    }

    /// Reads to the end of the range.
    func measure(progress: ((Double, Double) -> Void)?) throws(MediaError) -> MeasuredSound {
        try reader.startReading()
        var sound = ContinuousSound(output, from: range.start)
        var silence: Int64 = 0
        var run: Run?
        while let piece = try sound.nextPiece() {
            switch piece {
            case .silence(let frames): silence = frames
            case .sound(let buffer):
                if run == nil {
                    run = try start(sampleRate: buffer.sampleRate, layout: buffer.channelLayout)
                }
                if silence > 0 { try run?.appendSilence(silence) }
                silence = 0
                try run?.append(buffer)
                if let progress { run?.tell(progress) }
                if let run, run.isFull { return try finished(run) }
            }
        }
        if let run { return try finished(run) }
        return try finished(startWithoutSound())
    }

    private func start(sampleRate: Int, layout: ChannelLayout) throws(MediaError) -> Run {
        let meter = try WaveformMeter(
            request, sampleRate: sampleRate, channels: layout.channels,
            significantBits: Self.significantBits(of: track))
        return Run(meter: meter, layout: layout, range: range, trackEnd: track.timeRange.end)
    }

    /// A track without a single sample has the form that its header says.
    private func startWithoutSound() throws(MediaError) -> Run {
        guard range.start == .zero else {
            let end = track.timeRange.end
            let known = end.isNumeric ? "; it ends at \(end.seconds) s" : ""
            throw MediaError(.outOfRange, "there is no sound from \(range.start.seconds) s on\(known)")
        }
        guard let format = track.formatDescriptions.first?.audio, format.sampleRate > 0, format.channels > 0 else {
            throw MediaError(.damaged, "track \(track.index) has no sound, and says of none how it would be")
        }
        return try start(sampleRate: format.sampleRate, layout: format.channelLayout)
    }

    private func finished(_ run: Run) throws(MediaError) -> MeasuredSound {
        MeasuredSound(
            sampleRate: run.meter.sampleRate, channelLayout: run.layout, start: run.start, frames: run.done,
            cutBeforeZero: range.start == .zero ? output.samplesCutBeforeZero : nil, lateStart: run.lateStart,
            holes: run.holes, measured: try run.meter.finish(), damage: reader.damage)
    }
}

/// A measurement under way, which takes what fits into the range.
private struct Run {
    private(set) var meter: WaveformMeter
    let layout: ChannelLayout
    /// When the first sample sounds.
    let start: MediaTime
    private(set) var done: Int64 = 0
    private(set) var lateStart: Int64 = 0
    private(set) var holes: Int64 = 0
    /// Frames in the range; `nil` for all to the track's end.
    private let limit: Int64?
    /// Frames that are expected, for progress only.
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
        done += frames
    }

    mutating func appendSilence(_ frames: Int64) throws(MediaError) {
        let frames = fitting(frames)
        if done == 0 { lateStart += frames } else { holes += frames }
        try meter.appendSilence(frames: frames)
        done += frames
    }

    func tell(_ progress: (Double, Double) -> Void) {
        let fraction = expected.map { Double(done) / Double(max(1, $0)) } ?? 0
        progress(fraction, Double(done) / Double(meter.sampleRate))
    }
}
