public import MediaBase

/// A picture of 8-bit RGBA pixels in sRGB with straight alpha, rows from the top, tightly packed.
///
/// A value: copies are independent and share storage until one of them changes.
public struct Bitmap: Sendable, Hashable {
    /// The most pixels that a bitmap may have: 2^28, which are 1 GiB.
    public static let maximumPixelCount = 1 << 28

    /// Pixels a row, 1 or more.
    public let width: Int
    /// Rows, 1 or more.
    public let height: Int
    /// Red, green, blue and alpha of each pixel; `width · height · 4` bytes.
    public internal(set) var bytes: [UInt8]

    /// Makes a picture from pixels.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where a side is below 1 or `bytes` is not `width · height · 4`
    ///   long; `limitExceeded` over ``maximumPixelCount``.
    public init(width: Int, height: Int, bytes: [UInt8]) throws(MediaError) {
        let count = try Self.checkedByteCount(width: width, height: height)
        guard bytes.count == count else {
            throw MediaError(
                .invalidArgument, "a picture of \(width)x\(height) has \(count) bytes, not \(bytes.count)")
        }
        self.init(width: width, height: height, checkedBytes: bytes)
    }

    /// Makes a picture of one colour.
    ///
    /// - Throws: ``MediaError`` as ``init(width:height:bytes:)``, before any memory is taken.
    public init(width: Int, height: Int, filledWith color: Color = .transparent) throws(MediaError) {
        let count = try Self.checkedByteCount(width: width, height: height)
        var bytes = [UInt8](repeating: color.red, count: count)
        if color.green != color.red || color.blue != color.red || color.alpha != color.red {
            for start in stride(from: 0, to: count, by: 4) {
                bytes[start + 1] = color.green
                bytes[start + 2] = color.blue
                bytes[start + 3] = color.alpha
            }
        }
        self.init(width: width, height: height, checkedBytes: bytes)
    }

    init(width: Int, height: Int, checkedBytes bytes: [UInt8]) {
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    /// The bytes that a picture needs, if it is one that may be made.
    static func checkedByteCount(width: Int, height: Int) throws(MediaError) -> Int {
        guard width >= 1, height >= 1 else {
            throw MediaError(.invalidArgument, "a picture cannot be \(width)x\(height) pixels")
        }
        let pixels = width.multipliedReportingOverflow(by: height)
        guard !pixels.overflow, pixels.partialValue <= maximumPixelCount else {
            throw MediaError(
                .limitExceeded, "\(width)x\(height) pixels are too many: at most \(maximumPixelCount) in a picture")
        }
        return pixels.partialValue * 4
    }

    /// The pixel in column `x` and row `y`, counted from the top left.
    ///
    /// Outside the picture reading gives ``Color/transparent`` and writing does nothing.
    public subscript(x: Int, y: Int) -> Color {
        get {
            guard x >= 0, x < width, y >= 0, y < height else { return .transparent }
            let start = (y * width + x) * 4
            return Color(
                red: bytes[start], green: bytes[start + 1], blue: bytes[start + 2], alpha: bytes[start + 3])
        }
        set {
            guard x >= 0, x < width, y >= 0, y < height else { return }
            let start = (y * width + x) * 4
            bytes[start] = newValue.red
            bytes[start + 1] = newValue.green
            bytes[start + 2] = newValue.blue
            bytes[start + 3] = newValue.alpha
        }
    }

    /// Whether every pixel has alpha 255.
    public var isOpaque: Bool {
        // Rows are and-ed without leaving early, which vectorises; most pictures are opaque anyway.
        let rowBytes = width * 4
        for row in 0..<height {
            let pixels = bytes.span.extracting(row * rowBytes..<(row + 1) * rowBytes)
            var all: UInt8 = 255
            for x in 0..<width { all &= pixels[x &* 4 &+ 3] }
            if all != 255 { return false }
        }
        return true
    }
}
