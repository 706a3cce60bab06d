import MediaBase
import MediaJobs
import Peaks
import Testing

@Suite struct WaveformDensityTests {
    private func spacing(_ density: WaveformDensity, at rate: Int) throws -> String {
        try density.spacing(sampleRate: rate).description
    }

    // By hand: 44100 / 33.3 = 441000/333 = 49000/37 = 1324.32…
    @Test func ratesBecomeExactSpacings() throws {
        #expect(try spacing(.samplesPerPixel(256), at: 44100) == "256")
        #expect(try spacing(.pixelsPerSecond(Rational(333, 10)), at: 44100) == "49000/37")
        #expect(try spacing(.wholeSamplesNear(pixelsPerSecond: Rational(333, 10)), at: 44100) == "1324")
        #expect(try spacing(.pixelsPerSecond(Rational(100)), at: 48000) == "480")
        #expect(try spacing(.pixelsPerSecond(Rational(1, 3)), at: 8000) == "24000")
        #expect(try spacing(.pixelsPerSecond(Rational(8000)), at: 8000) == "1")
    }

    @Test(arguments: [
        Rational(8001), Rational(0), Rational(-1), .invalid, Rational(1, .max), Rational(.max),
        Rational(.max, .max - 1),
    ])
    func refusesWhatCoversNoSampleOrTooMany(rate: Rational) {
        for density in [WaveformDensity.pixelsPerSecond(rate), .wholeSamplesNear(pixelsPerSecond: rate)] {
            do throws(MediaError) {
                let spacing = try density.spacing(sampleRate: 8000)
                // Next to one a second is a whole number of samples, though not an exact one.
                #expect(spacing.description == "7999" && density == .wholeSamplesNear(pixelsPerSecond: rate))
            } catch {
                #expect(error.code == .invalidArgument)
            }
        }
    }
}
