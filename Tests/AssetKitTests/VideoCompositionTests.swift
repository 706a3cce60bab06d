import AssetKit
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Composited frames against what the rules say of each pixel.
@Suite struct VideoCompositionTests {
    private func time(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }
    private func range(_ start: MediaTime, _ end: MediaTime) -> MediaTimeRange {
        MediaTimeRange(start: start, end: end)
    }

    private static let size = Dimensions(width: 160, height: 96)

    /// A file whose pictures are slopes of colours, stored without loss.
    private func slopes(_ name: String, in folder: TemporaryFolder, red: String, green: String, blue: String) throws
        -> Asset
    {
        let path = folder.path(name)
        _ = try FFmpeg.run([
            "-f", "lavfi", "-i", "color=c=black:s=\(Self.size):r=25:d=2", "-vf",
            "format=gbrp,geq=r='\(red)':g='\(green)':b='\(blue)',format=rgb24", "-c:v", "png", path,
        ])
        return Asset(path: FilePath(path))
    }

    private func frames(
        _ composition: VideoComposition, of asset: Asset, _ settings: VideoSettings? = nil,
        in range: MediaTimeRange? = nil
    ) throws -> [SampleBuffer] {
        let tracks = try asset.loadNow(.tracks).filter { $0.mediaType == .video }
        let output = try VideoCompositionOutput(
            tracks: tracks, videoSettings: settings, videoComposition: composition)
        let reader = try AssetReader(asset: asset)
        if let range { reader.timeRange = range }
        try reader.add(output)
        try reader.startReading()
        var frames: [SampleBuffer] = []
        while let frame = try output.nextSampleBuffer() { frames.append(frame) }
        #expect(reader.status == .completed)
        #expect(try output.nextSampleBuffer() == nil)
        return frames
    }

    /// Two tracks of 2 s: one that grows redder to the right and greener downwards, one that is blue.
    private func twoTracks(_ folder: TemporaryFolder) throws -> Asset {
        let first = try slopes("one.mov", in: folder, red: "X+40", green: "2*Y+20", blue: "30")
        let second = try slopes("two.mov", in: folder, red: "20", green: "200-X", blue: "2*Y+50")
        var composition = Composition()
        for asset in [first, second] {
            let id = try composition.addTrack(mediaType: .video)
            try composition.insertTimeRange(
                range(.zero, time(2, 1)), of: Media.track(asset, .video), in: asset, at: .zero, into: id)
        }
        return Asset(composition: composition)
    }

    private struct Place {
        var x: Double
        var y: Double
    }

    @Test func titlesAreText() throws {
        let folder = try TemporaryFolder()
        let asset = try twoTracks(folder)
        let instruction = VideoComposition.Instruction(timeRange: range(.zero, time(2, 1)))
        var composition = VideoComposition(
            renderSize: Dimensions(width: 240, height: 160), frameDuration: time(1, 1), instructions: [instruction])
        let title = try VideoComposition.Overlay(title: "会議 Ég\nمقابلة", size: 40, x: 10, y: 20)
        #expect(title.missingCharacters.isEmpty)
        // Two lines, neither of which is wider than the frame.
        #expect((100..<200).contains(title.image.width) && (90..<130).contains(title.image.height))
        composition.overlays = [title]
        let frame = try #require(try frames(composition, of: asset).first?.pixelBuffer)
        let pixels = frame.packedPlane(0)
        let (left, top) = (Int(title.place.x), Int(title.place.y))
        var isRight = true
        for y in 0..<160 {
            for x in 0..<240 {
                // White over black is as light as the letter covers the pixel.
                let wanted = Int(title.image[x - left, y - top].alpha)
                isRight = isRight && abs(Int(pixels[(y * 240 + x) * 4]) - wanted) <= 1
            }
        }
        #expect(isRight && abs(left - 10) <= 2 && abs(top - 20) <= 2)

        #expect(try VideoComposition.Overlay(title: "\u{E123}", size: 9).missingCharacters == ["\u{E123}"])
        #expect(try VideoComposition.Overlay(title: "wide", size: 40, maximumWidth: 30).image.width <= 44)
        for size in [0, -1, 1025, .nan, .infinity] {
            #expect(throws: MediaError.self) { try VideoComposition.Overlay(title: "a", size: size) }
        }
    }

    @Test func layersRampsCropsAndOverlays() throws {
        let folder = try TemporaryFolder()
        let asset = try twoTracks(folder)
        let ids = try asset.loadNow(.tracks).map(\.id)
        let (sine, cosine) = (0.5, 3.0.squareRoot() / 2)
        let whole = range(.zero, time(2, 1))

        // In front: from the left to a turn of 30° at half the size, fading, its left and right cut off more and more.
        var front = VideoComposition.Layer(trackID: ids[0])
        let from = PictureTransform.translation(x: 20, y: 10)
        let to = PictureTransform.scale(x: 0.5, y: 0.5).concatenating(.rotation(sine: sine, cosine: cosine))
            .concatenating(.translation(x: 90, y: 30))
        let ramp = range(time(1, 2), time(3, 2))
        try front.transform.setRamp(from: from, to: to, timeRange: ramp)
        try front.transform.set(from, at: .zero)
        try front.opacity.setRamp(from: 1, to: 0.25, timeRange: whole)
        try front.cropRectangle.setRamp(
            from: PictureRectangle(x: 0, y: 0, width: 160, height: 96),
            to: PictureRectangle(x: 40, y: 16, width: 80, height: 64), timeRange: whole)
        // Behind: as large as it is, but moved.
        var back = VideoComposition.Layer(trackID: ids[1])
        try back.transform.set(.translation(x: 60, y: 40), at: .zero)

        var instruction = VideoComposition.Instruction(timeRange: whole, layers: [front, back])
        instruction.backgroundColor = Color(red: 200, green: 10, blue: 60)
        var composition = VideoComposition(
            renderSize: Dimensions(width: 240, height: 160), frameDuration: time(1, 10), instructions: [instruction])
        var mark = try Bitmap(width: 20, height: 12, filledWith: Color(red: 255, green: 255, blue: 0, alpha: 128))
        mark[0, 0] = .white
        var overlay = VideoComposition.Overlay(image: mark, x: 200, y: 140)
        overlay.timeRange = range(time(1, 2), time(2, 1))
        overlay.fadeIn = time(1, 2)
        overlay.fadeOut = time(1, 4)
        composition.overlays = [overlay]

        let made = try frames(composition, of: asset)
        #expect(made.map(\.presentationTime) == (0..<20).map { time($0, 10) })
        var checked = 0
        for buffer in made {
            let picture = try #require(buffer.pixelBuffer)
            #expect(picture.dimensions == composition.renderSize && picture.pixelFormat == .rgba)
            let pixels = picture.packedPlane(0)
            let moment = buffer.presentationTime.seconds
            let part = min(max(moment - 0.5, 0), 1)
            func mix(_ a: Double, _ b: Double) -> Double { a + (b - a) * part }
            // The numbers of the ramp, said anew.
            let (a, b, c, d) = (
                mix(1, 0.5 * cosine), mix(0, 0.5 * sine), mix(0, -0.5 * sine), mix(1, 0.5 * cosine)
            )
            let (tx, ty) = (mix(20, 90), mix(10, 30))
            let determinant = a * d - b * c
            let opacity = 1 - 0.75 * moment / 2
            let (left, top) = (20 * moment, 8 * moment)
            let (right, bottom) = (160 - 20 * moment, 96 - 8 * moment)
            let sinceStart = moment - 0.5
            let fade = moment < 0.5 ? 0 : min(min(sinceStart / 0.5, 1), min((2 - moment) / 0.25, 1))
            for y in 0..<160 {
                for x in 0..<240 {
                    let (px, py) = (Double(x) + 0.5, Double(y) + 0.5)
                    var color = [200.0, 10, 60]
                    let (backX, backY) = (px - 60, py - 40)
                    var isEdge = false
                    if backX > 0, backX < 160, backY > 0, backY < 96 {
                        color = [20, 200 - (backX - 0.5), 2 * (backY - 0.5) + 50]
                    }
                    let u = (d * (px - tx) - c * (py - ty)) / determinant
                    let v = (-b * (px - tx) + a * (py - ty)) / determinant
                    let reach = 2.5 / determinant.squareRoot()
                    for (value, first, last) in [(u, left, right), (v, top, bottom), (u, 0, 160), (v, 0, 96)] {
                        isEdge = isEdge || abs(value - first) < reach || abs(value - last) < reach
                    }
                    if isEdge { continue }
                    if u > left, u < right, v > top, v < bottom {
                        let front = [u - 0.5 + 40, 2 * (v - 0.5) + 20, 30]
                        color = zip(front, color).map { $0 * opacity + $1 * (1 - opacity) }
                    }
                    if x >= 200, x < 220, y >= 140, y < 152 {
                        if x == 200, y == 140 { continue }
                        let alpha = 128.0 / 255 * fade
                        color = zip([255, 255, 0], color).map { $0 * alpha + $1 * (1 - alpha) }
                    }
                    for channel in 0..<3 {
                        let difference = abs(Double(pixels[(y * 240 + x) * 4 + channel]) - color[channel])
                        if difference > 2 {
                            Issue.record("\(moment) s, \(x),\(y), channel \(channel): \(difference)")
                            return
                        }
                    }
                    checked += 1
                }
            }
        }
        #expect(checked > 20 * 240 * 160 / 2)
    }

    @Test func instructionsTileAllOfTheTime() throws {
        func code(_ ranges: [(Int64, Int64)], _ duration: Int64 = 4) -> String? {
            let composition = VideoComposition(
                renderSize: Self.size, frameDuration: time(1, 25),
                instructions: ranges.map { .init(timeRange: range(time($0.0, 2), time($0.1, 2))) })
            do {
                try composition.validate(duration: time(duration, 2))
                return nil
            } catch { return error.code == .invalidArgument ? error.message : "\(error)" }
        }
        #expect(code([(0, 4)]) == nil)
        #expect(code([(0, 1), (1, 3), (3, 4)]) == nil)
        // One that hangs over the end is clipped; what begins behind it is not looked at.
        #expect(code([(0, 1), (1, 9)]) == nil)
        #expect(code([(0, 5), (3, 9)]) == nil)
        #expect(code([(0, 1), (2, 4)])?.contains("0.5 s") == true)
        #expect(code([(0, 3), (2, 4)])?.contains("which is 1.0 s") == true)
        #expect(code([(1, 4)])?.contains("0.0 s") == true)
        #expect(code([(0, 3)])?.contains("1.5 s") == true)
        #expect(code([])?.contains("0.0 s") == true)
        var none = VideoComposition(renderSize: Dimensions(width: 0, height: 2), frameDuration: time(1, 25))
        #expect(errorCode { try none.validate(duration: .zero) } == .invalidArgument)
        none.renderSize = Dimensions(width: 1 << 20, height: 2)
        #expect(errorCode { try none.validate(duration: .zero) } == .limitExceeded)
        none.renderSize = Self.size
        none.frameDuration = .zero
        #expect(errorCode { try none.validate(duration: .zero) } == .invalidArgument)
        var layer = VideoComposition.Layer(trackID: 1)
        #expect(errorCode { try layer.opacity.set(1.5, at: .zero) } == .invalidArgument)
        #expect(errorCode { try layer.transform.set(.scale(x: .nan, y: 1), at: .zero) } == .invalidArgument)
    }

    /// The number shown at each frame, by the sources' own times, at another frame rate.
    @Test func framesShowWhatIsOnScreen() throws {
        let folder = try TemporaryFolder()
        let first = try Numbered("a.mp4", in: folder, source: 1, rate: "25", count: 40)
        let second = try Numbered("b.mp4", in: folder, source: 2, rate: "30000/1001", count: 60, input: ["-ss", "0.4"])
        var composition = Composition()
        let id = try composition.addTrack(mediaType: .video)
        let (one, two) = (time(4, 5), time(6, 5))
        try composition.insertTimeRange(
            range(time(1, 5), time(1, 1)), of: first.track, in: first.asset, at: .zero, into: id)
        try composition.insertTimeRange(
            range(time(1, 10), time(1, 2)), of: second.track, in: second.asset, at: one, into: id)
        try composition.insertEmptyTimeRange(range(two, time(3, 2)), intoTrack: id)
        let asset = Asset(composition: composition)
        let end = composition.duration
        let instruction = VideoComposition.Instruction(
            timeRange: range(.zero, time(9, 1)), layers: [.init(trackID: id)])
        let video = VideoComposition(
            renderSize: Numbered.size, frameDuration: time(1, 50), instructions: [instruction])
        for part in [nil, range(time(1, 2), time(1, 1))] {
            let made = try frames(video, of: asset, in: part)
            let firstFrame = part == nil ? 0 : 25
            let count = part == nil ? Int(try #require(end.sampleIndex(rate: 50, rounding: .up))) : 25
            #expect(made.count == count)
            for (index, buffer) in made.enumerated() {
                let moment = time(Int64(index + firstFrame), 50)
                #expect(buffer.presentationTime == moment)
                let row = try #require(buffer.pixelBuffer).packedPlane(0)
                let reds = stride(from: 0, to: Numbered.size.width * 4, by: 4).map { row[$0] }
                let wanted: Int?
                if moment < one {
                    wanted = first.number(at: moment + time(1, 5))
                } else if moment < two {
                    wanted = second.number(at: moment - one + time(1, 10))
                } else if moment < time(3, 2) {
                    wanted = 0
                } else {
                    wanted = second.number(at: moment - time(3, 2) + time(1, 2))
                }
                #expect(Numbered.number(of: reds) == wanted)
            }
        }
    }

    @Test(arguments: ["bgra", "argb", "rgb24", "yuv420p", "nv12", "yuv420p10le"]) func everyPixelFormat(
        _ name: String
    ) throws {
        let asset = try Media.asset("h264-onekey.mp4")
        var instruction = VideoComposition.Instruction(timeRange: range(.zero, time(100, 1)))
        instruction.backgroundColor = Color(red: 255, green: 0, blue: 0)
        let composition = VideoComposition(
            renderSize: Dimensions(width: 64, height: 48), frameDuration: time(1, 5), instructions: [instruction])
        let made = try frames(
            composition, of: asset, VideoSettings(pixelFormat: PixelFormat(rawValue: name)),
            in: range(.zero, time(2, 5)))
        let picture = try #require(made.first?.pixelBuffer)
        #expect(made.count == 2 && picture.pixelFormat.rawValue == name)
        let planes = (0..<picture.planeCount).map { picture.packedPlane($0) }
        // Pure red by BT.709, limited range: 63, 102, 240.
        switch name {
        case "bgra": #expect(planes[0].prefix(4) == [0, 0, 255, 255])
        case "argb": #expect(planes[0].prefix(4) == [255, 255, 0, 0])
        case "rgb24": #expect(planes[0].prefix(3) == [255, 0, 0])
        case "yuv420p":
            #expect(planes.map { $0[100] } == [63, 102, 240])
            #expect(picture.color.matrix == "bt709" && picture.color.range == "tv")
        case "nv12": #expect(planes[0][100] == 63 && planes[1][100] == 102 && planes[1][101] == 240)
        default:
            let luma = Int(planes[0][0]) + Int(planes[0][1]) << 8
            #expect(abs(luma - 250) <= 1)
        }
    }

    /// Inverts what it is given.
    private struct Inverter: VideoCompositor {
        func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer {
            let id = request.sourceTrackIDs.first ?? 0
            guard let source = try request.sourcePicture(ofTrack: id)?.converted(to: .rgba) else {
                throw MediaError(.noSuchTrack, "no picture at \(request.time)")
            }
            let bytes = source.packedPlane(0)
            let pool = try PixelBufferPool(dimensions: source.dimensions, pixelFormat: .rgba)
            return try pool.makePixelBuffer { _, target, stride in
                let rowBytes = source.dimensions.width * 4
                for place in bytes.indices {
                    let value = place % 4 == 3 ? 255 : 255 - bytes[place]
                    target.storeBytes(
                        of: value, toByteOffset: place / rowBytes * stride + place % rowBytes, as: UInt8.self)
                }
            }
        }
    }

    @Test func aCompositorOfOnesOwn() throws {
        let folder = try TemporaryFolder()
        let asset = try slopes("one.mov", in: folder, red: "X", green: "Y", blue: "7")
        var composition = VideoComposition(
            renderSize: Self.size, frameDuration: time(1, 25),
            instructions: [.init(timeRange: range(.zero, time(2, 1)))])
        composition.compositor = Inverter()
        let made = try frames(composition, of: asset)
        #expect(made.count == 50)
        let pixels = try #require(made.last?.pixelBuffer).packedPlane(0)
        let place = (30 * 160 + 100) * 4
        #expect(pixels[place..<place + 4] == [155, 225, 248, 255])
    }

    /// Asks its generator for the picture at zero while it makes another one, and waits for a second frame to be begun.
    private final class Asking: VideoCompositor, @unchecked Sendable {
        weak var generator: ImageGenerator?
        private let lock = NSCondition()
        private var begun = 0

        func frame(for request: VideoCompositionRequest) throws(MediaError) -> PixelBuffer {
            if request.time > .zero {
                _ = try generator?.generateNow(at: .zero)
                lock.lock()
                begun += 1
                lock.broadcast()
                while begun < 2, lock.wait(until: Date(timeIntervalSinceNow: 30)) {}
                defer { lock.unlock() }
                guard begun >= 2 else { throw MediaError(.timedOut, "no other frame is made meanwhile") }
            }
            return try Inverter().frame(for: request)
        }
    }

    @Test func aCompositorMayAskItsGenerator() throws {
        let folder = try TemporaryFolder()
        let asset = try slopes("one.mov", in: folder, red: "X", green: "Y", blue: "7")
        let compositor = Asking()
        var composition = VideoComposition(
            renderSize: Self.size, frameDuration: time(1, 25),
            instructions: [.init(timeRange: range(.zero, time(2, 1)))])
        composition.compositor = compositor
        let generator = ImageGenerator(asset: asset)
        generator.videoComposition = composition
        compositor.generator = generator
        let images = [1, 2].map { second in
            Background { try generator.generateNow(at: MediaTime(value: Int64(second), timescale: 2)) }
        }
        for image in images {
            let made = try image.value(within: 60)
            #expect(made.image[100, 30] == Color(red: 155, green: 225, blue: 248, alpha: 255))
        }
    }

    @Test func helpersForShapes() throws {
        let upright = try Media.asset("rotated-90.mov")
        let wide = try Media.track(Media.asset("av.mp4"), .video)
        let high = try Media.track(upright, .video)
        #expect(high.isPortrait && !wide.isPortrait)
        #expect(errorCode { try VideoComposition.renderSize(for: [wide, high]) } == .invalidArgument)
        let size = try VideoComposition.renderSize(for: [wide, high], mixesOrientations: true)
        let sizes = [wide, high].compactMap(\.naturalSize)
        #expect(size.width >= (sizes.map(\.width).max() ?? 0) && size.height >= (sizes.map(\.height).max() ?? 0))
        // Composed as its properties say, a turned file looks as its images do.
        let composition = try VideoComposition(propertiesOf: upright)
        let made = try frames(composition, of: upright, in: range(.zero, time(1, 10)))
        let generator = ImageGenerator(asset: upright)
        let image = try generator.generateNow(at: .zero).image
        let picture = try #require(made.first?.pixelBuffer)
        #expect(picture.dimensions == Dimensions(width: image.width, height: image.height))
        let worst = zip(picture.packedPlane(0), image.bytes).map { abs(Int($0) - Int($1)) }.max() ?? 255
        #expect(worst <= 1)
    }
}
