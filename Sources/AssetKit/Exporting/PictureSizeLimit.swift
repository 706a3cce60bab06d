public import MediaBase

/// The maximum size of encoded video frames when they are scaled down.
public enum PictureSizeLimit: Sendable, Hashable {
    /// No limit except the size of the source.
    case none
    /// A maximum number of pixels along the shorter side: 540 for 960x540 and for 540x960.
    case shorterSide(Int)
    /// A maximum number of rows.
    case height(Int)
    /// A box that the frame must fit into, in either orientation.
    case box(Dimensions)
}

extension PictureSizeLimit {
    /// Returns the size for video frames of a format: even sides, never larger than the source.
    ///
    /// The pixel aspect ratio compensates for rounding, unless pixels are to be square. Among the sizes within a
    /// fiftieth of the exact one, the result is the nearest whose pixel aspect ratio is a fraction that codecs and
    /// containers can store.
    /// - Parameters:
    ///   - format: The format of the source.
    ///   - hasSquarePixels: True to produce square pixels. One side is then shortened rather than the other lengthened.
    public func size(for format: VideoFormat, hasSquarePixels: Bool = false) -> Dimensions {
        var width = Rational(Int64(format.encodedSize.width))
        var height = Rational(Int64(format.encodedSize.height))
        if hasSquarePixels, let ratio = format.sampleAspectRatio, ratio.isPositive {
            if ratio > .one { height = height.divided(by: ratio) ?? height }
            if ratio < .one { width = width.multiplied(by: ratio) ?? width }
        }
        let scale = min(.one, scale(width: width, height: height))
        let nearest = Dimensions(
            width: Self.even(width, scale, most: format.encodedSize.width),
            height: Self.even(height, scale, most: format.encodedSize.height))
        if hasSquarePixels { return nearest }
        // The first limit is that of x264, the second that of libavformat when it reads QuickTime files.
        return Self.keepable(nearest, for: format, most: 4096) ?? Self.keepable(nearest, for: format, most: 32767)
            ?? nearest
    }

    /// Returns the nearest size whose pixel aspect ratio has no term above `most`; `nil` if none exists.
    private static func keepable(_ nearest: Dimensions, for format: VideoFormat, most: Int64) -> Dimensions? {
        let source = format.encodedSize
        func isKept(_ size: Dimensions) -> Bool {
            guard
                let across = Rational(Int64(size.height), Int64(size.width)).multiplied(
                    by: Rational(Int64(source.width), Int64(source.height))),
                let ratio = across.multiplied(by: format.sampleAspectRatio ?? .one)
            else { return false }
            return max(ratio.num, ratio.den) <= most
        }
        func steps(_ side: Int, most: Int) -> [Int] {
            let reach = side / 50 / 2
            return (-reach...reach).map { side + 2 * $0 }.filter { $0 >= 2 && $0 <= max(2, most) }
        }
        // Rows take precedence over columns, because the caller asks for a number of rows.
        let candidates = steps(nearest.height, most: nearest.height).reversed().lazy.compactMap {
            height -> Dimensions? in
            steps(nearest.width, most: source.width).sorted { abs($0 - nearest.width) < abs($1 - nearest.width) }
                .lazy.map { Dimensions(width: $0, height: height) }.first(where: isKept)
        }
        return candidates.first
    }

    private func scale(width: Rational, height: Rational) -> Rational {
        func ratio(_ limit: Int, _ side: Rational) -> Rational {
            // Rounds an odd limit down, because the even side above it would exceed it.
            Rational(Int64(max(2, limit) / 2 * 2)).divided(by: side) ?? .one
        }
        switch self {
        case .none: return .one
        case .shorterSide(let limit): return ratio(limit, min(width, height))
        case .height(let limit): return ratio(limit, height)
        case .box(let box):
            let isUpright = width < height
            let size = isUpright == (box.width < box.height) ? box : box.transposed
            return min(ratio(size.width, width), ratio(size.height, height))
        }
    }

    /// Returns the even number nearest to a scaled side, at most the source's side but never less than 2.
    private static func even(_ side: Rational, _ scale: Rational, most: Int) -> Int {
        let halves = side.multiplied(by: scale)?.divided(by: Rational(2))?.rounded() ?? 1
        return max(2, min(Int(clamping: halves) * 2, most / 2 * 2))
    }
}
