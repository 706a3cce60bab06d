import MediaBase
import Testing

/// Expected rectangles are worked out by hand: x = offset + (size − clean)/2, whole pixels from ⌈left⌉ to ⌊right⌋.
@Suite struct CleanApertureTests {
    struct Row: Sendable {
        let name: String
        let size: (Int, Int)
        let width, height, across, down: Rational
        /// x, y, width and height.
        let exact: [Rational]
        let pixels: [Int]
        let exceeds: Bool
    }

    static let table = [
        Row(
            name: "centred", size: (720, 480), width: Rational(704), height: Rational(480), across: .zero, down: .zero,
            exact: [Rational(8), .zero, Rational(704), Rational(480)], pixels: [8, 0, 704, 480], exceeds: false),
        Row(
            // 5 + (720 − 704)/2 = 13, −3 + (576 − 566)/2 = 2
            name: "off-centre", size: (720, 576), width: Rational(704), height: Rational(566), across: Rational(5),
            down: Rational(-3), exact: [Rational(13), Rational(2), Rational(704), Rational(566)],
            pixels: [13, 2, 704, 566], exceeds: false),
        Row(
            // (721 − 704)/2 = 17/2: columns 9 to 712, 703 of them; (480 − 479)/2 = 1/2: rows 1 to 479, 478.
            name: "odd", size: (721, 480), width: Rational(704), height: Rational(479), across: .zero, down: .zero,
            exact: [Rational(17, 2), Rational(1, 2), Rational(704), Rational(479)], pixels: [9, 1, 703, 478],
            exceeds: false),
        Row(
            // BT.601's 720 of 702.91 pixels: (720 − 41472/59)/2 = 504/59 = 8.54…; right edge 41976/59 = 711.45…
            name: "fractional", size: (720, 576), width: Rational(41472, 59), height: Rational(576), across: .zero,
            down: .zero, exact: [Rational(504, 59), .zero, Rational(41472, 59), Rational(576)],
            pixels: [9, 0, 702, 576], exceeds: false),
        Row(
            // 1/2 + (1920 − 1919)/2 = 1; −1/2 + (1088 − 1079)/2 = 4
            name: "fractional offset", size: (1920, 1088), width: Rational(1919), height: Rational(1079),
            across: Rational(1, 2), down: Rational(-1, 2),
            exact: [.one, Rational(4), Rational(1919), Rational(1079)], pixels: [1, 4, 1919, 1079], exceeds: false),
        Row(
            // (720 − 736)/2 = −8
            name: "larger than the frame", size: (720, 480), width: Rational(736), height: Rational(480), across: .zero,
            down: .zero, exact: [Rational(-8), .zero, Rational(736), Rational(480)], pixels: [0, 0, 720, 480],
            exceeds: true),
        Row(
            // 20 + (720 − 704)/2 = 28, right edge 732: 692 columns are left.
            name: "beyond the right edge", size: (720, 480), width: Rational(704), height: Rational(480),
            across: Rational(20), down: .zero, exact: [Rational(28), .zero, Rational(704), Rational(480)],
            pixels: [28, 0, 692, 480], exceeds: true),
        Row(
            // −20 + 8 = −12: columns 0 to 691.
            name: "negative offset", size: (720, 480), width: Rational(704), height: Rational(480),
            across: Rational(-20), down: .zero, exact: [Rational(-12), .zero, Rational(704), Rational(480)],
            pixels: [0, 0, 692, 480], exceeds: true),
    ]

    @Test(arguments: table)
    func itCutsWhatTheStandardSays(_ row: Row) throws {
        let aperture = try CleanAperture(
            width: row.width, height: row.height, horizontalOffset: row.across, verticalOffset: row.down,
            in: Dimensions(width: row.size.0, height: row.size.1))
        let (rect, pixels) = (aperture.rectangle, aperture.pixelRect)
        #expect([rect.x, rect.y, rect.width, rect.height] == row.exact, "\(row.name)")
        #expect([pixels.x, pixels.y, pixels.width, pixels.height] == row.pixels, "\(row.name)")
        #expect(aperture.exceedsPicture == row.exceeds, "\(row.name)")
    }

    @Test(arguments: [
        (Rational(704, 0), Rational(480), Rational.zero),
        (Rational(704), Rational(480), Rational(0, 0)),
        (Rational(0), Rational(480), .zero),
        (Rational(704), Rational(-480), .zero),
        // All of it lies to the right of the picture.
        (Rational(704), Rational(480), Rational(713)),
        // From 359.75 to 360.25: no whole pixel.
        (Rational(1, 2), Rational(480), .zero),
        (Rational(.max), Rational(480), Rational(.max)),
        (Rational(1, .max), Rational(480), Rational(1, .max - 1)),
    ])
    func whatCutsNothingOutIsRefused(_ width: Rational, _ height: Rational, _ across: Rational) {
        #expect(throws: MediaError.self) {
            try CleanAperture(
                width: width, height: height, horizontalOffset: across, in: Dimensions(width: 720, height: 480))
        }
    }

    @Test func cropsAreApertures() throws {
        let size = Dimensions(width: 1920, height: 1088)
        let aperture = try CleanAperture(croppingLeft: 3, top: 0, right: 0, bottom: 8, of: size)
        // 1917 by 1080 pixels; the centre moves by 3/2 to the right and 4 up.
        #expect(aperture.horizontalOffset == Rational(3, 2) && aperture.verticalOffset == Rational(-4))
        #expect(aperture.pixelRect == PixelRectangle(x: 3, y: 0, width: 1917, height: 1080))
        #expect(throws: MediaError.self) {
            try CleanAperture(croppingLeft: 1000, top: 0, right: 920, bottom: 0, of: size)
        }
        #expect(throws: MediaError.self) {
            try CleanAperture(croppingLeft: .max, top: .min, right: .max, bottom: 0, of: size)
        }
    }
}
