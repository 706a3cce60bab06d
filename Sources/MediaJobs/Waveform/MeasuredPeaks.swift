internal import FileOutput
internal import MediaAnalysis
internal import MediaBase
internal import SystemCalls
internal import SystemPackage

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
