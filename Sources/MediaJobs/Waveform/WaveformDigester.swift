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
