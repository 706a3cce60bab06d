package import MediaBase

/// A clean aperture as written in the file: four fractions, numerator before denominator.
///
/// A fraction is `invalid` if its denominator is not positive. The offsets are distances from the picture's centre to
/// the aperture's centre. The standard defines sizes and denominators as unsigned. They are read as signed, because some
/// writers use negative numbers and no picture has 2³¹ pixels.
package struct CleanApertureFields: Hashable, Sendable {
    /// The width (cleanApertureWidthN, cleanApertureWidthD).
    package var width: Rational
    /// The height (cleanApertureHeightN, cleanApertureHeightD).
    package var height: Rational
    /// The horizontal offset (horizOffN, horizOffD).
    package var horizontalOffset: Rational
    /// The vertical offset (vertOffN, vertOffD).
    package var verticalOffset: Rational

    /// Returns the aperture within a picture.
    ///
    /// - Throws: `damaged`, with the reason, if the numbers do not describe a part of the picture.
    package func aperture(in size: Dimensions) throws(MediaError) -> CleanAperture {
        try CleanAperture(
            width: width, height: height, horizontalOffset: horizontalOffset, verticalOffset: verticalOffset, in: size)
    }
}

extension CleanApertureFields {
    /// Reads a `clap` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        func fraction() throws(MediaError) -> Rational {
            let (num, den) = (try reader.int32(), try reader.int32())
            // Rational would move a denominator's sign to the numerator.
            return den > 0 ? Rational(Int64(num), Int64(den)) : .invalid
        }
        width = try fraction()
        height = try fraction()
        horizontalOffset = try fraction()
        verticalOffset = try fraction()
    }
}

/// The position of the picture that a sample entry states within the coded picture, which may be larger.
///
/// Surplus rows and columns are at the bottom and on the right. Those of IMX (D-10, SMPTE 386M) are the vertical
/// blanking, which is at the top.
package struct StatedPicture {
    /// The size that the sample entry states.
    package let size: Dimensions
    /// The distance from the centre of the coded picture to that of the stated one, in pixels to the right.
    package let across: Rational
    /// The same distance, in pixels downwards.
    package let down: Rational

    private static let imx: Set<FourCC> = ["mx3n", "mx4n", "mx5n", "mx3p", "mx4p", "mx5p"]

    /// Positions the stated picture in the coded one.
    ///
    /// - Parameters:
    ///   - size: The size that the sample entry states; ignored in favour of `coded` if it does not fit inside.
    ///   - entry: The type of the sample entry.
    ///   - coded: The size of the coded picture.
    package init(_ size: Dimensions, entry: FourCC, coded: Dimensions) {
        let isInside = size.width > 0 && size.height > 0 && size.width <= coded.width && size.height <= coded.height
        self.size = isInside ? size : coded
        let (columns, rows) = (Int64(coded.width - self.size.width), Int64(coded.height - self.size.height))
        across = Rational(-columns, 2)
        down = Rational(Self.imx.contains(entry) ? rows : -rows, 2)
    }
}
