import MediaBase
import Pictures
import Testing

@Suite struct CanvasRoundedTests {
    private func alphas(_ width: Int, _ height: Int, x: Int = 0, y: Int = 0, size: Int = 12) throws -> [[Int]] {
        var canvas = Canvas(try Bitmap(width: size, height: size, filledWith: .transparent))
        canvas.fillRounded(x: x, y: y, width: width, height: height, with: .black)
        return (0..<size).map { row in (0..<size).map { Int(canvas.bitmap[$0, row].alpha) } }
    }

    /// A quarter of a circle of radius 1 covers π/4 of its pixel.
    @Test func cornersAreCoveredAsTheCircleCoversThem() throws {
        let alphas = try alphas(2, 4)
        for (x, y) in [(0, 0), (1, 0), (0, 3), (1, 3)] { #expect(abs(alphas[y][x] - 200) <= 3) }
        #expect(alphas[1][0] == 255 && alphas[2][1] == 255 && alphas[4][0] == 0 && alphas[0][2] == 0)
    }

    /// The area of a bar with half circles at its ends, whichever way it lies.
    @Test(arguments: [(5, 11), (11, 5), (6, 6), (3, 3), (2, 12), (7, 8)])
    func theAreaIsThatOfTheShape(width: Int, height: Int) throws {
        let area = try Double(alphas(width, height).joined().reduce(0, +)) / 255
        let side = Double(min(width, height))
        let wanted = Double(width * height) - side * side * (1 - Double.pi / 4)
        #expect(abs(area - wanted) < 0.02 * wanted + 0.1)
    }

    @Test func partsOutsideAreCut() throws {
        #expect(try alphas(4, 4, x: -2, y: -2)[1][1] > 0)
        #expect(try alphas(1, 5)[0][0] == 255)
        _ = try alphas(1 << 40, 1 << 40, x: -5, y: .min)
        #expect(try alphas(0, 3).joined().allSatisfy { $0 == 0 })
    }
}
