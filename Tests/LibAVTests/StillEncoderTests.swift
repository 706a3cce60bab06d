import LibAV
import MediaBase
import TestSupport
import Testing

/// What comes out is decoded by ffmpeg; tables are libjpeg's as `djpeg -verbose -verbose` prints them.
@Suite struct StillEncoderTests {
    private static let size = Dimensions(width: 48, height: 32)

    /// Smooth in all directions, so that little is lost.
    private static let smooth = (0..<size.width * size.height).flatMap { index -> [UInt8] in
        let (x, y) = (index % size.width, index / size.width)
        return [UInt8(x * 5), UInt8(y * 7), UInt8(255 - x * 3 - y * 2), 255]
    }

    private func decoded(_ bytes: [UInt8], as name: String) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = try folder.write(name, bytes)
        let flags = "scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp,format=rgba"
        return try FFmpeg.run(["-i", path, "-vf", flags, "-f", "rawvideo", "-"])
    }

    @Test(arguments: [StillEncoder.Format.jpeg, .webp], [100, 95, 80, 50])
    func smoothPicturesComeBack(format: StillEncoder.Format, quality: Int) throws {
        let bytes = try StillEncoder.encode(
            Self.smooth.span, dimensions: Self.size, as: format, quality: quality)
        let pixels = try decoded(bytes, as: format == .jpeg ? "a.jpg" : "a.webp")
        try #require(pixels.count == Self.smooth.count)
        let sum = zip(pixels, Self.smooth).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(sum) / Double(pixels.count) < (quality >= 95 ? 1.5 : 4))
    }

    /// BT.601 in full range has exact greys, and no colour comes back more than rounding away from itself.
    @Test(
        arguments: [
            [0, 0, 0], [255, 255, 255], [128, 128, 128], [255, 0, 0], [0, 255, 0], [0, 0, 255], [12, 200, 90],
        ] as [[UInt8]])
    func coloursAreThoseOfJFIF(color: [UInt8]) throws {
        let picture = (0..<64 * 64).flatMap { _ -> [UInt8] in color + [255] }
        let bytes = try StillEncoder.encode(
            picture.span, dimensions: Dimensions(width: 64, height: 64), as: .jpeg, quality: 100)
        let pixels = try decoded(bytes, as: "a.jpg")
        let worst = zip(pixels, picture).map { abs(Int($0) - Int($1)) }.max()
        #expect(worst ?? 255 <= 2)
    }

    @Test func tablesAreThoseOfLibjpegButForTheMean() throws {
        let bytes = try StillEncoder.encode(Self.smooth.span, dimensions: Self.size, as: .jpeg, quality: 85)
        // The segment DQT: 0xFFDB, length, table 0 in zigzag order.
        let start = try #require(bytes.indices.dropLast(5).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDB })
        // cjpeg -quality 85: rows (5) 3 3 5…, 4 4 4…, 4 4…, 4… in zigzag order.
        #expect(bytes[start + 4] == 0 && bytes[start + 5] == 8)
        #expect(Array(bytes[(start + 6)...].prefix(9)) == [3, 4, 4, 4, 3, 5, 4, 4, 4])
        #expect(bytes.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]) && bytes[6...].starts(with: "JFIF".utf8))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("Lav"))
    }

    @Test func chromaIsHalvedBelowQuality90() throws {
        for (quality, format) in [(89, "yuvj420p"), (90, "yuvj444p")] {
            let folder = try TemporaryFolder()
            let bytes = try StillEncoder.encode(Self.smooth.span, dimensions: Self.size, as: .jpeg, quality: quality)
            let path = try folder.write("a.jpg", bytes)
            #expect(try FFmpeg.probe(["-show_entries", "stream=pix_fmt", "-of", "csv=p=0", path]) == [format])
        }
    }

    @Test func alphaStaysInWebP() throws {
        var picture = Self.smooth
        for index in stride(from: 3, to: picture.count, by: 8) { picture[index] = 40 }
        let bytes = try StillEncoder.encode(picture.span, dimensions: Self.size, as: .webp, quality: 90)
        let pixels = try decoded(bytes, as: "a.webp")
        let alpha = { (bytes: [UInt8]) in stride(from: 3, to: bytes.count, by: 4).map { bytes[$0] } }
        #expect(alpha(pixels) == alpha(picture))
    }

    @Test func sameBytesOnEveryThread() async throws {
        for format in [StillEncoder.Format.jpeg, .webp] {
            let wanted = try StillEncoder.encode(Self.smooth.span, dimensions: Self.size, as: format, quality: 70)
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try StillEncoder.encode(Self.smooth.span, dimensions: Self.size, as: format, quality: 70)
                    }
                }
                for try await bytes in group { #expect(bytes == wanted) }
            }
        }
    }

    @Test func sizes() throws {
        for size in [Dimensions(width: 1, height: 1), Dimensions(width: 3, height: 17)] {
            let picture = [UInt8](repeating: 200, count: size.width * size.height * 4)
            for format in [StillEncoder.Format.jpeg, .webp] {
                let bytes = try StillEncoder.encode(picture.span, dimensions: size, as: format, quality: 80)
                #expect(try decoded(bytes, as: format == .jpeg ? "a.jpg" : "a.webp").count == picture.count)
            }
        }
        let wide = Dimensions(width: 16384, height: 1)
        let picture = [UInt8](repeating: 0, count: wide.width * 4)
        let error = #expect(throws: MediaError.self) {
            try StillEncoder.encode(picture.span, dimensions: wide, as: .webp, quality: 80)
        }
        #expect(error?.code == .limitExceeded)
        #expect(throws: MediaError.self) {
            try StillEncoder.encode([1, 2, 3].span, dimensions: Self.size, as: .jpeg, quality: 80)
        }
    }
}
