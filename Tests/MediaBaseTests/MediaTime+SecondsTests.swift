import MediaBase
import Testing

@Suite struct MediaTimeSecondsTests {
    static func rule(_ name: String) -> RoundingRule? {
        RoundingRule.allCases.first { String(describing: $0) == name }
    }

    @Test func goldenRounding() throws {
        var rules: Set<RoundingRule> = []
        for row in try goldenTable("rounding.tsv", columns: 5) {
            let rule = try #require(Self.rule(row[2]))
            rules.insert(rule)
            let time = try #require(MediaTime(row[0]))
            let result = time.converted(toTimescale: try #require(Int32(row[1])), rounding: rule)
            #expect(shape(result) == "\(row[3]) \(row[4])", "\(row[0]) to \(row[1]) \(row[2])")
        }
        #expect(rules == Set(RoundingRule.allCases))
    }

    @Test func goldenFromSeconds() throws {
        for row in try goldenTable("from-seconds.tsv", columns: 5) {
            let seconds = try double(bits: row[0])
            let result = MediaTime(
                seconds: seconds, preferredTimescale: try #require(Int32(row[1])),
                rounding: try #require(Self.rule(row[2])))
            #expect(shape(result) == "\(row[3]) \(row[4])", "\(seconds) at \(row[1]) \(row[2])")
        }
    }

    @Test func goldenToSeconds() throws {
        for row in try goldenTable("to-seconds.tsv", columns: 2) {
            let (time, seconds) = (try #require(MediaTime(row[0])), try double(bits: row[1]))
            #expect(time.seconds == seconds, "\(row[0])")
        }
    }

    @Test func specialSeconds() {
        #expect(MediaTime.positiveInfinity.seconds == .infinity)
        #expect(MediaTime.negativeInfinity.seconds == -.infinity)
        #expect(MediaTime.indefinite.seconds.isNaN)
        #expect(MediaTime.invalid.seconds.isNaN)
        #expect(MediaTime(seconds: .infinity, preferredTimescale: 600) == .positiveInfinity)
        #expect(MediaTime(seconds: -.infinity, preferredTimescale: 600) == .negativeInfinity)
        #expect(!MediaTime(seconds: .nan, preferredTimescale: 600).isValid)
        #expect(shape(MediaTime(seconds: -0.0, preferredTimescale: 600)) == "0/600 0")
    }

    /// The Double 0.3 is a little less than 3/10, and 3/10 all the same.
    @Test func aDoubleThatReadsAsTicksIsThoseTicks() {
        for rule in RoundingRule.allCases {
            let tenths = MediaTime(seconds: 0.3, preferredTimescale: 10, rounding: rule)
            #expect(shape(tenths) == "3/10 0", "\(rule)")
        }
        #expect(shape(MediaTime(seconds: 0.35, preferredTimescale: 10, rounding: .down)) == "3/10 1")
    }

    @Test func specialTimesConvertToThemselves() {
        for special in timesInOrder where !special.isNumeric {
            #expect(special.converted(toTimescale: 90000) == special)
        }
        #expect(time(.max, 1).converted(toTimescale: 2) == .positiveInfinity)
        #expect(time(.min, 1).converted(toTimescale: 2) == .negativeInfinity)
    }

    /// By hand: 1001/30000 s at 44100 Hz is sample 1471.47.
    @Test func sampleIndexIsTheSampleSounding() {
        #expect(time(1, 2).sampleIndex(rate: 44100) == 22050)
        #expect(time(1001, 30000).sampleIndex(rate: 44100) == 1471)
        #expect(time(1001, 30000).sampleIndex(rate: 44100, rounding: .up) == 1472)
        #expect(time(-1, 30000).sampleIndex(rate: 44100) == -2)
        #expect(MediaTime.indefinite.sampleIndex(rate: 44100) == nil)
        #expect(time(.max, 1).sampleIndex(rate: 44100) == nil)
        #expect(time(1, 1).sampleIndex(rate: 0) == nil)
    }

    @Test func rationalSeconds() {
        #expect(shape(MediaTime(Rational(1001, 30000))) == "1001/30000 0")
        #expect(MediaTime(Rational(1, 1 << 40)).hasBeenRounded)
        #expect(!MediaTime(Rational.invalid).isValid)
        #expect(Rational(time(200, 400)) == Rational(1, 2))
        #expect(Rational(MediaTime.indefinite) == nil)
    }
}
