import MediaBase
import Pictures
import Testing

/// Expected pixels are worked out by hand.
@Suite struct BitmapCenteredTests {
    /// Pixel (x, y) has red x and green y.
    private func numbered(_ width: Int, _ height: Int, alpha: UInt8 = 255) throws -> Bitmap {
        var bitmap = try Bitmap(width: width, height: height)
        for y in 0..<height {
            for x in 0..<width { bitmap[x, y] = Color(red: UInt8(x), green: UInt8(y), blue: 0, alpha: alpha) }
        }
        return bitmap
    }

    @Test func smallerPicturesArePadded() throws {
        let result = try numbered(2, 3).centered(in: Dimensions(width: 5, height: 5), background: .white)
        #expect(result.width == 5 && result.height == 5)
        #expect(result[1, 1] == Color(red: 0, green: 0, blue: 0) && result[2, 3] == Color(red: 1, green: 2, blue: 0))
        #expect(result[0, 1] == .white && result[3, 1] == .white && result[1, 0] == .white && result[1, 4] == .white)
    }

    @Test func largerPicturesAreCut() throws {
        let result = try numbered(6, 5).centered(in: Dimensions(width: 2, height: 8), background: .black)
        // 6 to 2 leaves out two columns on either side; 5 to 8 leaves one row above.
        #expect(result[0, 1] == Color(red: 2, green: 0, blue: 0) && result[1, 5] == Color(red: 3, green: 4, blue: 0))
        #expect(result[0, 0] == .black && result[0, 6] == .black)
        // An odd difference: 5 to 2 cuts two on the left and one on the right.
        let odd = try numbered(5, 1).centered(in: Dimensions(width: 2, height: 1), background: .black)
        #expect(odd[0, 0].red == 2 && odd[1, 0].red == 3)
    }

    @Test func transparentPixelsShowTheBackground() throws {
        let result = try numbered(1, 1, alpha: 0).centered(in: Dimensions(width: 1, height: 1), background: .white)
        #expect(result[0, 0] == .white)
    }

    @Test func prefixIsTheUpperLeftPart() throws {
        let part = try numbered(4, 4).prefix(width: 2, height: 3)
        #expect(part.width == 2 && part.height == 3 && part[1, 2] == Color(red: 1, green: 2, blue: 0))
        let all = try numbered(4, 4).prefix(width: 9, height: 0)
        #expect(all.width == 4 && all.height == 1 && all[3, 0].red == 3)
    }

    @Test func lumaIsWeighted() throws {
        let bitmap = try Bitmap(
            width: 4, height: 1, bytes: [255, 255, 255, 255, 0, 0, 0, 255, 255, 0, 0, 255, 0, 255, 0, 0])
        // 54, 183 and 19 of 256.
        #expect(bitmap.luma() == [255, 0, 54, 182])
    }
}
