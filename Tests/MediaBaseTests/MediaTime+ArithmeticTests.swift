import MediaBase
import TestSupport
import Testing

@Suite struct MediaTimeArithmeticTests {
    @Test func goldenArithmetic() throws {
        for row in try goldenTable("arithmetic.tsv", columns: 5) {
            let left = try #require(MediaTime(row[1]))
            let result: MediaTime
            switch row[0] {
            case "add": result = left + (try #require(MediaTime(row[2])))
            case "subtract": result = left - (try #require(MediaTime(row[2])))
            case "multiply": result = left.multiplied(by: try #require(Int64(row[2])))
            case "double": result = left.multiplied(by: try double(bits: row[2]))
            case "ratio":
                let parts = try row[2].split(separator: "/").map { try #require(Int64($0)) }
                result = left.multiplied(by: parts[0], dividedBy: parts[1])
            default:
                Issue.record("unknown operation \(row[0])")
                continue
            }
            #expect(shape(result) == "\(row[3]) \(row[4])", "\(row[0]) \(row[1]) \(row[2])")
        }
    }

    /// By hand: 1/24 + 1/25 = 49/600, and what cannot be held is rounded and says so.
    @Test func sumsAreInTheLeastCommonTimescale() {
        #expect(shape(time(1, 24) + time(1, 25)) == "49/600 0")
        #expect(shape(time(1, 30) + time(1, 30)) == "2/30 0")
        #expect(shape(time(1, 2) - time(1, 3)) == "1/6 0")
        let rounded = time(1, .max) + time(1, 2_147_483_629)
        #expect(shape(rounded) == "2/2147483647 1")
        #expect((rounded - time(1, 1)).hasBeenRounded)
        #expect((time(1, 1) + rounded).hasBeenRounded)
        #expect(rounded.multiplied(by: Int64(2)).hasBeenRounded)
        #expect(rounded.multiplied(by: 1, dividedBy: 2).hasBeenRounded)
        #expect(rounded.converted(toTimescale: 1).hasBeenRounded)
        var sum = time(1, 24)
        sum += time(1, 25)
        sum -= time(49, 600)
        #expect(sum == .zero)
    }

    @Test func sumsBeyondSixtyFourBitsAreInfinite() {
        #expect(time(.max, 1) + time(1, 1) == .positiveInfinity)
        #expect(time(.min, 1) - time(1, 1) == .negativeInfinity)
        #expect(time(.max, 1) * 2 == .positiveInfinity)
        #expect(time(.max, 1) * -2 == .negativeInfinity)
        #expect(-time(.min, 1) == .positiveInfinity)
        #expect(shape(-time(.min, 2)) == "4611686018427387904/1 0")
        #expect(time(.min, 1).absoluteValue == .positiveInfinity)
        #expect(time(-3, 4).absoluteValue == time(3, 4))
        #expect(MediaTime.negativeInfinity.absoluteValue == .positiveInfinity)
    }

    /// The tables at CMTimeAdd and CMTimeSubtract in CMTime.h.
    @Test func specialSums() {
        let (plus, minus, one) = (MediaTime.positiveInfinity, MediaTime.negativeInfinity, time(1, 1))
        let table: [(MediaTime, MediaTime, sum: MediaTime, difference: MediaTime)] = [
            (plus, plus, plus, .invalid), (minus, minus, minus, .invalid),
            (plus, minus, .invalid, plus), (minus, plus, .invalid, minus),
            (plus, one, plus, plus), (one, plus, plus, minus), (minus, one, minus, minus), (one, minus, minus, plus),
            (plus, .indefinite, plus, plus), (.indefinite, plus, plus, minus),
            (.indefinite, one, .indefinite, .indefinite), (one, .indefinite, .indefinite, .indefinite),
            (.indefinite, .indefinite, .indefinite, .indefinite),
            (.invalid, one, .invalid, .invalid), (one, .invalid, .invalid, .invalid),
            (.invalid, plus, .invalid, .invalid), (minus, .invalid, .invalid, .invalid),
        ]
        for row in table {
            #expect(row.0 + row.1 == row.sum, "\(row.0) + \(row.1)")
            #expect(row.0 - row.1 == row.difference, "\(row.0) - \(row.1)")
        }
    }

    /// The rules at CMTimeMultiply, …ByFloat64 and …ByRatio; ∞ times 0 is invalid as ∞ − ∞ is.
    @Test func specialProducts() {
        #expect(MediaTime.positiveInfinity * -1 == .negativeInfinity)
        #expect(MediaTime.negativeInfinity * -3 == .positiveInfinity)
        #expect(MediaTime.positiveInfinity * 0 == .invalid)
        #expect(MediaTime.indefinite * 2 == .indefinite)
        #expect(MediaTime.invalid * 2 == .invalid)
        #expect(MediaTime.negativeInfinity.multiplied(by: -0.5) == .positiveInfinity)
        #expect(time(1, 2).multiplied(by: .nan) == .invalid)
        #expect(time(-1, 2).multiplied(by: .infinity) == .negativeInfinity)
        #expect(time(-1, 2).multiplied(by: -.infinity) == .positiveInfinity)
        #expect(MediaTime.zero.multiplied(by: .infinity) == .invalid)
        #expect(time(-1, 2).multiplied(by: 3, dividedBy: 0) == .negativeInfinity)
        #expect(time(-1, 2).multiplied(by: -3, dividedBy: 0) == .positiveInfinity)
        #expect(time(1, 2).multiplied(by: 0, dividedBy: 0) == .invalid)
        #expect(MediaTime.zero.multiplied(by: 3, dividedBy: 0) == .invalid)
        #expect(MediaTime.positiveInfinity.multiplied(by: 1, dividedBy: -2) == .negativeInfinity)
        #expect(MediaTime.indefinite.multiplied(by: 1, dividedBy: 2) == .indefinite)
        #expect(time(1, 2).multiplied(by: Rational.invalid) == .invalid)
    }

    @Test func productsKeepTheTimescaleWhereTheyCan() {
        #expect(shape(time(10, 600).multiplied(by: 0.5)) == "5/600 0")
        #expect(shape(time(10, 600) * 0.5) == "5/600 0")
        #expect(shape(time(1001, 30000) * 250) == "250250/30000 0")
        #expect(shape(time(10, 600).multiplied(by: 1, dividedBy: 2)) == "5/600 0")
        #expect(shape(time(1, 600).multiplied(by: Rational(1, 7))) == "1/4200 0")
        // CMTimeMultiplyByFloat64 doubles the timescale until it is at least 65536.
        #expect(shape(time(10, 1).multiplied(by: 0.1)) == "65536/65536 1")
    }

    @Test func laws() {
        var generator = SeededGenerator(state: 2)
        for _ in 0..<20000 {
            let (a, b) = (generator.time(), generator.time())
            #expect(a + b == b + a, "\(a), \(b)")
            let sum = a + b
            if a.isNumeric, b.isNumeric, !sum.hasBeenRounded, sum.isNumeric {
                #expect(sum - b == a || (sum - b).hasBeenRounded, "\(a), \(b)")
                #expect((sum < a) == (b < .zero), "\(a), \(b)")
            }
            if a.isNumeric { #expect(a - a == .zero, "\(a)") }
            #expect(a.multiplied(by: 7, dividedBy: 7) == a, "\(a)")
            #expect(a.multiplied(by: 1.0) == a, "\(a)")
        }
    }
}
