internal import AssetKit
internal import MediaAnalysis

extension SoundPlanes {
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
        _ all: (inout SoundPlanes, Span<Sample>) -> Void,
        _ one: (inout SoundPlanes, Span<Sample>, Int) -> Void
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
