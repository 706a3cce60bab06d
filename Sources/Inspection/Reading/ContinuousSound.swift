package import AssetKit
package import MediaAnalysis
package import MediaBase

/// A track's audio as one continuous sequence from a time on, with gaps between sample buffers filled with silence.
///
/// Late starts, and holes of more than a hundredth of a second, become silence. Silence and audio are separate pieces,
/// so that a consumer can process an hour of silence without its samples.
package struct ContinuousSound {
    /// A piece of the sequence.
    package enum Piece {
        /// Decoded samples.
        case sound(AudioBuffer)
        /// The number of samples of silence in each channel; a very long silence comes in several pieces.
        case silence(Int64)
    }

    private let output: TrackOutput
    private var waiting: AudioBuffer?
    /// The rest of a late start or a hole, in samples.
    private var silence: Int64 = 0
    private var next: Int64?
    private let start: MediaTime

    /// The number of samples of silence that replace a late start.
    package private(set) var lateStart: Int64 = 0
    /// The number of samples of silence that replace holes.
    package private(set) var holes: Int64 = 0

    /// The maximum number of samples in one piece of silence.
    ///
    /// A broken timestamp may mean weeks of silence, and the reader's deadline is checked between pieces.
    package static let longestSilence: Int64 = 1 << 19

    /// - Parameters:
    ///   - output: An output of linear PCM whose reader has been started.
    ///   - start: The start time of the sequence in the presentation.
    package init(_ output: TrackOutput, from start: MediaTime = .zero) {
        self.output = output
        self.start = start
    }

    /// Returns the next piece; `nil` at the track's end.
    package mutating func nextPiece() throws(MediaError) -> Piece? {
        if silence > 0 {
            try output.checkReading()
            let piece = min(silence, Self.longestSilence)
            silence -= piece
            return .silence(piece)
        }
        if let sound = waiting {
            waiting = nil
            return .sound(sound)
        }
        guard let buffer = try output.nextSampleBuffer(), let sound = buffer.audioBuffer else { return nil }
        let rate = Int32(clamping: sound.sampleRate)
        let begins = buffer.presentationTime.sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
        let expected = next ?? start.sampleIndex(rate: rate, rounding: .up) ?? 0
        let (after, overflow) = begins.addingReportingOverflow(Int64(sound.sampleCount))
        let isFirst = next == nil
        next = overflow ? .max : after
        guard begins > expected else { return .sound(sound) }
        waiting = sound
        silence = begins - expected
        if isFirst { lateStart = silence } else { holes += silence }
        return try nextPiece()
    }
}

/// Reads a track's audio as planes of 32-bit floating-point samples, in blocks of the requested length.
///
/// Late starts and holes become silence.
package struct SoundPlaneReader {
    /// The sample rate in hertz; `nil` before the first sample has been read.
    package private(set) var sampleRate: Int?
    /// The number of samples of silence before the first audio.
    package var lateStart: Int64 { sound.lateStart }
    /// Indicates whether the end has been reached.
    package private(set) var isOver = false

    private let output: TrackOutput
    private var sound: ContinuousSound
    private var planes: PlanarSamples?
    /// The samples that were read, one array per channel; those before ``taken`` have already been returned.
    private var waiting: [[Float]] = []
    private var taken = 0
    /// The silence that comes next; the audio in `pending` follows it.
    private var silence: Int64 = 0
    private var pending: AudioBuffer?

    /// The maximum number of samples of silence that are generated at a time.
    private static let block: Int64 = 1 << 14

    /// - Parameter output: An output of linear PCM whose reader has been started.
    package init(_ output: TrackOutput) {
        self.output = output
        sound = ContinuousSound(output)
    }

    /// Returns the next `count` samples of each channel, or fewer at the track's end.
    ///
    /// - Throws: Reading errors, and `unsupported` if the number of channels or the sample rate changes.
    package mutating func read(_ count: Int) throws(MediaError) -> [[Float]] {
        while (waiting.first?.count ?? 0) - taken < count, !isOver { try advance() }
        let end = min(taken + max(0, count), waiting.first?.count ?? 0)
        let result = waiting.map { Array($0[taken..<end]) }
        taken = end
        if taken > 1 << 16 {
            for channel in waiting.indices { waiting[channel].removeFirst(taken) }
            taken = 0
        }
        return result
    }

    private mutating func advance() throws(MediaError) {
        if waiting.isEmpty, let buffer = pending { try begin(buffer) }
        if silence > 0, !waiting.isEmpty {
            // A late start may last for days, and nothing is read meanwhile that would check the deadline.
            try output.checkReading()
            let count = min(silence, Self.block)
            silence -= count
            for channel in waiting.indices { waiting[channel].append(contentsOf: repeatElement(0, count: Int(count))) }
            return
        }
        if let buffer = pending.take() { return try append(buffer) }
        switch try sound.nextPiece() {
        case nil: isOver = true
        case .silence(let frames): silence += frames
        case .sound(let buffer): pending = buffer
        }
    }

    private mutating func begin(_ buffer: AudioBuffer) throws(MediaError) {
        sampleRate = buffer.sampleRate
        planes = try PlanarSamples(channels: buffer.channelLayout.channels)
        waiting = Array(repeating: [], count: buffer.channelLayout.channels)
    }

    private mutating func append(_ buffer: AudioBuffer) throws(MediaError) {
        let channels = buffer.channelLayout.channels
        guard channels == waiting.count, buffer.sampleRate == sampleRate, var filled = planes.take() else {
            throw MediaError(.unsupported, "the sound changes its channels or its rate; export it to one form first")
        }
        filled.fill(buffer, 0..<buffer.sampleCount)
        for channel in waiting.indices { waiting[channel] += filled.planes[channel].prefix(filled.frames) }
        planes = filled
    }
}

extension PlanarSamples {
    /// Copies a range of a buffer's frames; the buffer has the same number of channels.
    package mutating func fill(_ sound: AudioBuffer, _ range: Range<Int>) {
        switch sound.sampleFormat {
        case .uint8: fill(sound, range, UInt8.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .int16: fill(sound, range, Int16.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .int32: fill(sound, range, Int32.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .int64: fill(sound, range, Int64.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .float32: fill(sound, range, Float.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .float64: fill(sound, range, Double.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        }
    }

    private mutating func fill<Sample: BitwiseCopyable>(
        _ sound: AudioBuffer, _ range: Range<Int>, _ type: Sample.Type,
        _ all: (inout PlanarSamples, Span<Sample>) -> Void,
        _ one: (inout PlanarSamples, Span<Sample>, Int) -> Void
    ) {
        if sound.isPlanar {
            for channel in 0..<channels {
                sound.withSamples(of: type, plane: channel) { samples in
                    let end = min(range.upperBound, samples.count)
                    one(&self, samples.extracting(min(range.lowerBound, end)..<end), channel)
                }
            }
        } else {
            sound.withSamples(of: type) { samples in
                let end = min(range.upperBound * channels, samples.count)
                all(&self, samples.extracting(min(range.lowerBound * channels, end)..<end))
            }
        }
    }
}
