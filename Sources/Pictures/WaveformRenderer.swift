internal import Glibc
package import MediaBase

/// Draws a waveform: channels stacked, each about its centre line, with an optional time axis below.
///
/// It takes plain numbers, one column of pixels each, and knows nothing of peaks or files.
package struct WaveformRenderer: Sendable {
    /// One channel's columns, full scale −1…1; arrays shorter than the picture leave the rest empty.
    package struct Channel: Sendable {
        /// The lowest value of each column.
        package var minimums: [Float]
        /// The highest value of each column.
        package var maximums: [Float]
        /// The root mean square of each column; `nil` draws none.
        package var levels: [Float]?

        /// Makes a channel.
        package init(minimums: [Float], maximums: [Float], levels: [Float]? = nil) {
            self.minimums = minimums
            self.maximums = maximums
            self.levels = levels
        }
    }

    /// The width of the picture in pixels.
    package let width: Int
    /// The height of the picture in pixels, with the axis.
    package let height: Int
    /// How it looks.
    package let style: WaveformStyle
    /// The time axis; `nil` for none.
    package let axis: TimeAxis?

    /// The rows that an axis takes at the bottom with letters of a given scale.
    package static func axisHeight(textScale: Int) -> Int { (BitmapFont.height + 6) * textScale }

    /// Makes a renderer.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` or `limitExceeded` for a size or a style that makes no picture.
    package init(width: Int, height: Int, style: WaveformStyle = WaveformStyle(), axis: TimeAxis? = nil)
        throws(MediaError)
    {
        _ = try Bitmap.checkedByteCount(width: width, height: height)
        try style.check()
        self.width = width
        self.height = height
        self.style = style
        self.axis = axis
    }

    /// Draws the picture.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where there are more channels than rows for them.
    package func render(_ channels: [Channel]) throws(MediaError) -> Bitmap {
        var canvas = Canvas(try Bitmap(width: width, height: height, filledWith: style.background))
        let axisHeight = axis == nil ? 0 : min(Self.axisHeight(textScale: style.textScale), height)
        let usable = height - axisHeight
        let count = max(channels.count, 1)
        let gap = usable >= count * (style.channelGap + 3) ? style.channelGap : 0
        let lanes = usable - gap * (count - 1)
        guard lanes >= channels.count else {
            throw MediaError(.invalidArgument, "\(height) rows are too few for \(channels.count) channels")
        }
        let factor = factor(for: channels)
        for (index, channel) in channels.enumerated() {
            // Rounded from the whole, so that lanes differ by a row at most.
            let top = lanes * index / count + gap * index
            let bottom = lanes * (index + 1) / count + gap * index
            let color = style.colors.isEmpty ? .black : style.colors[index % style.colors.count]
            draw(channel, rows: top..<bottom, factor: factor, color: color, on: &canvas)
        }
        if let axis { draw(axis, top: usable, on: &canvas) }
        return canvas.bitmap
    }

    private func factor(for channels: [Channel]) -> Float {
        switch style.scale {
        case .factor(let factor): return Float(factor)
        case .automatic:
            var loudest: Float = 0
            for channel in channels {
                for value in channel.minimums { loudest = max(loudest, -value) }
                for value in channel.maximums { loudest = max(loudest, value) }
            }
            return loudest > 0 && loudest.isFinite ? 1 / loudest : 1
        }
    }

    private func draw(
        _ channel: Channel, rows: Range<Int>, factor: Float, color: Color, on canvas: inout Canvas
    ) {
        if let line = style.centerLineColor, style.bars == nil {
            canvas.horizontalLine(x: 0, y: (rows.lowerBound + rows.upperBound) / 2, length: width, color: line)
        }
        let columns = min(width, channel.minimums.count, channel.maximums.count)
        let barWidth = style.bars?.width ?? 1
        let pitch = barWidth + (style.bars?.gap ?? 0)
        for x in stride(from: 0, to: columns, by: pitch) {
            // A bar also stands for the columns of the gap after it: nothing loud disappears in a gap.
            let own = x..<min(x + pitch, columns)
            var high = channel.maximums[x]
            var low = channel.minimums[x]
            for column in own {
                high = max(high, channel.maximums[column])
                low = min(low, channel.minimums[column])
            }
            let extent = extent(low: low, high: high, factor: factor, rows: rows)
            let shape = Shape(x: x, width: min(barWidth, columns - x), isRounded: style.bars?.isRounded ?? false)
            draw(shape, extent, color: color, on: &canvas)

            if let levels = channel.levels, own.upperBound <= levels.count, let levelColor = style.levelColor {
                let level = own.reduce(Float(0)) { max($0, levels[$1]) }
                let inner = self.extent(low: -level, high: level, factor: factor, rows: rows).clamped(to: extent)
                if level > 0, inner.count > 1 { draw(shape, inner, color: levelColor, on: &canvas) }
            }
        }
    }

    private struct Shape {
        var x: Int
        var width: Int
        var isRounded: Bool
    }

    private func draw(_ shape: Shape, _ extent: Range<Int>, color: Color, on canvas: inout Canvas) {
        let radius = shape.isRounded ? min(shape.width, extent.count) / 2 : 0
        for row in 0..<radius {
            let inset = Self.inset(row: row, radius: radius)
            let across = shape.width - 2 * inset
            canvas.fill(x: shape.x + inset, y: extent.lowerBound + row, width: across, height: 1, with: color)
            canvas.fill(x: shape.x + inset, y: extent.upperBound - 1 - row, width: across, height: 1, with: color)
        }
        canvas.fill(
            x: shape.x, y: extent.lowerBound + radius, width: shape.width, height: extent.count - 2 * radius,
            with: color)
    }

    /// How many pixels a quarter circle leaves free at each side in its `row` from the outside.
    private static func inset(row: Int, radius: Int) -> Int {
        let distance = Double(radius) - Double(row) - 0.5
        let half = (Double(radius * radius) - distance * distance).squareRoot()
        return max(radius - Int(half.rounded()), 0)
    }

    /// The rows that a stretch of values covers, at least one.
    private func extent(low: Float, high: Float, factor: Float, rows: Range<Int>) -> Range<Int> {
        let half = Float(rows.count) / 2
        let middle = Float(rows.lowerBound) + half
        // Halves go outwards on both sides, so that what is symmetric looks symmetric.
        let top = Int((middle - height(of: high * factor) * half - 0.5).rounded(.up))
        let bottom = Int((middle - height(of: low * factor) * half + 0.5).rounded(.down))
        let upper = min(max(min(top, bottom), rows.lowerBound), rows.upperBound - 1)
        return upper..<min(max(bottom, top, upper + 1), rows.upperBound)
    }

    /// The part of the half height that a value takes, −1…1; NaN counts as 0.
    private func height(of value: Float) -> Float {
        let magnitude = value.magnitude > 0 ? min(value.magnitude, 1) : 0
        let part: Float
        switch style.amplitude {
        case .linear: part = magnitude
        case .decibels(let range):
            part = magnitude > 0 ? max(0, 1 + Float(20 * log10(Double(magnitude)) / range)) : 0
        }
        return value < 0 ? -part : part
    }

    private func draw(_ axis: TimeAxis, top: Int, on canvas: inout Canvas) {
        let scale = style.textScale
        let color = style.axisColor
        canvas.horizontalLine(x: 0, y: top, length: width, thickness: scale, color: color)
        let ticks = axis.ticks(width: width, gap: 12 * scale) { Canvas.textSize($0, scale: scale).width }
        for tick in ticks {
            let length = (tick.label == nil ? 2 : 4) * scale
            canvas.verticalLine(x: tick.x, y: top + scale, length: length, thickness: scale, color: color)
            guard let label = tick.label else { continue }
            let labelWidth = Canvas.textSize(label, scale: scale).width
            // At the left edge a label moves in; at the right edge it would say too little to be worth it.
            let left = max(tick.x - labelWidth / 2, scale)
            guard left + labelWidth <= width else { continue }
            canvas.drawText(label, x: left, y: top + 6 * scale, scale: scale, color: color)
        }
    }
}
