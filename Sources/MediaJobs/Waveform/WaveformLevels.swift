internal import FileOutput
package import MediaBase
package import Peaks
internal import SystemCalls
internal import SystemPackage

/// The density of points in a zoom level, as it was requested.
package enum WaveformDensity: Sendable, Hashable {
    /// The number of samples per point, independent of the sample rate.
    case samplesPerPixel(Int)
    /// The exact number of points per second: point `k` starts at sample floor(`k` · sample rate / rate).
    case pixelsPerSecond(Rational)
    /// The approximate number of points per second: a point covers floor(sample rate / rate) samples, a whole number.
    case wholeSamplesNear(pixelsPerSecond: Rational)

    /// Returns the number of samples per point.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if a point would cover less than one sample, or too many.
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
            "audio at \(sampleRate) Hz cannot have \(rate.doubleValue) points a second: a point covers at least one "
                + "sample, and at most \(Int32.max)")
    }
}

/// The peaks of several zoom levels, measured in one pass.
///
/// A level that is a multiple of another one is not measured. It is computed from that level at the end, with the same
/// values.
struct WaveformLevels {
    private var builders: [(spacing: Peaks.Spacing, builder: PeakBuilder, spill: PeakSpill?)] = []
    private let levels: [Peaks.Spacing]

    /// - Parameters:
    ///   - levels: The samples per point of each level, in any order; duplicates are ignored.
    ///   - channels: The number of interleaved channels in the input, each of which gets peaks.
    ///   - measuresMeanSquares: True to measure ``Peaks/meanSquares`` too.
    ///   - start: The number of audio frames before the input.
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

    /// Returns the coarsest measured level from which another can be computed.
    private func measuredLevel(below level: Peaks.Spacing) -> Peaks.Spacing? {
        builders.last { level.multiple(of: $0.spacing) != nil }?.spacing
    }

    mutating func append(_ samples: Span<Int16>) throws(MediaError) {
        for index in builders.indices { try builders[index].builder.append(samples) }
    }

    /// Measures frames of silence, in time that does not depend on their number.
    ///
    /// - Parameter points: The number of points above which a level's silence is counted instead of measured point by
    ///   point.
    mutating func appendSilence(frames: Int64, counting points: Int = standardValues) throws(MediaError) {
        for index in builders.indices {
            let passed = try passSilence(frames: frames, atLeast: points, at: index)
            try builders[index].builder.appendSilence(frames: frames - passed)
        }
    }

    /// Measures a long enough silence as a hole in the level's file, and returns the number of its frames.
    private mutating func passSilence(
        frames: Int64, atLeast least: Int, at index: Int
    ) throws(MediaError) -> Int64 {
        let spacing = builders[index].spacing
        let points = frames / Int64(max(1, spacing.samples / spacing.points))
        guard points > max(1, least) else { return 0 }
        // Complete the current point first.
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

    /// Appends the measurements of the following frames, which have the same levels.
    mutating func append(_ next: WaveformLevels) throws(MediaError) {
        for (index, part) in next.builders.enumerated() where builders.indices.contains(index) {
            try builders[index].builder.append(part.builder)
        }
    }

    /// The number of values of a level that stay in memory.
    static let standardValues = 1 << 18

    /// Moves complete points to a file if there are many; if the file has no room, they stay in memory.
    ///
    /// Must not be called for parts that are appended to others.
    mutating func makeRoom(keeping values: Int = standardValues) {
        for index in builders.indices {
            guard let points = builders[index].builder.takePoints(atLeast: values) else { continue }
            let spill = builders[index].spill ?? PeakSpill()
            builders[index].spill = spill
            if spill?.append(points) != true { builders[index].builder.putBack(points) }
        }
    }

    /// Completes the last, partial points and returns the peaks by their spacing, with 16 bits.
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

/// The complete points of a zoom level while audio is still being read, in an unnamed temporary file.
///
/// With it, a day of audio takes no more memory than a minute. Only one thread uses it at a time.
final class PeakSpill: @unchecked Sendable {
    private let file: FileDescriptor
    /// The number of values in the file.
    private(set) var count = 0

    /// The number of values that are read at once.
    private static let blockCount = 1 << 16

    /// Creates the file; `nil` if there is no room for it, so that the points have to stay in memory.
    init?() {
        guard let file = try? makeTemporaryFile() else { return nil }
        self.file = file
    }

    deinit { try? file.close() }

    /// Appends values; returns false if there is no room for them.
    func append(_ values: [Int16]) -> Bool {
        do throws(Errno) {
            try writeAll(values.span, to: file, at: Int64(count) * 2)
        } catch {
            return false
        }
        count += values.count
        return true
    }

    /// Appends zeros by extending the file without writing them; returns false if that fails.
    func appendZeros(_ zeros: Int) -> Bool {
        do throws(Errno) {
            try setLength(of: file, to: Int64(count + zeros) * 2)
        } catch {
            return false
        }
        count += zeros
        return true
    }

    /// Passes all values to a closure, block by block.
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

/// The peaks of a zoom level, some of which may be in a file.
struct MeasuredPeaks {
    /// The first part; `nil` if all peaks are in memory.
    let spill: PeakSpill?
    /// The last part, with 16 bits.
    let rest: Peaks

    /// The number of points.
    var length: Int { (spill?.count ?? 0) / (2 * rest.channels) + rest.length }

    /// Returns all peaks in memory.
    func whole() throws -> Peaks {
        guard let spill else { return rest }
        var values: [Int16] = []
        values.reserveCapacity(spill.count + rest.data.count)
        try spill.forEachBlock { values += $0 }
        return try rest.preceded(by: values)
    }

    /// Returns the same waveform at a coarser spacing, some of which may be in a file too.
    ///
    /// - Parameter values: The approximate number of values that stay in memory.
    /// - Throws: ``MediaError`` as ``Peaks/coarser(to:)`` does.
    func coarser(to spacing: Peaks.Spacing, keeping values: Int = WaveformLevels.standardValues) throws -> MeasuredPeaks
    {
        guard let spill, let factor = spacing.multiple(of: rest.spacing) else {
            return MeasuredPeaks(spill: nil, rest: try rest.coarser(to: spacing))
        }
        // The number of values that are merged into one point. On overflow, all points become one.
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

    /// Writes the peaks as audiowaveform's binary file with 8 or 16 bits.
    ///
    /// - Parameter deadline: The time at which writing fails with `timedOut`; `nil` for no limit.
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

    /// Throws `outputLimit` if the values alone exceed the permitted size of an output.
    private func checkRoom(bytesPerValue: Int, in file: OutputFile) throws(MediaError) {
        guard let allowance = file.allowance, !allowance.holds(length * 2 * rest.channels * bytesPerValue) else {
            return
        }
        throw allowance.error.at(path: file.path.string)
    }

    /// Writes the peaks as audiowaveform's JSON with 8 or 16 bits.
    ///
    /// - Parameter deadline: The time at which writing fails with `timedOut`; `nil` for no limit.
    func writeJSON(bits: Int, to file: OutputFile, until deadline: ContinuousClock.Instant?) throws {
        try checkRoom(bytesPerValue: 2, in: file)
        let blocks = try PeakFile.JSONBlocks(rest, length: length, bits: bits)
        try file.write(contentsOf: blocks.head)
        try forEachBlock(bits: bits, until: deadline) { try file.write(contentsOf: blocks.encode($0.span, from: $1)) }
        try file.write(contentsOf: blocks.end)
    }

    /// Writes the peaks as lines of numbers with 8 or 16 bits.
    ///
    /// - Parameters:
    ///   - separator: The ASCII character between two numbers of a line.
    ///   - deadline: The time at which writing fails with `timedOut`; `nil` for no limit.
    func writeLines(
        bits: Int, separator: UInt8, to file: OutputFile, until deadline: ContinuousClock.Instant?
    ) throws {
        try checkRoom(bytesPerValue: 2, in: file)
        try forEachBlock(bits: bits, until: deadline) { values, start in
            try file.write(
                contentsOf: PeakText.lines(
                    values.span, from: start, channels: rest.channels, bits: bits, separator: separator))
        }
    }

    /// Passes all values with a number of bits to a closure, block by block, with the number of values before each
    /// block.
    private func forEachBlock(
        bits: Int, until deadline: ContinuousClock.Instant?, _ body: (_ values: [Int16], _ start: Int) throws -> Void
    ) throws {
        var start = 0
        func lend(_ values: [Int16]) throws {
            if let late = MediaLimits.error(after: deadline) { throw late }
            // Divide as in Peaks.converted(toBits:).
            try body(bits == 8 ? values.map { $0 / 256 } : values, start)
            start += values.count
        }
        try spill?.forEachBlock(lend)
        try lend(rest.data)
    }
}
