package import MediaBase

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
