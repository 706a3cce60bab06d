import Testing

@testable import QualityControl

/// Values, and tests of them in words.
@Suite struct ValueTestTests {
    @Test(arguments: [
        (1.0, 0, "1"), (0.5, 0, "1"), (-0.4, 0, "0"), (-23.04, 1, "-23.0"), (0.05, 1, "0.1"), (-0.04, 1, "0.0"),
        (1.005, 3, "1.005"), (0.000_000_001, 9, "0.000000001"), (.infinity, 2, "inf"),
        (1e9, 1, "1000000000.0"), (.nan, 1, "nan"),
    ])
    func numbersHaveFixedDecimals(number: Double, digits: Int, wanted: String) {
        #expect(number.text(decimals: digits) == wanted)
    }

    @Test(arguments: [
        ("25", PolicyValue.number(25), "25"), ("-0.5", .number(-0.5), "-0.5"), ("true", .bool(true), "true"),
        ("30000/1001", .fraction(30000.0 / 1001, "30000/1001"), "30000/1001"), ("1/0", .text("1/0"), "1/0"),
        ("yes", .text("yes"), "yes"), ("inf", .text("inf"), "inf"), ("1e3", .number(1000), "1000"),
    ])
    func scalarsAreRead(text: String, wanted: PolicyValue, written: String) {
        #expect(PolicyValue(scalar: text) == wanted && PolicyValue(scalar: text).text == written)
    }

    @Test(arguments: [
        (PolicyValue.number(1), PolicyValue.fraction(1, "2/2"), true), (.number(1), .number(1 + 1e-10), true),
        (.number(1), .number(1.001), false), (.number(-.infinity), .number(-.infinity), true),
        (.number(-.infinity), .number(0), false), (.text("1"), .number(1), false), (.bool(true), .text("true"), false),
    ])
    func numbersAreEqualWithinABillionth(one: PolicyValue, other: PolicyValue, isEqual: Bool) {
        #expect((one == other) == isEqual && (other == one) == isEqual)
    }

    @Test func testsAreWrittenInWords() {
        var test = ValueTest(minimum: 1, maximum: 2.5)
        #expect(test.text == "at least 1 and at most 2.5" && !test.isEmpty && ValueTest().isEmpty)
        (test.minimum, test.maximum) = (nil, nil)
        test.oneOf = [.number(1), .text("a")]
        test.matches = "^x"
        #expect(test.text == "one of 1, a and /^x/")
        test = ValueTest()
        test.exists = false
        #expect(test.text == "no value" && !test.holds(for: PolicyValue.number(1)))
    }

    @Test(arguments: [(2.0, 25.0, 50), (0.01, 25.0, 1), (0, 25, 1), (1, 29.97, 30), (1e300, 48000, 1 << 62)])
    func minimumsAreRoundedUp(seconds: Double, rate: Double, wanted: Int64) {
        #expect(RunParameters(threshold: 0, minimumSeconds: seconds).minimum(unitsPerSecond: rate) == wanted)
    }
}
