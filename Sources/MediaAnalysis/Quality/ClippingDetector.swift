/// Finds runs of neighbouring samples at full scale in each channel: the flat tops of sound that was recorded too loud.
///
/// Full scale is the largest positive code of integers and 1 for floating point. Detectors of parts that follow each
/// other are joined by ``append(_:)``.
package struct ClippingDetector: Sendable, Hashable {
    /// Flat tops of each channel, counted in samples.
    package private(set) var channels: [RunFinder]
    private let threshold: Float

    private static let block = 64

    /// - Parameters:
    ///   - channels: How many channels there are.
    ///   - significantBits: The bits of an integer source that carry signal; `nil` for floating point.
    ///   - minimum: How many samples in a row at full scale are clipping.
    package init(channels: Int, significantBits: Int?, minimum: Int64) {
        self.channels = Array(repeating: RunFinder(minimum: minimum), count: max(0, channels))
        threshold = Self.threshold(significantBits: significantBits)
    }

    /// The largest positive code of a source with so many bits, and 1 for floating point.
    static func threshold(significantBits: Int?) -> Float {
        // From 25 bits on a number of 32 bits cannot tell the largest code from one that is a little less.
        let bits = significantBits.map { min(max($0, 2), 24) } ?? 0
        return bits == 0 ? 1 : 1 - 1 / Float(1 << (bits - 1))
    }

    /// Takes the samples that come next.
    package mutating func append(_ sound: SoundPlanes) {
        guard sound.channels == channels.count else { return }
        for channel in channels.indices {
            let plane = sound.planes[channel]
            var start = 0
            while start < sound.frames {
                let end = min(start + Self.block, sound.frames)
                let samples = plane.span.extracting(start..<end)
                if Self.holds(samples, atLeast: threshold) {
                    for index in samples.indices {
                        channels[channel].append(count: 1, holds: samples[index].magnitude >= threshold)
                    }
                } else {
                    channels[channel].append(count: Int64(end - start), holds: false)
                }
                start = end
            }
        }
    }

    /// Takes samples of silence, in constant time.
    package mutating func appendSilence(frames: Int64) {
        for channel in channels.indices { channels[channel].append(count: frames, holds: false) }
    }

    /// Takes what was found in the samples that come next.
    package mutating func append(_ next: ClippingDetector) {
        guard next.channels.count == channels.count else { return }
        for channel in channels.indices { channels[channel].append(next.channels[channel]) }
    }

    private static func holds(_ samples: Span<Float>, atLeast threshold: Float) -> Bool {
        var count: Int32 = 0
        for index in 0..<samples.count { count &+= samples[index].magnitude >= threshold ? 1 : 0 }
        return count > 0
    }
}
