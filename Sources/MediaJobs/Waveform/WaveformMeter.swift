internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// Takes from decoded sound what the measurements need; several may work side by side, each on one thread.
final class WaveformDigester {
    /// What stands for the number of bits where a codec has none: the largest code is full scale.
    static let noSignificantBits = 64

    let significantBits: Int
    private let mode: PeakBuilder.ChannelMode
    private var distiller: SoundDistiller?
    /// Whether something that was taken could not be digested.
    private var hasFailed = false

    /// - Parameters:
    ///   - mode: The channels that peaks are of.
    ///   - significantBits: The bits of an integer source that carry signal; `nil` where it has none.
    init(_ mode: PeakBuilder.ChannelMode, significantBits: Int?) {
        self.mode = mode
        self.significantBits = significantBits ?? Self.noSignificantBits
    }

    /// Digests the first `frames` frames of a buffer that has its samples.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where the single channel that is wanted does not exist.
    func digest(_ sound: AudioBuffer, frames: Int) throws(MediaError) -> DistilledSound? {
        try add(sound, frames: frames)
        return distiller?.finish()
    }

    private func add(_ sound: AudioBuffer, frames: Int) throws(MediaError) {
        let channels = sound.channelLayout.channels
        var distiller: SoundDistiller
        if let kept = self.distiller.take(), kept.channels == channels {
            distiller = kept
        } else {
            distiller = try SoundDistiller(channels: channels, mode: mode, significantBits: significantBits)
        }
        defer { self.distiller = distiller }
        switch sound.sampleFormat {
        case .uint8: Self.add(sound, frames, of: UInt8.self, &distiller)
        case .int16: Self.add(sound, frames, of: Int16.self, &distiller)
        case .int32: Self.add(sound, frames, of: Int32.self, &distiller)
        case .int64: Self.add(sound, frames, of: Int64.self, &distiller)
        case .float32: Self.add(sound, frames, of: Float.self, &distiller)
        case .float64: Self.add(sound, frames, of: Double.self, &distiller)
        }
    }

    private static func add<Sample: PCMSample>(
        _ sound: AudioBuffer, _ frames: Int, of type: Sample.Type, _ distiller: inout SoundDistiller
    ) {
        guard sound.isPlanar else {
            return sound.withSamples(of: type) { samples in
                distiller.add(samples.extracting(first: frames * distiller.channels))
            }
        }
        if distiller.mixesStereo, type == Float.self {
            let isDone = sound.withSamples(of: Float.self, plane: 0) { left in
                sound.withSamples(of: Float.self, plane: 1) { right in
                    distiller.addPlanes(left.extracting(first: frames), right.extracting(first: frames))
                }
            }
            if isDone { return }
        }
        for channel in 0..<distiller.channels {
            sound.withSamples(of: type, plane: channel) { plane in
                distiller.take(plane.extracting(first: frames), channel: channel)
            }
        }
        distiller.addPlanes(frames: frames)
    }
}

extension WaveformDigester: SoundDigest {
    /// What stands for sound that cannot be digested: it is found again, and told, where the samples are measured.
    private struct NoSound: Sendable {}

    func take(_ sound: AudioBuffer) {
        do throws(MediaError) {
            if !hasFailed { try add(sound, frames: sound.sampleCount) }
        } catch {
            hasFailed = true
        }
    }

    func finish() -> any Sendable {
        defer { hasFailed = false }
        guard let sound = distiller?.finish(), !hasFailed else { return NoSound() }
        return sound
    }
}

/// Measures decoded sound for every output at once: peaks of each zoom level, an overview for pictures, and loudness.
///
/// Each buffer is brought to the channels that peaks are of once, by a ``WaveformDigester`` here or where it was decoded.
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
        var levels: [Peaks.Spacing: MeasuredPeaks]
        /// Peaks fine enough for what is fitted to a width; `nil` where nothing is.
        var overview: Peaks?
        /// Loudness and clipping of every channel of the sound.
        var statistics: SampleStatistics
    }

    let sampleRate: Int
    let channels: Int
    private let digester: WaveformDigester
    private var levels: WaveformLevels
    private var overview: OverviewBuilder?
    private var statistics: SampleStatistics

    /// Points of the overview for each column of a picture, so that a column's edge is a sixteenth off at most.
    private static let pointsPerColumn = 16

    /// - Parameters:
    ///   - significantBits: The bits of an integer source that carry signal; `nil` where it has none.
    ///   - frames: How many frames the sound has at least.
    ///   - start: How many frames of the sound lie before what is measured here.
    init(
        _ request: Request, sampleRate: Int, channels: Int, significantBits: Int?, atLeast frames: Int64 = 0,
        startingAt start: Int64 = 0
    ) throws(MediaError) {
        if case .single(let channel) = request.mode, !(0..<channels).contains(channel) {
            throw MediaError(.invalidArgument, "there is no channel \(channel): the sound has \(channels), from 0")
        }
        self.sampleRate = sampleRate
        self.channels = channels
        digester = WaveformDigester(request.mode, significantBits: significantBits)
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
        statistics = try SampleStatistics(channels: channels, significantBits: digester.significantBits)
    }

    /// Measures the first `frames` frames of a buffer.
    mutating func append(_ sound: AudioBuffer, frames: Int) throws(MediaError) {
        guard sound.channelLayout.channels == channels, sound.sampleRate == sampleRate else {
            throw MediaError(.unsupported, "the sound changes to \(sound.channelLayout) at \(sound.sampleRate) Hz")
        }
        if let made = sound.digest as? DistilledSound, made.frames == frames { return try append(made) }
        var left = frames
        for buffer in try sound.restored() where left > 0 {
            let taken = min(left, buffer.sampleCount)
            if let digest = try digester.digest(buffer, frames: taken) { try append(digest) }
            left -= taken
        }
    }

    /// Measures sound that was distilled already, of as many channels.
    mutating func append(_ sound: DistilledSound) throws(MediaError) {
        statistics.add(sound.statistics)
        let samples = sound.samples
        try levels.append(samples.span)
        try overview?.append(samples.span)
    }

    /// Measures what a distiller of as many channels has, which forgets it then.
    mutating func append(_ distiller: inout SoundDistiller) throws(MediaError) {
        statistics.add(distiller.statistics)
        try levels.append(distiller.samples.span)
        try overview?.append(distiller.samples.span)
        distiller.reset()
    }

    /// Takes over what was measured of the frames that follow, for the same request.
    mutating func append(_ next: WaveformMeter) throws(MediaError) {
        statistics.add(next.statistics)
        try levels.append(next.levels)
        if let part = next.overview { try overview?.append(part) }
    }

    /// Measures frames of silence, in time that does not depend on their number.
    mutating func appendSilence(frames: Int64) throws(MediaError) {
        statistics.appendSilence(frames: frames)
        try levels.appendSilence(frames: frames)
        try overview?.appendSilence(frames: frames)
    }

    /// Keeps what was measured from filling memory, however long the sound is; for the whole, not for parts of it.
    mutating func makeRoom() { levels.makeRoom() }

    /// Ends the measurement.
    consuming func finish() throws -> Result {
        Result(levels: try levels.finish(), overview: try overview?.finish(), statistics: statistics)
    }
}
