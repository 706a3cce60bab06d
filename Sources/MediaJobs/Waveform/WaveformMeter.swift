internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// Measures decoded sound for every output at once: peaks of each zoom level, an overview for pictures, and loudness.
///
/// Each buffer is brought to interleaved 16-bit samples once, mixed once, and passed on as a span.
struct WaveformMeter {
    /// What is to be measured.
    struct Request {
        /// The channels of peaks and pictures.
        var mode: PeakBuilder.ChannelMode
        /// The zoom levels of the outputs, which the sample rate makes spacings.
        var levels: [WaveformDensity]
        /// Whether the levels have mean squares, for pictures.
        var measuresMeanSquares = false
        /// The columns of the widest output that is fitted to a width; 0 for none.
        var columns: Int
    }

    /// What was measured.
    struct Result {
        /// Peaks by the samples that a point covers, with 16 bits.
        var levels: [Peaks.Spacing: Peaks]
        /// Peaks fine enough for what is fitted to a width; `nil` where nothing is.
        var overview: Peaks?
        /// Loudness and clipping of every channel of the sound.
        var statistics: SampleStatistics
    }

    let sampleRate: Int
    let channels: Int
    private let mode: PeakBuilder.ChannelMode
    private var levels: WaveformLevels
    private var overview: OverviewBuilder?
    private var statistics: SampleStatistics
    /// Scratch space for interleaved samples, and for one channel of them.
    private var interleaved: [Int16] = []
    private var mono: [Int16] = []

    /// Points of the overview for each column of a picture, so that a column's edge is a sixteenth off at most.
    private static let pointsPerColumn = 16

    /// - Parameter significantBits: The bits of an integer source that carry signal.
    init(_ request: Request, sampleRate: Int, channels: Int, significantBits: Int?) throws(MediaError) {
        if case .single(let channel) = request.mode, !(0..<channels).contains(channel) {
            throw MediaError(.invalidArgument, "there is no channel \(channel): the sound has \(channels), from 0")
        }
        self.sampleRate = sampleRate
        self.channels = channels
        mode = request.mode
        let measured = request.mode == .split ? channels : 1
        var spacings: [Peaks.Spacing] = []
        for level in request.levels { spacings.append(try level.spacing(sampleRate: sampleRate)) }
        levels = try WaveformLevels(
            spacings, sampleRate: sampleRate, channels: measured, measuresMeanSquares: request.measuresMeanSquares)
        if request.columns > 0 {
            overview = try OverviewBuilder(
                sampleRate: sampleRate, channels: measured, points: request.columns * Self.pointsPerColumn)
        }
        statistics = try SampleStatistics(channels: channels, significantBits: significantBits ?? 64)
    }

    /// Measures the first `frames` frames of a buffer.
    mutating func append(_ sound: AudioBuffer, frames: Int) throws(MediaError) {
        guard sound.channelLayout.channels == channels, sound.sampleRate == sampleRate else {
            throw MediaError(.unsupported, "the sound changes to \(sound.channelLayout) at \(sound.sampleRate) Hz")
        }
        switch sound.sampleFormat {
        case .uint8: try append(sound, frames, of: UInt8.self)
        case .int16 where !sound.isPlanar: try appendStraight(sound, frames)
        case .int16: try append(sound, frames, of: Int16.self)
        case .int32: try append(sound, frames, of: Int32.self)
        case .int64: try append(sound, frames, of: Int64.self)
        case .float32: try append(sound, frames, of: Float.self)
        case .float64: try append(sound, frames, of: Double.self)
        }
    }

    /// Measures frames of silence, in time that does not depend on their number.
    mutating func appendSilence(frames: Int64) throws(MediaError) {
        statistics.appendSilence(frames: frames)
        try levels.appendSilence(frames: frames)
        try overview?.appendSilence(frames: frames)
    }

    /// Ends the measurement.
    consuming func finish() throws(MediaError) -> Result {
        Result(levels: try levels.finish(), overview: try overview?.finish(), statistics: statistics)
    }

    /// Measures samples that need no conversion where they lie.
    private mutating func appendStraight(_ sound: AudioBuffer, _ frames: Int) throws(MediaError) {
        let count = frames * channels
        try sound.withSamples(of: Int16.self) { samples throws(MediaError) in
            let samples = samples.extracting(first: count)
            statistics.countClipping(samples)
            try measure(samples)
        }
    }

    private mutating func append<Sample: PCMSample>(
        _ sound: AudioBuffer, _ frames: Int, of type: Sample.Type
    ) throws(MediaError) {
        let count = frames * channels
        // Taken out while it is filled and measured, so that it is never copied.
        var block: [Int16] = []
        swap(&block, &interleaved)
        defer { swap(&block, &interleaved) }
        if block.count < count { block = Array(repeating: 0, count: count) }

        if sound.isPlanar {
            for channel in 0..<channels {
                sound.withSamples(of: type, plane: channel) { plane in
                    let plane = plane.extracting(first: frames)
                    statistics.countClipping(plane: plane, channel: channel)
                    var destination = block.mutableSpan
                    SampleKernels.convert(plane: plane, channel: channel, of: channels, into: &destination)
                }
            }
        } else {
            sound.withSamples(of: type) { samples in
                let samples = samples.extracting(first: count)
                statistics.countClipping(samples)
                var destination = block.mutableSpan
                SampleKernels.convert(samples, into: &destination)
            }
        }
        try measure(block.span.extracting(first: count))
    }

    private mutating func measure(_ samples: Span<Int16>) throws(MediaError) {
        statistics.append(samples)
        guard mode != .split, channels > 1 else { return try pass(samples) }
        let frames = samples.count / channels
        var block: [Int16] = []
        swap(&block, &mono)
        defer { swap(&block, &mono) }
        if block.count < frames { block = Array(repeating: 0, count: frames) }
        var destination = block.mutableSpan
        if case .single(let channel) = mode {
            SampleKernels.extract(channel, of: channels, from: samples, into: &destination)
        } else {
            SampleKernels.mix(samples, channels: channels, into: &destination)
        }
        try pass(block.span.extracting(first: frames))
    }

    private mutating func pass(_ samples: Span<Int16>) throws(MediaError) {
        try levels.append(samples)
        try overview?.append(samples)
    }
}
