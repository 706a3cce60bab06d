import JSONText
import MediaBase
import Testing

@testable import Timelines

@Suite struct OTIOTimeTests {
    @Test func timesAreValuesByRates() throws {
        let json = #"{"OTIO_SCHEMA":"X.1","t":{"OTIO_SCHEMA":"RationalTime.1","rate":23.976,"value":48.0}}"#
        let object = try OTIOObject(JSONReader.parse(Array(json.utf8)), place: "x")
        let found = try #require(try object.time("t"))
        #expect(found.time == MediaTime(value: 2002, timescale: 1000))
        #expect(found.rate == Rational(24000, 1001))
        #expect(try object.time("none") == nil)
    }
}
