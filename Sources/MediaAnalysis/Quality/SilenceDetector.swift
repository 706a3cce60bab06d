/// Finds silence in each channel, and where all channels are silent at once, exact to the sample.
///
/// A sample is silent when its magnitude is below the threshold, as in ffmpeg's `silencedetect`. Detectors of parts that
/// follow each other are joined by ``append(_:)``.
package struct SilenceDetector: Sendable, Hashable {
    /// Silence in each channel, counted in samples.
    package private(set) var channels: [RunFinder]
    /// Where all channels are silent.
    package private(set) var all: RunFinder
    private let threshold: Float

    private static let block = 64

    /// - Parameters:
    ///   - channels: How many channels there are.
    ///   - threshold: Magnitudes below it are silence; full scale is 1.
    ///   - minimum: How many samples silence lasts at least. Less than 64 counts as 64.
    package init(channels: Int, threshold: Float, minimum: Int64) {
        let finder = RunFinder(minimum: max(Int64(Self.block), minimum))
        self.channels = Array(repeating: finder, count: max(0, channels))
        all = finder
        self.threshold = threshold
    }

    /// Takes the samples that come next.
    package mutating func append(_ sound: SoundPlanes) {
        guard sound.channels == channels.count else { return }
        var start = 0
        while start < sound.frames {
            let end = min(start + Self.block, sound.frames)
            let count = end - start
            // Runs within a block are too short to count; so only its ends matter where it is not silent as a whole.
            var common = (first: count, last: count)
            for channel in channels.indices {
                let plane = sound.planes[channel]
                let (first, last) = ends(of: plane.span.extracting(start..<end))
                Self.append(first, last, count, to: &channels[channel])
                common = (min(common.first, first), min(common.last, last))
            }
            Self.append(common.first, common.last, count, to: &all)
            start = end
        }
    }

    /// Takes samples of silence, in constant time.
    package mutating func appendSilence(frames: Int64) {
        for channel in channels.indices { channels[channel].append(count: frames, holds: threshold > 0) }
        all.append(count: frames, holds: threshold > 0)
    }

    /// Takes what was found in the samples that come next.
    package mutating func append(_ next: SilenceDetector) {
        guard next.channels.count == channels.count else { return }
        for channel in channels.indices { channels[channel].append(next.channels[channel]) }
        all.append(next.all)
    }

    /// How many samples at both ends are silent; all of them twice where nothing is heard.
    private func ends(of samples: Span<Float>) -> (first: Int, last: Int) {
        var first = 0
        while first < samples.count, samples[first].magnitude < threshold { first += 1 }
        if first == samples.count { return (first, first) }
        var last = 0
        while samples[samples.count - 1 - last].magnitude < threshold { last += 1 }
        return (first, last)
    }

    private static func append(_ first: Int, _ last: Int, _ count: Int, to finder: inout RunFinder) {
        finder.append(count: Int64(first), holds: true)
        guard first < count else { return }
        finder.append(count: Int64(count - first - last), holds: false)
        finder.append(count: Int64(last), holds: true)
    }
}
