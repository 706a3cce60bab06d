import AssetKit
import MediaBase
import TestSupport
import Testing

@Suite struct ImageFileFormatTests {
    @Test func extensions() {
        #expect(
            ["png", "JPG", "jpeg", "WebP"].map { ImageFileFormat(fileExtension: $0) } == [.png, .jpeg, .jpeg, .webp])
        #expect(ImageFileFormat(fileExtension: "gif") == nil && ImageFileFormat(fileExtension: "") == nil)
        #expect(ImageFileFormat.allCases.map(\.fileExtension) == ["png", "jpg", "webp"])
    }

    @Test func filesBeginAsTheirFormatsDo() throws {
        let picture = try Bitmap(width: 20, height: 10, filledWith: .white)
        #expect(try picture.encoded(as: .png).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(try picture.encoded(as: .jpeg).starts(with: [0xFF, 0xD8]))
        #expect(try picture.encoded(as: .webp).starts(with: "RIFF".utf8))
    }

    @Test func jpegShowsTheBackgroundBehindTransparentPixels() throws {
        let picture = try Bitmap(width: 16, height: 16, filledWith: .transparent)
        let folder = try TemporaryFolder()
        let path = try folder.write("a.jpg", picture.encoded(as: .jpeg, background: .white))
        let pixels = try FFmpeg.run(["-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "-"])
        #expect(pixels.count == 256 && pixels.allSatisfy { $0 >= 254 })
    }

    @Test func picturesThatAFormatCannotHoldAreRefused() throws {
        let wide = try Bitmap(width: 16384, height: 1)
        let error = #expect(throws: MediaError.self) { try wide.encoded(as: .webp) }
        #expect(error?.code == .limitExceeded)
        #expect(try !wide.encoded(as: .jpeg).isEmpty)
    }
}
