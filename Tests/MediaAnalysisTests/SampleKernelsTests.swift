import MediaAnalysis
import TestSupport
import Testing

@Suite struct SampleKernelsTests {
    private func random(_ count: Int, seed: UInt64) -> [Int16] {
        var generator = SeededGenerator(state: seed)
        return (0..<count).map { _ in Int16(truncatingIfNeeded: generator.next()) }
    }

    @Test func convertsInterleaved() {
        let source: [Float] = [0, 0.5, -0.5, 1, .nan]
        var out = [Int16](repeating: 7, count: 6)
        var span = out.mutableSpan
        SampleKernels.convert(source.span, into: &span)
        #expect(out == [0, 16384, -16384, 32767, 0, 7])
    }

    @Test func extractsAChannel() {
        let source: [Int16] = [1, -1, 2, -2, 3, -3, 7]
        var out = [Int16](repeating: 9, count: 4)
        for (channel, wanted) in [(0, [1, 2, 3, 9]), (1, [-1, -2, -3, 9]), (2, [-1, -2, -3, 9])] as [(Int, [Int16])] {
            var span = out.mutableSpan
            SampleKernels.extract(channel, of: 2, from: source.span, into: &span)
            #expect(out == wanted)
        }
        var span = out.mutableSpan
        SampleKernels.extract(1, of: 3, from: source.span, into: &span)
        #expect(out == [-1, 3, -3, 9])
    }

    @Test(arguments: [0, 1, 2, 7, 8, 9, 4095, 4096, 4097, 9001])
    func levelsAgreeWithScalar(count: Int) {
        let samples = random(count, seed: UInt64(count)) + (count > 4000 ? [.min, .min, .min, .max] : [])
        let levels = SampleKernels.levels(of: samples.span)
        #expect(levels.low == samples.min() ?? .max)
        #expect(levels.high == samples.max() ?? .min)
        #expect(levels.squares == samples.reduce(0) { $0 + UInt64(Int($1) * Int($1)) })
        #expect(SampleKernels.narrowLevels(of: samples.span) == levels)
    }

    /// One more than the samples whose squares are added up at once, at every place of a vector.
    @Test func levelsOfManySamples() {
        let samples = [Int16](repeating: .min, count: 1 << 18 + 1) + random(40, seed: 1)
        for count in samples.count - 40...samples.count {
            let part = samples.span.extracting(first: count)
            #expect(SampleKernels.levels(of: part) == SampleKernels.narrowLevels(of: part))
        }
    }

    /// Each way to convert floating point says what the scalar rule says, whatever the place in a vector.
    @Test func floatsAgreeWithScalar() {
        var generator = SeededGenerator(state: 11)
        var numbers: [Float] = [
            0, -0, 1, -1, .nan, -.nan, .infinity, -.infinity, 1e30, -1e30, .leastNonzeroMagnitude, 32766.5 / 32768,
            32767.5 / 32768, 0.5 / 32768, 1.5 / 32768, -0.5 / 32768, -1.5 / 32768, -32768.5 / 32768,
        ]
        numbers += (0..<300).map { _ in Float(Int32(truncatingIfNeeded: generator.next())) / 1_900_000_000 }
        numbers += (0..<300).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())) }
        for start in 0..<33 {
            let part = Array(numbers[start...])
            let wanted = part.map { ScalarSampleKernels.int16(Double($0)) }
            var (wide, narrow) = ([Int16](repeating: 9, count: part.count), [Int16](repeating: 9, count: part.count))
            var wideSpan = wide.mutableSpan
            var narrowSpan = narrow.mutableSpan
            SampleKernels.convert(part.span, into: &wideSpan)
            Float.narrowConvert(part.span, into: &narrowSpan)
            #expect(wide == wanted)
            #expect(narrow == wanted)
        }
    }

    @Test func squaresOfTheLowestSampleDoNotOverflow() {
        let samples = [Int16](repeating: .min, count: 10_000)
        #expect(SampleKernels.levels(of: samples.span).squares == 10_000 << 30)
    }

    @Test func mixOfPlanesAgreesWithScalar() {
        let edge: [Int16] = [.min, -32767, -2, -1, 0, 1, 2, 32766, .max]
        let left = edge.flatMap { [Int16](repeating: $0, count: edge.count) } + random(999, seed: 5)
        let right = edge.flatMap { _ in edge } + random(999, seed: 6)
        var out = [Int16](repeating: 0, count: left.count)
        var span = out.mutableSpan
        SampleKernels.mix(left.span, right.span, into: &span)
        #expect(out == zip(left, right).map { ScalarSampleKernels.mix([$0, $1]) })
        var narrow = [Int16](repeating: 0, count: left.count)
        var narrowSpan = narrow.mutableSpan
        SampleKernels.narrowMix(left.span, right.span, into: &narrowSpan)
        #expect(narrow == out)
    }

    /// One pass over stereo gives what mixing and measuring apart give, at every place of a vector.
    @Test func mixesAndMeasuresStereoAtOnce() {
        let edge: [Int16] = [.min, -32767, -2, -1, 0, 1, 2, 32766, .max]
        let samples = edge.flatMap { first in edge.flatMap { [first, $0] } } + random(2000, seed: 8)
        for frames in [0, 1, 15, 16, 17, 31, 33, 81, samples.count / 2] {
            let part = samples.span.extracting(first: 2 * frames)
            let left = (0..<frames).map { samples[2 * $0] }
            let right = (0..<frames).map { samples[2 * $0 + 1] }
            var out: [Int16] = [9]
            var levels: (left: PlaneLevels, right: PlaneLevels)?
            out.append(addingCapacity: frames) { levels = SampleKernels.mixStereo(part, into: &$0) }
            guard let both = levels else { return }
            #expect(out == [9] + zip(left, right).map { ScalarSampleKernels.mix([$0, $1]) })
            #expect(both.left == SampleKernels.narrowLevels(of: left.span))
            #expect(both.right == SampleKernels.narrowLevels(of: right.span))
        }
    }

    /// The squares of more samples than are added up at once.
    @Test func levelsOfMuchStereo() {
        let samples = [Int16](repeating: .min, count: 2 << 18 + 2) + random(64, seed: 2)
        var out: [Int16] = []
        var levels: (left: PlaneLevels, right: PlaneLevels)?
        out.append(addingCapacity: samples.count / 2) { levels = SampleKernels.mixStereo(samples.span, into: &$0) }
        guard let both = levels else { return }
        let right = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
        #expect(both.right == SampleKernels.narrowLevels(of: right.span))
        #expect(out.first == .min && both.left.squares > 1 << 48)
    }

    @Test func mixesAndMeasuresPlanesAtOnce() {
        var generator = SeededGenerator(state: 12)
        var numbers: [Float] = [.nan, .infinity, -.infinity, 1, -1, 0.5 / 32768, -1.5 / 32768, 32767.5 / 32768]
        numbers += (0..<300).map { _ in Float(Int32(truncatingIfNeeded: generator.next())) / 1_900_000_000 }
        for frames in [0, 1, 15, 16, 17, 100] {
            let (left, right) = (Array(numbers.prefix(frames)), Array(numbers.suffix(frames)))
            var out: [Int16] = [9]
            var measured: (left: PlaneLevels, right: PlaneLevels)?
            out.append(addingCapacity: frames) {
                measured = SampleKernels.mixPlanes(left.span, right.span, into: &$0)
            }
            guard let both = measured else { return }
            let (lefts, rights) = (
                left.map { ScalarSampleKernels.int16(Double($0)) }, right.map { ScalarSampleKernels.int16(Double($0)) }
            )
            #expect(out == [9] + zip(lefts, rights).map { ScalarSampleKernels.mix([$0, $1]) })
            #expect(both.left == SampleKernels.narrowLevels(of: lefts.span))
            #expect(both.right == SampleKernels.narrowLevels(of: rights.span))
        }
    }

    @Test func sumsOverChannelsAreDividedTowardZero() {
        let planes = (0..<5).map { random(500, seed: UInt64($0)) + [.min, .max, -1] }
        var sums = [Int32](repeating: 0, count: 503)
        for plane in planes {
            var span = sums.mutableSpan
            SampleKernels.add(plane.span, to: &span)
        }
        var out = [Int16](repeating: 0, count: 503)
        var span = out.mutableSpan
        SampleKernels.divide(sums.span, by: 5, into: &span)
        #expect(out == (0..<503).map { frame in ScalarSampleKernels.mix(planes.map { $0[frame] }) })
    }

    @Test func interleavesPlanes() {
        var out = [Int16](repeating: 9, count: 7)
        for (channel, plane) in [[1, 2, 3], [-1, -2, -3], [5, 5, 5]].enumerated() as EnumeratedSequence<[[Int16]]> {
            var span = out.mutableSpan
            SampleKernels.interleave(plane.span, channel: channel, of: 2, into: &span)
        }
        #expect(out == [1, -1, 2, -2, 3, -3, 9])
    }

    @Test func destinationTooShort() {
        var out = [Int16](repeating: 0, count: 3)
        var span = out.mutableSpan
        SampleKernels.convert([Int16](1...9).span, into: &span)
        #expect(out == [1, 2, 3])
        var mono = out.mutableSpan
        SampleKernels.mix([Int16](1...9).span, channels: 2, into: &mono)
        #expect(out == [1, 3, 5])
    }

    @Test(arguments: [1, 2, 3, 4, 6, 8, 16, 24], [0, 1, 2, 15, 16, 17, 255, 256, 1000])
    func extremaAgreeWithScalar(channels: Int, frames: Int) {
        let samples = random(channels * frames, seed: UInt64(channels * 1000 + frames))
        var lows = [Int16](repeating: .max, count: channels)
        var highs = [Int16](repeating: .min, count: channels)
        SampleKernels.extrema(of: samples.span, lows: &lows, highs: &highs)
        for channel in 0..<channels {
            let expected = ScalarSampleKernels.extrema(of: samples, channel: channel, channels: channels)
            #expect(lows[channel] == expected?.low ?? .max)
            #expect(highs[channel] == expected?.high ?? .min)
        }
    }

    @Test func extremaKeepWhatWasThere() {
        var lows: [Int16] = [-5, 3]
        var highs: [Int16] = [5, 3]
        SampleKernels.extrema(of: [Int16](repeating: 4, count: 40).span, lows: &lows, highs: &highs)
        #expect(lows == [-5, 3] && highs == [5, 4])
    }

    @Test(arguments: [1, 2, 3, 5, 6])
    func mixAgreesWithScalar(channels: Int) {
        let samples = random(channels * 500, seed: 77) + [Int16](repeating: .min, count: channels)
        var out = [Int16](repeating: 0, count: 501)
        var span = out.mutableSpan
        SampleKernels.mix(samples.span, channels: channels, into: &span)
        for frame in 0..<501 {
            #expect(out[frame] == ScalarSampleKernels.mix(Array(samples[frame * channels..<(frame + 1) * channels])))
        }
    }

    // By hand: truncated toward zero, so -3/2 is -1 and not -2.
    @Test func mixTruncatesTowardZero() {
        var out = [Int16](repeating: 0, count: 4)
        var span = out.mutableSpan
        SampleKernels.mix(([-1, -2, 1, 2, -1, 0, .min, .min] as [Int16]).span, channels: 2, into: &span)
        #expect(out == [-1, 1, 0, .min])
    }

    @Test func squares() {
        var sums: [UInt64] = [1]
        SampleKernels.addSquares(of: ([.min, .max, -1, 3] as [Int16]).span, to: &sums)
        #expect(sums == [1 + 1_073_741_824 + 1_073_676_289 + 1 + 9])
        sums = [0, 0]
        SampleKernels.addSquares(of: ([.min, 2, .min, -3, 5] as [Int16]).span, to: &sums)
        #expect(sums == [2_147_483_673, 13])
    }
}
