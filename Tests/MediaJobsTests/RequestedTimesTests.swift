import MediaBase
import Testing

@testable import MediaJobs

/// Expected times are worked out by hand.
@Suite struct ThumbsTimesTests {
    private static let range = MediaTimeRange(
        start: MediaTime(value: 1, timescale: 1), end: MediaTime(value: 11, timescale: 1))

    private func times(
        _ times: ThumbsRequest.Times, start: String? = nil, end: String? = nil, range: MediaTimeRange = Self.range
    ) throws -> [String] {
        var request = ThumbsRequest(times: times)
        request.start = try start.map { try TimeExpression(parsing: $0) }
        request.end = try end.map { try TimeExpression(parsing: $0) }
        let context = TimeExpression.Context(timeRange: range)
        let frame = { (number: Int64) throws(MediaError) -> MediaTime in MediaTime(value: number, timescale: 10) }
        return try RequestedTimes(request, in: context, frameTime: frame).requested.map {
            Rational(try $0.get())?.description ?? "none"
        }
    }

    @Test func countIsTheCentresOfEqualParts() throws {
        #expect(try times(.count(2)) == ["7/2", "17/2"])
        #expect(try times(.count(1), start: "2", end: "4") == ["3/1"])
        #expect(try times(.count(3), end: "2") == ["7/6", "3/2", "11/6"])
        #expect(try times(.count(100_000)).count == 100_000)
    }

    @Test func everyBeginsAtTheStartAndLeavesTheEndOut() throws {
        #expect(try times(.every(.time(MediaTime(value: 5, timescale: 1)))) == ["1/1", "6/1"])
        #expect(try times(.every(.time(MediaTime(value: 4, timescale: 1)))) == ["1/1", "5/1", "9/1"])
        #expect(try times(.every(.part(Rational(1, 2))), start: "25f", end: "50%") == ["5/2", "17/4"])
        #expect(try times(.every(.time(MediaTime(value: 20, timescale: 1)))) == ["1/1"])
    }

    @Test func theRangeStaysInsideTheTrack() throws {
        #expect(try times(.count(1), start: "0", end: "99") == ["6/1"])
        for (start, end) in [("11", nil), ("5", "5"), ("6", "5"), (nil, "1")] {
            #expect(throws: MediaError.self) { try times(.count(1), start: start, end: end) }
        }
        let unknown = MediaTimeRange(start: .zero, duration: .indefinite)
        #expect(throws: MediaError.self) { try times(.count(1), range: unknown) }
        #expect(throws: MediaError.self) { try times(.every(.time(MediaTime(value: 1, timescale: 1_000_000)))) }
    }

    @Test func namedTimesKeepTheirOrderAndMeetInTheSweep() throws {
        let named = try ["2", "end", "1", "20/10"].map {
            ThumbsRequest.NamedTime(try TimeExpression(parsing: $0), text: $0)
        }
        let times = try RequestedTimes(
            ThumbsRequest(times: .at(named)), in: .init(timeRange: Self.range),
            frameTime: TimeExpression.noFrames)
        let sweep = RequestedTimes.sweep(over: times.requested)
        #expect(sweep.map(\.time.seconds) == [1, 2, 11])
        #expect(sweep.map(\.places) == [[2], [0, 3], [1]])
        #expect(times.spacing == nil)
    }
}
