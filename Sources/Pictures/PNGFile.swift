internal import CPNG
public import MediaBase

/// A reader and writer for PNG files in memory, using libpng.
///
/// Writing uses libpng's row interface inside one C function (`cpng_encode`), because its simplified interface offers
/// no choice of level and filter. The jump with which libpng reports an error stays inside that function. Reading uses
/// the simplified interface (`png_image_begin_read_from_memory`), which never jumps and converts every kind of PNG
/// (palettes, 16 bits, gamma) to 8-bit sRGB.
public enum PNGFile {
    /// The default compression level: fast, and small enough for photographs.
    public static let defaultLevel = 2

    /// The maximum side length that libpng accepts by default.
    private static let maximumSide = 1_000_000

    /// Encodes a picture as a PNG file with 8 bits per channel and an sRGB chunk: RGB if every pixel is opaque, else
    /// RGBA.
    ///
    /// The same picture and level produce the same bytes with the same versions of libpng and zlib.
    ///
    /// - Parameters:
    ///   - bitmap: The picture.
    ///   - level: 0 (stored), or 1 (fastest) to 9 (smallest); from 4 on, the filter of every row is chosen by trial.
    /// - Throws: ``MediaError`` `invalidArgument` for any other level, `limitExceeded` if a side exceeds 1 000 000
    ///   pixels, `outOfResources` if memory is exhausted.
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

    /// Decodes a PNG file of any kind, converted to 8-bit sRGB with straight alpha.
    ///
    /// - Parameters:
    ///   - bytes: The file; data after the picture is ignored.
    ///   - maximumPixelCount: The maximum number of pixels, checked before memory is allocated for them.
    /// - Throws: ``MediaError`` `unknownFormat` if the data is not a PNG file; `damaged` if it is truncated or
    ///   inconsistent; `limitExceeded` if the picture is too large.
    public static func decode(
        _ bytes: [UInt8], maximumPixelCount: Int = Bitmap.maximumPixelCount
    ) throws(MediaError) -> Bitmap {
        guard bytes.starts(with: signature) else { throw MediaError(.unknownFormat, "not a PNG file") }
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        // The image refers to `bytes` throughout all calls, so they must all be made in this closure.
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

    /// `PNG_FORMAT_RGBA`, a macro that Swift does not import.
    private static let pngFormatRGBA = UInt32(PNG_FORMAT_FLAG_COLOR) | UInt32(PNG_FORMAT_FLAG_ALPHA)

    private static func checkedByteCount(
        width: Int, height: Int, fileBytes: Int, maximumPixelCount: Int
    ) throws(MediaError) -> Int {
        let count = try Bitmap.checkedByteCount(width: width, height: height)
        guard count / 4 <= maximumPixelCount else {
            throw MediaError(.limitExceeded, "a PNG file of \(width)x\(height) pixels is too large to be read here")
        }
        // Deflate compresses at most 1032 to 1, and a pixel has at least one bit.
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
    /// The message from libpng.
    fileprivate var text: String {
        withUnsafeBytes(of: message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
