import MediaBase
import Testing

/// The timecode rate of a frame rate.
func rate(_ num: Int64, _ den: Int64 = 1, drop: Bool = false) throws -> Timecode.Rate {
    try Timecode.Rate(frameRate: Rational(num, den), isDropFrame: drop)
}

@Suite struct TimecodeTests {
    @Test func goldenTimecodes() throws {
        for row in try goldenTable("timecode.tsv", columns: 6) {
            let rate = try Timecode.Rate(
                nominal: try #require(Int(row[0])), frameDuration: try #require(MediaTime(row[2])),
                isDropFrame: row[1] == "1")
            let timecode = Timecode(frameNumber: try #require(Int64(row[3])), rate: rate)
            #expect(timecode.description == row[4], "\(row)")
            #expect(timecode.time == MediaTime(row[5]), "\(row)")
            #expect(try Timecode(row[4], rate: rate) == timecode, "\(row)")
            #expect(try Timecode(elapsed: timecode.time, rate: rate) == timecode, "\(row)")
        }
    }

    /// SMPTE ST 12-1 by hand: 1798 frames in most minutes, 17982 in ten, 107892 in an hour.
    @Test func dropFrameByHand() throws {
        let drop = try rate(30000, 1001, drop: true)
        let table: [(String, Int64)] = [
            ("00:00:00;00", 0), ("00:00:59;29", 1799), ("00:01:00;02", 1800), ("00:01:59;29", 3597),
            ("00:02:00;02", 3598), ("00:09:59;29", 17981), ("00:10:00;00", 17982), ("00:11:00;02", 19782),
            ("01:00:00;00", 107_892), ("23:59:59;29", 2_589_407), ("24:00:00;00", 2_589_408), ("-00:00:00;01", -1),
            ("-00:01:00;02", -1800),
        ]
        for (text, number) in table {
            #expect(try Timecode(text, rate: drop).frameNumber == number)
            #expect(Timecode(frameNumber: number, rate: drop).description == text)
        }
        let fast = try rate(60000, 1001, drop: true)
        #expect(try Timecode("00:01:00;04", rate: fast).frameNumber == 3600)
        #expect(try Timecode("01:00:00;00", rate: fast).frameNumber == 215_784)
    }

    @Test func everyFrameHasItsOwnNameInOrder() throws {
        let drop = try rate(30000, 1001, drop: true)
        var last = ""
        for number in Int64(0)..<20000 {
            let timecode = Timecode(frameNumber: number, rate: drop)
            let text = timecode.description
            #expect(text > last)
            #expect(try Timecode(text, rate: drop) == timecode)
            last = text
        }
    }

    @Test func ratesThatCannotBe() throws {
        let cases: [(Int, MediaTime, Bool)] = [
            (0, time(1, 25), false), (1001, time(1, 1001), false), (-5, time(1, 25), false), (25, .zero, false),
            (25, time(-1, 25), false), (25, .indefinite, false), (25, time(1, 25), true), (24, time(1001, 24000), true),
            (30, time(1, 30), true), (60, time(1, 60), true), (120, time(1001, 120000), true),
        ]
        for (nominal, duration, drop) in cases {
            #expect(throws: MediaError.self, "\(nominal) \(duration) \(drop)") {
                try Timecode.Rate(nominal: nominal, frameDuration: duration, isDropFrame: drop)
            }
        }
        for frameRate in [Rational.zero, .invalid, Rational(-25), Rational(.max), Rational(.max, .max - 1)] {
            #expect(throws: MediaError.self, "\(frameRate)") { try Timecode.Rate(frameRate: frameRate) }
        }
        #expect(try rate(24000, 1001).nominal == 24)
        #expect(try rate(24000, 1001).frameDuration == time(1001, 24000))
        #expect(try rate(1000).nominal == 1000)
        #expect(try rate(2997, 100, drop: true).nominal == 30)
    }

    @Test func timeBetweenFramesIsTheFrameOnScreen() throws {
        let rate = try rate(25)
        #expect(try Timecode(elapsed: time(79, 1000), rate: rate).frameNumber == 1)
        #expect(try Timecode(elapsed: time(80, 1000), rate: rate).frameNumber == 2)
        #expect(try Timecode(elapsed: time(79, 1000), rate: rate, rounding: .up).frameNumber == 2)
        #expect(try Timecode(elapsed: time(-1, 1000), rate: rate).frameNumber == -1)
        for special in timesInOrder where !special.isNumeric {
            #expect(throws: MediaError.self) { try Timecode(elapsed: special, rate: rate) }
        }
        #expect(throws: MediaError.self) { try Timecode(elapsed: time(.max, 1), rate: rate) }
    }

    @Test func daysWrapOnlyWhenAsked() throws {
        let (pal, drop) = (try rate(25), try rate(30000, 1001, drop: true))
        let late = try Timecode("25:00:00:00", rate: pal)
        #expect(late.frameNumber == 2_250_000)
        #expect(late.description == "25:00:00:00")
        #expect(late.wrappedAt24Hours.description == "01:00:00:00")
        #expect(Timecode(frameNumber: -1, rate: pal).wrappedAt24Hours.description == "23:59:59:24")
        #expect(Timecode(frameNumber: 2_160_000, rate: pal).wrappedAt24Hours.frameNumber == 0)
        #expect(Timecode(frameNumber: -1, rate: drop).wrappedAt24Hours.description == "23:59:59;29")
    }

    @Test func stepsAndDistances() throws {
        let drop = try rate(30000, 1001, drop: true)
        let (start, later) = (try Timecode("01:00:00;00", rate: drop), try Timecode("01:00:10;00", rate: drop))
        #expect(later.time(since: start) == time(300 * 1001, 30000))
        #expect(start.advanced(byFrames: 300) == later)
        #expect(start.advanced(byFrames: .max) == nil)
        #expect(later.time(since: Timecode(frameNumber: 0, rate: try rate(25))) == nil)
    }

    /// 2⁶³ frames are 85 401 592 933 840 hours of 108000 numbers each, and the dropped numbers come on top.
    @Test func theLargestNumbersHaveText() throws {
        let drop = try rate(30000, 1001, drop: true)
        for number in [Int64.max, .min] {
            let timecode = Timecode(frameNumber: number, rate: drop)
            #expect(timecode.fields.isNegative == (number < 0))
            #expect(timecode.fields.hours > 85_401_592_933_840)
            #expect(timecode.time.isValid)
            #expect(timecode.wrappedAt24Hours.fields.hours < 24)
        }
    }
}
