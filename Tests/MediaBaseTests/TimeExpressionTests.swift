import MediaBase
import Testing

@Suite struct TimeExpressionTests {
    /// A track from 1 s to 11 s.
    private let context = TimeExpression.Context(
        timeRange: MediaTimeRange(start: time(1, 1), duration: time(10, 1)), frameRate: Rational(30000, 1001))

    private func resolve(_ text: String, _ context: TimeExpression.Context) throws(MediaError) -> MediaTime {
        try TimeExpression(parsing: text).resolve(in: context) { number throws(MediaError) in
            guard number < 300 else { throw MediaError(.outOfRange, "there are 300 frames") }
            return time(1, 1) + time(1001, 30000).multiplied(by: number)
        }
    }

    private func refusal(_ text: String, _ context: TimeExpression.Context) -> MediaError.Code? {
        do {
            _ = try resolve(text, context)
            return nil
        } catch { return error.code }
    }

    /// By hand: percentages and the end belong to the track's range, the other times to the presentation.
    @Test(arguments: [
        ("2.5", time(5, 2)), ("00:01:00", time(60, 1)), ("9009/30000", time(9009, 30000)), ("-1", time(-1, 1)),
        ("0%", time(1, 1)), ("50%", time(6, 1)), ("100%", time(11, 1)), ("33.3%", time(433, 100)), ("end", time(11, 1)),
        ("0f", time(1, 1)), ("250f", time(280_250, 30000)), ("00:00:01:00", time(1001, 1000)),
        ("00:01:00;02", time(60060, 1000)), ("00:01:00:00", time(60060, 1000)),
    ])
    func elapsedTimes(text: String, expected: MediaTime) throws {
        #expect(try resolve(text, context) == expected)
    }

    @Test func timecodesAreAbsoluteWhereTheFileHasOne() throws {
        var context = context
        context.startTimecode = try Timecode("01:00:00;00", rate: try rate(30000, 1001, drop: true))
        #expect(try resolve("01:00:00;00", context) == .zero)
        #expect(try resolve("01:00:10;00", context) == time(300 * 1001, 30000))
        #expect(try resolve("00:59:59;29", context) == time(-1001, 30000))
        #expect(refusal("01:00:10:00", context) == .invalidArgument)
        #expect(refusal("01:01:00;00", context) == .invalidArgument)
        context.timecodeOrigin = time(1, 2)
        #expect(try resolve("01:00:00;00", context) == time(1, 2))
    }

    /// 2 s before midnight: the day's first frame is the sixtieth, and noon lies before the file.
    @Test func timecodesBeginAnewAtMidnight() throws {
        var context = context
        context.startTimecode = try Timecode("23:59:58;00", rate: try rate(30000, 1001, drop: true))
        #expect(try resolve("00:00:00;00", context) == time(60 * 1001, 30000))
        #expect(try resolve("12:00:00;00", context) < .zero)
    }

    /// Frame 2 begins at 66.73 ms, which a file in milliseconds says as 67.
    @Test func timecodesMeetRoundedTimestamps() throws {
        var context = context
        context.timestampScale = 1000
        #expect(shape(try resolve("00:00:00:02", context)) == "67/1000 1")
        #expect(shape(try resolve("2002/30000", context)) == "2002/30000 0")
    }

    @Test func whatATrackCannotAnswer() throws {
        let bare = TimeExpression.Context(timeRange: MediaTimeRange(start: .zero, duration: .indefinite))
        #expect(refusal("00:00:01:00", bare) == .invalidArgument)
        #expect(refusal("50%", bare) == .outOfRange)
        #expect(refusal("end", bare) == .outOfRange)
        #expect(refusal("1.5", bare) == nil)
        #expect(refusal("300f", context) == .outOfRange)
        #expect(refusal("-1f", context) == .outOfRange)
        #expect(refusal("00:01:00;00", context) == .invalidArgument)
        #expect(refusal("00:00:00:30", context) == .invalidArgument)
        var pal = context
        pal.frameRate = Rational(25)
        #expect(refusal("00:00:01;00", pal) == .invalidArgument)
        #expect(throws: MediaError.self) { try TimeExpression.frame(1).resolve(in: context) }
        #expect(throws: MediaError.self) { try TimeExpression.time(.invalid).resolve(in: context) }
    }
}
