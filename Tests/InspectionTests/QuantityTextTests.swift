import MediaBase
import Testing

@testable import Inspection

/// Numbers as a person reads them; expected values worked out by hand.
@Suite struct QuantityTextTests {
    @Test func decimalsAreShort() {
        #expect(QuantityText.decimal(Rational(30000, 1001)) == "29.97")
        #expect(QuantityText.decimal(Rational(25)) == "25")
        #expect(QuantityText.decimal(Rational(-1, 2)) == "-0.5")
        #expect(QuantityText.decimal(Rational(2, 3)) == "0.667")
        #expect(QuantityText.decimal(Rational(.max)) == "9223372036854775807/1")
    }

    @Test func bytesHaveUnits() {
        #expect(QuantityText.bytes(999) == "999 bytes")
        #expect(QuantityText.bytes(1000) == "1.0 kB")
        #expect(QuantityText.bytes(1_550_000) == "1.6 MB")
        #expect(QuantityText.bytes(.max) == "9223372036854775807 bytes")
        #expect(QuantityText.bitRate(128_000) == "128.0 kb/s")
    }
}
