/// Makes a full frame from the first field of an interlaced frame.
///
/// The rows of the first field stay as they are. The rows of the other field were captured at a different time: a
/// sample that fits between its neighbours is kept, so that still areas keep their full resolution; any other sample is
/// part of the comb and is clamped to the range of its neighbours. This range spans the pixels above and below, and the
/// value suggested by an edge through this position (the spatial part of Michael Niedermayer's yadif).
///
/// Works with any integer samples of one or two bytes, whether planar or interleaved, luma, chroma or RGB.
package enum Deinterlacer {
    /// The layout of a plane's samples in a span.
    package struct Plane: Sendable {
        /// The number of rows.
        package let rows: Int
        /// The distance from the first sample of a row to the first sample of the next row, in samples.
        package let stride: Int
        /// The distance from a sample to the next sample of the same component: 1 if the component has its own plane.
        package let step: Int

        /// Creates a shape without checking it.
        package init(rows: Int, stride: Int, step: Int) {
            self.rows = rows
            self.stride = stride
            self.step = step
        }
    }

    /// Writes a row of 8-bit samples without the motion of the other field.
    ///
    /// - Parameters:
    ///   - row: The index of the row, from 0 at the top.
    ///   - source: The interlaced plane.
    ///   - plane: The shape of the source. Nothing is done if the span is too short for it.
    ///   - keepsTop: True if the first row belongs to the field that is kept.
    ///   - target: Receives the row, as many samples as it can hold.
    package static func process(
        row: Int, of source: Span<UInt8>, _ plane: Plane, keepsTop: Bool, into target: inout MutableSpan<UInt8>
    ) {
        write(row, source, plane, keepsTop, &target)
    }

    /// Writes a row of 16-bit samples without the motion of the other field.
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
    /// The number of steps that a suggested edge may lean to one side, plus one for comparing its surroundings.
    private static let reach = 3
    /// The number of samples processed at once.
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
            // The last block may overlap the previous one, because the input and output are separate.
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

    /// Adjacent samples, wide enough for sums of three.
    private typealias Lanes = SIMD16<Int32>
    /// The samples of a row, from three steps to the left to three steps to the right.
    private typealias Around = (Lanes, Lanes, Lanes, Lanes, Lanes, Lanes, Lanes)

    /// Loads as many samples as there are lanes, or fewer.
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

    /// Applies the rule to samples, given the samples above and below.
    @inline(__always)
    private static func filled(_ middle: Lanes, _ p: Around, _ q: Around) -> Lanes {
        var best = distance(p.2, q.2) &+ distance(p.3, q.3) &+ distance(p.4, q.4) &- 1
        var edge = mean(p.3, q.3)
        // Edges that lean one step, then two if one was better, first to the left and then to the right.
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

    /// Fills the ends of a row, which are too short to examine leaning edges.
    @inline(__always)
    private static func fillEnds<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ above: Span<Sample>, _ here: Span<Sample>, _ below: Span<Sample>, _ out: inout MutableSpan<Sample>,
        _ range: Range<Int>
    ) {
        for x in range { out[x] = min(max(here[x], min(above[x], below[x])), max(above[x], below[x])) }
    }
}
