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

extension Bitmap {
    /// The picture in the middle of one of another size: what does not fit is cut, what is not covered is `background`.
    ///
    /// Nothing is scaled. Where the two sizes differ by an odd number, the picture lies one pixel nearer to the top left.
    /// - Throws: ``MediaError`` as ``init(width:height:filledWith:)``.
    package func centered(in size: Dimensions, background: Color) throws(MediaError) -> Bitmap {
        if size.width == width, size.height == height, isOpaque { return self }
        var canvas = Canvas(try Bitmap(width: size.width, height: size.height, filledWith: background))
        // Rounded down also where it is negative.
        canvas.draw(self, x: (size.width - width) >> 1, y: (size.height - height) >> 1)
        return canvas.bitmap
    }

    /// The upper left part of the picture, at least one pixel and at most all of it.
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
    /// How a stored picture is to be turned for display: flip horizontally first, then rotate clockwise.
    public struct Orientation: Sendable, Hashable, CustomStringConvertible {
        /// The clockwise rotation in degrees: 0, 90, 180 or 270.
        public let clockwiseDegrees: Int
        /// Whether left and right are exchanged before the rotation.
        public let isMirrored: Bool

        /// No change.
        public static let identity = Orientation(quarterTurns: 0, isMirrored: false)

        /// Makes an orientation; any multiple of 90 is brought to 0…270.
        ///
        /// - Throws: ``MediaError`` `invalidArgument` where the rotation is no multiple of 90.
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

        /// Whether width and height are exchanged.
        public var exchangesSides: Bool { clockwiseDegrees % 180 != 0 }

        /// The orientation that undoes this one.
        public var inverse: Orientation {
            isMirrored ? self : Orientation(quarterTurns: (4 - clockwiseDegrees / 90) % 4, isMirrored: false)
        }

        /// The orientation that has the effect of this one followed by `next`.
        public func followed(by next: Orientation) -> Orientation {
            // Flipping after a rotation is flipping first and rotating the other way.
            let own = clockwiseDegrees / 90
            let turned = next.isMirrored ? 4 - own : own
            return Orientation(
                quarterTurns: (turned + next.clockwiseDegrees / 90) % 4, isMirrored: isMirrored != next.isMirrored)
        }

        /// Such as `90 clockwise` or `mirrored, then 90 clockwise`.
        public var description: String {
            (isMirrored ? "mirrored, then " : "") + "\(clockwiseDegrees) clockwise"
        }
    }

    /// The picture turned; every pixel moves whole, none is changed.
    public func oriented(_ orientation: Orientation) -> Bitmap {
        if orientation == .identity { return self }
        let outWidth = orientation.exchangesSides ? height : width
        let outHeight = orientation.exchangesSides ? width : height

        // Where the picture's first pixel in the result's order lies, and the way from one pixel or row to the next.
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
            // The same walk over a picture whose columns run the other way.
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
        // Tiles keep the rows in use inside the cache while columns become rows.
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

    /// The picture turned clockwise.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where `degrees` is no multiple of 90.
    public func rotated(clockwiseDegrees degrees: Int) throws(MediaError) -> Bitmap {
        oriented(try Orientation(clockwiseDegrees: degrees))
    }

    /// The picture with left and right exchanged.
    public func flippedHorizontally() -> Bitmap {
        walked(width: width, height: height, from: width - 1, step: -1, rowStep: width)
    }
}

extension Bitmap {
    /// The luma of each pixel by ITU-R BT.709's weights, 0…255 and rounded, rows from the top; alpha plays no part.
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
