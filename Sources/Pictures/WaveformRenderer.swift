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

    /// The picture in pixels; see ``drawing(_:)``.
    package func render(_ channels: [Channel]) throws(MediaError) -> Bitmap { try drawing(channels).bitmap() }

    /// Lays the picture out.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` where there are more channels than rows for them.
    package func drawing(_ channels: [Channel]) throws(MediaError) -> WaveformDrawing {
        var drawing = WaveformDrawing(width: width, height: height, background: style.background)
        let axisHeight = axis == nil ? 0 : min(Self.axisHeight(textScale: style.textScale), height)
        let usable = height - axisHeight
        let count = max(channels.count, 1)
        let gap = usable >= count * (style.channelGap + 3) ? style.channelGap : 0
        let lanes = usable - gap * (count - 1)
        guard lanes >= channels.count else {
            throw MediaError(
                .invalidArgument, "\(height) rows are too few for \(channels.count) channels: choose a greater height")
        }
        let factor = factor(for: channels)
        for (index, channel) in channels.enumerated() {
            // Rounded from the whole, so that lanes differ by a row at most.
            let top = lanes * index / count + gap * index
            let bottom = lanes * (index + 1) / count + gap * index
            let color = style.colors.isEmpty ? .black : style.colors[index % style.colors.count]
            add(channel, rows: top..<bottom, factor: factor, color: color, to: &drawing)
        }
        if let axis { add(axis, top: usable, to: &drawing) }
        return drawing
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

    private func add(
        _ channel: Channel, rows: Range<Int>, factor: Float, color: Color, to drawing: inout WaveformDrawing
    ) {
        if let line = style.centerLineColor, style.bars == nil {
            let middle = (rows.lowerBound + rows.upperBound) / 2
            drawing.add([.rectangle(x: 0, y: middle, width: width, height: 1)], color: line)
        }
        let columns = min(width, channel.minimums.count, channel.maximums.count)
        let pitch = style.bars.map { $0.width + $0.gap } ?? 1
        var peaks: [Range<Int>] = []
        var inside: [Range<Int>] = []
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
            peaks.append(extent)
            guard let levels = channel.levels, own.upperBound <= levels.count, style.levelColor != nil else { continue }
            let level = own.reduce(Float(0)) { max($0, levels[$1]) }
            let inner = self.extent(low: -level, high: level, factor: factor, rows: rows).clamped(to: extent)
            inside.append(level > 0 && inner.count > 1 ? inner : 0..<0)
        }
        drawing.add(shapes(peaks, columns: columns), color: color)
        if let levelColor = style.levelColor { drawing.add(shapes(inside, columns: columns), color: levelColor) }
    }

    /// The filled rows of bars, or of single columns, as shapes.
    private func shapes(_ rows: [Range<Int>], columns: Int) -> [WaveformDrawing.Shape] {
        guard let bars = style.bars else {
            return rows.contains { !$0.isEmpty } ? [.outline(x: 0, rows: rows)] : []
        }
        return rows.enumerated().compactMap { index, rows in
            guard !rows.isEmpty else { return nil }
            let x = index * (bars.width + bars.gap)
            let width = min(bars.width, columns - x)
            return bars.isRounded
                ? .roundedBar(x: x, width: width, rows: rows)
                : .rectangle(x: x, y: rows.lowerBound, width: width, height: rows.count)
        }
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

    private func add(_ axis: TimeAxis, top: Int, to drawing: inout WaveformDrawing) {
        let scale = style.textScale
        var shapes = [WaveformDrawing.Shape.rectangle(x: 0, y: top, width: width, height: scale)]
        let ticks = axis.ticks(width: width, gap: 12 * scale) { Canvas.textSize($0, scale: scale).width }
        for tick in ticks {
            let length = (tick.label == nil ? 2 : 4) * scale
            shapes.append(.rectangle(x: tick.x, y: top + scale, width: scale, height: length))
            guard let label = tick.label else { continue }
            let labelWidth = Canvas.textSize(label, scale: scale).width
            // At the left edge a label moves in; at the right edge it would say too little to be worth it.
            let left = max(tick.x - labelWidth / 2, scale)
            guard left + labelWidth <= width else { continue }
            shapes.append(.text(label, x: left, y: top + 6 * scale, scale: scale))
        }
        drawing.add(shapes, color: style.axisColor)
    }
}
