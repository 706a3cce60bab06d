package import MediaAnalysis
package import MediaBase

/// How many points a zoom level has for a stretch of sound, as it was asked for.
package enum WaveformDensity: Sendable, Hashable {
    /// A point covers this many samples, whatever the sample rate.
    case samplesPerPixel(Int)
    /// So many points a second: point `k` begins at sample floor(`k` · sample rate / rate).
    case pixelsPerSecond(Rational)
    /// So many points a second as near as whole samples come to it: a point covers floor(sample rate / rate) of them.
    case wholeSamplesNear(pixelsPerSecond: Rational)

    /// The samples that a point covers.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where a point would cover less than one sample, or too many.
    package func spacing(sampleRate: Int) throws(MediaError) -> Peaks.Spacing {
        switch self {
        case .samplesPerPixel(let samples): return try Peaks.Spacing(samples: samples)
        case .pixelsPerSecond(let rate):
            let samples = try Self.samples(at: sampleRate, rate)
            guard let numerator = Int(exactly: samples.num), let points = Int(exactly: samples.den) else {
                throw Self.failure(sampleRate, rate)
            }
            do throws(MediaError) {
                return try Peaks.Spacing(samples: numerator, points: points)
            } catch {
                throw Self.failure(sampleRate, rate)
            }
        case .wholeSamplesNear(let rate):
            guard let whole = try Self.samples(at: sampleRate, rate).rounded(.down), let samples = Int(exactly: whole),
                (1...Int(Int32.max)).contains(samples)
            else { throw Self.failure(sampleRate, rate) }
            return try Peaks.Spacing(samples: samples)
        }
    }

    private static func samples(at sampleRate: Int, _ rate: Rational) throws(MediaError) -> Rational {
        guard rate.isPositive, let samples = Rational(Int64(sampleRate)).divided(by: rate) else {
            throw failure(sampleRate, rate)
        }
        return samples
    }

    private static func failure(_ sampleRate: Int, _ rate: Rational) -> MediaError {
        MediaError(
            .invalidArgument,
            "\(rate.doubleValue) points a second cannot be had of sound at \(sampleRate) Hz: a point covers at least one "
                + "sample, and at most \(Int32.max)")
    }
}
