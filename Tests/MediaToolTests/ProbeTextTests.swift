import MediaBase
import Testing

@testable import mediatool

/// Numbers as a person reads them; expected values worked out by hand.
@Suite struct ProbeTextTests {
    @Test func decimalsAreShort() {
        #expect(ProbeText.decimal(Rational(30000, 1001)) == "29.97")
        #expect(ProbeText.decimal(Rational(25)) == "25")
        #expect(ProbeText.decimal(Rational(-1, 2)) == "-0.5")
        #expect(ProbeText.decimal(Rational(2, 3)) == "0.667")
        #expect(ProbeText.decimal(Rational(.max)) == "9223372036854775807/1")
    }

    @Test func bytesHaveUnits() {
        #expect(ProbeText.bytesText(999) == "999 bytes")
        #expect(ProbeText.bytesText(1000) == "1.0 kB")
        #expect(ProbeText.bytesText(1_550_000) == "1.6 MB")
        #expect(ProbeText.bytesText(.max) == "9223372036854775807 bytes")
        #expect(ProbeText.bitRateText(128_000) == "128.0 kb/s")
    }
}
