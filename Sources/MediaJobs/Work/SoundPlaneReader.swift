internal import AssetKit
internal import MediaAnalysis
internal import MediaBase

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
    private var planes: SoundPlanes?
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
        planes = try SoundPlanes(channels: buffer.channelLayout.channels)
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
