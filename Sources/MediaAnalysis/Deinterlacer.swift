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

    @inline(__always)
    private static func fill<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ above: Span<Sample>, _ here: Span<Sample>, _ below: Span<Sample>, _ out: inout MutableSpan<Sample>, step: Int
    ) {
        let count = out.count
        let margin = min(reach * step, count)
        fillEnds(above, here, below, &out, 0..<margin)
        fillEnds(above, here, below, &out, max(margin, count - margin)..<count)
        guard count > 2 * margin else { return }
        // Spans of one length, so that the loop over them needs no check of bounds and is vectorised.
        let inner = count - 2 * margin
        func place(_ steps: Int) -> Range<Int> { margin + steps * step..<margin + steps * step + inner }
        let a0 = above.extracting(place(-3))
        let a1 = above.extracting(place(-2))
        let a2 = above.extracting(place(-1))
        let a3 = above.extracting(place(0))
        let a4 = above.extracting(place(1))
        let a5 = above.extracting(place(2))
        let a6 = above.extracting(place(3))
        let b0 = below.extracting(place(-3))
        let b1 = below.extracting(place(-2))
        let b2 = below.extracting(place(-1))
        let b3 = below.extracting(place(0))
        let b4 = below.extracting(place(1))
        let b5 = below.extracting(place(2))
        let b6 = below.extracting(place(3))
        let middle = here.extracting(place(0))
        for x in 0..<inner {
            // Above and below from three steps left to three steps right.
            let p = (Int32(a0[x]), Int32(a1[x]), Int32(a2[x]), Int32(a3[x]), Int32(a4[x]), Int32(a5[x]), Int32(a6[x]))
            let q = (Int32(b0[x]), Int32(b1[x]), Int32(b2[x]), Int32(b3[x]), Int32(b4[x]), Int32(b5[x]), Int32(b6[x]))
            var best = distance(p.2, q.2) &+ distance(p.3, q.3) &+ distance(p.4, q.4) &- 1
            var edge = mean(p.3, q.3)
            // Leaning one step, then two where one was better, to the left and to the right.
            let left = distance(p.1, q.3) &+ distance(p.2, q.4) &+ distance(p.3, q.5)
            let further = distance(p.0, q.4) &+ distance(p.1, q.5) &+ distance(p.2, q.6)
            (best, edge) = nearer(left, mean(p.2, q.4), further, mean(p.1, q.5), than: best, edge)
            let right = distance(p.3, q.1) &+ distance(p.4, q.2) &+ distance(p.5, q.3)
            let furthest = distance(p.4, q.0) &+ distance(p.5, q.1) &+ distance(p.6, q.2)
            (best, edge) = nearer(right, mean(p.4, q.2), furthest, mean(p.5, q.1), than: best, edge)
            let low = min(min(p.3, q.3), edge)
            let high = max(max(p.3, q.3), edge)
            out[margin &+ x] = Sample(truncatingIfNeeded: min(max(Int32(middle[x]), low), high))
        }
    }

    @inline(__always)
    private static func nearer(
        _ first: Int32, _ firstValue: Int32, _ second: Int32, _ secondValue: Int32, than best: Int32, _ value: Int32
    ) -> (Int32, Int32) {
        let isFirst = first < best
        let isSecond = isFirst && second < first
        let score = isSecond ? second : isFirst ? first : best
        return (score, isSecond ? secondValue : isFirst ? firstValue : value)
    }

    @inline(__always)
    private static func distance(_ a: Int32, _ b: Int32) -> Int32 { max(a, b) &- min(a, b) }

    @inline(__always)
    private static func mean(_ a: Int32, _ b: Int32) -> Int32 { (a &+ b &+ 1) &>> 1 }

    /// The ends of a row, where no leaning edge can be seen.
    @inline(__always)
    private static func fillEnds<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ above: Span<Sample>, _ here: Span<Sample>, _ below: Span<Sample>, _ out: inout MutableSpan<Sample>,
        _ range: Range<Int>
    ) {
        for x in range { out[x] = min(max(here[x], min(above[x], below[x])), max(above[x], below[x])) }
    }
}
