internal import MediaAnalysis
internal import MediaBase

/// The peaks of several zoom levels, measured in one pass.
///
/// A level that is a multiple of another one is not measured but joined from it in the end, which gives the same values.
struct WaveformLevels {
    private var builders: [(spacing: Peaks.Spacing, builder: PeakBuilder, spill: PeakSpill?)] = []
    private let levels: [Peaks.Spacing]

    /// - Parameters:
    ///   - levels: The samples a point of each level, in any order; equal ones count once.
    ///   - channels: The interleaved channels of what is fed, all of which get peaks.
    ///   - measuresMeanSquares: Whether ``Peaks/meanSquares`` are measured too.
    ///   - start: How many frames of the sound lie before what is fed.
    init(
        _ levels: [Peaks.Spacing], sampleRate: Int, channels: Int, measuresMeanSquares: Bool = false,
        startingAt start: Int64 = 0
    ) throws(MediaError) {
        self.levels = Set(levels).sorted()
        for level in self.levels where measuredLevel(below: level) == nil {
            let builder = try PeakBuilder(
                sampleRate: sampleRate, channels: channels, spacing: level, mode: .split,
                measuresMeanSquares: measuresMeanSquares, startingAt: start)
            builders.append((level, builder, nil))
        }
    }

    /// The coarsest measured level from which another can be joined.
    private func measuredLevel(below level: Peaks.Spacing) -> Peaks.Spacing? {
        builders.last { level.multiple(of: $0.spacing) != nil }?.spacing
    }

    mutating func append(_ samples: Span<Int16>) throws(MediaError) {
        for index in builders.indices { try builders[index].builder.append(samples) }
    }

    /// Measures frames of silence, in time that does not depend on their number.
    ///
    /// - Parameter points: From how many points of a level on they are counted, and not measured one by one.
    mutating func appendSilence(frames: Int64, counting points: Int = standardValues) throws(MediaError) {
        for index in builders.indices {
            let passed = try passSilence(frames: frames, atLeast: points, at: index)
            try builders[index].builder.appendSilence(frames: frames - passed)
        }
    }

    /// Measures what is long enough of some silence by a hole in the level's file; gives how many frames that was.
    private mutating func passSilence(
        frames: Int64, atLeast least: Int, at index: Int
    ) throws(MediaError) -> Int64 {
        let spacing = builders[index].spacing
        let points = frames / Int64(max(1, spacing.samples / spacing.points))
        guard points > max(1, least) else { return 0 }
        // Up to where a point begins.
        let head = builders[index].builder.framesToNextPoint
        try builders[index].builder.appendSilence(frames: head)
        guard let kept = builders[index].builder.takePoints(atLeast: 0) else { return head }
        guard let spill = builders[index].spill ?? PeakSpill(), spill.append(kept) else {
            builders[index].builder.putBack(kept)
            return head
        }
        builders[index].spill = spill
        let passed = try builders[index].builder.passSilence(frames: frames - head)
        guard spill.appendZeros(passed.values) else {
            throw MediaError(.inputOutput, "the temporary folder does not take files as long as these peaks")
        }
        return head + passed.frames
    }

    /// Takes over what was measured of the frames that follow, of the same levels.
    mutating func append(_ next: WaveformLevels) throws(MediaError) {
        for (index, part) in next.builders.enumerated() where builders.indices.contains(index) {
            try builders[index].builder.append(part.builder)
        }
    }

    /// Values of a level that stay in memory.
    static let standardValues = 1 << 18

    /// Puts points that are complete into a file where there are many; where there is no room, they stay in memory.
    ///
    /// Not for parts that are to be taken over by others.
    mutating func makeRoom(keeping values: Int = standardValues) {
        for index in builders.indices {
            guard let points = builders[index].builder.takePoints(atLeast: values) else { continue }
            let spill = builders[index].spill ?? PeakSpill()
            builders[index].spill = spill
            if spill?.append(points) != true { builders[index].builder.putBack(points) }
        }
    }

    /// Writes the last, partial points and gives the peaks by their spacing, with 16 bits.
    consuming func finish() throws -> [Peaks.Spacing: MeasuredPeaks] {
        var peaks: [Peaks.Spacing: MeasuredPeaks] = [:]
        for (level, builder, spill) in builders {
            peaks[level] = MeasuredPeaks(spill: spill, rest: try builder.finish())
        }
        for level in levels where peaks[level] == nil {
            guard let base = measuredLevel(below: level) else { continue }
            peaks[level] = try peaks[base]?.coarser(to: level)
        }
        return peaks
    }
}
