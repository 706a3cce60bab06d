package import AssetKit
internal import MediaAnalysis
package import MediaBase
internal import Threading

/// A track's audio as planes of 32-bit floating-point samples, taken in blocks of the requested length.
///
/// Late starts and holes become silence, which is made only as it is taken, because it may last for days.
package struct PlanarAudio {
    /// The sample rate in hertz; `nil` before the first audio.
    package private(set) var sampleRate: Int?
    /// The number of samples of silence before the first audio.
    package private(set) var lateStart: Int64 = 0

    private var gaps = AudioGaps()
    private var planes: PlanarSamples?
    /// Audio that is not in `made` yet, each run after its silence.
    private var waiting = FIFO<(silence: Int64, audio: AudioBuffer)>()
    private var waitingCount: Int64 = 0
    /// The samples that were made, one array per channel; those before ``taken`` have been returned.
    private var made: [[Float]] = []
    private var taken = 0

    /// The maximum number of samples of silence that are made at a time.
    private static let block: Int64 = 1 << 14

    package init() {}

    /// The number of samples in each channel that can be taken.
    package var count: Int64 { waitingCount + Int64((made.first?.count ?? 0) - taken) }

    /// Appends the next run of the track.
    ///
    /// - Throws: `unsupported` if the number of channels or the sample rate changes.
    package mutating func append(_ buffer: SampleBuffer) throws(MediaError) {
        guard let audio = buffer.audioBuffer else { return }
        let channels = audio.channelLayout.channels
        if sampleRate == nil {
            sampleRate = audio.sampleRate
            planes = try PlanarSamples(channels: channels)
            made = Array(repeating: [], count: channels)
        }
        guard channels == made.count, audio.sampleRate == sampleRate else {
            throw MediaError(
                .unsupported, "the audio changes its channels or its sample rate; export it to one form first")
        }
        let isFirst = gaps.isAtStart
        let silence = gaps.silence(before: buffer.presentationTime, count: audio.sampleCount, rate: audio.sampleRate)
        if isFirst { lateStart = silence }
        waiting.append((silence, audio))
        waitingCount = min(1 << 62, waitingCount &+ silence) + Int64(audio.sampleCount)
    }

    /// Takes the next samples of each channel, as many as there are up to `count`.
    package mutating func take(_ count: Int) -> [[Float]] {
        while (made.first?.count ?? 0) - taken < count, make() {}
        let end = min(taken + max(0, count), made.first?.count ?? 0)
        let result = made.map { Array($0[taken..<end]) }
        taken = end
        if taken > 1 << 16 {
            for channel in made.indices { made[channel].removeFirst(taken) }
            taken = 0
        }
        return result
    }

    /// Makes some of the waiting samples; returns false if none wait.
    private mutating func make() -> Bool {
        guard let (silence, audio) = waiting.popFirst() else { return false }
        if silence > 0 {
            let count = min(silence, Self.block)
            waiting.prepend((silence - count, audio))
            waitingCount -= count
            for channel in made.indices { made[channel].append(contentsOf: repeatElement(0, count: Int(count))) }
            return true
        }
        waitingCount -= Int64(audio.sampleCount)
        guard var filled = planes.take() else { return false }
        filled.fill(audio, 0..<audio.sampleCount)
        for channel in made.indices { made[channel] += filled.planes[channel].prefix(filled.frames) }
        planes = filled
        return true
    }
}

/// Reads a track's audio as ``PlanarAudio``.
package struct PlanarAudioReader {
    private let output: TrackOutput
    private var audio = PlanarAudio()
    private var isOver = false

    /// - Parameter output: An output of linear PCM whose reader has been started.
    package init(_ output: TrackOutput) { self.output = output }

    /// Returns the next `count` samples of each channel, or fewer at the track's end.
    ///
    /// - Throws: Reading errors, and `unsupported` if the number of channels or the sample rate changes.
    package mutating func read(_ count: Int) throws(MediaError) -> [[Float]] {
        // A late start may last for days, and nothing is read meanwhile that would check the deadline.
        try output.checkReading()
        while audio.count < count, !isOver {
            guard let buffer = try output.nextSampleBuffer() else {
                isOver = true
                break
            }
            try audio.append(buffer)
        }
        return audio.take(count)
    }
}
