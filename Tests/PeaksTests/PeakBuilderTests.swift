import MediaBase
import Peaks
import Testing

@Suite struct PeakBuilderTests {
    private func builder(
        _ channels: Int, _ samples: Int, points: Int = 1, mode: PeakBuilder.ChannelMode = .split, squares: Bool = false
    ) throws -> PeakBuilder {
        try PeakBuilder(
            sampleRate: 48000, channels: channels, spacing: Peaks.Spacing(samples: samples, points: points),
            mode: mode, measuresMeanSquares: squares)
    }

    /// Feeds an array that has a name: a temporary's span in a throwing call crashes Swift 6.3's compiler.
    private func feed(_ samples: [Int16], to builder: inout PeakBuilder) throws {
        try builder.append(samples.span)
    }

    // Goldens: scripts/golden/peaks. Whatever the length of the spans, the bytes are the same.
    @Test(arguments: Golden.cases, [1, 63, 64, 1000, 4990])
    func golden(golden: Golden.Case, step: Int) throws {
        let samples = try Golden.samples(channels: golden.channels)
        var builder = try builder(golden.channels, golden.samplesPerPixel, mode: golden.isSplit ? .split : .mixed)
        for start in stride(from: 0, to: 4990, by: step) {
            let end = min(start + step, 4990)
            try builder.append(samples.span.extracting(start * golden.channels..<end * golden.channels))
        }
        let peaks = try builder.finish().converted(toBits: golden.bits)
        #expect(try PeakFile.encode(peaks, as: .binary) == Golden.bytes("\(golden).dat"))
        #expect(try PeakFile.encode(peaks, as: .json) == Golden.bytes("\(golden).json"))
    }

    /// Parts that are measured apart and joined are what one builder gives, wherever they are cut.
    @Test(arguments: [(1, 1), (7, 1), (256, 1), (7, 2), (1000, 333), (5000, 1)])
    func partsAreJoined(_ samples: Int, _ points: Int) throws {
        let sound = try Golden.samples(channels: 2)
        var whole = try builder(2, samples, points: points, squares: true)
        try feed(sound, to: &whole)
        let wanted = try whole.finish()
        for cuts in [[], [1], [3, 4, 5], [256, 512, 2560], [999, 1000, 1001, 4989], [2000, 2000]] {
            var joined = try builder(2, samples, points: points, squares: true)
            var start = 0
            for end in cuts + [4990] {
                var part = try PeakBuilder(
                    sampleRate: 48000, channels: 2, spacing: Peaks.Spacing(samples: samples, points: points),
                    mode: .split, measuresMeanSquares: true, startingAt: Int64(start))
                try part.append(sound.span.extracting(start * 2..<end * 2))
                try joined.append(part)
                start = end
            }
            #expect(try joined.finish() == wanted)
        }
    }

    @Test func partsThatDoNotFollowAreRefused() throws {
        var first = try builder(1, 4)
        try feed([1, 2, 3], to: &first)
        let other = try PeakBuilder(
            sampleRate: 48000, channels: 1, spacing: Peaks.Spacing(samples: 4), mode: .split, startingAt: 4)
        #expect(throws: MediaError.self) { try first.append(other) }
        let coarser = try PeakBuilder(
            sampleRate: 48000, channels: 1, spacing: Peaks.Spacing(samples: 8), mode: .split, startingAt: 3)
        #expect(throws: MediaError.self) { try first.append(coarser) }
        #expect(try first.finish().data == [1, 3])
    }

    @Test func oneChannelOfSeveral() throws {
        let split = try PeakFile.decode(Golden.bytes("6ch-split-256-16bit.dat"))
        for channel in 0..<6 {
            var builder = try builder(6, 256, mode: .single(channel))
            try feed(Golden.samples(channels: 6), to: &builder)
            let peaks = try builder.finish()
            #expect(peaks.channels == 1 && peaks.length == split.length)
            for index in 0..<peaks.length {
                #expect(peaks.point(index)?.minimum == split.point(index, channel: channel)?.minimum)
                #expect(peaks.point(index)?.maximum == split.point(index, channel: channel)?.maximum)
            }
        }
    }

    @Test(arguments: [0, 1, 3, 4, 5, 8, 9, 100] as [Int64])
    func silenceEqualsZeros(frames: Int64) throws {
        for start in 0..<5 {
            let lead = [Int16](repeating: 100, count: start)
            var silent = try builder(1, 4, squares: true)
            try feed(lead, to: &silent)
            try silent.appendSilence(frames: frames)
            try feed([-7, 7], to: &silent)
            var zeros = try builder(1, 4, squares: true)
            try feed(lead + [Int16](repeating: 0, count: Int(frames)) + [-7, 7], to: &zeros)
            #expect(try silent.finish() == zeros.finish())
        }
    }

    @Test func longSilenceIsCheap() throws {
        var builder = try builder(2, 1 << 20)
        try builder.appendSilence(frames: 1 << 40)
        #expect(try builder.finish().data == [Int16](repeating: 0, count: 4 << 20))
    }

    @Test func tooManyPointsAreRefused() throws {
        var builder = try builder(2, 2)
        #expect(throws: MediaError.self) { try builder.appendSilence(frames: .max) }
        #expect(throws: MediaError.self) { try builder.appendSilence(frames: -1) }
        #expect(try builder.finish().length == 0)
    }

    // By hand: 2.5 samples a point are 2, 3, 2, 3 … and point k starts at floor(2.5 k).
    @Test func fractionalSpacing() throws {
        var builder = try builder(1, 5, points: 2)
        try feed([Int16](0...9), to: &builder)
        #expect(try builder.finish().data == [0, 1, 2, 4, 5, 6, 7, 9])
    }

    @Test func fractionsDoNotDrift() throws {
        // 44100 / 29.97 samples a point; 100 s are 2997 points exactly.
        var builder = try builder(1, 4_410_000, points: 2997)
        try feed([Int16](repeating: 1, count: 4_410_000), to: &builder)
        let peaks = try builder.finish()
        #expect(peaks.length == 2997 && peaks.samplesPerPixel == 1471)
    }

    @Test func meanSquares() throws {
        var builder = try builder(2, 2, squares: true)
        try feed([.min, 0, .min, 16384, 16384, 0], to: &builder)
        #expect(try builder.finish().meanSquares == [1, 0.125, 0.25, 0])
    }

    @Test func nothingFed() throws {
        let peaks = try builder(2, 256).finish()
        #expect(peaks.length == 0 && peaks.data.isEmpty && peaks.channels == 2)
    }

    @Test func parametersAreChecked() throws {
        #expect(throws: MediaError.self) { try builder(0, 256) }
        #expect(throws: MediaError.self) { try builder(2, 256, mode: .single(2)) }
        #expect(throws: MediaError.self) { try builder(2, 256, mode: .single(-1)) }
        var stereo = try builder(2, 256)
        #expect(throws: MediaError.self) { try feed([1, 2, 3], to: &stereo) }
    }
}
