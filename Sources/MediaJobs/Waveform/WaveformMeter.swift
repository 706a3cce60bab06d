internal import AssetKit
internal import MediaAnalysis
internal import MediaBase
internal import Peaks

/// Extracts the data for the measurements from decoded audio.
///
/// Several digesters can work in parallel, each on one thread.
final class WaveformDigester {
    /// The bit count for codecs without one; with it, the largest value is full scale.
    static let noSignificantBits = 64

    let significantBits: Int
    private let mode: PeakBuilder.ChannelMode
    private var distiller: SoundDistiller?
    /// Indicates whether some audio could not be digested.
    private var hasFailed = false

    /// - Parameters:
    ///   - mode: The channels for which peaks are measured.
    ///   - significantBits: The significant bits of an integer source; `nil` if it has no such number.
    init(_ mode: PeakBuilder.ChannelMode, significantBits: Int?) {
        self.mode = mode
        self.significantBits = significantBits ?? Self.noSignificantBits
    }

    /// Digests the first `frames` frames of a buffer that contains samples.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if the requested single channel does not exist.
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
    /// A placeholder for audio that cannot be digested; the error occurs again, and is reported, during measurement.
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

/// Measures decoded audio for all outputs in one pass: peaks of each zoom level, an overview for pictures, and
/// loudness.
///
/// Each buffer is reduced once to the channels for which peaks are measured. A ``WaveformDigester`` does so either here
/// or right after decoding.
struct WaveformMeter {
    /// The requested measurements.
    struct Request {
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
    private let digester: WaveformDigester
    private var levels: WaveformLevels
    private var overview: OverviewBuilder?
    private var statistics: SampleStatistics

    /// The number of overview points per column of a picture; a column's edge is off by at most a sixteenth.
    private static let pointsPerColumn = 16

    /// - Parameters:
    ///   - significantBits: The significant bits of an integer source; `nil` if it has no such number.
    ///   - frames: The minimum number of audio frames.
    ///   - start: The number of audio frames before those that are measured here.
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

    /// Measures distilled audio with the same number of channels.
    mutating func append(_ sound: DistilledSound) throws(MediaError) {
        statistics.add(sound.statistics)
        let samples = sound.samples
        try levels.append(samples.span)
        try overview?.append(samples.span)
    }

    /// Measures and clears the contents of a distiller with the same number of channels.
    mutating func append(_ distiller: inout SoundDistiller) throws(MediaError) {
        statistics.add(distiller.statistics)
        try levels.append(distiller.samples.span)
        try overview?.append(distiller.samples.span)
        distiller.reset()
    }

    /// Appends the measurements of the following frames, made for the same request.
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

    /// Limits the memory used by the measurements, regardless of the audio's length; not for parts that are appended to
    /// others.
    mutating func makeRoom() { levels.makeRoom() }

    /// Completes the measurement.
    consuming func finish() throws -> Result {
        Result(levels: try levels.finish(), overview: try overview?.finish(), statistics: statistics)
    }
}
