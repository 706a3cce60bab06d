import MediaAnalysis
import Testing

@Suite struct DeinterlacerTests {
    /// The same rule said plainly, sample by sample.
    private func plain(_ source: [Int], _ plane: Deinterlacer.Plane, width: Int, keepsTop: Bool) -> [Int] {
        var result = source
        for y in 0..<plane.rows where (y % 2 == 0) != keepsTop && plane.rows > 1 {
            let above = y > 0 ? y - 1 : y + 1
            let below = y + 1 < plane.rows ? y + 1 : y - 1
            func a(_ x: Int) -> Int { source[above * plane.stride + x] }
            func b(_ x: Int) -> Int { source[below * plane.stride + x] }
            for x in 0..<width {
                var edge: Int?
                if x >= 3 * plane.step, x + 3 * plane.step < width {
                    func score(_ lean: Int) -> Int {
                        [-1, 0, 1].reduce(0) { sum, side in
                            sum + abs(a(x + (side + lean) * plane.step) - b(x + (side - lean) * plane.step))
                        }
                    }
                    var (best, lean) = (score(0) - 1, 0)
                    for side in [-1, 1] where score(side) < best {
                        (best, lean) = (score(side), side)
                        if score(2 * side) < best { (best, lean) = (score(2 * side), 2 * side) }
                    }
                    edge = (a(x + lean * plane.step) + b(x - lean * plane.step) + 1) / 2
                }
                let around = [a(x), b(x)] + (edge.map { [$0] } ?? [])
                result[y * plane.stride + x] = min(
                    max(source[y * plane.stride + x], around.min() ?? 0), around.max() ?? 0)
            }
        }
        return result
    }

    private func noise(_ count: Int, below limit: UInt32, smooth: Int) -> [Int] {
        var state: UInt32 = 99
        var level = Int(limit / 2)
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            level = (level * smooth + Int(state >> 8) % Int(limit)) / (smooth + 1)
            return level
        }
    }

    @Test(arguments: [(1, 1), (1, 7), (2, 40), (5, 6), (8, 61), (9, 128)], [1, 2, 4])
    func vectorsAgreeWithThePlainRule(_ size: (rows: Int, width: Int), _ step: Int) {
        for keepsTop in [true, false] { check(size, step, keepsTop) }
    }

    private func check(_ size: (rows: Int, width: Int), _ step: Int, _ keepsTop: Bool) {
        let plane = Deinterlacer.Plane(rows: size.rows, stride: size.width + 5, step: step)
        for (limit, smooth) in [(256, 0), (256, 3), (1024, 1), (65536, 2)] as [(UInt32, Int)] {
            let source = noise(plane.rows * plane.stride, below: limit, smooth: smooth)
            let wanted = plain(source, plane, width: size.width, keepsTop: keepsTop)
            let wide = source.map { UInt16($0) }
            let narrow = source.map { UInt8(truncatingIfNeeded: $0) }
            for row in 0..<plane.rows {
                let range = row * plane.stride..<row * plane.stride + size.width
                var out = [UInt16](repeating: 0, count: size.width)
                var span = out.mutableSpan
                Deinterlacer.process(row: row, of: wide.span, plane, keepsTop: keepsTop, into: &span)
                #expect(out.map { Int($0) } == Array(wanted[range]))
                guard limit == 256 else { continue }
                var bytes = [UInt8](repeating: 0, count: size.width)
                var byteSpan = bytes.mutableSpan
                Deinterlacer.process(row: row, of: narrow.span, plane, keepsTop: keepsTop, into: &byteSpan)
                #expect(bytes.map { Int($0) } == Array(wanted[range]))
            }
        }
    }

    @Test func whatDoesNotMoveStays() {
        // A ramp downwards fits between its neighbours everywhere but at the end.
        let plane = Deinterlacer.Plane(rows: 9, stride: 32, step: 1)
        let source = (0..<9).flatMap { y in [UInt8](repeating: UInt8(y * 20), count: 32) }
        for row in 0..<8 {
            var out = [UInt8](repeating: 0, count: 32)
            var span = out.mutableSpan
            Deinterlacer.process(row: row, of: source.span, plane, keepsTop: true, into: &span)
            #expect(out == [UInt8](repeating: UInt8(row * 20), count: 32))
        }
    }

    @Test func impossibleShapesChangeNothing() {
        let source = [UInt8](repeating: 9, count: 100)
        for (rows, stride, step, row) in [
            (0, 10, 1, 0), (10, 9, 1, 0), (11, 10, 1, 3), (10, 10, 0, 0), (10, 10, 1, 10), (10, 10, 1, -1),
            (Int.max, Int.max, 1, 5), (10, -10, 1, 0), (Int.max, 10, 1, 5),
        ] {
            var out = [UInt8](repeating: 1, count: 10)
            var span = out.mutableSpan
            let plane = Deinterlacer.Plane(rows: rows, stride: stride, step: step)
            Deinterlacer.process(row: row, of: source.span, plane, keepsTop: true, into: &span)
            #expect(out == [UInt8](repeating: 1, count: 10), "\(rows) \(stride) \(step) \(row)")
        }
    }
}
