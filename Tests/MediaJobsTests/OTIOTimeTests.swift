import JSONText
import MediaBase
import Testing

@testable import MediaJobs

@Suite struct OTIOTimeTests {
    @Test(arguments: [
        (24.0, Rational(24)), (23.976, Rational(24000, 1001)), (23.98, Rational(24000, 1001)),
        (24000.0 / 1001, Rational(24000, 1001)), (29.97, Rational(30000, 1001)), (59.94, Rational(60000, 1001)),
        (119.88, Rational(120_000, 1001)), (12.5, Rational(25, 2)), (48000.0, Rational(48000)),
        (44100.0, Rational(44100)), (1.0, Rational(1)), (1_000_000.0, Rational(1_000_000)), (0.5, Rational(1, 2)),
    ])
    func ratesAreExact(number: Double, wanted: Rational) {
        #expect(Rational(rate: number) == wanted)
    }

    @Test(arguments: [0.0, -24, .nan, .infinity, 1e12])
    func whatIsNoRateIsNone(number: Double) {
        #expect(Rational(rate: number) == nil)
    }

    @Test(arguments: [
        (95.99999999999999, Rational(96)), (-3.5, Rational(-7, 2)), (86400.25, Rational(345_601, 4)),
        (1.0 / 3, Rational(1, 3)), (1001.0 / 24000, Rational(1001, 24000)), (0.0, Rational(0)),
        (0.1 + 0.2, Rational(3, 10)), (1e12, Rational(1_000_000_000_000)),
    ])
    func numbersBecomeTheFractionsThatTheyStandFor(number: Double, wanted: Rational) {
        #expect(Rational(nearest: number) == wanted)
    }

    @Test(arguments: [Double.nan, .infinity, 1e300, -1e13])
    func whatIsNoNumberHasNoFraction(number: Double) {
        #expect(Rational(nearest: number) == nil)
    }

    @Test func timesAreValuesByRates() throws {
        let json = #"{"OTIO_SCHEMA":"X.1","t":{"OTIO_SCHEMA":"RationalTime.1","rate":23.976,"value":48.0}}"#
        let object = try OTIOObject(JSONReader.parse(Array(json.utf8)), place: "x")
        let found = try #require(try object.time("t"))
        #expect(found.time == MediaTime(value: 2002, timescale: 1000))
        #expect(found.rate == Rational(24000, 1001))
        #expect(try object.time("none") == nil)
    }
}
