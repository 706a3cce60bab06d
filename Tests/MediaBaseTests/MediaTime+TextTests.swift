import MediaBase
import Testing

@Suite struct MediaTimeTextTests {
    @Test(arguments: [
        ("9009/30000", time(9009, 30000)), ("-1/3", time(-1, 3)), ("0/1", .zero),
        ("-9223372036854775808/2147483647", time(.min, .max)), ("+inf", .positiveInfinity),
        ("-inf", .negativeInfinity), ("indefinite", .indefinite), ("invalid", .invalid),
    ])
    func textReadsBack(text: String, time: MediaTime) throws {
        #expect(time.description == text)
        let read = try #require(MediaTime(text))
        #expect(read == time)
        #expect(read.timescale == time.timescale)
    }

    @Test(arguments: [
        "", "/", "1", "1/", "/1", "1/0", "1/-2", "1/2/3", " 1/2", "1/2 ", "1.5/2", "nan", "inf", "0x1/2",
        "9223372036854775808/1", "1/2147483648",
    ])
    func otherTextIsRefused(text: String) {
        #expect(MediaTime(text) == nil)
    }

    @Test func goldenClock() throws {
        for row in try goldenTable("clock.tsv", columns: 3) {
            let (time, decimals) = (try #require(MediaTime(row[0])), try #require(Int(row[1])))
            #expect(time.clockText(decimals: decimals) == row[2], "\(row[0])")
        }
    }

    @Test func clockTextAtItsLimits() {
        #expect(time(7_445_500, 1000).clockText() == "02:04:05.500")
        #expect(time(1, 3).clockText(decimals: 99) == "00:00:00.333333333333333333")
        #expect(time(1, 3).clockText(decimals: -1) == "00:00:00")
        // 2⁶³ / (2³¹ − 1) is 4294967298.000000002 seconds.
        #expect(time(.min, .max).clockText() == "-1193046:28:18.000")
        #expect(MediaTime.positiveInfinity.clockText() == "+inf")
    }
}
