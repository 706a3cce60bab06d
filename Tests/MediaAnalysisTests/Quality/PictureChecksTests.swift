import MediaAnalysis
import Testing

@Suite struct PlaneKernelsTests {
    private let shape = PlaneShape(width: 61, rows: 17, stride: 64)

    /// A plane whose padding holds what must not be counted.
    private func plane(_ value: (_ x: Int, _ row: Int) -> Int) -> (bytes: [UInt8], words: [UInt16]) {
        var bytes = [UInt8](repeating: 255, count: shape.stride * shape.rows)
        for row in 0..<shape.rows {
            for x in 0..<shape.width { bytes[row * shape.stride + x] = UInt8(clamping: value(x, row)) }
        }
        return (bytes, bytes.map { UInt16($0) * 4 })
    }

    @Test func darkSamplesAreCountedUntilThereAreTooManyOthers() {
        let (bytes, words) = plane { x, row in row == 3 && x < 20 ? 17 : 16 }
        let all = shape.width * shape.rows
        #expect(PlaneKernels.countAtMost(16, in: bytes.span, shape, others: 20) == all - 20)
        #expect(PlaneKernels.countAtMost(16, in: bytes.span, shape, others: 19) == nil)
        #expect(PlaneKernels.countAtMost(17, in: bytes.span, shape, others: 0) == all)
        #expect(PlaneKernels.countAtMost(64, in: words.span, shape, others: 20) == all - 20)
        #expect(PlaneKernels.countAtMost(64, in: words.span, shape, others: 19) == nil)
    }

    @Test func samplesOutsideARange() {
        let (bytes, words) = plane { x, row in row * 16 + x % 3 }
        var wanted = 0
        for row in 0..<shape.rows {
            for x in 0..<shape.width { wanted += (14...241).contains(min(255, row * 16 + x % 3)) ? 0 : 1 }
        }
        #expect(wanted > 0)
        #expect(PlaneKernels.countOutside(14...241, in: bytes.span, shape) == wanted)
        #expect(PlaneKernels.countOutside(56...964, in: words.span, shape) == wanted)
    }

    @Test func differencesOfPlanes() {
        let (first, firstWords) = plane { x, row in x + row }
        let (second, secondWords) = plane { x, row in x + row + (x == 5 ? row % 2 * 2 - 1 : 0) }
        let limit = Int.max
        #expect(PlaneKernels.difference(first.span, shape, first.span, shape, limit: limit) == 0)
        #expect(PlaneKernels.difference(first.span, shape, second.span, shape, limit: limit) == shape.rows)
        #expect(
            PlaneKernels.difference(firstWords.span, shape, secondWords.span, shape, limit: limit) == shape.rows * 4)
        #expect(PlaneKernels.difference(first.span, shape, second.span, shape, limit: 3) > 3)
        let other = PlaneShape(width: 60, rows: 17, stride: 64)
        #expect(PlaneKernels.difference(first.span, shape, second.span, other, limit: 3) > 3)
    }

    @Test func barsAtEachEdge() {
        let (bytes, words) = plane { x, row in
            (2..<14).contains(row) && (5..<58).contains(x) ? 100 : x == 30 && row == 0 ? 200 : 16
        }
        let wanted = PictureBars(top: 2, bottom: 3, left: 5, right: 3)
        // One bright dot does not make a row bright.
        #expect(PlaneKernels.bars(atMost: 24, in: bytes.span, shape) == wanted)
        #expect(PlaneKernels.bars(atMost: 96, in: words.span, shape) == wanted)
        let black = plane { _, _ in 16 }.bytes
        #expect(
            PlaneKernels.bars(atMost: 24, in: black.span, shape)
                == PictureBars(top: shape.rows, bottom: shape.rows, left: shape.width, right: shape.width))
        #expect(
            wanted.common(with: PictureBars(top: 1, bottom: 9, left: 9, right: 0))
                == PictureBars(top: 1, bottom: 3, left: 5))
    }

    @Test(arguments: [
        PlaneShape(width: 8, rows: 8, stride: 8), PlaneShape(width: 0, rows: 1, stride: 8),
        PlaneShape(width: 8, rows: .max, stride: .max), PlaneShape(width: 9, rows: 1, stride: 8),
        PlaneShape(width: -1, rows: -1, stride: -1),
    ])
    func shapesThatDoNotFitGiveNothing(shape: PlaneShape) {
        let short = [UInt8](repeating: 0, count: 63)
        #expect(PlaneKernels.countAtMost(9, in: short.span, shape, others: 9) == nil)
        #expect(PlaneKernels.countOutside(9...9, in: short.span, shape) == 0)
        #expect(PlaneKernels.difference(short.span, shape, short.span, shape, limit: 9) == .max)
        #expect(PlaneKernels.bars(atMost: 9, in: short.span, shape) == PictureBars())
    }
}

@Suite struct PictureLevelsTests {
    @Test func codesOfR103() {
        #expect(PictureLevels(depth: 8, isFullRange: false).legalLuma == 14...241)
        #expect(PictureLevels(depth: 10, isFullRange: false).legalLuma == 56...966)
        // What blackdetect takes: 0.1 of the way to white.
        #expect(PictureLevels(depth: 8, isFullRange: false).code(atMost: 0.1) == 37)
        #expect(PictureLevels(depth: 8, isFullRange: true).code(atMost: 0.1) == 25)
    }

    @Test func coloursThatNoCameraSees() {
        let matrix = YCbCrMatrix(name: "bt709", isFullRange: false, storedBits: 8, bits: 8)
        func isLegal(_ luma: Double, _ cb: Double, _ cr: Double) -> Bool {
            matrix.isLegal(luma: luma, cb: cb, cr: cr)
        }
        // White, black, and red, green and blue of the colour bars; then white with all of red's chroma.
        #expect(isLegal(235, 128, 128) && isLegal(16, 128, 128))
        #expect(isLegal(63, 102, 240) && isLegal(173, 42, 26) && isLegal(32, 240, 118))
        #expect(!isLegal(235, 128, 240))
    }
}
