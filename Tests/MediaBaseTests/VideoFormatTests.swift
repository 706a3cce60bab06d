import MediaBase
import Testing

@Suite struct VideoFormatTests {
    private func format(
        _ width: Int, _ height: Int, aspect: Rational?, aperture: (Rational, Rational)? = nil
    ) throws -> VideoFormat {
        let size = Dimensions(width: width, height: height)
        let clean = try aperture.map { try CleanAperture(width: $0.0, height: $0.1, in: size) }
        return VideoFormat(encodedSize: size, sampleAspectRatio: aspect, cleanAperture: clean)
    }

    @Test func theFourSizesOfStandardDefinitionVideo() throws {
        let ntsc = try format(720, 480, aspect: Rational(10, 11), aperture: (Rational(704), Rational(480)))
        #expect(
            ntsc.presentationDimensions(usePixelAspectRatio: false, useCleanAperture: false)
                == Dimensions(width: 720, height: 480))
        // 7200/11 = 654.5…
        #expect(
            ntsc.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: false)
                == Dimensions(width: 655, height: 480))
        #expect(
            ntsc.presentationDimensions(usePixelAspectRatio: false, useCleanAperture: true)
                == Dimensions(width: 704, height: 480))
        #expect(
            ntsc.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
                == Dimensions(width: 640, height: 480))
    }

    @Test func fractionsAreRoundedOnce() throws {
        // 41472/59 · 59/54 = 768 exactly, though 702 and 703 pixels give 767 and 768.
        let pal = try format(720, 576, aspect: Rational(59, 54), aperture: (Rational(41472, 59), Rational(576)))
        #expect(
            pal.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
                == Dimensions(width: 768, height: 576))
    }

    @Test func anApertureIsNoLargerThanThePicture() throws {
        let large = try format(720, 480, aspect: nil, aperture: (Rational(736), Rational(480)))
        #expect(
            large.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
                == Dimensions(width: 720, height: 480))
    }

    @Test func nonsenseRatiosLeaveTheSizeAlone() throws {
        for ratio in [Rational.invalid, .zero, Rational(-1, 2), Rational(.max)] {
            #expect(
                try format(720, 480, aspect: ratio).presentationDimensions(usePixelAspectRatio: true)
                    == Dimensions(width: 720, height: 480))
        }
        // Never thinner than a pixel.
        #expect(
            try format(720, 480, aspect: Rational(1, .max)).presentationDimensions(usePixelAspectRatio: true)
                == Dimensions(width: 1, height: 480))
    }
}
