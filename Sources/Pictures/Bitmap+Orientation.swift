public import MediaBase

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
