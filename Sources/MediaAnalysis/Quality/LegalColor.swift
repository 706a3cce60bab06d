extension YCbCrMatrix {
    /// Returns true if EBU R 103 allows a colour: red, green and blue each lie within −5 % to 105 % of the way from
    /// black to white.
    @inline(__always)
    package func isLegal(luma: Double, cb: Double, cr: Double) -> Bool {
        let (red, green, blue) = rgb(luma: luma, cb: cb, cr: cr)
        return min(red, green, blue) >= -0.05 && max(red, green, blue) <= 1.05
    }
}

extension PlaneKernels {
    /// Returns the fraction of colours that EBU R 103 does not allow, sampled on a grid of at most 128 by 72 points.
    ///
    /// - Returns: `nil` if a span is too short for its shape, or if a plane is empty.
    package static func illegalColor(
        _ luma: Span<UInt8>, _ shape: PlaneShape, _ cb: Span<UInt8>, _ cbShape: PlaneShape, _ cr: Span<UInt8>,
        _ crShape: PlaneShape, _ matrix: YCbCrMatrix
    ) -> Double? { illegal(luma, shape, cb, cbShape, cr, crShape, matrix) }

    /// Returns the fraction of colours that are not allowed, for 16-bit samples.
    package static func illegalColor(
        _ luma: Span<UInt16>, _ shape: PlaneShape, _ cb: Span<UInt16>, _ cbShape: PlaneShape, _ cr: Span<UInt16>,
        _ crShape: PlaneShape, _ matrix: YCbCrMatrix
    ) -> Double? { illegal(luma, shape, cb, cbShape, cr, crShape, matrix) }

    @inline(__always)
    private static func illegal<Sample: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ luma: Span<Sample>, _ shape: PlaneShape, _ cb: Span<Sample>, _ cbShape: PlaneShape, _ cr: Span<Sample>,
        _ crShape: PlaneShape, _ matrix: YCbCrMatrix
    ) -> Double? {
        guard shape.fits(luma.count), cbShape.fits(cb.count), crShape.fits(cr.count), cbShape.width == crShape.width,
            cbShape.rows == crShape.rows
        else { return nil }
        let (columns, lines) = (min(cbShape.width, 128), min(cbShape.rows, 72))
        var illegal = 0
        for line in 0..<lines {
            let y = line * cbShape.rows / lines
            let lumaRow = luma.extracting(shape.row(y * shape.rows / cbShape.rows))
            let (cbRow, crRow) = (cb.extracting(cbShape.row(y)), cr.extracting(crShape.row(y)))
            for column in 0..<columns {
                let x = column &* cbShape.width / columns
                let color = (lumaRow[x &* shape.width / cbShape.width], cbRow[x], crRow[x])
                illegal &+= matrix.isLegal(luma: Double(color.0), cb: Double(color.1), cr: Double(color.2)) ? 0 : 1
            }
        }
        return Double(illegal) / Double(columns * lines)
    }
}
