internal import AssetKit
internal import MediaAnalysis
internal import MediaBase
internal import Peaks

/// Reduces decoded audio to the data for a ``WaveformMeter``.
struct WaveformReducer: AudioReducer {
    /// The bit count for codecs without one; with it, the largest value is full scale.
    static let noSignificantBits = 64

    let significantBits: Int
    private let mode: PeakBuilder.ChannelMode
    private var reducer: SampleReducer?
    /// Indicates whether some audio could not be reduced; the error occurs again, and is reported, during measurement.
    private var hasFailed = false

    /// - Parameters:
    ///   - mode: The channels for which peaks are measured.
    ///   - significantBits: The significant bits of an integer source; `nil` if it has no such number.
    init(_ mode: PeakBuilder.ChannelMode, significantBits: Int?) {
        self.mode = mode
        self.significantBits = significantBits ?? Self.noSignificantBits
    }

    mutating func append(_ audio: AudioBuffer) {
        do throws(MediaError) {
            if !hasFailed { try append(audio, frames: audio.sampleCount) }
        } catch {
            hasFailed = true
        }
    }

    /// Returns the data of all audio since the last call; `nil` if it has to be measured from the samples.
    mutating func finish() -> ReducedSamples? {
        defer { hasFailed = false }
        guard let samples = reducer?.finish(), !hasFailed else { return nil }
        return samples
    }

    /// Reduces the first `frames` frames of a buffer.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if the requested single channel does not exist.
    mutating func append(_ audio: AudioBuffer, frames: Int) throws(MediaError) {
        var reducer = try take(channels: audio.channelLayout.channels)
        switch audio.sampleFormat {
        case .uint8: Self.append(audio, frames, of: UInt8.self, &reducer)
        case .int16: Self.append(audio, frames, of: Int16.self, &reducer)
        case .int32: Self.append(audio, frames, of: Int32.self, &reducer)
        case .int64: Self.append(audio, frames, of: Int64.self, &reducer)
        case .float32: Self.append(audio, frames, of: Float.self, &reducer)
        case .float64: Self.append(audio, frames, of: Double.self, &reducer)
        }
        giveBack(reducer)
    }

    /// Takes out the reducer of samples, so that it is never copied; ``giveBack(_:)`` returns it.
    mutating func take(channels: Int) throws(MediaError) -> SampleReducer {
        if let kept = reducer.take(), kept.channels == channels { return kept }
        return try SampleReducer(channels: channels, mode: mode, significantBits: significantBits)
    }

    mutating func giveBack(_ reducer: consuming SampleReducer) { self.reducer = reducer }

    private static func append<Sample: PCMSample>(
        _ audio: AudioBuffer, _ frames: Int, of type: Sample.Type, _ reducer: inout SampleReducer
    ) {
        guard audio.isPlanar else {
            return audio.withSamples(of: type) { samples in
                reducer.add(samples.extracting(first: frames * reducer.channels))
            }
        }
        if reducer.mixesStereo, type == Float.self {
            let isDone = audio.withSamples(of: Float.self, plane: 0) { left in
                audio.withSamples(of: Float.self, plane: 1) { right in
                    reducer.addPlanes(left.extracting(first: frames), right.extracting(first: frames))
                }
            }
            if isDone { return }
        }
        for channel in 0..<reducer.channels {
            audio.withSamples(of: type, plane: channel) { plane in
                reducer.take(plane.extracting(first: frames), channel: channel)
            }
        }
        reducer.addPlanes(frames: frames)
    }
}

/// Measures decoded audio for all outputs in one pass: peaks of each zoom level, an overview for pictures, and
/// loudness.
///
/// Each buffer is reduced once to the channels for which peaks are measured. A ``WaveformReducer`` does so either here
/// or right after decoding.
struct WaveformMeter: AudioMeter {
    /// The requested measurements.
    struct Request: Sendable {
        /// The channels of peaks and pictures.
        var mode: PeakBuilder.ChannelMode
        /// The zoom levels of the outputs; the sample rate determines their spacings.
        var levels: [WaveformDensity]
        /// Indicates whether the levels have mean squares, for pictures.
        var measuresMeanSquares = false
        /// The width in columns of the widest output that is fitted to a width; 0 for none.
        var columns: Int
    }

    /// The measurements.
    struct Result {
        /// The peaks by the number of samples per point, with 16 bits.
        var levels: [Peaks.Spacing: MeasuredPeaks]
        /// Peaks of sufficient resolution for the outputs that are fitted to a width; `nil` if there are none.
        var overview: Peaks?
        /// The loudness and clipping of every audio channel.
        var statistics: SampleStatistics
    }

    let sampleRate: Int
    let channels: Int
    private var reducer: WaveformReducer
    private var levels: WaveformLevels
    private var overview: OverviewBuilder?
    private var statistics: SampleStatistics

    /// The number of overview points per column of a picture; a column's edge is off by at most a sixteenth.
    private static let pointsPerColumn = 16

    init(
        _ request: Request, _ form: AudioTrackForm, startingAt start: Int64, of frames: Int64
    ) throws(MediaError) {
        let (sampleRate, channels) = (form.sampleRate, form.channelLayout.channels)
        if case .single(let channel) = request.mode, !(0..<channels).contains(channel) {
            throw MediaError(
                .invalidArgument, "there is no channel \(channel): the audio has \(channels), counted from 0")
        }
        self.sampleRate = sampleRate
        self.channels = channels
        reducer = WaveformReducer(request.mode, significantBits: form.statedBits)
        let measured = request.mode == .split ? channels : 1
        var spacings: [Peaks.Spacing] = []
        for level in request.levels { spacings.append(try level.spacing(sampleRate: sampleRate)) }
        levels = try WaveformLevels(
            spacings, sampleRate: sampleRate, channels: measured, measuresMeanSquares: request.measuresMeanSquares,
            startingAt: start)
        if request.columns > 0 {
            overview = try OverviewBuilder(
                sampleRate: sampleRate, channels: measured, points: request.columns * Self.pointsPerColumn,
                atLeast: frames, startingAt: start)
        }
        statistics = try SampleStatistics(channels: channels, significantBits: reducer.significantBits)
    }

    func accepts(_ form: AudioTrackForm) -> Bool {
        form.channelLayout.channels == channels && form.sampleRate == sampleRate
    }

    static func makeReducer(_ request: Request, for track: AssetTrack) -> MakeAudioReducer<ReducedSamples?>? {
        let (mode, bits) = (request.mode, track.statedSampleBits)
        return { WaveformReducer(mode, significantBits: bits) }
    }

    mutating func append(_ audio: AudioBuffer, frames: Int) throws(MediaError) {
        try reducer.append(audio, frames: frames)
        var samples = try reducer.take(channels: channels)
        try append(&samples)
        reducer.giveBack(samples)
    }

    mutating func append(_ audio: ReducedAudio<ReducedSamples?>) throws(MediaError) {
        guard let reduced = audio.partial else {
            for buffer in try audio.decodedAgain() { try append(buffer, frames: buffer.sampleCount) }
            return
        }
        statistics.add(reduced.statistics)
        let samples = reduced.samples
        try levels.append(samples.span)
        try overview?.append(samples.span)
    }

    /// Measures and clears the contents of a reducer with the same number of channels.
    private mutating func append(_ reducer: inout SampleReducer) throws(MediaError) {
        statistics.add(reducer.statistics)
        try levels.append(reducer.samples.span)
        try overview?.append(reducer.samples.span)
        reducer.reset()
    }

    mutating func append(next: WaveformMeter) throws(MediaError) {
        statistics.add(next.statistics)
        try levels.append(next.levels)
        if let part = next.overview { try overview?.append(part) }
    }

    mutating func appendSilence(frames: Int64) throws(MediaError) {
        statistics.appendSilence(frames: frames)
        try levels.appendSilence(frames: frames)
        try overview?.appendSilence(frames: frames)
    }

    mutating func makeRoom() { levels.makeRoom() }

    /// Completes the measurement.
    consuming func finish() throws -> Result {
        Result(levels: try levels.finish(), overview: try overview?.finish(), statistics: statistics)
    }
}

// MARK: PCM that is read from the file itself

extension WaveformMeter {
    /// The number of frames in a part.
    private static let partFrames: Int64 = 1 << 21
    /// The maximum number of parts, regardless of the audio's length.
    private static let maximumParts: Int64 = 1 << 16
    /// The number of bytes that are read at a time: enough for fast copying by the system, and few enough to stay in a
    /// processor cache.
    private static let blockBytes = 3 << 18
    /// The number of frames that are measured at a time, which fit into the nearest cache.
    private static let sliceFrames = 1 << 12

    static func parts(of frames: Range<Int64>, _ track: RawPCMTrack, _ form: AudioTrackForm) -> RawPCMParts {
        let length = max(partFrames, Int64(frames.count) / maximumParts)
        let ranges = stride(from: frames.lowerBound, to: frames.upperBound, by: Int64.Stride(length)).map {
            $0..<min($0 + length, frames.upperBound)
        }
        // Samples below this value cannot be at full scale before the conversion to 16 bits.
        let bits = form.statedBits ?? WaveformReducer.noSignificantBits
        return RawPCMParts(
            ranges: ranges, blockFrames: max(1, blockBytes / (track.channels * track.encoding.bytesPerSample)),
            exactFrom: Int32.fullScale(significantBits: bits).int16Value)
    }

    mutating func append(_ samples: RawPCMReader.Samples, frames: Int) throws(MediaError) {
        switch samples {
        case .uint8(let samples): try append(samples.span, frames)
        case .int16(let samples): try append(samples.span, frames)
        case .int32(let samples): try append(samples.span, frames)
        case .float32(let samples): try append(samples.span, frames)
        case .float64(let samples): try append(samples.span, frames)
        }
    }

    private mutating func append<Sample: PCMSample>(_ samples: Span<Sample>, _ frames: Int) throws(MediaError) {
        var reducer = try reducer.take(channels: channels)
        var start = 0
        while start < frames {
            let end = min(start + Self.sliceFrames, frames)
            reducer.add(samples.extracting(start * channels..<end * channels))
            try append(&reducer)
            start = end
        }
        self.reducer.giveBack(reducer)
    }
}
