import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

@Suite struct PixelConverterTests {
    /// The first picture of a fixture, converted.
    private func picture(_ fixture: String, _ format: String, _ size: Dimensions? = nil) throws -> [UInt8] {
        var converter = try PixelConverter(to: PixelFormat(rawValue: format), dimensions: size)
        var bytes: [UInt8]?
        try Media.frames(Media.file(fixture)) { frame in
            guard bytes == nil else { return }
            let result = try converter.convert(frame)
            bytes = (0..<result.planeCount).flatMap { result.packedPlane($0) }
        }
        return try #require(bytes)
    }

    /// A reduction by area gives the means of the pixels, and what ffmpeg's gives; by 2.4 in the last size.
    @Test(arguments: ["yuv420p", "nv12", "yuvj422p", "gray"], [8, 24, 32, 40])
    func areasBecomeTheirMeans(format: String, height: Int) throws {
        let size = Dimensions(width: 2 * height, height: height)
        let folder = try TemporaryFolder()
        let path = folder.path("noise.nut")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc2=s=192x96:r=5:d=1,noise=alls=60:allf=t", "-pix_fmt", format, "-c:v",
            "rawvideo", path,
        ])
        // Otherwise ffmpeg stretches the range of some.
        let ranges = "in_range=full:out_range=full"
        let wanted = try FFmpeg.run([
            "-i", path, "-vf",
            "extractplanes=y,scale=\(size.width):\(size.height):flags=area+accurate_rnd:\(ranges)", "-f", "rawvideo",
            "-pix_fmt", "gray", "-",
        ])
        var converter = try PixelConverter(to: .gray, dimensions: size)
        converter.scalesByArea = true
        var made: [UInt8] = []
        try Media.frames(InputFile(opening: .path(FilePath(path)))) { frame in
            let result = try converter.convert(frame)
            #expect(result.dimensions == size && result.pts == frame.pts)
            made += result.packedPlane(0)
            guard case (let factor, 0) = 96.quotientAndRemainder(dividingBy: height) else { return }
            let luma = frame.packedPlane(0)
            let means = (0..<size.width * size.height).map { pixel in
                let first = pixel / size.width * factor * 192 + pixel % size.width * factor
                let sum = (0..<factor * factor).reduce(0) { $0 + Int(luma[first + $1 / factor * 192 + $1 % factor]) }
                return UInt8((sum + factor * factor / 2) / (factor * factor))
            }
            #expect(worst(result.packedPlane(0), means) == 0)
        }
        #expect(worst(made, wanted) <= 1)
    }

    /// A field of these would end between two rows of chroma.
    @Test func fieldsWithAQuarterOfTheRowsOfChromaAreConvertedAsOne() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("quarter.mkv")
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "testsrc=s=64x52:r=25:d=0.1", "-vf", "setfield=tff", "-pix_fmt", "yuv410p", "-c:v",
            "ffv1",
            "-level", "3", "-flags", "+ildct", path,
        ])
        var whole = try PixelConverter(to: PixelFormat(rawValue: "yuv420p"))
        var apart = try PixelConverter(to: PixelFormat(rawValue: "yuv420p"), convertsFieldsApart: true)
        try Media.frames(InputFile(opening: .path(FilePath(path)))) { frame in
            #expect(frame.fieldOrder == .topFieldFirst)
            let wanted = try whole.convert(frame)
            let result = try apart.convert(frame)
            for plane in 0..<wanted.planeCount {
                let bytes = wanted.packedPlane(plane)
                #expect(result.packedPlane(plane) == bytes)
            }
        }
    }

    /// ffmpeg's scaler converts the fields of interlaced pictures apart where it is told to.
    @Test func fieldsAreConvertedApart() throws {
        func picture(apart: Bool) throws -> [UInt8] {
            var converter = try PixelConverter(to: PixelFormat(rawValue: "yuv422p"), convertsFieldsApart: apart)
            var bytes: [UInt8]?
            var number = 0
            try Media.frames(Media.file("h264-interlaced.mp4")) { frame in
                #expect(frame.fieldOrder == .topFieldFirst)
                defer { number += 1 }
                // The second one, as nothing moves in the first.
                if number == 1 {
                    let result = try converter.convert(frame)
                    #expect(result.dimensions == frame.dimensions && result.pts == frame.pts)
                    bytes = (0..<result.planeCount).flatMap { result.packedPlane($0) }
                }
            }
            return try #require(bytes)
        }
        let wanted = try FFmpeg.run([
            "-i", Fixtures.path("h264-interlaced.mp4"), "-vf",
            "select=eq(n\\,1),scale=interl=1:flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp,format=yuv422p",
            "-frames:v", "1", "-f", "rawvideo", "-",
        ])
        #expect(try worst(picture(apart: true), wanted) <= 1)
        #expect(try worst(picture(apart: false), wanted) > 8)
    }

    private func worst(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a.count == b.count ? zip(a, b).map { abs(Int($0) - Int($1)) }.max() ?? 0 : .max
    }

    @Test(arguments: ["rgba", "rgb24", "bgra"], ["h264-bframes.mp4", "mjpeg.avi", "vp9-alpha.webm", "picture.png"])
    func coloursAreFFmpegs(_ format: String, _ fixture: String) throws {
        // ffmpeg does not pass on where chroma lies: to the left in all but JPEG, which has it in the middle.
        let place = fixture == "mjpeg.avi" ? 128 : 0
        // ffmpeg's own decoder of VP9 leaves alpha out.
        let decoder = fixture == "vp9-alpha.webm" ? ["-c:v", "libvpx-vp9"] : []
        let wanted = try FFmpeg.run(
            decoder + [
                "-i", Fixtures.path(fixture), "-frames:v", "1", "-vf",
                "scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp:in_h_chr_pos=\(place),format=\(format)",
                "-f", "rawvideo", "-",
            ])
        #expect(try worst(picture(fixture, format), wanted) <= 2)
    }

    /// ITU-R BT.601 and BT.709: 8-bit luma n of full range is 16 + n * 219 / 255 of limited range, chroma around 128 by
    /// 224 / 255; ten bits have four times as much.
    @Test(arguments: ["yuv420p", "yuv422p", "yuv422p10le"])
    func fullRangeBecomesLimited(format: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("full.mkv")
        let full = FFmpeg.colorTags(after: "geq=lum=X*4:cb=X*8:cr=255-X*8,format=yuv420p", range: "pc")
        _ = try FFmpeg.run(["-f", "lavfi", "-i", "color=black:s=64x64:d=0.1", "-c:v", "ffv1"] + full + [path])
        var converter = try PixelConverter(to: PixelFormat(rawValue: format), coding: LumaCoding(range: "tv"))
        try Media.frames(InputFile(opening: .path(.init(path)))) { frame in
            let result = try converter.convert(frame)
            #expect(result.color.range == "tv")
            let isDeep = format.hasSuffix("10le")
            let bytes = result.packedPlane(0)
            for x in 0..<64 {
                let found = isDeep ? Double(bytes[2 * x]) / 4 + Double(bytes[2 * x + 1]) * 64 : Double(bytes[x])
                let wanted = 16 + Double(x * 4) * 219 / 255
                #expect(abs(found - wanted) <= 1, "\(format): \(x * 4) is \(found), not \(wanted)")
            }
        }
    }

    @Test func matrixAndRangeFollowTheTags() throws {
        // One colour, tagged in four ways; what is seen must be the same red. BT.601 and BT.709 differ by more than 20.
        let (red, green, blue) = (Double(0xE0), Double(0x20), Double(0x10))
        let folder = try TemporaryFolder()
        for (matrix, range) in [("bt709", "tv"), ("bt709", "pc"), ("smpte170m", "tv"), ("smpte170m", "pc")] {
            let path = folder.path("\(matrix)-\(range).mkv")
            // ITU-R BT.601 and BT.709: the shares of red and blue in luma, and the ranges of 8 bits.
            let (r, b) = matrix == "bt709" ? (0.2126, 0.0722) : (0.299, 0.114)
            let luma = r * red + (1 - r - b) * green + b * blue
            let (low, scale, depth) = range == "tv" ? (16, 219.0 / 255, 224.0 / 255) : (0, 1, 1)
            let y = low + Int((luma * scale).rounded())
            let cb = 128 + Int(((blue - luma) / (2 * (1 - b)) * depth).rounded())
            let cr = 128 + Int(((red - luma) / (2 * (1 - r)) * depth).rounded())
            let tags = FFmpeg.colorTags(
                after: "format=yuv444p,geq=lum=\(y):cb=\(cb):cr=\(cr)", matrix: matrix, range: range)
            _ = try FFmpeg.run(
                ["-f", "lavfi", "-i", "color=black:size=64x64:duration=0.1", "-c:v", "ffv1"] + tags + [path])
            var converter = try PixelConverter(to: .rgba)
            try Media.frames(InputFile(opening: .path(.init(path)))) { frame in
                let pixel = Array(try converter.convert(frame).packedPlane(0).prefix(4))
                #expect(worst(pixel, [0xE0, 0x20, 0x10, 0xFF]) <= 2, "\(matrix) \(range): \(pixel)")
            }
        }
    }

    @Test func limitsAreChecked() throws {
        #expect(mediaError { _ = try PixelConverter(to: PixelFormat(rawValue: "nothing")) }?.code == .invalidArgument)
        for size in [(0, 1), (1, 0), (-1, 5), (1 << 15, 1 << 15), (Int.max, Int.max), (Int.max, 1)] {
            let dimensions = Dimensions(width: size.0, height: size.1)
            #expect(
                mediaError { try self.picture("picture.png", "rgb24", dimensions) }?.code == .limitExceeded, "\(size)")
        }
    }
}
