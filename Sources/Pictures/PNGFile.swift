internal import CPNG
public import MediaBase

/// PNG files in memory, through libpng.
///
/// Writing goes through libpng's row interface inside one C function (`cpng_encode`), because its simplified
/// interface offers no choice of level and filter; the jump by which libpng reports an error stays inside that
/// function. Reading goes through the simplified interface (`png_image_begin_read_from_memory`), which never jumps
/// and brings every kind of PNG (palettes, 16 bits, gamma) to 8-bit sRGB.
public enum PNGFile {
    /// The compression level that is used unless another is asked for: fast, and small enough for photographs.
    public static let defaultLevel = 2

    /// The longest side that libpng accepts by default.
    private static let maximumSide = 1_000_000

    /// The picture as a PNG file: RGB where every pixel is opaque, else RGBA, 8 bits, with an sRGB chunk.
    ///
    /// The same picture and level give the same bytes, as far as the same libpng and zlib are used.
    ///
    /// - Parameters:
    ///   - bitmap: The picture.
    ///   - level: 0 (stored) and 1 (fastest) to 9 (smallest); from 4 on every row's filter is chosen by trying.
    /// - Throws: ``MediaError`` `invalidArgument` for another level, `limitExceeded` where a side is over
    ///   1 000 000 pixels, `outOfResources` where memory runs out.
    public static func encode(_ bitmap: Bitmap, level: Int = defaultLevel) throws(MediaError) -> [UInt8] {
        guard (0...9).contains(level) else {
            throw MediaError(.invalidArgument, "PNG has compression levels 0 to 9, not \(level)")
        }
        guard bitmap.width <= maximumSide, bitmap.height <= maximumSide else {
            throw MediaError(
                .limitExceeded, "\(bitmap.width)x\(bitmap.height) is too large for PNG: at most 1000000 a side")
        }
        var output = cpng_output()
        defer { free(output.bytes) }
        let isOpaque: Int32 = bitmap.isOpaque ? 1 : 0
        let status = bitmap.bytes.withUnsafeBufferPointer { pixels in
            cpng_encode(
                pixels.baseAddress, UInt32(bitmap.width), UInt32(bitmap.height), isOpaque, Int32(level),
                &output)
        }
        guard status == 1 else {
            throw MediaError(.outOfResources, "the picture could not be written as PNG", cause: output.text)
        }
        return Array(UnsafeBufferPointer(start: output.bytes, count: output.count))
    }

    /// Reads a PNG file of any kind, brought to 8-bit sRGB with straight alpha.
    ///
    /// - Parameters:
    ///   - bytes: The file; what follows the picture in it is ignored.
    ///   - maximumPixelCount: The most pixels to accept, checked before memory for them is taken.
    /// - Throws: ``MediaError`` `unknownFormat` where it is no PNG file; `damaged` where it ends too early or
    ///   contradicts itself; `limitExceeded` where it is too large.
    public static func decode(
        _ bytes: [UInt8], maximumPixelCount: Int = Bitmap.maximumPixelCount
    ) throws(MediaError) -> Bitmap {
        guard bytes.starts(with: signature) else { throw MediaError(.unknownFormat, "not a PNG file") }
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        // The image points into `bytes` from the first call to the last, so all of them happen in here.
        let result = bytes.withUnsafeBufferPointer { file -> Result<Bitmap, MediaError> in
            defer { png_image_free(&image) }
            guard png_image_begin_read_from_memory(&image, file.baseAddress, file.count) != 0 else {
                return .failure(damage(image))
            }
            do throws(MediaError) {
                let width = Int(image.width)
                let height = Int(image.height)
                let count = try checkedByteCount(
                    width: width, height: height, fileBytes: file.count, maximumPixelCount: maximumPixelCount)
                image.format = pngFormatRGBA
                var pixels = [UInt8](repeating: 0, count: count)
                let status = pixels.withUnsafeMutableBytes {
                    png_image_finish_read(&image, nil, $0.baseAddress, Int32(width * 4), nil)
                }
                guard status != 0 else { return .failure(damage(image)) }
                return .success(Bitmap(width: width, height: height, checkedBytes: pixels))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// `PNG_FORMAT_RGBA`, a macro that Swift does not see.
    private static let pngFormatRGBA = UInt32(PNG_FORMAT_FLAG_COLOR) | UInt32(PNG_FORMAT_FLAG_ALPHA)

    private static func checkedByteCount(
        width: Int, height: Int, fileBytes: Int, maximumPixelCount: Int
    ) throws(MediaError) -> Int {
        let count = try Bitmap.checkedByteCount(width: width, height: height)
        guard count / 4 <= maximumPixelCount else {
            throw MediaError(.limitExceeded, "a PNG file of \(width)x\(height) pixels is too large to be read here")
        }
        // Deflate shrinks at most 1032 to 1, and a pixel has at least one bit.
        guard count / 4 / 8 <= fileBytes.multipliedReportingOverflow(by: 1032).partialValue else {
            throw MediaError(.damaged, "the PNG file is too short for its \(width)x\(height) pixels")
        }
        return count
    }

    private static func damage(_ image: png_image) -> MediaError {
        let text = withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return MediaError(.damaged, "the PNG file cannot be read", cause: text)
    }
}

extension cpng_output {
    /// libpng's words.
    fileprivate var text: String {
        withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
