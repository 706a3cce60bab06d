import CFFmpeg
package import MediaBase

/// How luma and chroma that a conversion makes are coded; what is `nil` stays as the source has it.
package struct LumaCoding: Sendable, Hashable {
    /// The matrix, by libavutil's name of it.
    package var matrix: String?
    /// The range, `tv` (limited) or `pc` (full).
    package var range: String?
    /// What becomes of red, green and blue where the two above are `nil`; see ``ColorInfo/codedAsLuma(wanted:)`` for what
    /// this does not say either.
    package var fromRGB: ColorInfo?

    /// Says nothing unless given.
    package init(matrix: String? = nil, range: String? = nil, fromRGB: ColorInfo? = nil) {
        self.matrix = matrix
        self.range = range
        self.fromRGB = fromRGB
    }

    /// The matrix and range of what is made of red, green and blue of these colours.
    func codedAsLuma(_ color: ColorInfo) -> (matrix: String, range: String) {
        let usual = color.codedAsLuma(wanted: fromRGB)
        return (matrix ?? usual.matrix, range ?? usual.range)
    }
}

/// Brings luma and chroma from one matrix to another, by way of red, green and blue.
///
/// libswscale can do that in one step, but forgets there where chroma lies.
final class MatrixConverter {
    private var toRGB: PixelConverter
    private var toLuma: PixelConverter

    /// - Parameters:
    ///   - matrix: The one that is wanted.
    ///   - range: The range that is wanted; `nil` for limited.
    init(
        to format: PixelFormat, dimensions: Dimensions?, matrix: String, range: String?, field: PixelConverter.Field?
    ) throws(MediaError) {
        toRGB = try PixelConverter(
            to: PixelFormat(rawValue: "gbrp12le"), dimensions: dimensions, coding: LumaCoding(), field: field,
            fields: nil)
        let coding = LumaCoding(fromRGB: ColorInfo(matrix: matrix, range: range))
        toLuma = try PixelConverter(to: format, dimensions: nil, coding: coding, field: field, fields: nil)
    }

    /// The picture by the matrix that is wanted, and tagged so.
    func convert(_ frame: borrowing Frame) throws(MediaError) -> Frame {
        try toLuma.convert(toRGB.convert(frame))
    }
}
