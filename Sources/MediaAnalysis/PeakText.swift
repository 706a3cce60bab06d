/// Peaks as text that other programs read: lines of numbers, and what wavesurfer.js loads.
package enum PeakText {
    /// A line for each point: minimum and maximum of each channel in turn, parted by commas, without a header.
    ///
    /// This is what audiowaveform writes as `.txt`; each line ends with a line feed.
    package static func lines(_ peaks: Peaks) -> [UInt8] {
        lines(peaks.data.span, from: 0, channels: peaks.channels, bits: peaks.bits)
    }

    /// The part of such lines that some of the values give.
    ///
    /// - Parameters:
    ///   - values: Some of ``Peaks/data``.
    ///   - start: How many values come before them.
    ///   - bits: About how large they are.
    package static func lines(_ values: Span<Int16>, from start: Int, channels: Int, bits: Int) -> [UInt8] {
        let width = 2 * channels
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * (bits == 8 ? 4 : 6))
        for index in 0..<values.count {
            append(values[index], to: &bytes)
            bytes.append((start + index + 1) % width == 0 ? UInt8(ascii: "\n") : UInt8(ascii: ","))
        }
        return bytes
    }

    /// JSON for wavesurfer.js: `{"peaks":[[min,max,…],…],"duration":seconds}` and a line feed.
    ///
    /// - Parameters:
    ///   - peaks: Of 16 bits; each value becomes value / 32768, exactly. One array a channel.
    ///   - seconds: How long the sound lasts.
    package static func wavesurfer(_ peaks: Peaks, seconds: Double) -> [UInt8] {
        let width = 2 * peaks.channels
        var bytes = Array("{\"peaks\":[".utf8)
        bytes.reserveCapacity(peaks.data.count * 12)
        for channel in 0..<peaks.channels {
            bytes.append(contentsOf: (channel == 0 ? "[" : ",[").utf8)
            for start in stride(from: channel * 2, to: peaks.data.count, by: width) {
                if start >= width { bytes.append(UInt8(ascii: ",")) }
                append(fraction: peaks.data[start], to: &bytes)
                bytes.append(UInt8(ascii: ","))
                append(fraction: peaks.data[start + 1], to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(contentsOf: "],\"duration\":\(seconds.isFinite ? seconds : 0)}\n".utf8)
        return bytes
    }

    private static func append(fraction value: Int16, to bytes: inout [UInt8]) {
        // Most of a quiet track.
        if value == 0 { return bytes.append(UInt8(ascii: "0")) }
        bytes.append(contentsOf: (Double(value) / 32768).description.utf8)
    }

    /// Appends a whole number in decimal digits.
    @inline(__always)
    static func append(_ value: Int16, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let magnitude = value.magnitude
        var divisor: UInt16 = 1
        if magnitude >= 10_000 {
            divisor = 10_000
        } else if magnitude >= 1000 {
            divisor = 1000
        } else if magnitude >= 100 {
            divisor = 100
        } else if magnitude >= 10 {
            divisor = 10
        }
        while divisor > 0 {
            bytes.append(48 &+ UInt8(truncatingIfNeeded: magnitude / divisor % 10))
            divisor /= 10
        }
    }
}
