internal import AssetKit
internal import MediaAnalysis
internal import MediaBase
internal import Peaks
internal import SystemCalls
internal import Threading

/// Measures linear PCM directly from the file, block by block on all cores.
struct WaveformPlainReading {
    let sound: RawPCMTrack
    let request: WaveformMeter.Request
    let significantBits: Int?
    let threads: Int

    /// The number of frames that a worker takes at a time.
    private static let partFrames: Int64 = 1 << 21
    /// The number of bytes that a worker reads at a time.
    ///
    /// Blocks are large enough for fast copying by the system, and small enough to stay in a processor cache.
    private static let blockBytes = 3 << 18
    /// The number of frames that are measured at a time, which fit into the nearest cache.
    private static let sliceFrames = 1 << 12
    /// The maximum number of parts, regardless of the audio's length.
    private static let maximumParts: Int64 = 1 << 16

    /// Measures frames in the part of the track that can be read directly.
    ///
    /// - Parameter progress: Receives the number of completed frames.
    /// - Returns: The measurement, which can be continued.
    func measure(_ frames: Range<Int64>, progress: (Int64) -> Void) throws -> WaveformMeter {
        let total = Int64(frames.count)
        var whole = try meter(of: total, startingAt: 0)
        let length = max(Self.partFrames, total / Self.maximumParts)
        let parts = stride(from: frames.lowerBound, to: frames.upperBound, by: Int64.Stride(length)).map {
            $0..<min($0 + length, frames.upperBound)
        }
        let workers = threads > 0 ? threads : availableProcessors()
        let workspaces = Workspaces()
        try concurrentForEach(parts, workers: workers) { part in
            try measurePart(part, startingAt: part.lowerBound - frames.lowerBound, of: total, workspaces)
        } deliver: { index, part in
            try whole.append(part.meter)
            whole.makeRoom()
            progress(parts[index].upperBound - frames.lowerBound)
        }
        return whole
    }

    /// The result of a worker, used by only one thread from then on.
    private struct Part: @unchecked Sendable {
        let meter: WaveformMeter
    }

    /// The buffers that a part needs besides its result; reused because the system would clear such large memory for
    /// each part.
    private struct Workspace: Sendable {
        var distiller: SoundDistiller
        var reader: PlainSoundReader
    }

    /// The workspaces that no worker is using.
    private final class Workspaces: Sendable {
        let idle = Mutex<[Workspace]>([])
    }

    private func workspace() throws(MediaError) -> Workspace {
        let bits = significantBits ?? WaveformDigester.noSignificantBits
        // Samples below this value cannot be at full scale before the conversion to 16 bits.
        let quiet = Int32.fullScale(significantBits: bits).int16Value
        let blockFrames = max(1, Self.blockBytes / (sound.channels * sound.encoding.bytesPerSample))
        return Workspace(
            distiller: try SoundDistiller(channels: sound.channels, mode: request.mode, significantBits: bits),
            reader: PlainSoundReader(sound, blockFrames: blockFrames, exactFrom: quiet))
    }

    private func meter(of total: Int64, startingAt start: Int64) throws(MediaError) -> WaveformMeter {
        try WaveformMeter(
            request, sampleRate: sound.sampleRate, channels: sound.channels, significantBits: significantBits,
            atLeast: total, startingAt: start)
    }

    private func measurePart(
        _ frames: Range<Int64>, startingAt start: Int64, of total: Int64, _ workspaces: Workspaces
    ) throws -> Part {
        var meter = try meter(of: total, startingAt: start)
        var workspace = try workspaces.idle.withLock { $0.popLast() } ?? workspace()
        var place = frames.lowerBound
        while place < frames.upperBound {
            let count = Int(min(Int64(try workspace.reader.read(from: place)), frames.upperBound - place))
            switch workspace.reader.samples {
            case .uint8(let samples): try measure(samples.span, count, &workspace.distiller, &meter)
            case .int16(let samples): try measure(samples.span, count, &workspace.distiller, &meter)
            case .int32(let samples): try measure(samples.span, count, &workspace.distiller, &meter)
            case .float32(let samples): try measure(samples.span, count, &workspace.distiller, &meter)
            case .float64(let samples): try measure(samples.span, count, &workspace.distiller, &meter)
            }
            place += Int64(count)
        }
        let done = workspace
        workspaces.idle.withLock { $0.append(done) }
        return Part(meter: meter)
    }

    private func measure<Sample: PCMSample>(
        _ samples: Span<Sample>, _ frames: Int, _ distiller: inout SoundDistiller, _ meter: inout WaveformMeter
    ) throws(MediaError) {
        var start = 0
        while start < frames {
            let end = min(start + Self.sliceFrames, frames)
            let slice = samples.extracting(start * sound.channels..<end * sound.channels)
            distiller.add(slice)
            try meter.append(&distiller)
            start = end
        }
    }
}
