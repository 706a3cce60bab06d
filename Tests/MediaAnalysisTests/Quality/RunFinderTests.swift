import MediaAnalysis
import Testing

@Suite struct RunFinderTests {
    private func finder(_ pattern: String, minimum: Int64) -> RunFinder {
        var finder = RunFinder(minimum: minimum)
        for unit in pattern { finder.append(count: 1, holds: unit == "x") }
        return finder
    }

    @Test func runsAtHeadMiddleAndTail() {
        #expect(finder("xxx..xxxx.xxx", minimum: 3).runs == [0..<3, 5..<9, 10..<13])
        #expect(finder("xx..xxxx.xx", minimum: 3).runs == [4..<8])
        #expect(finder("xxxx", minimum: 4).runs == [0..<4])
        #expect(finder("xxxx", minimum: 5).runs.isEmpty)
        #expect(finder("", minimum: 1).runs.isEmpty)
        #expect(finder(".x.", minimum: 0).runs == [1..<2])
    }

    @Test func oneUnitMoreAndLessThanTheMinimum() {
        #expect(finder(".xxx.", minimum: 3).count == 1)
        #expect(finder(".xx.", minimum: 3).count == 0)
        #expect(finder(".xxxx.", minimum: 3).total == 4)
    }

    /// Wherever a pattern is cut into two or three parts, the runs are those of the whole.
    @Test func partsAreTheWhole() {
        var state: UInt64 = 1
        for _ in 0..<60 {
            let pattern = (0..<24).map { _ -> Character in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return state >> 60 < 10 ? "x" : "."
            }
            let whole = finder(String(pattern), minimum: 3)
            for first in 0...24 {
                for second in first...24 {
                    var joined = finder(String(pattern[..<first]), minimum: 3)
                    joined.append(finder(String(pattern[first..<second]), minimum: 3))
                    joined.append(finder(String(pattern[second...]), minimum: 3))
                    #expect(joined.runs == whole.runs && joined.total == whole.total && joined.length == 24)
                }
            }
        }
    }

    @Test func moreRunsThanAreListedAreCounted() {
        let many = Int64(RunFinder.maximumRuns) + 100
        var finder = RunFinder(minimum: 2)
        for _ in 0..<many {
            finder.append(count: 1, holds: false)
            finder.append(count: 2, holds: true)
        }
        finder.append(count: 1, holds: false)
        #expect(finder.runs.count == RunFinder.maximumRuns)
        #expect(finder.count == many && finder.total == 2 * many)
    }

    @Test func lengthsBeyondAllMeasureDoNotTrap() {
        var finder = RunFinder(minimum: .max)
        for _ in 0..<3 { finder.append(count: .max, holds: true) }
        finder.append(count: .max, holds: false)
        #expect(finder.length == .max && finder.count == 1)
    }
}

@Suite struct FreezeDetectorTests {
    private func runs(_ pictures: String, ticks: Int64 = 10, minimum: Int64) -> [Range<Int64>] {
        var detector = FreezeDetector(minimum: minimum)
        var previous: Character?
        for picture in pictures {
            detector.append(ticks: ticks, isSame: picture == previous)
            previous = picture
        }
        return detector.result.runs
    }

    @Test func aFreezeBeginsWithThePictureThatStays() {
        #expect(runs("abbbcd", minimum: 30) == [10..<40])
        #expect(runs("abbcd", minimum: 30).isEmpty)
        #expect(runs("aaabcccc", minimum: 30) == [0..<30, 40..<80])
        #expect(runs("aaabbb", minimum: 30) == [0..<30, 30..<60])
        #expect(runs("", minimum: 1).isEmpty)
    }

    @Test func onePictureAloneDoesNotStandStill() {
        var detector = FreezeDetector(minimum: 10)
        detector.append(ticks: 1000, isSame: false)
        detector.append(ticks: 10, isSame: false)
        #expect(detector.result.runs.isEmpty)
    }
}
