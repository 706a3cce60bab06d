public import MediaBase

/// How large encoded pictures may become when they are made smaller.
public enum PictureSizeLimit: Sendable, Hashable {
    /// As large as the source's.
    case none
    /// So many pixels along the shorter side at most: 540 for 960x540 and for 540x960.
    case shorterSide(Int)
    /// So many rows at most.
    case height(Int)
    /// Inside a box, whichever way up the picture is.
    case box(Dimensions)
}

extension PictureSizeLimit {
    /// The size for pictures of a format: even sides, and never more than there is.
    ///
    /// The pixel aspect makes up for rounding, where it is not to be square. Of the sizes within a fiftieth of the exact
    /// one, the nearest is taken whose pixel aspect is a fraction that codecs and containers can keep.
    /// - Parameters:
    ///   - format: What there is.
    ///   - hasSquarePixels: Whether pixels are to be square. Then one side becomes shorter instead of the other one
    ///     longer.
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
        // What x264 writes, and what libavformat reads of QuickTime files.
        return Self.keepable(nearest, for: format, most: 4096) ?? Self.keepable(nearest, for: format, most: 32767)
            ?? nearest
    }

    /// The size nearest to another whose pixel aspect has no longer terms than `most`; `nil` where there is none.
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
        // Rows before columns, as the number of rows is what is asked for.
        let candidates = steps(nearest.height, most: nearest.height).reversed().lazy.compactMap {
            height -> Dimensions? in
            steps(nearest.width, most: source.width).sorted { abs($0 - nearest.width) < abs($1 - nearest.width) }
                .lazy.map { Dimensions(width: $0, height: height) }.first(where: isKept)
        }
        return candidates.first
    }

    private func scale(width: Rational, height: Rational) -> Rational {
        func ratio(_ limit: Int, _ side: Rational) -> Rational {
            // An even side above an odd limit would be one too many.
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

    /// The even number nearest to a scaled side, not above the side there is unless that is below 2.
    private static func even(_ side: Rational, _ scale: Rational, most: Int) -> Int {
        let halves = side.multiplied(by: scale)?.divided(by: Rational(2))?.rounded() ?? 1
        return max(2, min(Int(clamping: halves) * 2, most / 2 * 2))
    }
}
