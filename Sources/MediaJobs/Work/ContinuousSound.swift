package import AssetKit
internal import MediaAnalysis
package import MediaBase

/// A track's sound as one unbroken run from a moment on: what lies between its sample buffers is silence.
///
/// A track that starts late, and holes of more than a hundredth of a second, are silence; the two are told apart from
/// sound so that a consumer may deal with an hour of silence without seeing its samples.
package struct ContinuousSound {
    /// What comes next.
    package enum Piece {
        /// Decoded samples.
        case sound(AudioBuffer)
        /// So many samples, in each channel, of nothing; what is very long comes in several.
        case silence(Int64)
    }

    private let output: TrackOutput
    private var waiting: AudioBuffer?
    /// What is left of a late start or a hole.
    private var silence: Int64 = 0
    private var next: Int64?
    private let start: MediaTime

    /// How many samples of silence stand for a late start.
    package private(set) var lateStart: Int64 = 0
    /// How many samples of silence stand for holes.
    package private(set) var holes: Int64 = 0

    /// Samples of silence in one piece: a broken time stamp may mean weeks, and the reader's deadline has to be met.
    package static let longestSilence: Int64 = 1 << 19

    /// - Parameters:
    ///   - output: An output of linear PCM whose reader was started.
    ///   - start: Where the run begins, on the presentation's time line.
    package init(_ output: TrackOutput, from start: MediaTime = .zero) {
        self.output = output
        self.start = start
    }

    /// The next piece; `nil` at the track's end.
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

/// A track's sound as planes of 32-bit floating point, in runs as long as they are asked for.
///
/// Late starts and holes are silence.
struct SoundPlaneReader {
    /// Samples a second; `nil` before the first sample was read.
    private(set) var sampleRate: Int?
    /// When the first sample is heard, in samples.
    var lateStart: Int64 { sound.lateStart }
    /// Whether nothing more comes.
    private(set) var isOver = false

    private let output: TrackOutput
    private var sound: ContinuousSound
    private var planes: PlanarSamples?
    /// What was read and not taken yet, a plane a channel, from ``taken`` on.
    private var waiting: [[Float]] = []
    private var taken = 0
    /// Silence that comes next, and the sound after it.
    private var silence: Int64 = 0
    private var pending: AudioBuffer?

    /// Samples of silence that are made at once.
    private static let block: Int64 = 1 << 14

    /// - Parameter output: An output of linear PCM whose reader was started.
    init(_ output: TrackOutput) {
        self.output = output
        sound = ContinuousSound(output)
    }

    /// The next samples of each channel: so many, or fewer at the track's end.
    ///
    /// - Throws: what reading throws, and `unsupported` where the number of channels or the rate changes.
    mutating func read(_ count: Int) throws(MediaError) -> [[Float]] {
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
            // A late start may be days long; nothing is read that would see the deadline.
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
    /// Takes a range of a buffer's frames; the buffer has as many channels.
    mutating func fill(_ sound: AudioBuffer, _ range: Range<Int>) {
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
