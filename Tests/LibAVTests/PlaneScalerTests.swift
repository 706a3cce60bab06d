import Foundation
import LibAV
import MediaBase
import SystemPackage
import TestSupport
import Testing

/// Pictures are scaled by the formula of bicubic convolution, with chroma where the frame says it is.
@Suite struct PlaneScalerTests {
    /// A conversion of pictures of 192x96: the pixel formats, the position of chroma and the size.
    struct Case: CustomTestStringConvertible {
        let from: String
        let to: String
        let location: String
        let width: Int
        let height: Int
        var testDescription: String { "\(from) to \(to) \(width)x\(height), chroma \(location)" }
    }

    static let cases = [
        Case(from: "yuv420p", to: "yuv420p", location: "left", width: 128, height: 64),
        Case(from: "yuv420p", to: "yuv420p", location: "center", width: 50, height: 70),
        Case(from: "yuv420p", to: "yuv420p", location: "topleft", width: 256, height: 130),
        Case(from: "yuv422p10le", to: "yuv420p", location: "left", width: 128, height: 64),
        Case(from: "yuv420p10le", to: "yuv420p10le", location: "left", width: 96, height: 48),
        Case(from: "yuv444p", to: "yuv420p", location: "left", width: 144, height: 72),
    ]

    @Test(arguments: cases) func scalingIsBicubic(_ example: Case) throws {
        let folder = try TemporaryFolder()
        let path = try film(in: folder, example.from, location: example.location)
        let size = Dimensions(width: example.width, height: example.height)
        var converter = try PixelConverter(to: PixelFormat(rawValue: example.to), dimensions: size)
        try Media.frames(InputFile(opening: .path(FilePath(path)))) { frame in
            let result = try converter.convert(frame)
            #expect(result.dimensions == size && result.pts == frame.pts)
            let step = Double(1 << (frame.bitDepth - result.bitDepth))
            for plane in 0..<3 {
                let (source, target) = (Plane(frame, plane), Plane(result, plane))
                let (across, down) = Self.sites(plane > 0 ? example.location : "luma")
                let wanted = source.scaled(to: target, across: across, down: down, luma: (frame.dimensions, size))
                var worst = 0.0
                // What a scaler takes to be beyond the edges is its own choice.
                for y in 8..<target.rows - 8 {
                    for x in 8..<target.width - 8 {
                        let highest = Double(1 << result.bitDepth - 1)
                        let number = min(max(wanted[y][x] / step, 0), highest)
                        worst = max(worst, abs(number - target.rowsOfNumbers[y][x]))
                    }
                }
                // Dithering may round either way; more than 8 bits are rounded between rows and columns too.
                let limit = step > 1 ? 1.1 : result.bitDepth > 8 ? 1 : 0.6
                #expect(worst <= limit, "plane \(plane): off by \(worst)")
            }
        }
    }

    /// Planes that do not start where vectors do give the same picture.
    @Test func partsAreScaledAlike() throws {
        let folder = try TemporaryFolder()
        let path = try film(in: folder, "yuv444p", location: "left")
        let cropped = folder.path("cropped.mkv")
        _ = try FFmpeg.run(["-i", path, "-vf", "crop=64:32:5:3:exact=1", "-c:v", "ffv1", "-level", "3", cropped])
        let size = Dimensions(width: 48, height: 24)
        func pictures(_ path: String, part: PixelRectangle?) throws -> [[UInt8]] {
            var converter = try PixelConverter(to: PixelFormat(rawValue: "yuv444p"), dimensions: size)
            var pictures: [[UInt8]] = []
            try Media.frames(InputFile(opening: .path(FilePath(path)))) { frame in
                let result = try converter.convert(frame, part: part)
                pictures.append((0..<3).flatMap { result.packedPlane($0) })
            }
            return pictures
        }
        let parts = try pictures(path, part: PixelRectangle(x: 5, y: 3, width: 64, height: 32))
        #expect(parts.count == 2)
        let isSame = try parts == pictures(cropped, part: nil)
        #expect(isSame)
    }

    /// Noise around gray, so that no sum leaves the range in the middle of the way.
    private func film(in folder: TemporaryFolder, _ format: String, location: String) throws -> String {
        let path = folder.path("noise.mkv")
        // A filter of H.264 writes positions with every version of ffmpeg.
        let number = ["center": 1, "topleft": 2][location]
        let codec =
            number.map { ["libx264", "-qp", "0", "-bsf:v", "h264_metadata=chroma_sample_loc_type=\($0)"] }
            ?? ["ffv1", "-level", "3"]
        _ = try FFmpeg.run(
            ["-f", "lavfi", "-i", "color=gray:s=192x96:r=2:d=1,noise=alls=60:allf=t", "-pix_fmt", format]
                + ["-c:v"] + codec + ["-color_range", "tv", path])
        return path
    }

    /// The position of a chroma sample among the luma samples that share it, from 0 for the first to 1 for the last.
    private static func sites(_ location: String) -> (across: Double, down: Double) {
        switch location {
        case "center": (0.5, 0.5)
        case "topleft": (0, 0)
        default: (0, 0.5)
        }
    }
}

/// The samples of one plane.
private struct Plane {
    let rowsOfNumbers: [[Double]]
    var rows: Int { rowsOfNumbers.count }
    var width: Int { rowsOfNumbers.first?.count ?? 0 }

    init(_ frame: borrowing Frame, _ plane: Int) {
        let (bytes, size) = (frame.packedPlane(plane), frame.bitDepth > 8 ? 2 : 1)
        let width = frame.planeShape(plane).rowBytes / size
        let numbers = (0..<bytes.count / size).map { index in
            size == 1 ? Double(bytes[index]) : Double(bytes[2 * index]) + 256 * Double(bytes[2 * index + 1])
        }
        rowsOfNumbers = stride(from: 0, to: numbers.count, by: max(width, 1)).map { Array(numbers[$0..<$0 + width]) }
    }

    /// Returns the plane in the size of another one, not rounded.
    func scaled(
        to other: Plane, across: Double, down: Double, luma: (Dimensions, Dimensions)
    ) -> [[Double]] {
        let widths = Axis(
            size: width, luma: luma.0.width, target: other.width, targetLuma: luma.1.width, site: across)
        let heights = Axis(
            size: rows, luma: luma.0.height, target: other.rows, targetLuma: luma.1.height, site: down)
        let wide = rowsOfNumbers.map { row in widths.weights.map { $0.reduce(0) { $0 + row[$1.at] * $1.weight } } }
        return heights.weights.map { weights in
            (0..<other.width).map { x in weights.reduce(0) { $0 + wide[$1.at][x] * $1.weight } }
        }
    }
}

/// The samples that each sample of a scaled row consists of.
private struct Axis {
    let weights: [[(at: Int, weight: Double)]]

    init(size: Int, luma: Int, target: Int, targetLuma: Int, site: Double) {
        let (shared, targetShared) = (Double(luma) / Double(size), Double(targetLuma) / Double(target))
        let scale = Double(luma) / Double(targetLuma)
        let step = Double(size) / Double(target)
        weights = (0..<target).map { index in
            // The place among the target's luma, the same place among the source's, and among the plane's samples.
            let place = Double(index) * targetShared + site * (targetShared - 1)
            let among = ((place + 0.5) * scale - 0.5 - site * (shared - 1)) / shared
            let reach = max(step, 1)
            let taps = (Int((among - 2 * reach).rounded(.up))...Int((among + 2 * reach).rounded(.down))).map { tap in
                (at: min(max(tap, 0), size - 1), weight: Self.bicubic((Double(tap) - among) / reach))
            }
            let sum = taps.reduce(0) { $0 + $1.weight }
            return taps.map { (at: $0.at, weight: $0.weight / sum) }
        }
    }

    /// Keys's convolution kernel with a = −0.6.
    private static func bicubic(_ distance: Double) -> Double {
        let (x, a) = (abs(distance), -0.6)
        if x < 1 { return (a + 2) * x * x * x - (a + 3) * x * x + 1 }
        return x < 2 ? a * (x * x * x - 5 * x * x + 8 * x - 4) : 0
    }
}
