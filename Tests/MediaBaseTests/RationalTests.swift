import Foundation
import MediaBase
import Testing

@Suite struct RationalTests {
    @Test func lowestTermsWithAPositiveDenominator() {
        #expect(Rational(1920, 1080).description == "16/9")
        #expect(Rational(3, -6).description == "-1/2")
        #expect(Rational(0, -5).description == "0/1")
        #expect(Rational(.min, .min) == .one)
        #expect(Rational(.min, 2).description == "-4611686018427387904/1")
        #expect(Rational(7).description == "7/1")
        #expect(Rational(-4, 8).hashValue == Rational(1, -2).hashValue)
    }

    @Test func whatCannotBeIsInvalid() {
        #expect(!Rational(1, 0).isValid)
        #expect(!Rational(0, 0).isValid)
        #expect(!Rational(.min, -1).isValid)
        #expect(Rational.invalid.doubleValue.isNaN)
        #expect(Rational(1, 0) == .invalid)
        #expect(!Rational(-1, 2).isPositive && !Rational.zero.isPositive && !Rational.invalid.isPositive)
    }

    /// By hand.
    @Test func arithmeticIsExact() {
        #expect(Rational(1, 6).adding(Rational(1, 10)) == Rational(4, 15))
        #expect(Rational(1, 6).subtracting(Rational(1, 10)) == Rational(1, 15))
        #expect(Rational(704, 1).multiplied(by: Rational(10, 11)) == Rational(640, 1))
        #expect(Rational(30000, 1001).inverse == Rational(1001, 30000))
        #expect(Rational(-2, 3).divided(by: Rational(4, -9)) == Rational(3, 2))
        #expect(Rational(30000, 1001).doubleValue == 30000.0 / 1001.0)
        #expect(Rational(.max, 3).multiplied(by: Rational(3, .max)) == .one)
    }

    @Test func whatDoesNotFitIsNil() {
        let large = Rational(.max, 1)
        #expect(large.adding(.one) == nil)
        #expect(Rational(.min, 1).subtracting(.one) == nil)
        #expect(large.multiplied(by: large) == nil)
        #expect(Rational(1, .max).multiplied(by: Rational(1, 3)) == nil)
        #expect(Rational(1, .max).adding(Rational(1, .max - 1)) == nil)
        #expect(Rational(.min, 1).inverse == nil)
        #expect(Rational.zero.inverse == nil)
        #expect(Rational.one.divided(by: .zero) == nil)
        for result in [
            Rational.invalid.adding(.one), Rational.one.subtracting(.invalid), Rational.invalid.multiplied(by: .one),
            Rational.one.divided(by: .invalid), Rational.invalid.divided(by: .one), Rational.invalid.inverse,
        ] {
            #expect(result == nil)
        }
    }

    @Test func orderIsByValue() {
        let sorted = [
            Rational(.min, 1), Rational(-1, 2), .zero, Rational(1, .max), Rational(1, .max - 1), Rational(16, 9),
            Rational(.max, 1), .invalid,
        ]
        for (i, left) in sorted.enumerated() {
            for (j, right) in sorted.enumerated() { #expect((left < right) == (i < j), "\(left) < \(right)") }
        }
    }

    @Test func roundingByRule() {
        let expected: [RoundingRule: Int64] = [
            .halfAwayFromZero: -3, .towardZero: -2, .awayFromZero: -3, .up: -2, .down: -3, .halfToEven: -2,
        ]
        for rule in RoundingRule.allCases { #expect(Rational(-5, 2).rounded(rule) == expected[rule], "\(rule)") }
        #expect(Rational(.min, 1).rounded(.down) == .min)
        #expect(Rational.invalid.rounded() == nil)
    }

    @Test func textAndJSONGoBothWays() throws {
        #expect(Rational("30000/1001") == Rational(30000, 1001))
        #expect(Rational("4/2") == Rational(2, 1))
        for text in ["", "1", "1/0", "1/-1", "1/2/3", "a/b"] { #expect(Rational(text) == nil, "\(text)") }
        for value in [Rational(30000, 1001), Rational(-1, 3), .zero, .invalid] {
            let text = try sortedJSON(value)
            #expect(text == "{\"den\":\(value.den),\"num\":\(value.num)}")
            #expect(try JSONDecoder().decode(Rational.self, from: Data(text.utf8)) == value)
        }
        for text in [#"{"num":1,"den":0}"#, #"{"num":1,"den":-2}"#, #"{"num":1}"#, #"{"num":1e30,"den":1}"#] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(Rational.self, from: Data(text.utf8)) }
        }
    }

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
}
