/// How good a picture is to show a video by: whether anything is to be seen, and how sharply.
///
/// Meant for comparing pictures of one video and one size; the numbers mean nothing by themselves.
package struct PictureQuality: Sendable, Hashable {
    /// Whether hardly anything is lit: at least 98 % of the pixels are at 32 of 255 or darker, as in ffmpeg's filter
    /// `blackframe`.
    package let isBlack: Bool
    /// The mean square of the Laplacian: how much a pixel differs from its four neighbours.
    ///
    /// Blur and fades lower it, one colour all over is 0.
    package let sharpness: Double

    /// Measures a picture.
    ///
    /// - Parameters:
    ///   - luma: Pixels in rows from the top, `width · height` of them; a picture that has fewer, or a side below 3, has
    ///     no sharpness.
    ///   - width: Pixels a row.
    ///   - height: Rows.
    package init(luma: Span<UInt8>, width: Int, height: Int) {
        var dark = 0
        for index in luma.indices where luma[index] <= 32 { dark &+= 1 }
        isBlack = dark * 100 >= luma.count * 98
        guard width >= 3, height >= 3, case let (count, overflow) = width.multipliedReportingOverflow(by: height),
            !overflow, count <= luma.count
        else {
            sharpness = 0
            return
        }
        var sum = 0
        for row in 1..<height - 1 {
            let (above, here, below) = ((row - 1) * width, row * width, (row + 1) * width)
            for x in 1..<width - 1 {
                let sides = Int(luma[here &+ x &- 1]) &+ Int(luma[here &+ x &+ 1])
                let ends = Int(luma[above &+ x]) &+ Int(luma[below &+ x])
                let laplacian = 4 &* Int(luma[here &+ x]) &- sides &- ends
                sum &+= laplacian &* laplacian
            }
        }
        sharpness = Double(sum) / Double((width - 2) * (height - 2))
    }

    /// Whether this picture is the better one: not black where the other is, else sharper.
    package func isBetter(than other: PictureQuality) -> Bool {
        isBlack == other.isBlack ? sharpness > other.sharpness : !isBlack
    }
}
