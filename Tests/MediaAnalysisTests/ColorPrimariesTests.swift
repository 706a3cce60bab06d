import MediaAnalysis
import Testing

@Suite struct ColorPrimariesTests {
    /// ITU-R BT.2087, table 3 and BT.2407, table 1, each to four places.
    @Test func matricesAreThosePublished() {
        let from2020 = [1.6605, -0.5876, -0.0728, -0.1246, 1.1329, -0.0083, -0.0182, -0.1006, 1.1187]
        let to2020 = [0.6274, 0.3293, 0.0433, 0.0691, 0.9195, 0.0114, 0.0164, 0.0880, 0.8956]
        for (got, wanted) in [
            (ColorPrimaries.bt2020.matrix(to: .bt709), from2020), (ColorPrimaries.bt709.matrix(to: .bt2020), to2020),
        ] {
            #expect(zip(got, wanted).allSatisfy { abs($0.0 - $0.1) < 0.0001 }, "\(got)")
        }
    }

    @Test(arguments: [ColorPrimaries.bt2020, .displayP3, .bt709]) func whiteStaysWhite(_ primaries: ColorPrimaries) {
        let matrix = primaries.matrix(to: .bt709)
        for row in 0..<3 { #expect(abs(matrix[row * 3] + matrix[row * 3 + 1] + matrix[row * 3 + 2] - 1) < 1e-9) }
    }

    @Test func luminanceIsThatOfTheMatrices() {
        for (primaries, wanted) in [
            (ColorPrimaries.bt709, [0.2126, 0.7152, 0.0722]), (.bt2020, [0.2627, 0.6780, 0.0593]),
        ] {
            #expect(zip(primaries.luminance, wanted).allSatisfy { abs($0.0 - $0.1) < 0.0001 })
        }
    }

    @Test func nearPrimariesAreNotConverted() {
        for name in [nil, "bt709", "smpte170m", "bt470bg", "smpte240m", "film", "nonsense"] {
            #expect(ColorPrimaries(name: name) == .bt709)
        }
        #expect(ColorPrimaries(name: "bt2020") == .bt2020)
        #expect(ColorPrimaries(name: "smpte431") == .displayP3)
        #expect(ColorPrimaries(name: "smpte432") == .displayP3)
    }
}
