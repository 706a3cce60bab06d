internal import Glibc

/// The weight of each channel in loudness (ITU-R BS.1770-5, tables 3 and 4).
///
/// Side channels, at 60° to 120° from the centre and no higher than 30°, have a weight of 1.41, low-frequency effects
/// 0, and all other channels 1. If a layout has back channels but no side channels, like `5.1` and `quad` in libavutil,
/// these are the surround channels of BS.775 at 110°.
package enum ChannelWeights {
    private static let surround = 1.41

    /// Returns the weight of each channel of a layout, by libavutil's name.
    ///
    /// If the name does not list the channels, four are treated as `quad`, five as `5.0` and six as `5.1`, as in
    /// libebur128; otherwise all channels have a weight of 1.
    ///
    /// - Parameters:
    ///   - name: A name such as `5.1(side)`, or channels such as `FL+FR+LFE`.
    ///   - channels: The number of channels.
    package static func weights(layout name: String, channels: Int) -> [Double] {
        let named = self.channels(of: name)
        if named.count == channels {
            let hasSides = named.contains("SL") || named.contains("SR")
            return named.map { weight(of: $0, backIsSurround: !hasSides) }
        }
        switch channels {
        case 4: return [1, 1, surround, surround]
        case 5: return [1, 1, 1, surround, surround]
        case 6: return [1, 1, 1, 0, surround, surround]
        default: return Array(repeating: 1, count: max(0, channels))
        }
    }

    private static func weight(of channel: String, backIsSurround: Bool) -> Double {
        switch channel {
        case "LFE", "LFE2": 0
        case "SL", "SR", "WL", "WR", "SDL", "SDR", "SSL", "SSR": surround
        case "BL", "BR": backIsSurround ? surround : 1
        default: 1
        }
    }

    /// Returns the channels of a named layout in order; empty for an unknown name.
    private static func channels(of name: String) -> [String] {
        if let list = layouts[name] { return list.split(separator: " ").map(String.init) }
        // A layout without a name of its own: "3 channels (FL+FR+LFE)", or only the channels.
        let inner = name.split(separator: "(").last?.split(separator: ")").first ?? ""
        guard inner.contains("+") else { return [] }
        return inner.split(separator: "+").map { String($0.split(separator: "@").first ?? $0) }
    }

    /// The names and channel orders of `av_channel_layout_describe`.
    private static let layouts = [
        "mono": "FC", "stereo": "FL FR", "2.1": "FL FR LFE", "3.0": "FL FR FC", "3.0(back)": "FL FR BC",
        "4.0": "FL FR FC BC", "quad": "FL FR BL BR", "quad(side)": "FL FR SL SR", "3.1": "FL FR FC LFE",
        "5.0": "FL FR FC BL BR", "5.0(side)": "FL FR FC SL SR", "4.1": "FL FR FC LFE BC",
        "5.1": "FL FR FC LFE BL BR", "5.1(side)": "FL FR FC LFE SL SR", "6.0": "FL FR FC BC SL SR",
        "6.0(front)": "FL FR FLC FRC SL SR", "hexagonal": "FL FR FC BL BR BC", "6.1": "FL FR FC LFE BC SL SR",
        "6.1(back)": "FL FR FC LFE BL BR BC", "6.1(front)": "FL FR LFE FLC FRC SL SR",
        "7.0": "FL FR FC BL BR SL SR", "7.0(front)": "FL FR FC FLC FRC SL SR",
        "7.1": "FL FR FC LFE BL BR SL SR", "7.1(wide)": "FL FR FC LFE BL BR FLC FRC",
        "7.1(wide-side)": "FL FR FC LFE FLC FRC SL SR", "7.1(top)": "FL FR FC LFE BL BR TFL TFR",
        "octagonal": "FL FR FC BL BR BC SL SR", "cube": "FL FR BL BR TFL TFR TBL TBR", "downmix": "DL DR",
        "22.2": """
        FL FR FC LFE BL BR FLC FRC BC SL SR TC TFL TFC TFR TBL TBC TBR LFE2 TSL TSR BFC BFL BFR
        """,
    ]
}

/// The K-weighting of ITU-R BS.1770-5, Annex 1: a shelf for the effect of the head, then a high-pass.
///
/// The recommendation lists coefficients for 48 kHz. The coefficients here are derived from the underlying analogue
/// filters for any rate, by the bilinear transform, so that audio is not resampled; at 48 kHz they match the listed
/// ones to 10 digits.
package struct KWeighting: Sendable, Hashable {
    /// A second-order filter: b0 + b1 z⁻¹ + b2 z⁻² over 1 + a1 z⁻¹ + a2 z⁻².
    package struct Biquad: Sendable, Hashable {
        /// The coefficients of the numerator.
        package let b0, b1, b2: Double
        /// The coefficients of the denominator.
        package let a1, a2: Double
    }

    /// The first stage, which raises high frequencies by 4 dB.
    package let shelf: Biquad
    /// The second stage, which cuts low frequencies; its numerator is 1 − 2 z⁻¹ + z⁻².
    package let highPass: Biquad

    /// Derives the filters for a rate of at least 1 Hz.
    ///
    /// Below 3.4 kHz the shelf would lie above half the rate; it is then placed at 0.49 of the rate.
    package init(sampleRate: Int) {
        let rate = Double(max(1, sampleRate))
        func tangent(_ frequency: Double) -> Double { tan(Double.pi * min(frequency / rate, 0.49)) }
        let k = tangent(1681.974450955533)
        let q = 0.7071752369554196
        let high = pow(10, 3.999843853973347 / 20)
        let band = pow(high, 0.4996667741545416)
        let a0 = 1 + k / q + k * k
        shelf = Biquad(
            b0: (high + band * k / q + k * k) / a0, b1: 2 * (k * k - high) / a0,
            b2: (high - band * k / q + k * k) / a0, a1: 2 * (k * k - 1) / a0, a2: (1 - k / q + k * k) / a0)
        let low = tangent(38.13547087602444)
        let lowQ = 0.5003270373238773
        let c0 = 1 + low / lowQ + low * low
        highPass = Biquad(
            b0: 1, b1: -2, b2: 1, a1: 2 * (low * low - 1) / c0, a2: (1 - low / lowQ + low * low) / c0)
    }

    /// The time in seconds after which less than 10⁻²⁰ of an earlier amplitude remains.
    package static let memorySeconds = 0.4

    /// The filter state of two channels, which are filtered together, one in each lane of a vector.
    package struct State: Sendable {
        private var x1 = SIMD2<Double>.zero, x2 = SIMD2<Double>.zero
        private var y1 = SIMD2<Double>.zero, y2 = SIMD2<Double>.zero
        private var z1 = SIMD2<Double>.zero, z2 = SIMD2<Double>.zero

        /// Creates the state after endless silence.
        package init() {}

        /// Filters samples of two channels and returns the sums of squares of the output.
        ///
        /// - Parameters:
        ///   - left: One channel.
        ///   - right: The other channel, of the same length; otherwise the shorter one decides.
        package mutating func squares(
            _ weighting: KWeighting, _ left: Span<Float>, _ right: Span<Float>
        ) -> SIMD2<Double> {
            let count = min(left.count, right.count)
            let left = left.extracting(first: count)
            let right = right.extracting(first: count)
            let shelf = weighting.shelf
            let highPass = weighting.highPass
            let (b0, b1, b2) = (SIMD2(repeating: shelf.b0), SIMD2(repeating: shelf.b1), SIMD2(repeating: shelf.b2))
            let (a1, a2) = (SIMD2(repeating: shelf.a1), SIMD2(repeating: shelf.a2))
            let (c1, c2) = (SIMD2(repeating: highPass.a1), SIMD2(repeating: highPass.a2))
            var (x1, x2, y1, y2, z1, z2) = (x1, x2, y1, y2, z1, z2)
            var sum = SIMD2<Double>.zero
            for index in 0..<count {
                let x = SIMD2(Double(left[index]), Double(right[index]))
                // Terms that do not need the previous value come first: the chain from sample to sample is then one
                // product and one difference for each stage.
                let y = (b0 * x + b1 * x1 + b2 * x2 - a2 * y2) - a1 * y1
                let z = ((y - y1) - (y1 - y2) - c2 * z2) - c1 * z1
                sum += z * z
                (x2, x1) = (x1, x)
                (y2, y1) = (y1, y)
                (z2, z1) = (z1, z)
            }
            (self.x1, self.x2, self.y1, self.y2, self.z1, self.z2) = (x1, x2, y1, y2, z1, z2)
            settle()
            return sum
        }

        /// Sets tiny numbers to zero, because processors are slow with the smallest ones.
        private mutating func settle() {
            func settled(_ value: SIMD2<Double>) -> SIMD2<Double> {
                let isSmall = (value .< 1e-30) .& (value .> -1e-30)
                return value.replacing(with: 0, where: isSmall)
            }
            (y1, y2, z1, z2) = (settled(y1), settled(y2), settled(z1), settled(z2))
        }
    }
}
