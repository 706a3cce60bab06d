import AssetKit
import Testing

@Suite struct PictureSizeLimitTests {
    private func size(
        _ width: Int, _ height: Int, aspect: Rational? = nil, _ limit: PictureSizeLimit, square: Bool = false
    ) -> String {
        let format = VideoFormat(encodedSize: Dimensions(width: width, height: height), sampleAspectRatio: aspect)
        return "\(limit.size(for: format, hasSquarePixels: square))"
    }

    @Test func picturesBecomeSmallerAndNeverLarger() {
        #expect(size(1920, 1080, .shorterSide(540)) == "960x540")
        #expect(size(1080, 1920, .shorterSide(540)) == "540x960")
        #expect(size(1080, 1920, .height(540)) == "304x540")
        #expect(size(320, 240, .shorterSide(540)) == "320x240")
        #expect(size(3840, 2160, .box(Dimensions(width: 1280, height: 720))) == "1280x720")
        #expect(size(1080, 1920, .box(Dimensions(width: 960, height: 540))) == "540x960")
        #expect(size(1440, 1080, .none) == "1440x1080")
    }

    @Test func anOddLimitIsNotExceeded() {
        #expect(size(320, 180, .height(45)) == "78x44")
        #expect(size(180, 320, .shorterSide(45)) == "44x78")
        #expect(size(320, 180, .height(181)) == "320x180")
    }

    @Test func sidesAreEven() {
        #expect(size(853, 479, .none) == "850x476")
        #expect(size(1, 1, .none) == "2x2")
        #expect(size(1998, 1080, .shorterSide(540)) == "1000x540")
    }

    /// The source's shape over the stored shape is the pixel aspect, whose terms must not exceed 4096, or 15 bits where
    /// that cannot be: 1153 and 541 are primes.
    @Test func thePixelAspectStaysAShortFraction() throws {
        for (width, height) in [(3026, 1386), (2998, 1234), (4098, 2306), (1922, 1082)] {
            let format = VideoFormat(encodedSize: Dimensions(width: width, height: height))
            let size = PictureSizeLimit.shorterSide(540).size(for: format)
            let shape = Rational(Int64(width), Int64(height))
            let aspect = try #require(shape.multiplied(by: Rational(Int64(size.height), Int64(size.width))))
            #expect(max(aspect.num, aspect.den) <= (width == 3026 ? 4096 : 32767), "\(size) of \(width)x\(height)")
            #expect(abs(Double(size.width) / (Double(width) * 540 / Double(height)) - 1) < 0.021)
            #expect(size.height <= 540 && size.height > 528)
        }
    }

    @Test func squarePixelsNeverWiden() {
        #expect(size(1440, 1080, aspect: Rational(4, 3), .none, square: true) == "1440x810")
        #expect(size(1440, 1080, aspect: Rational(4, 3), .shorterSide(540), square: true) == "960x540")
        #expect(size(720, 480, aspect: Rational(10, 11), .none, square: true) == "654x480")
    }
}
