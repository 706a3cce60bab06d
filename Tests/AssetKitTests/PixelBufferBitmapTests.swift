import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Pictures whose coded samples are known, as bitmaps.
@Suite struct PixelBufferBitmapTests {
    /// The first picture of a file.
    static func picture(_ path: String) throws -> PixelBuffer {
        let generator = ImageGenerator(asset: Asset(path: FilePath(path)))
        return try generator.pixelBuffer(at: .zero).picture
    }

    /// A picture from its planes, coded without loss.
    static func picture(
        _ bytes: [UInt8], _ format: String, _ size: (Int, Int), _ tags: [String] = [], codec: String = "ffv1"
    ) throws -> PixelBuffer {
        let folder = try TemporaryFolder()
        let raw = try folder.write("picture.raw", bytes)
        let path = folder.path("picture.mkv")
        _ = try FFmpeg.run(
            ["-f", "rawvideo", "-pix_fmt", format, "-s", "\(size.0)x\(size.1)", "-i", raw, "-c:v", codec] + tags + [
                path
            ])
        return try Self.picture(path)
    }

    /// A bitmap becomes a pixel buffer, and that the same bitmap again; its rows are not aligned as libav's are.
    @Test func aBitmapComesBack() throws {
        let bytes = (0..<37 * 5 * 4).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        let bitmap = try Bitmap(width: 37, height: 5, bytes: bytes)
        let buffer = try PixelBuffer(bitmap, sampleAspectRatio: Rational(4, 3))
        #expect(buffer.pixelFormat == .rgba && buffer.dimensions == Dimensions(width: 37, height: 5))
        #expect(buffer.sampleAspectRatio == Rational(4, 3))
        #expect(buffer.packedPlane(0) == bytes)
        #expect(try buffer.bitmap() == bitmap)
    }

    private static func tags(_ color: ColorInfo) -> [String] {
        FFmpeg.colorTags(
            matrix: color.matrix, primaries: color.primaries, transfer: color.transfer, range: color.range)
    }

    // MARK: - Colours

    private struct Kind: Hashable {
        let color: ColorInfo
        let bits: Int
        let peak: Int
    }

    /// Patches of 8 by 8 pixels, through a decoder and at half the size.
    @Test func patchesAreThoseOfTheStandards() throws {
        var kinds: [Kind: [GoldenTable.Row]] = [:]
        for row in try GoldenTable("colour/samples.tsv").rows where try row.number("peak") == 0 {
            let color = ColorInfo(
                primaries: try row.text("primaries"), transfer: try row.text("transfer"),
                matrix: try row.text("matrix"), range: try row.text("range"))
            kinds[Kind(color: color, bits: try row.number("bits"), peak: 0), default: []].append(row)
        }
        #expect(kinds.count >= 25)
        for (kind, rows) in kinds {
            let sampling = kind.bits == 8 ? "420" : kind.bits == 10 ? "422" : "444"
            let format = "yuv\(sampling)p" + (kind.bits == 8 ? "" : "\(kind.bits)le")
            let (across, down) = (sampling == "444" ? 8 : 4, sampling == "420" ? 4 : 8)
            func plane(_ column: String, _ width: Int, _ height: Int) throws -> [UInt8] {
                let line = try rows.flatMap { row in
                    let value = try row.number(column)
                    let sample = kind.bits == 8 ? [UInt8(value)] : [UInt8(value & 255), UInt8(value >> 8)]
                    return (0..<width).flatMap { _ in sample }
                }
                return (0..<height).flatMap { _ in line }
            }
            let bytes = try plane("y", 8, 8) + plane("cb", across, down) + plane("cr", across, down)
            let picture = try Self.picture(bytes, format, (rows.count * 8, 8), Self.tags(kind.color))
            // Some containers' words for the same matrix are fewer.
            #expect(picture.color.primaries == kind.color.primaries)
            for scale in [1, 2] {
                let bitmap = try picture.bitmap(
                    dimensions: Dimensions(width: rows.count * 8 / scale, height: 8 / scale))
                for (index, row) in rows.enumerated() {
                    let pixel = bitmap[(index * 8 + 4) / scale, 4 / scale]
                    let wanted = try ["red", "green", "blue"].map { try #require(Double(try row.text($0))) }
                    let error =
                        zip([pixel.red, pixel.green, pixel.blue], wanted).map { abs(Double($0.0) - $0.1) }.max() ?? 0
                    // At half the size bicubic's ringing at the edges of the patches reaches their middle.
                    #expect(scale == 2 || error <= 2, "\(kind) /\(scale): \(row.fields) gave \(pixel)")
                }
            }
        }
    }

    @Test func whatIsNotTaggedIsAssumedByTheSize() throws {
        // The same samples: green has another share of luma in each matrix.
        func green(_ size: (Int, Int), _ tags: [String] = []) throws -> UInt8 {
            let count = size.0 * size.1
            let chroma = [UInt8](repeating: 60, count: 2 * count)
            let bytes = [UInt8](repeating: 100, count: count) + chroma
            return try Self.picture(bytes, "yuv444p", size, tags).bitmap()[1, 1].green
        }
        let sd = try green((64, 64), FFmpeg.colorTags(matrix: "smpte170m"))
        let hd = try green((64, 64), FFmpeg.colorTags(matrix: "bt709"))
        #expect(abs(Int(sd) - Int(hd)) > 20)
        #expect(try green((64, 64)) == sd)
        #expect(try green((720, 608)) == sd)
        #expect(try green((1280, 16)) == hd)
        #expect(try green((16, 720)) == hd)
    }

    @Test func chromaLiesWhereTheTagsSay() throws {
        // A step of chroma alone, in 4:2:0 and four times as large as the picture that is asked for.
        let (width, height) = (128, 64)
        for (location, shift) in [("left", 0.0), ("center", 0.5), ("topleft", 0.0)] {
            let luma = [UInt8](repeating: 128, count: width * height)
            let row = (0..<width / 2).map { UInt8($0 < width / 4 ? 90 : 166) }
            let chroma = (0..<height / 2).flatMap { _ in row }
            let picture = try Self.picture(
                luma + [UInt8](repeating: 128, count: chroma.count) + chroma, "yuv420p", (width, height),
                ["-chroma_sample_location", location] + FFmpeg.colorTags(matrix: "bt709")
            )
            let bitmap = try picture.bitmap()
            // Where the red channel passes the middle between both sides.
            let reds = (0..<width).map { Double(bitmap[$0, height / 2].red) }
            let middle = (reds[4] + reds[width - 5]) / 2
            let x = try #require((1..<width).first { reds[$0] >= middle })
            let edge = Double(x) - (reds[x] - middle) / (reds[x] - reds[x - 1])
            // Left: samples 31 and 32 lie at 62 and 64, so the edge is at 63; in the middle half a sample further.
            let isTold = picture.color.chromaLocation != nil
            #expect(abs(edge - (63 + (isTold ? shift : 0))) < 0.2, "\(location): \(edge)")
        }
    }

    // MARK: - Alpha

    @Test func transparentPixelsDoNotShow() throws {
        // Red, opaque, beside green that is fully transparent.
        let row = (0..<64).flatMap { (x: Int) -> [UInt8] in x < 32 ? [255, 0, 0, 255] : [0, 255, 0, 0] }
        let pixels = (0..<64).flatMap { _ in row }
        let picture = try Self.picture(pixels, "rgba", (64, 64), codec: "png")
        #expect(try picture.bitmap().bytes == pixels)
        for width in [63, 31, 10] {
            let bitmap = try picture.bitmap(dimensions: Dimensions(width: width, height: width))
            for x in 0..<width {
                let pixel = bitmap[x, width / 2]
                if pixel.alpha > 8 { #expect(pixel.red > 240 && pixel.green < 12, "\(width): \(x) \(pixel)") }
            }
            #expect(bitmap[0, 0] == Color(red: 255, green: 0, blue: 0))
            #expect(bitmap[width - 1, 0].alpha == 0)
        }
    }

    @Test(arguments: ["vp9-alpha.webm", "picture.png", "gif.gif"]) func opaqueStaysOpaque(_ fixture: String) throws {
        let picture = try Self.picture(try Fixtures.path(fixture))
        let whole = try picture.bitmap()
        let small = try picture.bitmap(dimensions: Dimensions(width: 37, height: 21))
        func alphas(_ bitmap: Bitmap) -> [UInt8] {
            stride(from: 3, to: bitmap.bytes.count, by: 4).map { bitmap.bytes[$0] }
        }
        if alphas(whole).allSatisfy({ $0 == 255 }) { #expect(alphas(small).allSatisfy { $0 == 255 }) }
        #expect(alphas(small).contains { $0 > 0 })
    }

    // MARK: - Formats and sizes

    /// Formats that files really have, in and out of the library's own converter.
    @Test(arguments: [
        "yuv420p", "yuvj420p", "yuv422p", "yuv444p", "yuv411p", "yuv440p", "yuyv422", "uyvy422", "nv12", "nv16", "nv24",
        "p010le", "p016le", "yuv420p10le", "yuv422p10le", "yuv444p12le", "yuv420p16le", "gbrp", "gbrp10le", "gbrp12le",
        "rgb24", "bgra", "argb", "rgb0", "rgb48le", "rgba64le", "gbrap", "gbrap12le", "gbrpf32le", "yuva420p",
        "yuva444p10le", "yuva422p12le", "ayuv64le", "x2rgb10le", "y210le", "vuya",
    ])
    func formatsGiveTheSamePicture(_ name: String) throws {
        let source = try Self.picture(try Fixtures.path("picture.png"))
        let format = PixelFormat(rawValue: name)
        guard let stored = try? source.converted(to: format) else {
            // Newer formats are unknown to older libraries.
            #expect(
                ["nv16", "nv24", "y210le", "vuya", "ayuv64le", "x2rgb10le", "gbrpf32le", "yuva422p12le"].contains(name))
            return
        }
        let (first, second) = (try source.bitmap(), try stored.bitmap())
        // Coarse chroma and 10 bits of full range apart, it is the same picture.
        let coarse = ["420", "411", "410", "nv12", "p010", "p016"].contains { name.contains($0) }
        let halved = ["422", "440", "nv16", "y210"].contains { name.contains($0) }
        let worst = name == "yuv411p" ? 16 : coarse ? 19 : halved ? 21 : name == "x2rgb10le" ? 30 : 45
        #expect(likeness(first, second) >= Double(worst), "\(name): \(likeness(first, second)) dB")
    }

    /// PSNR of red, green and blue in dB.
    private func likeness(_ a: Bitmap, _ b: Bitmap) -> Double {
        guard a.bytes.count == b.bytes.count else { return 0 }
        var sum = 0
        for place in a.bytes.indices where place % 4 != 3 {
            let error = Int(a.bytes[place]) - Int(b.bytes[place])
            sum += error * error
        }
        let mean = Double(sum) / Double(a.bytes.count / 4 * 3)
        return mean == 0 ? 99 : 10 * log10(255 * 255 / mean)
    }

    @Test(arguments: [(1, 1), (2, 1), (1, 3), (3, 2), (5, 5), (17, 1)]) func tinyAndOddPicturesAreShown(
        _ size: (Int, Int)
    )
        throws
    {
        for format in ["yuv420p", "yuv422p", "yuv444p10le", "gray", "rgb24", "rgba"] {
            let count = size.0 * size.1 * 8 + 64
            let folder = try TemporaryFolder()
            let raw = try folder.write("x.raw", [UInt8](repeating: 200, count: count))
            // Without an encoder: FFV1's refuses a picture of one column from version 9 on.
            let path = folder.path("x.nut")
            _ = try FFmpeg.run([
                "-f", "rawvideo", "-pix_fmt", format, "-s", "\(size.0)x\(size.1)", "-i", raw, "-frames:v", "1",
                "-c:v", "rawvideo", path,
            ])
            let picture = try Self.picture(path)
            for target in [(1, 1), (4, 3), (size.0, size.1)] {
                let bitmap = try picture.bitmap(dimensions: Dimensions(width: target.0, height: target.1))
                let bytes = Set((0..<bitmap.width).map { bitmap[$0, 0] })
                #expect(bytes.count == 1, "\(format) \(size) to \(target): \(bytes)")
            }
        }
    }

    // MARK: - Scaling

    /// A zone plate: what is coarse enough stays, and what is too fine becomes an even grey instead of other patterns.
    @Test(arguments: [(160, 90), (320, 180), (213, 120)]) func finePatternsHaveNoAliases(_ size: (Int, Int)) throws {
        let (width, height) = (640, 360)
        let slope = Double.pi / 640
        func wave(_ x: Double, _ y: Double) -> Double {
            128 + 100 * cos(slope * (x * x + y * y))
        }
        // The lower right quarter of a plate whose finest circles have one pixel for each half period.
        let luma = (0..<height).flatMap { y in
            (0..<width).map { x in UInt8(wave(Double(x), Double(y)).rounded()) }
        }
        let bitmap = try Self.picture(luma, "gray", (width, height)).bitmap(
            dimensions: Dimensions(width: size.0, height: size.1))
        let scale = Double(width) / Double(size.0)
        var kept = (sum: 0.0, count: 0.0)
        var gone = (sum: 0.0, count: 0.0)
        for y in 0..<size.1 {
            for x in 0..<size.0 {
                let place = ((Double(x) + 0.5) * scale - 0.5, (Double(y) + 0.5) * scale - 0.5)
                let frequency = slope * hypot(place.0, place.1) / .pi
                let value = Double(bitmap[x, y].green)
                if frequency < 0.3 / scale {
                    kept.sum += pow(value - wave(place.0, place.1), 2)
                    kept.count += 1
                } else if frequency > 0.8 / scale, frequency < 0.5 {
                    gone.sum += pow(value - 128, 2)
                    gone.count += 1
                }
            }
        }
        #expect(kept.count > 50 && sqrt(kept.sum / kept.count) < 4, "\(sqrt(kept.sum / kept.count))")
        #expect(scale < 2 || gone.count > 50 && sqrt(gone.sum / gone.count) < 8, "\(sqrt(gone.sum / gone.count))")
    }

    @Test func aCheckerOfSinglePixelsBecomesGrey() throws {
        let luma = (0..<256).flatMap { y in (0..<256).map { x in UInt8((x + y) % 2 * 255) } }
        let picture = try Self.picture(luma, "gray", (256, 256))
        for side in [120, 64, 50, 17] {
            let bitmap = try picture.bitmap(dimensions: Dimensions(width: side, height: side))
            for place in 2..<side - 2 {
                #expect(
                    abs(Int(bitmap[place, side / 2].red) - 128) <= 6, "\(side): \(bitmap[place, side / 2])")
            }
        }
    }

    @Test func sizesBeyondTheLimitAreRefused() throws {
        let picture = try Self.picture(try Fixtures.path("picture.png"))
        for size in [(30_000, 30_000), (0, 5), (5, -1), (Int.max, 2)] {
            #expect(
                errorCode { try picture.bitmap(dimensions: Dimensions(width: size.0, height: size.1)) }
                    == .limitExceeded)
        }
    }
}
