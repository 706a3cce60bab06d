package import MediaBase

extension WaveformDrawing {
    /// The drawing in pixels.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` or `limitExceeded` for a size that makes no picture.
    package func bitmap() throws(MediaError) -> Bitmap {
        var canvas = Canvas(try Bitmap(width: width, height: height, filledWith: background))
        for layer in layers {
            for shape in layer.shapes { Self.paint(shape, color: layer.color, on: &canvas) }
        }
        return canvas.bitmap
    }

    private static func paint(_ shape: Shape, color: Color, on canvas: inout Canvas) {
        switch shape {
        case .rectangle(let x, let y, let width, let height):
            canvas.fill(x: x, y: y, width: width, height: height, with: color)
        case .outline(let x, let rows):
            for (column, rows) in rows.enumerated() {
                canvas.fill(x: x + column, y: rows.lowerBound, width: 1, height: rows.count, with: color)
            }
        case .roundedBar(let x, let width, let rows):
            canvas.fillRounded(x: x, y: rows.lowerBound, width: width, height: rows.count, with: color)
        case .text(let text, let x, let y, let scale):
            canvas.drawText(text, x: x, y: y, scale: scale, color: color)
        }
    }
}
