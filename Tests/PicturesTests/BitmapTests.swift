import MediaBase
import Pictures
import Testing

@Suite struct BitmapTests {
    private func code(_ body: () throws(MediaError) -> Bitmap) -> MediaError.Code? {
        do throws(MediaError) {
            _ = try body()
            return nil
        } catch { return error.code }
    }

    @Test func sizesAreChecked() {
        #expect(code { () throws(MediaError) in try Bitmap(width: 2, height: 1, bytes: Array(0..<8)) } == nil)
        #expect(
            code { () throws(MediaError) in try Bitmap(width: 2, height: 1, bytes: [1, 2, 3]) } == .invalidArgument)
        #expect(code { () throws(MediaError) in try Bitmap(width: 0, height: 1) } == .invalidArgument)
        #expect(code { () throws(MediaError) in try Bitmap(width: 1, height: -1) } == .invalidArgument)
        #expect(code { () throws(MediaError) in try Bitmap(width: 1 << 14, height: (1 << 14) + 1) } == .limitExceeded)
        #expect(code { () throws(MediaError) in try Bitmap(width: .max, height: .max) } == .limitExceeded)
        #expect(code { () throws(MediaError) in try Bitmap(width: .max, height: 1, bytes: []) } == .limitExceeded)
    }

    @Test func pixels() throws {
        var bitmap = try Bitmap(width: 3, height: 2, filledWith: Color(red: 1, green: 2, blue: 3, alpha: 4))
        let copy = bitmap
        bitmap[2, 1] = .white
        #expect(bitmap.bytes[20..<24] == [255, 255, 255, 255])
        #expect(bitmap[0, 0] == Color(red: 1, green: 2, blue: 3, alpha: 4) && copy[2, 1] == copy[0, 0])
        bitmap[3, 0] = .black
        bitmap[0, -1] = .black
        bitmap[.max, .min] = .black
        #expect(bitmap[3, 0] == .transparent && bitmap[-1, 0] == .transparent && bitmap[0, 1] == copy[0, 1])
    }

    @Test func opaqueness() throws {
        var bitmap = try Bitmap(width: 40, height: 3, filledWith: .white)
        #expect(bitmap.isOpaque)
        bitmap[39, 2] = Color(red: 255, green: 255, blue: 255, alpha: 254)
        #expect(!bitmap.isOpaque)
    }
}
