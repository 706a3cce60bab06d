import MediaBase
import Pictures
import Testing

@Suite struct CanvasTests {
    private func canvas(_ width: Int, _ height: Int, _ color: Color = .white) throws -> Canvas {
        Canvas(try Bitmap(width: width, height: height, filledWith: color))
    }

    private func count(_ color: Color, in bitmap: Bitmap) -> Int {
        (0..<bitmap.height).reduce(0) { sum, y in sum + (0..<bitmap.width).count { bitmap[$0, y] == color } }
    }

    @Test func fillsAndClips() throws {
        var canvas = try canvas(5, 4)
        canvas.fill(x: 3, y: -2, width: 9, height: 4, with: .black)
        #expect(canvas.bitmap[3, 0] == .black && canvas.bitmap[4, 1] == .black && canvas.bitmap[2, 0] == .white)
        #expect(count(.black, in: canvas.bitmap) == 4)
    }

    @Test func extremeNumbersAreHarmless() throws {
        var canvas = try canvas(3, 3)
        for number in [Int.min, -1, 0, 3, Int.max] {
            canvas.fill(x: number, y: number, width: number, height: number, with: .black)
            canvas.draw(canvas.bitmap, x: number, y: number)
        }
        canvas.fill(x: 0, y: 0, width: 3, height: 0, with: .black)
        canvas.fill(x: 0, y: 0, width: 3, height: 3, with: .white)
        canvas.fill(x: .min, y: 0, width: .max, height: 3, with: .black)
        #expect(count(.white, in: canvas.bitmap) == 9)
        canvas.fill(x: -1, y: 1, width: .max, height: 1, with: .black)
        #expect(count(.black, in: canvas.bitmap) == 3)
    }

    // By hand, source over: 255·(128/255) over white: 0·128/255 + 255·127/255 = 127.
    @Test func blendsOverOpaque() throws {
        var canvas = try canvas(1, 1)
        canvas.fill(x: 0, y: 0, width: 1, height: 1, with: Color(red: 0, green: 255, blue: 100, alpha: 128))
        #expect(canvas.bitmap[0, 0] == Color(red: 127, green: 255, blue: 177))
    }

    // By hand: alpha 128 over 128 leaves 128 + 128·127/255 = 191.7; red 255 of the share 128/191.75 = 170.2.
    @Test func blendsOverTranslucent() throws {
        var canvas = try canvas(1, 1, Color(red: 0, green: 0, blue: 255, alpha: 128))
        canvas.fill(x: 0, y: 0, width: 1, height: 1, with: Color(red: 255, green: 0, blue: 0, alpha: 128))
        #expect(canvas.bitmap[0, 0] == Color(red: 170, green: 0, blue: 85, alpha: 192))
    }

    @Test func blendsOverNothing() throws {
        var canvas = try canvas(1, 1, .transparent)
        let color = Color(red: 9, green: 99, blue: 199, alpha: 3)
        canvas.fill(x: 0, y: 0, width: 1, height: 1, with: color)
        #expect(canvas.bitmap[0, 0] == color)
    }

    @Test func linesAndPictures() throws {
        var canvas = try canvas(6, 6)
        canvas.fill(x: 1, y: 2, width: 3, height: 1, with: .black)
        canvas.fill(x: 5, y: 0, width: 2, height: 6, with: .black)
        #expect(count(.black, in: canvas.bitmap) == 9)
        canvas.draw(try Bitmap(width: 2, height: 2, filledWith: Color(red: 255, green: 0, blue: 0)), x: -1, y: 5)
        #expect(count(Color(red: 255, green: 0, blue: 0), in: canvas.bitmap) == 1)
        canvas.draw(try Bitmap(width: 6, height: 6, filledWith: .transparent), x: 0, y: 0)
        #expect(count(.black, in: canvas.bitmap) == 9)
    }
}
