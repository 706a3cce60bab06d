import MediaAnalysis
import Testing

/// Wanted values are those of the definitions, summed plainly.
@Suite struct PictureComparisonTests {
    private let shape = PlaneShape(width: 37, rows: 22, stride: 40)

    private func plane(_ seed: Int) -> [UInt8] {
        (0..<shape.stride * shape.rows).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761 &+ seed) >> 7) }
    }

    private func samples(_ plane: [some FixedWidthInteger]) -> [[Double]] {
        (0..<shape.rows).map { row in (0..<shape.width).map { Double(plane[row * shape.stride + $0]) } }
    }

    @Test func squaresAreSummedOverThePicturesAlone() {
        let (one, other) = (plane(1), plane(99))
        var wanted = 0.0
        for (left, right) in zip(samples(one), samples(other)) {
            for (a, b) in zip(left, right) { wanted += (a - b) * (a - b) }
        }
        #expect(PictureDifference.squares(one.span, shape, other.span, shape) == Int(wanted))
        let (words, otherWords) = (one.map { UInt16($0) * 257 }, other.map { UInt16($0) * 257 })
        #expect(PictureDifference.squares(words.span, shape, otherWords.span, shape) == Int(wanted) * 257 * 257)
        let smaller = PlaneShape(width: 36, rows: 22, stride: 40)
        #expect(PictureDifference.squares(one.span, shape, other.span, smaller) == nil)
        #expect(PictureDifference.psnr(error: 1, peak: 255).rounded() == 48)
        #expect(PictureDifference.psnr(error: 0, peak: 255) == .infinity)
    }

    /// The formula that Wang and others give, for every window in double precision.
    private func similarity(_ one: [[Double]], _ other: [[Double]], peak: Double) -> Double {
        let (c1, c2) = (0.01 * 0.01 * peak * peak, 0.03 * 0.03 * peak * peak)
        var values: [Double] = []
        for y in stride(from: 0, through: shape.rows / 4 * 4 - 8, by: 4) {
            for x in stride(from: 0, through: shape.width / 4 * 4 - 8, by: 4) {
                var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
                for row in y..<y + 8 {
                    for column in x..<x + 8 {
                        let (p, q) = (one[row][column], other[row][column])
                        (a, b, aa, bb, ab) = (a + p, b + q, aa + p * p, bb + q * q, ab + p * q)
                    }
                }
                let (ma, mb) = (a / 64, b / 64)
                // The sample variances, of 63 degrees of freedom.
                let (va, vb, cov) = ((aa - a * ma) / 63, (bb - b * mb) / 63, (ab - a * mb) / 63)
                values.append(
                    (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2)))
            }
        }
        return values.reduce(0, +) / Double(values.count)
    }

    @Test func similarityIsThatOfTheFormula() {
        let (one, noise) = (plane(1), plane(7))
        let other = zip(one, noise).map { UInt8(clamping: Int($0) + Int($1) / 16 - 8) }
        var meter = StructuralSimilarity(depth: 8)
        let found = meter.mean(one.span, shape, other.span, shape) ?? 0
        #expect(abs(found - similarity(samples(one), samples(other), peak: 255)) < 1e-5)
        #expect(meter.mean(one.span, shape, one.span, shape) == 1)
        let (words, otherWords) = (one.map { UInt16($0) * 4 }, other.map { UInt16($0) * 4 })
        var deep = StructuralSimilarity(depth: 10)
        let foundDeep = deep.mean(words.span, shape, otherWords.span, shape) ?? 0
        #expect(abs(foundDeep - similarity(samples(words), samples(otherWords), peak: 1023)) < 1e-5)
        // All 16 bits: sums of squares do not fit into 32.
        let (whole, otherWhole) = (one.map { UInt16($0) * 257 }, other.map { UInt16($0) * 257 })
        var deepest = StructuralSimilarity(depth: 16)
        let foundDeepest = deepest.mean(whole.span, shape, otherWhole.span, shape) ?? 0
        #expect(abs(foundDeepest - similarity(samples(whole), samples(otherWhole), peak: 65535)) < 1e-4)
        let tiny = PlaneShape(width: 7, rows: 22, stride: 40)
        #expect(meter.mean(one.span, tiny, other.span, tiny) == nil)
    }
}

@Suite struct SoundAlignmentTests {
    private func noise(_ count: Int, seed: UInt64) -> [Float] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Float(Int32(truncatingIfNeeded: state >> 32)) * 0x1p-31
        }
    }

    @Test func transformsAreThoseOfTheDefinition() {
        let transform = FourierTransform(exponent: 4)
        let signal = noise(32, seed: 3)
        var (real, imaginary) = (Array(signal[..<16]), Array(signal[16...]))
        let (re, im) = (real, imaginary)
        transform.transform(real: &real, imaginary: &imaginary)
        for k in 0..<16 {
            var (wantedRe, wantedIm) = (0.0, 0.0)
            for n in 0..<16 {
                let (c, s) = Self.turn(Double(k * n % 16) / 16)
                wantedRe += Double(re[n]) * c + Double(im[n]) * s
                wantedIm += Double(im[n]) * c - Double(re[n]) * s
            }
            #expect(abs(Double(real[k]) - wantedRe) < 1e-5 && abs(Double(imaginary[k]) - wantedIm) < 1e-5)
        }
    }

    /// Cosine and sine of a sixteenth of turns, by the half-angle formulas.
    private static func turn(_ part: Double) -> (Double, Double) {
        let c = [
            1, (2 + 2.0.squareRoot()).squareRoot() / 2, 0.5.squareRoot(), (2 - 2.0.squareRoot()).squareRoot() / 2, 0,
        ]
        let index = Int(part * 16)
        func cosine(_ step: Int) -> Double {
            let step = step % 16
            return step <= 4 ? c[step] : step <= 8 ? -c[8 - step] : cosine(16 - step)
        }
        return (cosine(index), cosine(index + 12))
    }

    @Test(arguments: [0, 1, 7, -1, -23, 1000, -1999]) func offsetsAreFoundToTheSample(offset: Int) throws {
        let source = noise(12_000, seed: 1)
        let reference = Array(source[2000..<10_000])
        let sound = Array(source[(2000 - offset)..<(10_000 - offset)])
        let found = try #require(SoundAlignment.match(sound, reference, most: 2000, factor: 6))
        #expect(found.offset == offset && found.correlation > 0.999)
        let inverted = try #require(SoundAlignment.match(sound.map { -$0 }, reference, most: 2000, factor: 6))
        #expect(inverted.offset == offset && inverted.correlation < -0.999)
    }

    @Test func silenceFitsNowhere() {
        #expect(SoundAlignment.match([0, 0, 0, 0], [1, 0, 1, 0], most: 2, factor: 1) == nil)
        #expect(SoundAlignment.match([], [1], most: 2, factor: 1) == nil)
    }
}
