internal import FileOutput
package import MediaAnalysis
package import MediaBase
internal import SystemCalls
internal import SystemPackage

/// How many points a zoom level has for a stretch of sound, as it was asked for.
package enum WaveformDensity: Sendable, Hashable {
    /// A point covers this many samples, whatever the sample rate.
    case samplesPerPixel(Int)
    /// So many points a second: point `k` begins at sample floor(`k` · sample rate / rate).
    case pixelsPerSecond(Rational)
    /// So many points a second as near as whole samples come to it: a point covers floor(sample rate / rate) of them.
    case wholeSamplesNear(pixelsPerSecond: Rational)

    /// The samples that a point covers.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where a point would cover less than one sample, or too many.
    package func spacing(sampleRate: Int) throws(MediaError) -> Peaks.Spacing {
        switch self {
        case .samplesPerPixel(let samples): return try Peaks.Spacing(samples: samples)
        case .pixelsPerSecond(let rate):
            let samples = try Self.samples(at: sampleRate, rate)
            guard let numerator = Int(exactly: samples.num), let points = Int(exactly: samples.den) else {
                throw Self.failure(sampleRate, rate)
            }
            do throws(MediaError) {
                return try Peaks.Spacing(samples: numerator, points: points)
            } catch {
                throw Self.failure(sampleRate, rate)
            }
        case .wholeSamplesNear(let rate):
            guard let whole = try Self.samples(at: sampleRate, rate).rounded(.down), let samples = Int(exactly: whole),
                (1...Int(Int32.max)).contains(samples)
            else { throw Self.failure(sampleRate, rate) }
            return try Peaks.Spacing(samples: samples)
        }
    }

    private static func samples(at sampleRate: Int, _ rate: Rational) throws(MediaError) -> Rational {
        guard rate.isPositive, let samples = Rational(Int64(sampleRate)).divided(by: rate) else {
            throw failure(sampleRate, rate)
        }
        return samples
    }

    private static func failure(_ sampleRate: Int, _ rate: Rational) -> MediaError {
        MediaError(
            .invalidArgument,
            "\(rate.doubleValue) points a second cannot be had of sound at \(sampleRate) Hz: a point covers at least one "
                + "sample, and at most \(Int32.max)")
    }
}

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

/// The points of a zoom level that are complete while the sound still goes on, in a temporary file without a name.
///
/// So a day of sound takes no more memory than a minute. One thread uses it at a time.
final class PeakSpill {
    private let file: FileDescriptor
    /// Values in the file.
    private(set) var count = 0

    /// Values that are read at once.
    private static let blockCount = 1 << 16

    /// Makes the file; `nil` where there is no room for one, so that the points have to stay in memory.
    init?() {
        guard let file = try? makeTemporaryFile() else { return nil }
        self.file = file
    }

    deinit { try? file.close() }

    /// Puts values behind those that are there; `false` where there is no room for them.
    func append(_ values: [Int16]) -> Bool {
        do throws(Errno) {
            try writeAll(values.span, to: file, at: Int64(count) * 2)
        } catch {
            return false
        }
        count += values.count
        return true
    }

    /// Puts so many zeros behind the values that are there, without writing them; `false` where that cannot be.
    func appendZeros(_ zeros: Int) -> Bool {
        do throws(Errno) {
            try setLength(of: file, to: Int64(count + zeros) * 2)
        } catch {
            return false
        }
        count += zeros
        return true
    }

    /// Lends all values, block by block.
    func forEachBlock(_ body: ([Int16]) throws -> Void) throws {
        var start = 0
        while start < count {
            let wanted = min(Self.blockCount, count - start)
            let values: [Int16]
            do throws(Errno) {
                values = try readNumbers(from: file, at: Int64(start) * 2, atMost: wanted)
            } catch {
                throw MediaError(.inputOutput, "peaks cannot be read back from the temporary folder", cause: "\(error)")
            }
            guard values.count == wanted else {
                throw MediaError(.inputOutput, "peaks cannot be read back from the temporary folder")
            }
            try body(values)
            start += wanted
        }
    }
}

/// The peaks of a zoom level, of which a part may lie in a file.
struct MeasuredPeaks {
    /// What comes first; `nil` where all is in memory.
    let spill: PeakSpill?
    /// What comes last, with 16 bits.
    let rest: Peaks

    /// The number of points.
    var length: Int { (spill?.count ?? 0) / (2 * rest.channels) + rest.length }

    /// All peaks in memory.
    func whole() throws -> Peaks {
        guard let spill else { return rest }
        var values: [Int16] = []
        values.reserveCapacity(spill.count + rest.data.count)
        try spill.forEachBlock { values += $0 }
        return try rest.preceded(by: values)
    }

    /// The same waveform at a coarser spacing, of which a part may lie in a file too.
    ///
    /// - Parameter values: How many values stay in memory, about.
    /// - Throws: ``MediaError`` as ``Peaks/coarser(to:)`` does.
    func coarser(to spacing: Peaks.Spacing, keeping values: Int = WaveformLevels.standardValues) throws -> MeasuredPeaks
    {
        guard let spill, let factor = spacing.multiple(of: rest.spacing) else {
            return MeasuredPeaks(spill: nil, rest: try rest.coarser(to: spacing))
        }
        // Values of the points that become one; where they are so many, all become one.
        let (product, overflow) = factor.multipliedReportingOverflow(by: 2 * rest.channels)
        let width = overflow ? .max : product
        var coarseSpill: PeakSpill?
        var pending: [Int16] = []
        var joined: [Int16] = []
        func join(_ values: [Int16]) throws(MediaError) -> Peaks {
            try Peaks(
                sampleRate: rest.sampleRate, spacing: rest.spacing, channels: rest.channels, bits: rest.bits,
                data: values
            ).coarser(by: factor)
        }
        try spill.forEachBlock { block in
            pending += block
            let whole = pending.count / width * width
            guard whole > 0 else { return }
            joined += try join(Array(pending[..<whole])).data
            pending.removeFirst(whole)
            guard joined.count >= values else { return }
            coarseSpill = coarseSpill ?? PeakSpill()
            if coarseSpill?.append(joined) == true { joined = [] }
        }
        return MeasuredPeaks(spill: coarseSpill, rest: try join(pending + rest.data).preceded(by: joined))
    }

    /// Writes them as audiowaveform's binary file with 8 or 16 bits.
    ///
    /// - Parameter deadline: When writing ends with `timedOut`; `nil` for never.
    func writeBinary(bits: Int, to file: OutputFile, until deadline: ContinuousClock.Instant? = nil) throws {
        try checkRoom(bytesPerValue: bits / 8, in: file)
        let blocks = try PeakFile.BinaryBlocks(rest, length: length, bits: bits)
        try file.write(contentsOf: blocks.header)
        try spill?.forEachBlock {
            if let late = MediaLimits.error(after: deadline) { throw late }
            try file.write(contentsOf: blocks.encode($0.span))
        }
        var start = 0
        while start < rest.data.count {
            let end = min(start + 1 << 16, rest.data.count)
            try file.write(contentsOf: blocks.encode(rest.data.span.extracting(start..<end)))
            start = end
        }
    }

    /// Throws `outputLimit` where the values alone are more than an output may have.
    private func checkRoom(bytesPerValue: Int, in file: OutputFile) throws(MediaError) {
        guard let allowance = file.allowance, !allowance.holds(length * 2 * rest.channels * bytesPerValue) else {
            return
        }
        throw allowance.error.at(path: file.path.string)
    }

    /// Writes them as audiowaveform's JSON with 8 or 16 bits.
    ///
    /// - Parameter deadline: When writing ends with `timedOut`; `nil` for never.
    func writeJSON(bits: Int, to file: OutputFile, until deadline: ContinuousClock.Instant?) throws {
        try checkRoom(bytesPerValue: 2, in: file)
        let blocks = try PeakFile.JSONBlocks(rest, length: length, bits: bits)
        try file.write(contentsOf: blocks.head)
        try forEachBlock(bits: bits, until: deadline) { try file.write(contentsOf: blocks.encode($0.span, from: $1)) }
        try file.write(contentsOf: blocks.end)
    }

    /// Writes them as lines of numbers with 8 or 16 bits.
    ///
    /// - Parameter deadline: When writing ends with `timedOut`; `nil` for never.
    func writeLines(bits: Int, to file: OutputFile, until deadline: ContinuousClock.Instant?) throws {
        try checkRoom(bytesPerValue: 2, in: file)
        try forEachBlock(bits: bits, until: deadline) { values, start in
            try file.write(
                contentsOf: PeakText.lines(values.span, from: start, channels: rest.channels, bits: bits))
        }
    }

    /// Lends all values in a resolution, block by block, with how many come before each.
    private func forEachBlock(
        bits: Int, until deadline: ContinuousClock.Instant?, _ body: (_ values: [Int16], _ start: Int) throws -> Void
    ) throws {
        var start = 0
        func lend(_ values: [Int16]) throws {
            if let late = MediaLimits.error(after: deadline) { throw late }
            // As Peaks.converted(toBits:) divides.
            try body(bits == 8 ? values.map { $0 / 256 } : values, start)
            start += values.count
        }
        try spill?.forEachBlock(lend)
        try lend(rest.data)
    }
}
