import MediaAnalysis
import Testing

@Suite struct FrameRhythmTests {
    private func rhythm(_ differences: [Double?]) -> FrameCadence {
        var rhythm = FrameCadence(stillness: 0.001, jump: 1.6)
        for difference in differences { rhythm.append(ticks: 2, difference: difference) }
        rhythm.finish()
        return rhythm
    }

    @Test func repeatsLieBetweenPicturesThatMove() {
        let moving = [Double?](repeating: 0.05, count: 6)
        #expect(rhythm([nil] + moving).repeats.runs.isEmpty)
        #expect(rhythm([nil] + moving + [0] + moving).repeats.runs == [14..<16])
        #expect(rhythm([nil] + moving + [0.001, 0] + moving).repeats.runs == [14..<18])
        // A freeze, and pictures that hardly move before.
        #expect(rhythm([nil] + moving + Array(repeating: 0, count: 13) + moving).repeats.runs.isEmpty)
        #expect(rhythm([nil] + moving + [0.002, 0] + moving).repeats.runs.isEmpty)
        // The end is no motion.
        #expect(rhythm([nil] + moving + [0]).repeats.runs.isEmpty)
        #expect(rhythm([nil] + moving + [0]).repeats.length == 16)
    }

    @Test func jumpsStandOutOfEvenMotion() {
        func with(_ difference: Double) -> FrameCadence {
            rhythm([nil, 0.05, 0.05, 0.05, difference, 0.05, 0.05, 0.05])
        }
        #expect(with(0.09).jumps.runs == [8..<10])
        #expect(with(0.075).jumps.runs.isEmpty)
        // A cut.
        #expect(with(0.21).jumps.runs.isEmpty)
        #expect(rhythm([nil, 0.05, 0.03, 0.05, 0.09, 0.05, 0.03]).jumps.runs.isEmpty)
        #expect(rhythm([nil, 0.001, 0.001, 0.001, 0.002, 0.001, 0.001]).jumps.runs.isEmpty)
        #expect(with(0.09).jumps.length == 16 && rhythm([nil, 0.1, 0.1]).jumps.length == 6)
    }
}

@Suite struct FrameIntervalsTests {
    private func intervals(_ lengths: [Int64]) -> FrameIntervals {
        var intervals = FrameIntervals()
        var start: Int64 = 100
        for length in lengths {
            intervals.append(start: start, ticks: length)
            start += length
        }
        return intervals
    }

    @Test func roundedTimesAreEven() {
        let even = intervals([33, 33, 34, 33, 33, 34])
        #expect(even.usual == 33 && even.isVariable == false && even.missing?.count == 0)
        #expect(intervals([]).usual == nil && intervals([]).isVariable == nil)
    }

    @Test func missingPicturesAreCounted() {
        let gaps = intervals([40, 40, 80, 40, 40, 160, 40, 40])
        #expect(gaps.usual == 40 && gaps.isVariable == true)
        #expect(gaps.missing?.count == 4 && gaps.missing?.first == 180..<260)
        // 1.5 times the usual is the least.
        #expect(intervals([40, 40, 40, 59]).missing?.count == 0)
        #expect(intervals([40, 40, 40, 60]).missing?.count == 1)
    }

    @Test func withoutAUsualTimeNothingIsMissing() {
        let varied = intervals([10, 20, 30, 40, 50, 60])
        #expect(varied.usual == nil && varied.missing == nil && varied.isVariable == true)
        let many = intervals((0..<10_000).map { $0 * 5 })
        #expect(many.usual == nil && many.isVariable == true)
    }
}

@Suite struct FieldCombTests {
    private let shape = PlaneShape(width: 64, rows: 48, stride: 64)

    /// A slanted wave that moves across, taken at a moment for each line.
    private func picture(_ moment: (_ row: Int) -> Int) -> [UInt8] {
        (0..<shape.rows).flatMap { row in
            (0..<shape.width).map { x in
                let phase = (x + 3 * moment(row) + row / 4) % 32
                return UInt8(phase < 16 ? 60 + 8 * phase : 60 + 8 * (31 - phase))
            }
        }
    }

    private func look(_ moment: (_ picture: Int, _ row: Int) -> Int) -> CombDetector.Look? {
        let (before, here, after) = (
            picture { moment(0, $0) }, picture { moment(1, $0) }, picture { moment(2, $0) }
        )
        let comb = PlaneKernels.comb(here.span, before: before.span, after: after.span, shape)
        func wide(_ plane: [UInt8]) -> [UInt16] { plane.map { UInt16($0) << 2 } }
        let (past, present, future) = (wide(before), wide(here), wide(after))
        let wideComb = PlaneKernels.comb(present.span, before: past.span, after: future.span, shape)
        #expect(wideComb.look == comb.look && wideComb.own == 4 * comb.own)
        return comb.look
    }

    @Test func looksAreTold() {
        #expect(look { picture, _ in 2 * picture } == .progressive)
        #expect(look { picture, row in 2 * picture + row % 2 } == .topFieldFirst)
        #expect(look { picture, row in 2 * picture + 1 - row % 2 } == .bottomFieldFirst)
        #expect(look { _, _ in 0 } == nil)
    }

    @Test func looksOfBothOrdersAreChance() {
        var tally = FieldTally()
        for _ in 0..<8 { tally.add(.topFieldFirst, flagged: nil) }
        #expect(tally.hiddenInterlaced == 8)
        for _ in 0..<3 { tally.add(.bottomFieldFirst, flagged: nil) }
        #expect(tally.hiddenInterlaced == 0)
        for _ in 0..<4 { tally.add(.bottomFieldFirst, flagged: true) }
        #expect(tally.swapped == 4 && tally.interlaced == 0)
        tally.add(.progressive, flagged: false)
        tally.add(.progressive, flagged: nil)
        #expect(tally.hiddenProgressive == 1 && tally.progressive == 1)
    }
}

@Suite struct SoundOutlineTests {
    @Test func partsGiveWhatTheWholeGives() throws {
        let rate = 800
        let samples = (0..<rate * 90).map { Float(sinLike($0)) }
        func outline(_ range: Range<Int>) throws -> SoundOutline {
            var outline = SoundOutline(channels: 1, sampleRate: rate)
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 1111) {
                outline.append(try PlanarSamples([Array(samples[start..<min(start + 1111, range.upperBound)])]))
            }
            return outline
        }
        let whole = try outline(0..<samples.count)
        var joined = SoundOutline(channels: 1, sampleRate: rate)
        for part in 0..<3 { joined.append(try outline(part * rate * 30..<(part + 1) * rate * 30)) }
        #expect(joined == whole)
        let steps = whole.channels[0]
        #expect(steps.count <= 4097 && whole.frames == Int64(samples.count))
        for (index, range) in steps.enumerated() {
            let part = samples[index * whole.step..<min((index + 1) * whole.step, samples.count)]
            #expect(range.lowerBound == part.min() && range.upperBound == part.max())
        }
    }

    /// Something that is nowhere the same.
    private func sinLike(_ index: Int) -> Double { Double((index &* 7919) % 10_007) / 10_007 - 0.5 }
}
