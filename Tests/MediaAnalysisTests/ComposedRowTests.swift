import MediaAnalysis
import Testing

/// Drawn rows against the same rules said plainly, pixel by pixel in double precision.
@Suite struct ComposedRowTests {
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    /// A picture with straight alpha.
    private struct Picture {
        let width: Int
        let height: Int
        let bytes: [UInt8]

        /// Premultiplied, 0 to 255 each, rounded as textures are.
        func pixel(_ x: Int, _ y: Int) -> [Double] {
            let place = (min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)) * 4
            let alpha = Int(bytes[place + 3])
            return (0..<4).map { $0 == 3 ? Double(alpha) : Double((Int(bytes[place + $0]) * alpha + 127) / 255) }
        }
    }

    /// One pixel of the result: premultiplied.
    private func plain(
        _ picture: Picture, _ placement: LayerPlacement, x: Int, y: Int, over back: [Double]
    ) -> [Double] {
        let (column, line) = (Double(x) + 0.5, Double(y) + 0.5)
        let u = placement.u.origin + placement.u.perColumn * column + placement.u.perRow * line
        let v = placement.v.origin + placement.v.perColumn * column + placement.v.perRow * line
        let slopeU = (placement.u.perColumn * placement.u.perColumn + placement.u.perRow * placement.u.perRow)
            .squareRoot()
        let slopeV = (placement.v.perColumn * placement.v.perColumn + placement.v.perRow * placement.v.perRow)
            .squareRoot()
        let covered =
            max(0, min(1, min(u - placement.left, placement.right - u) / slopeU + 0.5))
            * max(0, min(1, min(v - placement.top, placement.bottom - v) / slopeV + 0.5))
        let (p, q) = (
            max(0, min(u - 0.5, Double(picture.width - 1))), max(0, min(v - 0.5, Double(picture.height - 1)))
        )
        let (i, j) = (Int(p), Int(q))
        let (s, t) = (p - Double(i), q - Double(j))
        let color = (0..<4).map { channel in
            (picture.pixel(i, j)[channel] * (1 - s) + picture.pixel(i + 1, j)[channel] * s) * (1 - t)
                + (picture.pixel(i, j + 1)[channel] * (1 - s) + picture.pixel(i + 1, j + 1)[channel] * s) * t
        }.map { $0 * covered * placement.opacity }
        return (0..<4).map { color[$0] + back[$0] * (1 - color[3] / 255) }
    }

    @Test(arguments: 0..<60) func rowsAreWhatThePlainRulesGive(_ seed: Int) throws {
        var random = Random(state: UInt64(seed) &* 77 &+ 5)
        let size = (width: Int.random(in: 1...40, using: &random), height: Int.random(in: 1...30, using: &random))
        let isOpaque = Bool.random(using: &random)
        let bytes = (0..<size.width * size.height * 4).map { index in
            isOpaque && index % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &random)
        }
        let picture = Picture(width: size.width, height: size.height, bytes: bytes)
        let texture = try #require(LayerTexture(width: size.width, height: size.height, straight: bytes))
        #expect(texture.isOpaque == isOpaque || size.width * size.height < 4)
        func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        var placement = LayerPlacement(
            u: (number(-20...20), number(-2...2), number(-2...2)),
            v: (number(-20...20), number(-2...2), number(-2...2)),
            left: 0, top: 0, right: Double(size.width), bottom: Double(size.height),
            opacity: Bool.random(using: &random) ? 1 : number(0...1))
        switch seed % 4 {
        case 0:  // On the pixels.
            placement.u = (Double(Int.random(in: -20...10, using: &random)), 1, 0)
            placement.v = (Double(Int.random(in: -10...10, using: &random)), 0, 1)
        case 1:  // Beside the pixels, not turned.
            placement.u = (number(-20...10), number(0.2...1.5), 0)
            placement.v = (number(-10...10), 0, number(0.2...1.5))
        case 2:  // Cut.
            placement.left = number(0...10)
            placement.right = min(placement.right, number(5...40))
            placement.top = number(0...10)
        default: break
        }
        let ground: [Double] = [10, 200, 90, Bool.random(using: &random) ? 255 : 100]
        let width = 50
        for row in -1..<40 {
            var line = ComposedRow(
                width: width, color: SIMD4(Float(ground[0]), Float(ground[1]), Float(ground[2]), Float(ground[3])))
            line.draw(texture, placement, row: row)
            let got = Self.bytes(line, width)
            for x in 0..<width {
                let back = (0..<4).map { $0 == 3 ? ground[3] : ground[$0] * ground[3] / 255 }
                let wanted = plain(picture, placement, x: x, y: row, over: back)
                let isEmpty = placement.left >= placement.right || placement.top >= placement.bottom
                let value = isEmpty ? back : wanted
                for channel in 0..<4 {
                    let straight = channel == 3 || value[3] == 0 ? value[channel] : value[channel] * 255 / value[3]
                    let difference = abs(Double(got[x * 4 + channel]) - straight)
                    #expect(difference <= 0.51, "row \(row) column \(x) channel \(channel): \(difference)")
                }
            }
        }
    }

    private static func bytes(_ line: ComposedRow, _ width: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: width * 4) { buffer, count in
            var span = UnsafeMutableRawBufferPointer(buffer).mutableBytes
            line.write(into: &span, at: 0)
            count = width * 4
        }
    }

    @Test func numbersThatMakeNoSenseDrawNothing() throws {
        let texture = try #require(LayerTexture(width: 2, height: 2, straight: [UInt8](repeating: 255, count: 16)))
        for bad in [Double.nan, .infinity, -.infinity, 1e300] {
            var line = ComposedRow(width: 4, color: SIMD4(1, 2, 3, 255))
            for part in 0..<4 {
                var placement = LayerPlacement(
                    u: (0, 1, 0), v: (0, 0, 1), left: 0, top: 0, right: 2, bottom: 2, opacity: 1)
                switch part {
                case 0: placement.u.origin = bad
                case 1: placement.v.perRow = bad
                case 2: placement.right = bad
                default: placement.opacity = bad
                }
                line.draw(texture, placement, row: 0)
            }
            #expect(Self.bytes(line, 4).prefix(4) == [1, 2, 3, 255])
        }
        #expect(LayerTexture(width: 2, height: 2, straight: [0]) == nil)
        #expect(LayerTexture(width: -1, height: 2, straight: []) == nil)
        #expect(LayerTexture(width: .max, height: 2, straight: []) == nil)
    }
}
