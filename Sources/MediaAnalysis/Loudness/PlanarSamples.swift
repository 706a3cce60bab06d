package import MediaBase

/// Decoded audio of any format as 32-bit floating point with full scale at ±1, with one plane per channel.
///
/// Quality measurements take audio in this form: a few thousand frames at a time, in memory that is reused. 16 and 24
/// bits are exact; NaN becomes 0, and values beyond ±2^40 are clamped to it.
package struct PlanarSamples: Sendable {
    /// The number of channels.
    package let channels: Int
    /// The number of frames filled in last.
    package private(set) var frames = 0
    /// One plane per channel, each with at least ``frames`` samples; any samples after those are left over from earlier
    /// calls.
    package private(set) var planes: [[Float]]

    /// Creates empty planes.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if there are not 1 to 1024 channels.
    package init(channels: Int) throws(MediaError) {
        guard (1...1024).contains(channels) else {
            throw MediaError(.invalidArgument, "sound has 1 to 1024 channels, not \(channels)")
        }
        self.channels = channels
        planes = Array(repeating: [], count: channels)
    }

    /// Creates planes from existing samples; all channels are cut to the shortest one.
    package init(_ planes: [[Float]]) throws(MediaError) {
        try self.init(channels: planes.count)
        self.planes = planes
        frames = planes.map(\.count).min() ?? 0
    }

    /// Fills all channels from interleaved frames; ignores a trailing incomplete frame.
    package mutating func fill(_ samples: Span<UInt8>) { fillInterleaved(samples) }
    /// Fills all channels from interleaved frames; ignores a trailing incomplete frame.
    package mutating func fill(_ samples: Span<Int16>) { fillInterleaved(samples) }
    /// Fills all channels from interleaved frames; ignores a trailing incomplete frame.
    package mutating func fill(_ samples: Span<Int32>) { fillInterleaved(samples) }
    /// Fills all channels from interleaved frames; ignores a trailing incomplete frame.
    package mutating func fill(_ samples: Span<Int64>) { fillInterleaved(samples) }
    /// Fills all channels from interleaved frames; ignores a trailing incomplete frame.
    package mutating func fill(_ samples: Span<Float>) { fillInterleaved(samples) }
    /// Fills all channels from interleaved frames; ignores a trailing incomplete frame.
    package mutating func fill(_ samples: Span<Double>) { fillInterleaved(samples) }

    /// Fills one channel, with as many samples as the others; does nothing if the channel does not exist.
    package mutating func fill(_ plane: Span<UInt8>, channel: Int) { fillPlane(plane, channel) }
    /// Fills one channel, with as many samples as the others; does nothing if the channel does not exist.
    package mutating func fill(_ plane: Span<Int16>, channel: Int) { fillPlane(plane, channel) }
    /// Fills one channel, with as many samples as the others; does nothing if the channel does not exist.
    package mutating func fill(_ plane: Span<Int32>, channel: Int) { fillPlane(plane, channel) }
    /// Fills one channel, with as many samples as the others; does nothing if the channel does not exist.
    package mutating func fill(_ plane: Span<Int64>, channel: Int) { fillPlane(plane, channel) }
    /// Fills one channel, with as many samples as the others; does nothing if the channel does not exist.
    package mutating func fill(_ plane: Span<Float>, channel: Int) { fillPlane(plane, channel) }
    /// Fills one channel, with as many samples as the others; does nothing if the channel does not exist.
    package mutating func fill(_ plane: Span<Double>, channel: Int) { fillPlane(plane, channel) }

    /// Fills all channels with the given number of silent frames.
    package mutating func fillSilence(frames: Int) {
        self.frames = max(0, frames)
        for channel in planes.indices {
            planes[channel].removeAll(keepingCapacity: true)
            planes[channel].append(contentsOf: repeatElement(0, count: self.frames))
        }
    }

    @inline(__always)
    private mutating func fillInterleaved<Sample: FloatConvertible>(_ samples: Span<Sample>) {
        frames = samples.count / channels
        for channel in 0..<channels {
            // Moved out while it is filled, so that it is never copied.
            var plane = takePlane(channel)
            var span = plane.mutableSpan
            Self.extract(channel, of: channels, from: samples, into: &span)
            swap(&plane, &planes[channel])
        }
    }

    @inline(__always)
    private static func extract<Sample: FloatConvertible>(
        _ channel: Int, of channels: Int, from samples: Span<Sample>, into plane: inout MutableSpan<Float>
    ) {
        let frames = min(samples.count / channels, plane.count)
        let samples = samples.extracting(first: frames &* channels)
        // Strides known at compile time are loaded as vectors and shuffled.
        if channels == 1 {
            for frame in 0..<frames { plane[frame] = samples[frame].asFloat }
        } else if channels == 2, channel == 0 {
            for frame in 0..<frames { plane[frame] = samples[frame &* 2].asFloat }
        } else if channels == 2 {
            for frame in 0..<frames { plane[frame] = samples[frame &* 2 &+ 1].asFloat }
        } else {
            for frame in 0..<frames { plane[frame] = samples[frame &* channels &+ channel].asFloat }
        }
    }

    @inline(__always)
    private mutating func fillPlane<Sample: FloatConvertible>(_ source: Span<Sample>, _ channel: Int) {
        guard planes.indices.contains(channel) else { return }
        frames = source.count
        var plane = takePlane(channel)
        var span = plane.mutableSpan
        let count = min(source.count, span.count)
        for frame in 0..<count { span[frame] = source[frame].asFloat }
        swap(&plane, &planes[channel])
    }

    private mutating func takePlane(_ channel: Int) -> [Float] {
        var plane: [Float] = []
        swap(&plane, &planes[channel])
        if plane.count < frames { plane = Array(repeating: 0, count: frames) }
        return plane
    }
}

/// A sample that converts to a value with full scale at ±1.
private protocol FloatConvertible: BitwiseCopyable {
    var asFloat: Float { get }
}

extension UInt8: FloatConvertible {
    @inline(__always) fileprivate var asFloat: Float { Float(Int32(self) &- 128) * 0x1p-7 }
}

extension Int16: FloatConvertible {
    @inline(__always) fileprivate var asFloat: Float { Float(Int32(self)) * 0x1p-15 }
}

extension Int32: FloatConvertible {
    @inline(__always) fileprivate var asFloat: Float { Float(self) * 0x1p-31 }
}

extension Int64: FloatConvertible {
    @inline(__always) fileprivate var asFloat: Float { Float(self) * 0x1p-63 }
}

extension Float: FloatConvertible {
    @inline(__always) fileprivate var asFloat: Float {
        let number = self == self ? self : 0
        let low = number < -0x1p40 ? -0x1p40 : number
        return low > 0x1p40 ? 0x1p40 : low
    }
}

extension Double: FloatConvertible {
    @inline(__always) fileprivate var asFloat: Float {
        let number = self == self ? self : 0
        let low = number < -0x1p40 ? -0x1p40 : number
        return Float(low > 0x1p40 ? 0x1p40 : low)
    }
}
