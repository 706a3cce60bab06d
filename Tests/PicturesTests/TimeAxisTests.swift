import Pictures
import Testing

@Suite struct TimeAxisTests {
    private func axis(_ seconds: Double, _ width: Int, start: Double = 0) -> [TimeAxis.Tick] {
        TimeAxis(startSeconds: start, secondsPerPixel: seconds / Double(width))
            .ticks(width: width, gap: 12) { $0.count * 6 - 1 }
    }

    private func labels(_ seconds: Double, _ width: Int, start: Double = 0) -> [String] {
        axis(seconds, width, start: start).compactMap(\.label)
    }

    // By hand: 800 pixels for 60 s; a label "0:05" of 23 + 12 pixels needs 2.6 s, so every 5 s.
    @Test func oneMinute() {
        let ticks = axis(60, 800).filter { $0.label != nil }
        #expect(ticks.prefix(4).map(\.label) == ["0:00", "0:05", "0:10", "0:15"])
        #expect(ticks.map(\.x).prefix(3) == [0, 67, 133])
    }

    @Test func formsOfLabels() {
        #expect(labels(2, 800).prefix(3) == ["0.0", "0.1", "0.2"])
        #expect(labels(0.05, 800).prefix(3) == ["0.000", "0.005", "0.010"])
        #expect(labels(3 * 3600, 1000).prefix(3) == ["0:00:00", "0:10:00", "0:20:00"])
        #expect(labels(3600 * 24, 500).prefix(3) == ["0:00:00", "4:00:00", "8:00:00"])
        #expect(TimeAxis.label(3_599_000, spacing: 1000, end: 3_599_000) == "59:59")
        #expect(TimeAxis.label(3_661_500, spacing: 500, end: 3_700_000) == "1:01:01.5")
        #expect(TimeAxis.label(-1500, spacing: 500, end: 2000) == "-1.5")
    }

    @Test(arguments: [0.01, 0.7, 3, 10, 59, 61, 600, 3500, 3700, 40_000, 900_000], [60, 300, 1000, 4000])
    func labelsDoNotCollide(seconds: Double, width: Int) {
        let ticks = axis(seconds, width).filter { $0.label != nil }
        for (left, right) in zip(ticks, ticks.dropFirst()) {
            #expect(right.x - left.x >= (right.label?.count ?? 0) * 6 - 1 + 11)
        }
        for (left, right) in zip(axis(seconds, width), axis(seconds, width).dropFirst()) {
            #expect(right.x - left.x >= 3)
        }
    }

    @Test func startsInTheMiddle() {
        let ticks = axis(10, 1000, start: 3.3).filter { $0.label != nil }
        #expect(ticks.first?.milliseconds == 3500 && ticks.first?.x == 20 && ticks.first?.label == "3.5")
    }

    @Test func impossibleNumbersGiveNoTicks() {
        for axis in [
            TimeAxis(secondsPerPixel: 0), TimeAxis(secondsPerPixel: -1), TimeAxis(secondsPerPixel: .nan),
            TimeAxis(secondsPerPixel: .infinity), TimeAxis(startSeconds: .nan, secondsPerPixel: 1),
            TimeAxis(startSeconds: 1e300, secondsPerPixel: 1), TimeAxis(secondsPerPixel: 1e300),
        ] {
            #expect(axis.ticks(width: 100, gap: 4) { $0.count * 6 }.isEmpty)
        }
    }
}
