import MatroskaMedia
import MediaBase
import Testing

/// Elements written by hand, in the layouts of RFC 8794 and RFC 9559.
enum EBML {
    /// An element with a size of eight bytes, so that any content fits.
    static func element(_ id: UInt32, _ content: [UInt8]) -> [UInt8] {
        self.id(id) + size(UInt64(content.count)) + content
    }

    static func number(_ id: UInt32, _ value: UInt64) -> [UInt8] { element(id, bytes(value)) }

    static func id(_ id: UInt32) -> [UInt8] { Array(bytes(UInt64(id)).drop { $0 == 0 }) }

    static func size(_ size: UInt64) -> [UInt8] { [0x01] + bytes(size).dropFirst() }

    static func bytes(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }

    static let head = element(0x1A45DFA3, element(0x4282, Array("matroska".utf8)))

    /// A file with one video track of 720 by 576 pixels and further elements of its Video element.
    static func file(video: [UInt8]...) -> [UInt8] {
        let video = element(0xE0, number(0xB0, 720) + number(0xBA, 576) + video.flatMap { $0 })
        let entry = number(0xD7, 7) + number(0x83, 1) + element(0x86, Array("V_VP9".utf8)) + video
        return head + element(0x18538067, element(0x1654AE6B, element(0xAE, entry)))
    }

    static func video(_ parts: [UInt8]...) throws -> MatroskaVideo {
        let file = file(video: parts.flatMap { $0 })
        return try #require(try MatroskaHeader(reading: ArrayByteSource(file)).tracks.first?.video)
    }
}

@Suite struct MatroskaHeaderTests {
    private let size = Dimensions(width: 720, height: 576)

    @Test func segmentsSayWhereTheFileEnds() throws {
        let file = EBML.file()
        #expect(try MatroskaHeader.declaredEnd(of: ArrayByteSource(file)) == UInt64(file.count))
        #expect(try MatroskaHeader.declaredEnd(of: ArrayByteSource(Array(file.dropLast(9)))) == UInt64(file.count))
        // A live stream does not know its length.
        let live = EBML.head + [0x18, 0x53, 0x80, 0x67, 0x01] + Array(repeating: 0xFF, count: 7)
        #expect(try MatroskaHeader.declaredEnd(of: ArrayByteSource(live)) == nil)
        #expect(try MatroskaHeader.declaredEnd(of: ArrayByteSource([1, 2, 3])) == nil)
    }

    @Test func picturesWithoutASizeAreAWarning() throws {
        #expect(try MatroskaHeader(reading: ArrayByteSource(EBML.file())).warnings.isEmpty)
        let header = try MatroskaHeader(reading: ArrayByteSource(EBML.file(video: EBML.number(0xBA, 0))))
        #expect(header.warnings == ["track 7 has pictures without a size"])
    }

    @Test func cropsAreCutFromTheStoredPicture() throws {
        let video = try EBML.video(
            EBML.number(0x54CC, 9), EBML.number(0x54DD, 7), EBML.number(0x54BB, 4), EBML.number(0x54AA, 0))
        let aperture = try #require(try video.aperture(in: size))
        #expect(aperture.pixelRect == PixelRectangle(x: 9, y: 4, width: 704, height: 572))
        #expect(aperture.horizontalOffset == .one && aperture.verticalOffset == Rational(2))
        // In pixels, a display size that is not written is that of the cropped picture.
        #expect(video.sampleAspectRatio == .one)
    }

    @Test func displaySizesShapeThePixelsOfTheCroppedPicture() throws {
        // 704 by 576 shown as 768 by 576: pixels of 768/704 = 12/11.
        let pixels = try EBML.video(
            EBML.number(0x54CC, 8), EBML.number(0x54DD, 8), EBML.number(0x54B0, 768), EBML.number(0x54BA, 576))
        #expect(pixels.sampleAspectRatio == Rational(12, 11))
        #expect(pixels.display == ContainerDisplay(width: 768, height: 576, unit: "pixels"))
        // 16:9 as a ratio: 16/9 · 576/720 = 64/45.
        let ratio = try EBML.video(EBML.number(0x54B0, 16), EBML.number(0x54BA, 9), EBML.number(0x54B2, 3))
        #expect(ratio.sampleAspectRatio == Rational(64, 45))
        #expect(try ratio.aperture(in: size) == nil)
        #expect(ratio.display?.unit == "aspectRatio")
        let unknown = try EBML.video(EBML.number(0x54B0, 16), EBML.number(0x54BA, 9), EBML.number(0x54B2, 4))
        #expect(unknown.sampleAspectRatio == nil && unknown.display?.unit == "unknown")
        let centimeters = try EBML.video(EBML.number(0x54B0, 16), EBML.number(0x54B2, 1))
        #expect(centimeters.sampleAspectRatio == nil)
    }

    @Test(
        arguments: [
            [(0x54CC, 720)], [(0x54CC, 400), (0x54DD, 320)], [(0x54BB, UInt64.max)], [(0x54CC, .max), (0x54DD, .max)],
        ] as [[(UInt32, UInt64)]])
    func cropsThatLeaveNothingAreRefused(_ crops: [(UInt32, UInt64)]) throws {
        let video = try EBML.video(crops.flatMap { EBML.number($0.0, $0.1) })
        #expect(throws: MediaError.self) { try video.aperture(in: size) }
        #expect(video.sampleAspectRatio == nil)
    }

    @Test func zerosInTheDisplaySizeSayNothing() throws {
        let video = try EBML.video(EBML.number(0x54B0, 0), EBML.number(0x54BA, 0))
        #expect(video.sampleAspectRatio == nil)
    }

    @Test func colorAndFieldsAreRead() throws {
        let video = try EBML.video(
            EBML.number(0x9A, 1), EBML.number(0x9D, 6),
            EBML.element(
                0x55B0,
                EBML.number(0x55B1, 9) + EBML.number(0x55BA, 16) + EBML.number(0x55BB, 9) + EBML.number(0x55B9, 2)
                    + EBML.number(0x55B7, 1) + EBML.number(0x55B8, 2)))
        #expect(video.interlacing == 1 && video.fieldOrder == 6)
        let color = try #require(video.color)
        #expect([color.primaries, color.transfer, color.matrix] == [9, 16, 9])
        #expect(color.range == 2 && color.sitingAcross == 1 && color.sitingDown == 2)
    }

    @Test func theSeekHeadLeadsBehindTheClusters() throws {
        let list = EBML.element(0x1654AE6B, EBML.element(0xAE, EBML.number(0xD7, 3)))
        // The position counts from the segment's content; the cluster has an unknown size.
        func seekHead(_ position: UInt64) -> [UInt8] {
            EBML.element(
                0x114D9B74,
                EBML.element(0x4DBB, EBML.element(0x53AB, EBML.id(0x1654AE6B)) + EBML.number(0x53AC, position)))
        }
        let cluster = EBML.id(0x1F43B675) + [0xFF] + [UInt8](repeating: 0, count: 50)
        let position = UInt64(seekHead(0).count + cluster.count)
        let file = EBML.head + EBML.element(0x18538067, seekHead(position) + cluster + list)
        #expect(try MatroskaHeader(reading: ArrayByteSource(file)).tracks.first?.number == 3)
        // A seek head that leads back to the cluster ends the search.
        let loop = EBML.head + EBML.element(0x18538067, seekHead(UInt64(seekHead(0).count)) + cluster)
        #expect(throws: MediaError.self) { try MatroskaHeader(reading: ArrayByteSource(loop)) }
    }

    @Test(arguments: [
        EBML.head + EBML.id(0x18538067) + EBML.size(.max >> 8) + EBML.id(0x1654AE6B) + EBML.size(.max >> 9),
        EBML.head + EBML.id(0x18538067) + [0xFF] + EBML.id(0xEC) + EBML.size(0x00FF_FFFF_FFFF_FFFE),
        EBML.id(0x1A45DFA3) + EBML.size(1 << 50),
        EBML.head + [0x00, 0x00], [],
    ])
    func impossibleSizesAreRefused(_ file: [UInt8]) {
        #expect(throws: MediaError.self) { try MatroskaHeader(reading: ArrayByteSource(file)) }
    }
}
