/// Measures the structural similarity of two frames: SSIM (Wang et al., 2004).
///
/// The computation is that of ffmpeg's `ssim` and of x264: windows of 8 by 8 samples overlap by half, have equal
/// weights, and are assembled from sums over blocks of 4 by 4. The value of a plane is the mean over its windows.
package struct StructuralSimilarity {
    /// The sums over the samples of a block: of each plane, of the squares of both planes, and of the products.
    private struct Block {
        var one: Int32 = 0
        var other: Int32 = 0
        var squares: Int64 = 0
        var products: Int64 = 0

        static func + (left: Block, right: Block) -> Block {
            Block(
                one: left.one &+ right.one, other: left.other &+ right.other, squares: left.squares &+ right.squares,
                products: left.products &+ right.products)
        }
    }

    /// The maximum number of bits per sample for which 32-bit sums suffice.
    private static let maximumDepth = 14

    private let peak: Double
    /// The number of low-order bits that are dropped.
    private let shift: Int
    /// The sums over the four rows of a line of blocks, for each column of samples.
    private var ones: [Int32] = []
    private var others: [Int32] = []
    private var squares: [UInt32] = []
    private var products: [UInt32] = []
    private var above: [Block] = []
    private var below: [Block] = []

    /// - Parameter depth: The number of bits per sample, 8 to 16; other values are clamped. From 15 bits, only the
    ///   upper 14 are compared.
    package init(depth: Int) {
        let depth = min(max(depth, 8), 16)
        shift = max(0, depth - Self.maximumDepth)
        peak = Double(1 << (depth - shift)) - 1
    }

    /// Returns the similarity of two planes, 1 if they are equal.
    ///
    /// Returns `nil` if the sizes of the planes differ, or if they are smaller than a window.
    package mutating func mean(
        _ plane: Span<UInt8>, _ shape: PlaneShape, _ other: Span<UInt8>, _ otherShape: PlaneShape
    ) -> Double? { windows(plane, shape, other, otherShape) }

    /// Returns the similarity of two planes, for 16-bit samples.
    package mutating func mean(
        _ plane: Span<UInt16>, _ shape: PlaneShape, _ other: Span<UInt16>, _ otherShape: PlaneShape
    ) -> Double? { windows(plane, shape, other, otherShape) }

    @inline(__always)
    private mutating func windows<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ plane: Span<Sample>, _ shape: PlaneShape, _ other: Span<Sample>, _ otherShape: PlaneShape
    ) -> Double? {
        guard shape.fits(plane.count), otherShape.fits(other.count), shape.width == otherShape.width,
            shape.rows == otherShape.rows
        else { return nil }
        let (columns, lines) = (shape.width / 4, shape.rows / 4)
        guard columns > 1, lines > 1 else { return nil }
        let width = columns * 4
        if above.count != columns {
            above = Array(repeating: Block(), count: columns)
            below = above
        }
        var total = 0.0
        for line in 0..<lines {
            swap(&above, &below)
            (ones, others) = (Array(repeating: 0, count: width), Array(repeating: 0, count: width))
            (squares, products) = (Array(repeating: 0, count: width), Array(repeating: 0, count: width))
            for row in 4 * line..<4 * line + 4 {
                addRow(plane.extracting(shape.row(row)), other.extracting(otherShape.row(row)), width)
            }
            gatherBlocks(columns)
            if line > 0 { total += Self.similarity(above, below, peak) }
        }
        return total / (Double(columns - 1) * Double(lines - 1))
    }

    @inline(__always)
    private mutating func addRow<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ one: Span<Sample>, _ other: Span<Sample>, _ width: Int
    ) {
        let (one, other) = (one.extracting(first: width), other.extracting(first: width))
        // A constant 0 in the code that the compiler generates for bytes.
        let shift = Sample.bitWidth == 8 ? 0 : Sample(truncatingIfNeeded: shift)
        var first = ones.mutableSpan
        for x in 0..<width { first[x] &+= Int32(truncatingIfNeeded: one[x] &>> shift) }
        var second = others.mutableSpan
        for x in 0..<width { second[x] &+= Int32(truncatingIfNeeded: other[x] &>> shift) }
        var square = squares.mutableSpan
        for x in 0..<width {
            let (a, b) = (UInt32(truncatingIfNeeded: one[x] &>> shift), UInt32(truncatingIfNeeded: other[x] &>> shift))
            square[x] &+= a &* a &+ b &* b
        }
        var product = products.mutableSpan
        for x in 0..<width {
            product[x] &+=
                UInt32(truncatingIfNeeded: one[x] &>> shift) &* UInt32(truncatingIfNeeded: other[x] &>> shift)
        }
    }

    private mutating func gatherBlocks(_ columns: Int) {
        for column in 0..<columns {
            var block = Block()
            for x in 4 * column..<4 * column + 4 {
                block.one &+= ones[x]
                block.other &+= others[x]
                block.squares &+= Int64(squares[x])
                block.products &+= Int64(products[x])
            }
            below[column] = block
        }
    }

    private static func similarity(_ above: [Block], _ below: [Block], _ peak: Double) -> Double {
        // The constants for sums over 64 samples, as integers.
        let (means, spreads) = (
            Int64(0.01 * 0.01 * peak * peak * 64 + 0.5), Int64(0.03 * 0.03 * peak * peak * 64 * 63 + 0.5)
        )
        var total = 0.0
        var left = above[0] + below[0]
        for column in 1..<above.count {
            let right = above[column] + below[column]
            let window = left + right
            left = right
            let (one, other) = (Int64(window.one), Int64(window.other))
            let (square, product) = (one &* one &+ other &* other, one &* other)
            let variances = window.squares &* 64 &- square
            let covariance = window.products &* 64 &- product
            total += Double(
                Float(2 &* product &+ means) * Float(2 &* covariance &+ spreads)
                    / (Float(square &+ means) * Float(variances &+ spreads)))
        }
        return total
    }
}
