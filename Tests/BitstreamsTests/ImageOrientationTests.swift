import Bitstreams
import MediaBase
import Testing

/// The orientation in a photo's Exif data, by hand after Exif 2.32 and TIFF 6.0.
@Suite struct ImageOrientationTests {
    /// A JPEG's start: another segment, then Exif data with the make of the camera before the orientation 6.
    static let photo: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x04, 0x4A, 0x46, 0xFF, 0xE1, 0x00, 0x2E]
        + Array("Exif\0\0MM".utf8) + [0x00, 0x2A, 0x00, 0x00, 0x00, 0x08, 0x00, 0x02]
        + [0x01, 0x0F, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x41, 0x00, 0x00, 0x00]
        + [0x01, 0x12, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x00, 0x06, 0x00, 0x00]
        + [0x00, 0x00, 0x00, 0x00] + [0xFF, 0xDA]

    @Test func orientationIsFound() {
        let orientation = ImageOrientation(jpeg: Self.photo)
        #expect(orientation?.number == 6)
        // Turned clockwise: the top left corner of 30x20 pixels becomes the top right one of 20x30.
        let transform = orientation?.transform(of: Dimensions(width: 30, height: 20))
        #expect(transform == PictureTransform(a: 0, b: 1, c: -1, d: 0, tx: 20, ty: 0))
    }

    @Test func otherNumbersAreNone() {
        for number in [0, 9, 255] as [UInt8] {
            var photo = Self.photo
            photo[photo.count - 9] = number
            #expect(ImageOrientation(jpeg: photo) == nil)
        }
    }

    @Test func cutAtEveryByte() {
        for length in 0..<Self.photo.count {
            let found = ImageOrientation(jpeg: Array(Self.photo.prefix(length)))
            #expect(found == nil || length >= Self.photo.count - 2)
        }
    }

    @Test func everyByteReplaced() {
        for place in Self.photo.indices {
            for byte in [0x00, 0x7F, 0xFF] as [UInt8] {
                var photo = Self.photo
                photo[place] = byte
                #expect((1...8).contains(ImageOrientation(jpeg: photo)?.number ?? 1))
            }
        }
    }
}
