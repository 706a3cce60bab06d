import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import AssetKit

/// Which part of stored pictures images show, and what becomes of their fields.
@Suite struct ImageGeneratorApertureTests {
    private func image(
        _ asset: Asset, track: Int? = nil, _ change: (inout ImageGenerator.Configuration) -> Void = { _ in }
    ) throws -> Bitmap {
        let generator = ImageGenerator(asset: asset)
        generator.configuration.trackIndex = track
        change(&generator.configuration)
        return try generator.generateNow(at: .zero).image
    }

    /// The pictures of `apertures.mov` are 64x48; its tracks' apertures are written down in `scripts/fixtures`.
    private static let cleanParts: [(track: Int, x: Int, y: Int, width: Int, height: Int)] = [
        (0, 4, 4, 56, 40), (1, 18, 4, 40, 30), (2, 4, 4, 56, 40), (4, 0, 0, 64, 48), (5, 0, 0, 64, 48),
        (6, 0, 0, 64, 48),
    ]

    @Test func theCleanApertureIsCutOut() throws {
        let asset = try Media.asset("apertures.mov")
        for part in Self.cleanParts {
            let clean = try image(asset, track: part.track)
            let whole = try image(asset, track: part.track) { $0.apertureMode = .productionAperture }
            #expect(whole.width == 64 && whole.height == 48)
            // Edges of 57 by 41 lie half way through pixels: whole ones are cut out, the size is the exact one.
            if part.track == 2 {
                #expect(clean.width == 57 && clean.height == 41)
                continue
            }
            #expect(clean.width == part.width && clean.height == part.height, "track \(part.track)")
            var worst = 0
            for y in 2..<clean.height - 2 {
                for x in 2..<clean.width - 2 {
                    let (a, b) = (clean[x, y], whole[x + part.x, y + part.y])
                    worst = max(worst, abs(Int(a.red) - Int(b.red)), abs(Int(a.blue) - Int(b.blue)))
                }
            }
            // Chroma at the edges has other neighbours.
            #expect(worst <= 12, "track \(part.track)")
        }
    }

    @Test func modesAreAVFoundations() throws {
        let asset = try Media.asset("anamorphic.mp4")
        func size(_ mode: ApertureMode) throws -> Dimensions {
            let image = try image(asset) { $0.apertureMode = mode }
            return Dimensions(width: image.width, height: image.height)
        }
        #expect(try size(.cleanAperture) == Dimensions(width: 256, height: 144))
        #expect(try size(.productionAperture) == Dimensions(width: 256, height: 144))
        #expect(try size(.encodedPixels) == Dimensions(width: 180, height: 144))
    }

    /// Cut at odd places chroma stays where it was, in all samplings; of an odd width it would be stretched by up to half
    /// a sample, as libswscale does.
    @Test(arguments: ["yuv420p", "yuv422p", "yuv444p", "nv12", "yuv420p10le", "rgb24", "gray", "uyvy422"])
    func oddPartsKeepTheirColours(_ name: String) throws {
        let format = PixelFormat(rawValue: name)
        let generator = ImageGenerator(asset: try Media.asset("apertures.mov"))
        let picture = try generator.pixelBuffer(at: .zero).picture.converted(to: format)
        let whole = try picture.bitmap()
        let (x, y, width, height) = (name == "uyvy422" ? 6 : 7, 5, 40, 30)
        let part = try picture.bitmap(
            part: PixelRectangle(x: x, y: y, width: width, height: height), dimensions: nil, dynamicRange: .forceSDR,
            hdr: nil)
        var worst = 0
        // The outermost chroma samples have no neighbours any more.
        for row in 6..<height - 6 {
            for column in 6..<width - 6 {
                let (a, b) = (part[column, row], whole[column + x, row + y])
                worst = max(worst, abs(Int(a.red) - Int(b.red)), abs(Int(a.green) - Int(b.green)))
            }
        }
        #expect(worst <= 2, "\(name): \(worst)")
    }

    @Test func partsBeyondThePictureAreRefused() throws {
        let generator = ImageGenerator(asset: try Media.asset("apertures.mov"))
        let picture = try generator.pixelBuffer(at: .zero).picture
        for (x, y, width, height) in [(60, 0, 5, 5), (-1, 0, 5, 5), (0, 0, 0, 5), (0, 40, 5, 9), (0, 0, .max, 5)] {
            let part = PixelRectangle(x: x, y: y, width: width, height: height)
            #expect(
                errorCode {
                    try picture.bitmap(
                        part: part, dimensions: Dimensions(width: 5, height: 5), dynamicRange: .forceSDR, hdr: nil)
                } == .invalidArgument)
        }
    }

    @Test func aGiantPixelAspectIsAnErrorAndNoMemory() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("wide.mov")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x4096:d=0.1", "-vf", "setsar=2", "-c:v", "ffv1", path,
        ])
        // 20000 to 1, which ffmpeg's version 9 writes no more.
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let ratio = try #require(bytes.firstRange(of: Array("pasp".utf8) + [0, 0, 0, 2, 0, 0, 0, 1]))
        bytes.replaceSubrange(ratio.lowerBound + 4..<ratio.lowerBound + 8, with: [0, 0, 0x4E, 0x20])
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let asset = Asset(path: FilePath(path))
        #expect(errorCode { try image(asset) } == .limitExceeded)
        let small = try image(asset) { $0.maximumSize = Dimensions(width: 320, height: 0) }
        #expect(small.width == 320 && small.height == 1)
        #expect(try image(asset) { $0.apertureMode = .encodedPixels }.width == 64)
    }

    // MARK: - Fields

    /// Frames of two fields each, of 50 pictures a second, and the picture of the first field's moment.
    private func interlaced(_ format: String, topFirst: Bool) throws -> (fields: PixelBuffer, wanted: PixelBuffer) {
        let folder = try TemporaryFolder()
        let source = "testsrc2=s=320x240:r=50:d=0.4,format=\(format)"
        let (woven, whole) = (folder.path("woven.mkv"), folder.path("whole.mkv"))
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", source, "-vf",
            topFirst ? "tinterlace=interleave_top,setfield=tff" : "tinterlace=interleave_bottom,setfield=bff",
            "-c:v", "ffv1", "-flags", "+ildct+ilme", woven,
        ])
        _ = try FFmpeg.run(["-f", "lavfi", "-i", source, "-c:v", "ffv1", whole])
        func picture(_ path: String, _ time: MediaTime) throws -> PixelBuffer {
            let generator = ImageGenerator(asset: Asset(path: FilePath(path)))
            generator.configuration.requestedTimeToleranceBefore = .zero
            generator.configuration.requestedTimeToleranceAfter = .zero
            return try generator.pixelBuffer(at: time).picture
        }
        let time = MediaTime(value: 4, timescale: 25)
        return (try picture(woven, time), try picture(whole, time))
    }

    @Test(arguments: ["yuv420p", "yuv422p10le", "nv12"], [true, false])
    func fieldsBecomeThePictureOfTheFirst(_ format: String, _ topFirst: Bool) throws {
        let (fields, wanted) = try interlaced(format, topFirst: topFirst)
        #expect(fields.isInterlaced && !wanted.isInterlaced)
        let made = try fields.deinterlaced()
        #expect(made.pixelFormat == fields.pixelFormat && made.dimensions == fields.dimensions)
        let (before, after) = (likeness(fields, wanted), likeness(made, wanted))
        #expect(after > before, "\(format): \(before) dB woven, \(after) dB after")
        // The first field's rows are untouched.
        for plane in 0..<fields.planeCount {
            let (rows, rowBytes) = fields.planeShape(plane)
            let (a, b) = (fields.packedPlane(plane), made.packedPlane(plane))
            for row in stride(from: topFirst ? 0 : 1, to: rows, by: 2) {
                #expect(a[row * rowBytes..<(row + 1) * rowBytes] == b[row * rowBytes..<(row + 1) * rowBytes])
            }
        }
        #expect(try wanted.deinterlaced() === wanted)
    }

    /// PSNR of luma in dB.
    private func likeness(_ a: PixelBuffer, _ b: PixelBuffer) -> Double {
        let (first, second) = (a.packedPlane(0), b.packedPlane(0))
        guard first.count == second.count else { return 0 }
        let isWide = a.planeShape(0).rowBytes > a.dimensions.width
        var sum = 0.0
        for place in stride(from: 0, to: first.count, by: isWide ? 2 : 1) {
            func value(_ bytes: [UInt8]) -> Double {
                isWide ? Double(UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8) / 4 : Double(bytes[place])
            }
            sum += pow(value(first) - value(second), 2)
        }
        return 10 * log10(255 * 255 * Double(a.dimensions.width * a.dimensions.height) / max(sum, 1e-9))
    }

    @Test func imagesAreDeinterlacedWhereThatIsAskedFor() throws {
        let asset = try Media.asset("h264-interlaced.mp4")
        let woven = try image(asset)
        let made = try image(asset) { $0.deinterlaces = true }
        #expect(woven != made && woven.width == made.width && woven.height == made.height)
        // Composited frames have no fields.
        let track = try Media.track(asset, .video)
        let layer = VideoComposition.Layer(trackID: track.id)
        let video = VideoComposition(
            renderSize: Dimensions(width: woven.width, height: woven.height),
            frameDuration: MediaTime(value: 1, timescale: 25),
            instructions: [VideoComposition.Instruction(timeRange: track.timeRange, layers: [layer])])
        let generator = ImageGenerator(asset: asset)
        generator.videoComposition = video
        #expect(try generator.generateNow(at: .zero).image == made)
        let plain = try Media.asset("h264-bframes.mp4")
        #expect(try image(plain) == image(plain) { $0.deinterlaces = true })
    }
}
