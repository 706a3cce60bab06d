/// Makes one full picture of the first field of an interlaced frame.
///
/// The rows of the first field stay as they are. A row of the other field, which was taken at another moment, is kept
/// where it fits between its neighbours, so that what does not move keeps its full resolution, and is brought into
/// their range where it does not: that is the comb. The range spans the pixels above and below, and what the edge that
/// passes through the place suggests (the spatial part of Michael Niedermayer's yadif).
///
/// Works on any samples that are whole numbers of one or two bytes; planar, interleaved, luma, chroma or RGB alike.
package enum Deinterlacer {
    /// Where the samples of a plane lie in a span.
    package struct Plane: Sendable {
        /// How many rows there are.
        package let rows: Int
        /// From the first sample of a row to that of the next one, in samples.
        package let stride: Int
        /// From a sample to the next one of the same component: 1 in a plane of its own.
        package let step: Int

        /// Makes a shape; no check is made.
        package init(rows: Int, stride: Int, step: Int) {
            self.rows = rows
            self.stride = stride
            self.step = step
        }
    }

    /// Writes a row of 8-bit samples without the other field's motion.
    ///
    /// - Parameters:
    ///   - row: The row's number, from 0 at the top.
    ///   - source: The interlaced plane.
    ///   - plane: Its shape. Nothing is done where the span is too short for it.
    ///   - keepsTop: Whether the first row belongs to the field that is kept.
    ///   - target: Receives the row, as many samples as it has.
    package static func process(
        row: Int, of source: Span<UInt8>, _ plane: Plane, keepsTop: Bool, into target: inout MutableSpan<UInt8>
    ) {
        write(row, source, plane, keepsTop, &target)
    }

    /// The same for samples of 16 bits.
    package static func process(
        row: Int, of source: Span<UInt16>, _ plane: Plane, keepsTop: Bool, into target: inout MutableSpan<UInt16>
    ) {
        write(row, source, plane, keepsTop, &target)
    }

    @inline(__always)
    private static func write<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ row: Int, _ source: Span<Sample>, _ plane: Plane, _ keepsTop: Bool, _ target: inout MutableSpan<Sample>
    ) {
        let (rows, stride, count) = (plane.rows, plane.stride, target.count)
        guard row >= 0, row < rows, count > 0, plane.step > 0, stride >= count,
            case let (end, overflow) = rows.multipliedReportingOverflow(by: stride), !overflow,
            end - stride + count <= source.count
        else { return }
        let isKept = (row % 2 == 0) == keepsTop || rows == 1
        let above = isKept ? row : row > 0 ? row - 1 : row + 1
        let below = isKept ? row : row + 1 < rows ? row + 1 : row - 1
        let here = source.extracting(row * stride..<row * stride + count)
        if isKept {
            for x in 0..<count { target[x] = here[x] }
        } else {
            fill(
                source.extracting(above * stride..<above * stride + count), here,
                source.extracting(below * stride..<below * stride + count), &target, step: plane.step)
        }
    }
}

// MARK: - One row

extension Deinterlacer {
    /// How many steps a suggested edge may lean to one side, and one more for the comparison of its surroundings.
    private static let reach = 3
    /// How many samples are worked on at once.
    private static let laneCount = 16

    @inline(__always)
    private static func fill<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ above: Span<Sample>, _ here: Span<Sample>, _ below: Span<Sample>, _ out: inout MutableSpan<Sample>, step: Int
    ) {
        let count = out.count
        let margin = min(reach * step, count)
        fillEnds(above, here, below, &out, 0..<margin)
        fillEnds(above, here, below, &out, max(margin, count - margin)..<count)
        guard count > 2 * margin else { return }
        var place = margin
        while place < count - margin {
            // The last block lies over the one before it; what is read is not what is written.
            let start = min(place, max(margin, count - margin - laneCount))
            let width = min(laneCount, count - margin - start)
            func lanes(_ row: Span<Sample>, _ steps: Int) -> Lanes {
                load(row.extracting(start + steps * step..<start + steps * step + width))
            }
            let result = filled(
                load(here.extracting(start..<start + width)),
                (
                    lanes(above, -3), lanes(above, -2), lanes(above, -1), lanes(above, 0), lanes(above, 1),
                    lanes(above, 2), lanes(above, 3)
                ),
                (
                    lanes(below, -3), lanes(below, -2), lanes(below, -1), lanes(below, 0), lanes(below, 1),
                    lanes(below, 2), lanes(below, 3)
                ))
            for lane in 0..<width { out[start + lane] = Sample(truncatingIfNeeded: result[lane]) }
            place = start + width
        }
    }

    /// Samples side by side, wide enough for sums of three.
    private typealias Lanes = SIMD16<Int32>
    /// Those of a row from three steps left to three steps right.
    private typealias Around = (Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes)

    /// Up to as many samples as there are lanes.
    @inline(__always)
    private static func load<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(_ part: Span<Sample>)
        -> Lanes
    {
        guard part.count == laneCount else {
            var lanes = Lanes()
            for index in 0..<min(part.count, laneCount) { lanes[index] = Int32(truncatingIfNeeded: part[index]) }
            return lanes
        }
        func at(_ index: Int) -> Int32 { Int32(truncatingIfNeeded: part[index]) }
        return Lanes(
            at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(9), at(10), at(11), at(12), at(13),
            at(14),
            at(15))
    }

    /// The rule for samples with those above and below.
    @inline(__always)
    private static func filled(_ middle: Lanes, _ p: Around, _ q: Around) -> Lanes {
        var best = distance(p.2, q.2) &+ distance(p.3, q.3) &+ distance(p.4, q.4) &- 1
        var edge = mean(p.3, q.3)
        // Leaning one step, then two where one was better, to the left and to the right.
        let left = distance(p.1, q.3) &+ distance(p.2, q.4) &+ distance(p.3, q.5)
        let further = distance(p.0, q.4) &+ distance(p.1, q.5) &+ distance(p.2, q.6)
        (best, edge) = nearer(left, mean(p.2, q.4), further, mean(p.1, q.5), than: best, edge)
        let right = distance(p.3, q.1) &+ distance(p.4, q.2) &+ distance(p.5, q.3)
        let furthest = distance(p.4, q.0) &+ distance(p.5, q.1) &+ distance(p.6, q.2)
        (best, edge) = nearer(right, mean(p.4, q.2), furthest, mean(p.5, q.1), than: best, edge)
        let low = pointwiseMin(pointwiseMin(p.3, q.3), edge)
        let high = pointwiseMax(pointwiseMax(p.3, q.3), edge)
        return pointwiseMin(pointwiseMax(middle, low), high)
    }

    @inline(__always)
    private static func nearer(
        _ first: Lanes, _ firstValue: Lanes, _ second: Lanes, _ secondValue: Lanes, than best: Lanes, _ value: Lanes
    ) -> (Lanes, Lanes) {
        let isFirst = first .< best
        let isSecond = isFirst .& (second .< first)
        let score = best.replacing(with: first, where: isFirst).replacing(with: second, where: isSecond)
        return (score, value.replacing(with: firstValue, where: isFirst).replacing(with: secondValue, where: isSecond))
    }

    @inline(__always)
    private static func distance(_ a: Lanes, _ b: Lanes) -> Lanes { pointwiseMax(a, b) &- pointwiseMin(a, b) }

    @inline(__always)
    private static func mean(_ a: Lanes, _ b: Lanes) -> Lanes { (a &+ b &+ 1) &>> 1 }

    /// The ends of a row, where no leaning edge can be seen.
    @inline(__always)
    private static func fillEnds<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ above: Span<Sample>, _ here: Span<Sample>, _ below: Span<Sample>, _ out: inout MutableSpan<Sample>,
        _ range: Range<Int>
    ) {
        for x in range { out[x] = min(max(here[x], min(above[x], below[x])), max(above[x], below[x])) }
    }
}
