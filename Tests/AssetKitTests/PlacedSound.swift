import AssetKit
import TestSupport

/// Delivered sound, laid out by its presentation times from a sample number on; what nothing was delivered for is silence.
struct PlacedSound {
    /// Interleaved samples as the machine stores them.
    var bytes: [UInt8] = []
    /// The buffers that begin before the end of the one before them.
    var overlaps = 0
    /// The samples that were delivered, without silence.
    var delivered: [UInt8] = []
    /// Where they lie among all samples.
    var runs: [Range<Int>] = []
    var frameBytes = 1
    private let silence: UInt8

    init(_ buffers: [SampleBuffer], from first: Int64 = 0, format: SampleFormat) throws {
        silence = format == .uint8 ? 128 : 0
        var next = first
        for buffer in buffers {
            guard let sound = buffer.audioBuffer, sound.sampleFormat == format, !sound.isPlanar,
                let place = buffer.presentationTime.sampleIndex(rate: Int32(clamping: sound.sampleRate)),
                MediaTime(value: place, timescale: Int32(clamping: sound.sampleRate)) == buffer.presentationTime
            else { throw TestSupportError("no sound of the form asked for, at a whole sample") }
            frameBytes = format.bytesPerSample * sound.channelLayout.channels
            if place < next { overlaps += 1 }
            bytes += [UInt8](repeating: silence, count: max(0, Int(place - next)) * frameBytes)
            let samples = sound.withBytes { span in span.withUnsafeBytes { Array($0) } }
            bytes += samples
            delivered += samples
            runs.append(Int(place)..<Int(place) + sound.sampleCount)
            next = place + Int64(sound.sampleCount)
        }
    }

    /// Sample frames, silence included.
    var count: Int { bytes.count / frameBytes }

    /// The bytes of samples `range`, as far as there are any.
    func part(_ range: Range<Int>) -> ArraySlice<UInt8> {
        let end = min(range.upperBound, count)
        guard range.lowerBound < end else { return [] }
        return bytes[range.lowerBound * frameBytes..<end * frameBytes]
    }

    /// How many delivered samples lie in `range`.
    func deliveredCount(in range: Range<Int>) -> Int { runs.reduce(0) { $0 + $1.clamped(to: range).count } }

    /// The SHA-256 of all bytes, by the program `sha256sum`.
    func digest() throws -> String {
        String(try Program.run("sha256sum", ["-b"], input: bytes).output.prefix { $0 != " " })
    }
}
