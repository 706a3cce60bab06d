public import MediaBase

/// A picture of 8-bit RGBA pixels in sRGB with straight alpha, stored top row first and tightly packed.
///
/// A value type: copies are independent and share storage until one of them changes.
public struct Bitmap: Sendable, Hashable {
    /// The maximum number of pixels in a bitmap: 2^28, which take 1 GiB.
    public static let maximumPixelCount = 1 << 28

    /// The width in pixels, 1 or more.
    public let width: Int
    /// The height in pixels, 1 or more.
    public let height: Int
    /// The red, green, blue and alpha of each pixel; `width · height · 4` bytes.
    public internal(set) var bytes: [UInt8]

    /// Creates a picture from pixels.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if a side is below 1 or `bytes` does not have `width · height · 4`
    ///   elements; `limitExceeded` above ``maximumPixelCount``.
    public init(width: Int, height: Int, bytes: [UInt8]) throws(MediaError) {
        let count = try Self.checkedByteCount(width: width, height: height)
        guard bytes.count == count else {
            throw MediaError(
                .invalidArgument, "a picture of \(width)x\(height) has \(count) bytes, not \(bytes.count)")
        }
        self.init(width: width, height: height, checkedBytes: bytes)
    }

    /// Creates a picture filled with one colour.
    ///
    /// - Throws: The errors of ``init(width:height:bytes:)``, before allocating any memory.
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

    /// Returns the number of bytes in a picture; throws if the size is invalid.
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
    /// Outside the picture, reading returns ``Color/transparent`` and writing does nothing.
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

    /// True if every pixel has alpha 255.
    public var isOpaque: Bool {
        // ANDing whole rows without an early exit vectorises, and most pictures are opaque anyway.
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

extension Bitmap {
    /// Returns a picture of another size with this picture in the centre, cropped or surrounded by `background`.
    ///
    /// The picture is not scaled. If the sizes differ by an odd number, it is placed one pixel nearer to the top left.
    /// - Throws: The errors of ``init(width:height:filledWith:)``.
    package func centered(in size: Dimensions, background: Color) throws(MediaError) -> Bitmap {
        if size.width == width, size.height == height, isOpaque { return self }
        var canvas = Canvas(try Bitmap(width: size.width, height: size.height, filledWith: background))
        // The shift also rounds negative numbers down.
        canvas.draw(self, x: (size.width - width) >> 1, y: (size.height - height) >> 1)
        return canvas.bitmap
    }

    /// Returns the top-left part of the picture, at least one pixel and at most the whole picture.
    package func prefix(width: Int, height: Int) -> Bitmap {
        let width = min(max(width, 1), self.width)
        let height = min(max(height, 1), self.height)
        if width == self.width {
            return Bitmap(width: width, height: height, checkedBytes: Array(bytes[..<(width * height * 4)]))
        }
        var part: [UInt8] = []
        part.reserveCapacity(width * height * 4)
        for row in 0..<height {
            let start = row * self.width * 4
            part += bytes[start..<start + width * 4]
        }
        return Bitmap(width: width, height: height, checkedBytes: part)
    }
}

extension Bitmap {
    /// The transform that orients a stored picture for display: flip horizontally, then rotate clockwise.
    public struct Orientation: Sendable, Hashable, CustomStringConvertible {
        /// The clockwise rotation in degrees: 0, 90, 180 or 270.
        public let clockwiseDegrees: Int
        /// True if left and right are exchanged before the rotation.
        public let isMirrored: Bool

        /// The orientation that changes nothing.
        public static let identity = Orientation(quarterTurns: 0, isMirrored: false)

        /// Creates an orientation; any multiple of 90 is normalised to 0…270.
        ///
        /// - Throws: ``MediaError`` `invalidArgument` if the rotation is not a multiple of 90.
        public init(clockwiseDegrees: Int, isMirrored: Bool = false) throws(MediaError) {
            guard clockwiseDegrees % 90 == 0 else {
                throw MediaError(
                    .invalidArgument, "whole pixels turn by multiples of 90 degrees, not by \(clockwiseDegrees)")
            }
            self.init(quarterTurns: (clockwiseDegrees / 90 % 4 + 4) % 4, isMirrored: isMirrored)
        }

        private init(quarterTurns: Int, isMirrored: Bool) {
            clockwiseDegrees = quarterTurns * 90
            self.isMirrored = isMirrored
        }

        /// True if width and height are exchanged.
        public var exchangesSides: Bool { clockwiseDegrees % 180 != 0 }

        /// The orientation that undoes this one.
        public var inverse: Orientation {
            isMirrored ? self : Orientation(quarterTurns: (4 - clockwiseDegrees / 90) % 4, isMirrored: false)
        }

        /// Returns the orientation equivalent to this one followed by `next`.
        public func followed(by next: Orientation) -> Orientation {
            // Flipping after a rotation equals flipping first and rotating the other way.
            let own = clockwiseDegrees / 90
            let turned = next.isMirrored ? 4 - own : own
            return Orientation(
                quarterTurns: (turned + next.clockwiseDegrees / 90) % 4, isMirrored: isMirrored != next.isMirrored)
        }

        /// The orientation as text, such as `90 clockwise` or `mirrored, then 90 clockwise`.
        public var description: String {
            (isMirrored ? "mirrored, then " : "") + "\(clockwiseDegrees) clockwise"
        }
    }

    /// Returns the picture in another orientation; pixels are moved unchanged.
    public func oriented(_ orientation: Orientation) -> Bitmap {
        if orientation == .identity { return self }
        let outWidth = orientation.exchangesSides ? height : width
        let outHeight = orientation.exchangesSides ? width : height

        // The source index of the result's first pixel, and the source steps from one result pixel or row to the next.
        let last = (x: width - 1, y: height - 1)
        var first: Int
        var step: Int
        var rowStep: Int
        switch orientation.clockwiseDegrees {
        case 90: (first, step, rowStep) = (last.y * width, -width, 1)
        case 180: (first, step, rowStep) = (last.y * width + last.x, -1, -width)
        case 270: (first, step, rowStep) = (last.x, width, -1)
        default: (first, step, rowStep) = (0, 1, width)
        }
        if orientation.isMirrored {
            // The same traversal of a picture with its columns reversed.
            let column = first % width
            first += last.x - 2 * column
            if orientation.exchangesSides { rowStep = -rowStep } else { step = -step }
        }
        return walked(width: outWidth, height: outHeight, from: first, step: step, rowStep: rowStep)
    }

    private func walked(width: Int, height: Int, from first: Int, step: Int, rowStep: Int) -> Bitmap {
        var result = [UInt8](repeating: 0, count: bytes.count)
        let source = bytes.span
        var target = result.mutableSpan
        // Tiles keep the rows in use in the cache while columns become rows.
        let tile = 32
        for top in stride(from: 0, to: height, by: tile) {
            for left in stride(from: 0, to: width, by: tile) {
                for y in top..<min(top + tile, height) {
                    var from = (first + y * rowStep + left * step) * 4
                    var to = (y * width + left) * 4
                    for _ in left..<min(left + tile, width) {
                        target[to] = source[from]
                        target[to &+ 1] = source[from &+ 1]
                        target[to &+ 2] = source[from &+ 2]
                        target[to &+ 3] = source[from &+ 3]
                        to &+= 4
                        from &+= step &* 4
                    }
                }
            }
        }
        return Bitmap(width: width, height: height, checkedBytes: result)
    }

    /// Returns the picture rotated clockwise.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if `degrees` is not a multiple of 90.
    public func rotated(clockwiseDegrees degrees: Int) throws(MediaError) -> Bitmap {
        oriented(try Orientation(clockwiseDegrees: degrees))
    }

    /// Returns the picture with left and right exchanged.
    public func flippedHorizontally() -> Bitmap {
        walked(width: width, height: height, from: width - 1, step: -1, rowStep: width)
    }
}

extension Bitmap {
    /// Returns the luma of each pixel with ITU-R BT.709 weights, rounded to 0…255, top row first; alpha is ignored.
    package func luma() -> [UInt8] {
        let pixels = bytes.span
        var luma = [UInt8](repeating: 0, count: width * height)
        for index in luma.indices {
            let start = index &* 4
            let (red, green, blue) = (Int(pixels[start]), Int(pixels[start &+ 1]), Int(pixels[start &+ 2]))
            luma[index] = UInt8(truncatingIfNeeded: (54 &* red &+ 183 &* green &+ 19 &* blue &+ 128) >> 8)
        }
        return luma
    }
}
