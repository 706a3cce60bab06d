package import MediaBase

/// The energy of K-weighted sound in steps of 10 ms, channel by channel: all of the samples that loudness needs.
///
/// Step `k` holds the samples from `k · rate / 100` on, rounded to the nearest. What is left of an incomplete step at the
/// end belongs to none.
///
/// Parts of one track may be measured side by side: a part begins at a step, and is first given the samples of the
/// ``KWeighting/memorySeconds`` before it by ``warmUp(_:)``. The steps then are those of the whole track but for rounding.
package struct LoudnessSteps: Sendable {
    /// Steps a second.
    package static let perSecond = 100

    /// Samples a second.
    package let sampleRate: Int
    /// How many channels there are.
    package let channels: Int
    /// The mean squares of complete steps that were not taken yet: of all channels of a step, then of the next.
    private var finished: [Double] = []
    private let weighting: KWeighting
    /// Two channels each; the second one of the last is silent where their number is odd.
    private var states: [KWeighting.State]
    private var sums: [Double]
    /// The step under way, and how many samples of it came already.
    private var step: Int64
    private var done = 0

    /// Begins at a step.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where there are not 1 to 1024 channels or the rate is not 100 Hz to
    ///   100 MHz.
    package init(sampleRate: Int, channels: Int, startingAt step: Int64 = 0) throws(MediaError) {
        guard (1...1024).contains(channels), (100...100_000_000).contains(sampleRate) else {
            throw MediaError(
                .invalidArgument,
                "loudness needs 1 to 1024 channels at 100 Hz or more, not \(channels) at \(sampleRate) Hz")
        }
        self.sampleRate = sampleRate
        self.channels = channels
        self.step = max(0, step)
        weighting = KWeighting(sampleRate: sampleRate)
        states = Array(repeating: KWeighting.State(), count: (channels + 1) / 2)
        sums = Array(repeating: 0, count: channels + 1)
    }

    /// The sample with which a step begins.
    package static func start(of step: Int64, sampleRate: Int) -> Int64 {
        let (whole, part) = step.quotientAndRemainder(dividingBy: Int64(perSecond))
        let rounded = (part * Int64(sampleRate) + Int64(perSecond / 2)) / Int64(perSecond)
        return whole.multipliedReportingOverflow(by: Int64(sampleRate)).partialValue &+ rounded
    }

    /// Lets the filters see what comes before the first step.
    package mutating func warmUp(_ sound: SoundPlanes) {
        run(sound, 0..<sound.frames)
        for index in sums.indices { sums[index] = 0 }
    }

    /// Takes the samples that come next.
    package mutating func append(_ sound: SoundPlanes) {
        guard sound.channels == channels else { return }
        var start = 0
        while start < sound.frames {
            let begin = Self.start(of: step, sampleRate: sampleRate)
            let length = Int(Self.start(of: step &+ 1, sampleRate: sampleRate) &- begin)
            let end = min(sound.frames, start + max(1, length - done))
            run(sound, start..<end)
            done += end - start
            start = end
            guard done >= length else { continue }
            for channel in 0..<channels { finished.append(sums[channel] / Double(done)) }
            for index in sums.indices { sums[index] = 0 }
            step &+= 1
            done = 0
        }
    }

    /// Passes over whole seconds of silence, after as much silence as the filters remember; they give no steps.
    package mutating func skipSilence(seconds: Int64) { step &+= seconds &* Int64(Self.perSecond) }

    /// The mean squares of the steps that are complete since the last time: of all channels of a step, then of the next.
    package mutating func takeSteps() -> [Double] {
        var steps: [Double] = []
        swap(&steps, &finished)
        return steps
    }

    private mutating func run(_ sound: SoundPlanes, _ frames: Range<Int>) {
        guard sound.channels == channels else { return }
        for pair in states.indices {
            let left = pair * 2
            let right = min(left + 1, channels - 1)
            let (first, second) = (sound.planes[left], sound.planes[right])
            let squares = states[pair].squares(weighting, first.span.extracting(frames), second.span.extracting(frames))
            sums[left] += squares[0]
            if right > left { sums[right] += squares[1] }
        }
    }
}
