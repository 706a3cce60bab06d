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
    func writeBinary(bits: Int, to file: OutputFile) throws {
        let blocks = try PeakFile.BinaryBlocks(rest, length: length, bits: bits)
        try file.write(contentsOf: blocks.header)
        try spill?.forEachBlock { try file.write(contentsOf: blocks.encode($0.span)) }
        var start = 0
        while start < rest.data.count {
            let end = min(start + 1 << 16, rest.data.count)
            try file.write(contentsOf: blocks.encode(rest.data.span.extracting(start..<end)))
            start = end
        }
    }
}
