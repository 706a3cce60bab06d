import MediaBase
import Testing

@Suite struct PictureTransformTests {
    private static let one: Int32 = 1 << 16

    /// a, b, c, d: a quarter turn clockwise brings (p, q) to (-q, p).
    @Test(arguments: [
        ([1, 0, 0, 1], 0, false), ([0, 1, -1, 0], 90, false), ([-1, 0, 0, -1], 180, false),
        ([0, -1, 1, 0], 270, false),
        ([-1, 0, 0, 1], 0, true), ([1, 0, 0, -1], 180, true), ([0, -1, -1, 0], 90, true), ([0, 1, 1, 0], 270, true),
    ])
    func quarterTurns(numbers: [Int32], rotation: Int, isMirrored: Bool) {
        let scaled = numbers.map { $0 * Self.one }
        let transform = PictureTransform(
            matrix: [scaled[0], scaled[1], 0, scaled[2], scaled[3], 0, 0, 0, 1 << 30])
        #expect(transform.rotation == rotation && transform.isMirrored == isMirrored && transform.isQuarterTurn)
        let size = Dimensions(width: 320, height: 180)
        let turned = rotation % 180 == 0 ? size : Dimensions(width: 180, height: 320)
        #expect(transform.apply(to: size) == turned)
        // The flip, the turn, and the corners of the picture at those of the frame.
        let flip = PictureTransform(a: isMirrored ? -1 : 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)
        var wanted = flip.concatenating(.rotation(degrees: Double(rotation)))
        (wanted.tx, wanted.ty) = (transform.turning(size).tx, transform.turning(size).ty)
        #expect(transform.turning(size) == wanted)
        let corners = [(0, 0), (320, 0), (0, 180), (320, 180)].map { (x: Double, y: Double) in
            [wanted.a * x + wanted.c * y + wanted.tx, wanted.b * x + wanted.d * y + wanted.ty]
        }
        let (width, height) = (Double(turned.width), Double(turned.height))
        #expect(Set(corners) == [[0, 0], [width, 0], [0, height], [width, height]])
    }

    /// Zeros (what is no number in floating point), extremes, and the bits of NaN.
    @Test(arguments: [
        [Int32](repeating: 0, count: 9), [Int32](repeating: .min, count: 9), [Int32](repeating: .max, count: 9),
        [Int32](repeating: 0x7FC0_0000, count: 9), [1, 1, 0, 0, 0, 0, 0, 0, 0],
    ])
    func whatIsNoQuarterTurnTurnsNothing(matrix: [Int32]) {
        let transform = PictureTransform(matrix: matrix)
        #expect(transform.rotation == 0 && !transform.isMirrored && !transform.isQuarterTurn)
        let size = Dimensions(width: 320, height: 180)
        #expect(transform.apply(to: size) == size && transform.turning(size) == .identity)
    }

    @Test func storedNumbersAreKeptExactly() {
        #expect(PictureTransform(matrix: []) == .identity && PictureTransform(matrix: [1]) == .identity)
        for value: Int32 in [.min, .min + 1, -65537, -1, 0, 1, 65535, 1 << 16, 23170, .max - 1, .max] {
            let matrix = [value, 1, 0, ~value, value, 0, value, -3, 1 << 30]
            #expect(PictureTransform(matrix: matrix).matrix == matrix)
        }
        let large = PictureTransform(a: 1e9, b: -1e9, c: .nan, d: .infinity, tx: 0, ty: 0).matrix
        #expect(large == [.max, .min, 0, 0, .max, 0, 0, 0, 1 << 30])
    }

    /// Worked out by hand with the formulas of CGAffineTransform: the new part comes first.
    @Test func partsAreAddedBeforeTheTransform() throws {
        let quarter = PictureTransform.translation(x: 720, y: 0).rotated(by: .pi / 2)
        #expect(quarter == PictureTransform(a: 0, b: 1, c: -1, d: 0, tx: 720, ty: 0))
        #expect(quarter.matrix == [0, Self.one, 0, -Self.one, 0, 0, 720 * Self.one, 0, 1 << 30])
        #expect(quarter.translatedBy(x: 10, y: 5) == PictureTransform(a: 0, b: 1, c: -1, d: 0, tx: 715, ty: 10))
        #expect(quarter.translated(by: (10, 5)) == quarter.translatedBy(x: 10, y: 5))
        #expect(quarter.scaledBy(x: 2, y: 3) == PictureTransform(a: 0, b: 2, c: -3, d: 0, tx: 720, ty: 0))
        #expect(quarter.scaled(by: 2) == quarter.scaledBy(x: 2, y: 2))
        #expect(try #require(quarter.inverted).concatenating(quarter).isIdentity)
        #expect(PictureTransform.scale(x: 0, y: 1).inverted == nil)
        for turns in -9...9 {
            let exact = PictureTransform.rotation(radians: Double(turns) * .pi / 2)
            #expect(exact == .rotation(degrees: Double(turns * 90)))
            #expect([exact.a, exact.b, exact.c, exact.d].allSatisfy { [-1, 0, 1].contains($0) })
        }
        let eighth = PictureTransform.rotation(degrees: 45)
        #expect(abs(eighth.a - 0.5.squareRoot()) < 1e-15 && abs(eighth.b - 0.5.squareRoot()) < 1e-15)
    }
}
