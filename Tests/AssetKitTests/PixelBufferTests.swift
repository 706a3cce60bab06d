import AssetKit
import TestSupport
import Testing

@Suite struct PixelBufferTests {
    private func picture(_ fixture: String = "h264-bframes.mp4") throws -> PixelBuffer {
        let asset = try Media.asset(fixture)
        let output = TrackOutput(track: try Media.track(asset, .video), videoSettings: VideoSettings())
        let reader = try Media.start(output, of: asset)
        let buffer = try #require(try output.nextSampleBuffer())
        withExtendedLifetime(reader) {}
        return try #require(buffer.pixelBuffer)
    }

    @Test func planesAreThoseOfTheFormat() throws {
        let picture = try picture()
        #expect(picture.pixelFormat == PixelFormat(rawValue: "yuv420p"))
        #expect(picture.planeCount == 3)
        #expect(picture.planeShape(0) == (90, 160))
        #expect(picture.planeShape(1) == (45, 80))
        #expect(picture.planeShape(2) == (45, 80))
        for plane in 0..<3 {
            let packed = picture.packedPlane(plane)
            let (rows, rowBytes) = picture.planeShape(plane)
            #expect(packed.count == rows * rowBytes)
            picture.withPlane(plane) { span, stride in
                #expect(stride >= rowBytes)
                #expect(span.byteCount == stride * (rows - 1) + rowBytes)
                for row in [0, rows / 2, rows - 1] {
                    let bytes = span.extracting(row * stride..<row * stride + rowBytes).withUnsafeBytes { Array($0) }
                    #expect(bytes.elementsEqual(packed[row * rowBytes..<(row + 1) * rowBytes]))
                }
            }
        }
    }

    @Test(arguments: [-1, 3, 7, 8, 9, 1000, Int.max, Int.min]) func planesThatDoNotExistAreEmpty(_ plane: Int) throws {
        let picture = try picture()
        #expect(picture.planeShape(plane) == (0, 0))
        #expect(picture.packedPlane(plane).isEmpty)
        #expect(picture.withPlane(plane) { span, stride in span.byteCount + stride } == 0)
    }

    @Test func conversionIsFFmpegs() throws {
        // The flags are those that PixelConverter states, but for the ones that ffmpeg sets itself; chroma lies to the left.
        let bitmap = try picture().bitmap(dimensions: Dimensions(width: 80, height: 45))
        let wanted = try FFmpeg.run(
            [
                "-i", Fixtures.path("h264-bframes.mp4"), "-frames:v", "1", "-vf",
                "scale=80:45:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp:in_h_chr_pos=0,format=rgba",
                "-f", "rawvideo", "-",
            ])
        #expect(bitmap.bytes.count == wanted.count)
        let worst = zip(bitmap.bytes, wanted).map { abs(Int($0) - Int($1)) }.max()
        #expect(try #require(worst) <= 2)
    }

    @Test func impossibleConversionsAreRefused() throws {
        let picture = try picture()
        #expect(errorCode { try picture.converted(to: PixelFormat(rawValue: "no such format")) } == .invalidArgument)
        for size in [(0, 10), (10, -1), (1 << 20, 1 << 20), (Int.max, 2)] {
            let dimensions = Dimensions(width: size.0, height: size.1)
            #expect(errorCode { try picture.converted(dimensions: dimensions) } == .limitExceeded)
        }
    }

    @Test func theSameFormAndSizeIsNotCopied() throws {
        let picture = try picture()
        let same = try picture.converted(to: picture.pixelFormat, dimensions: picture.dimensions)
        #expect(same.packedPlane(0) == picture.packedPlane(0))
    }
}
