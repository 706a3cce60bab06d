package import MediaBase

/// Where the picture that a sample entry states lies in the coded one, which may have more rows and columns.
///
/// Surplus rows and columns lie at the bottom and on the right. Those of IMX (D-10, SMPTE 386M) are the vertical blanking,
/// which lies on top.
package struct StatedPicture {
    /// The picture that the sample entry states.
    package let size: Dimensions
    /// From the middle of the coded picture to that of the stated one, in pixels to the right.
    package let across: Rational
    /// The same, in pixels downwards.
    package let down: Rational

    private static let imx: Set<FourCC> = ["mx3n", "mx4n", "mx5n", "mx3p", "mx4p", "mx5p"]

    /// Places the stated picture in the coded one.
    ///
    /// - Parameters:
    ///   - size: The picture that the sample entry states; taken for the coded one where it does not lie inside that.
    ///   - entry: The type of the sample entry.
    ///   - coded: The coded picture.
    package init(_ size: Dimensions, entry: FourCC, coded: Dimensions) {
        let isInside = size.width > 0 && size.height > 0 && size.width <= coded.width && size.height <= coded.height
        self.size = isInside ? size : coded
        let (columns, rows) = (Int64(coded.width - self.size.width), Int64(coded.height - self.size.height))
        across = Rational(-columns, 2)
        down = Rational(Self.imx.contains(entry) ? rows : -rows, 2)
    }
}
