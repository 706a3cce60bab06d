internal import Glibc
package import MediaBase

/// The appearance of a waveform picture.
package struct WaveformStyle: Sendable, Hashable {
    /// The mapping from amplitude to height.
    package enum Amplitude: Sendable, Hashable {
        /// The height is proportional to the sample value.
        case linear
        /// The height is proportional to the level in dB, from −`range` dB (nothing) to 0 dB (full height).
        case decibels(range: Double)
    }

    /// The factor by which samples are multiplied before drawing.
    package enum Scale: Sendable, Hashable {
        /// A factor that makes the loudest sample of all channels reach full height.
        case automatic
        /// A fixed factor; values beyond full height are clipped.
        case factor(Double)
    }

    /// Vertical bars instead of a continuous outline.
    package struct Bars: Sendable, Hashable {
        /// The width of a bar in pixels, 1 or more.
        package var width: Int
        /// The number of pixels between two bars, 0 or more.
        package var gap: Int
        /// True if the bars have round ends.
        package var isRounded: Bool

        /// Creates a bar style.
        package init(width: Int, gap: Int, isRounded: Bool = false) {
            self.width = width
            self.gap = gap
            self.isRounded = isRounded
        }
    }

    /// The background colour, which may be transparent.
    package var background = Color.white
    /// The colours of the peaks, used by the channels in turn; an empty list counts as black.
    package var colors = [Color(red: 0x36, green: 0x5E, blue: 0x9E)]
    /// The colour of the root mean square inside the peaks; `nil` to omit it.
    package var levelColor: Color? = Color(red: 0x7B, green: 0xA3, blue: 0xDC)
    /// The colour of the line through the middle of each channel; `nil` to omit it.
    package var centerLineColor: Color? = Color(red: 0x36, green: 0x5E, blue: 0x9E)
    /// The colour of the axis and its labels, if an axis is drawn.
    package var axisColor = Color(red: 0x55, green: 0x5B, blue: 0x66)
    /// The mapping from amplitude to height.
    package var amplitude = Amplitude.linear
    /// The amplitude scale.
    package var scale = Scale.factor(1)
    /// The bar style; `nil` for an outline.
    package var bars: Bars?
    /// The number of empty rows between two channels, 0 or more.
    package var channelGap = 4
    /// The size of the axis and its labels, 1…16: with 1, labels are ten pixels large.
    package var textScale = 1

    /// Creates the default style: blue on white with levels inside, as an outline with a centre line.
    package init() {}

    /// Throws if the style has invalid numbers.
    func check() throws(MediaError) {
        if let bars, bars.width < 1 || bars.gap < 0 || bars.width > 1 << 20 || bars.gap > 1 << 20 {
            throw MediaError(
                .invalidArgument,
                "bars are 1 pixel wide or more, and gaps 0 or more, not \(bars.width) and \(bars.gap)")
        }
        if case .factor(let factor) = scale, !(factor >= 0 && factor.isFinite) {
            throw MediaError(.invalidArgument, "\(factor) is no amplitude scale")
        }
        if case .decibels(let range) = amplitude, !(range > 0 && range.isFinite) {
            throw MediaError(.invalidArgument, "a range of \(range) dB shows nothing: it is above 0")
        }
        guard (1...16).contains(textScale) else {
            throw MediaError(.invalidArgument, "labels are 1 to 16 times the usual size, not \(textScale) times")
        }
        guard (0...1 << 16).contains(channelGap) else {
            throw MediaError(.invalidArgument, "a channel gap has 0 to \(1 << 16) rows, not \(channelGap)")
        }
    }
}

/// A renderer that draws the channels of a waveform above each other, with an optional time axis below.
///
/// Each channel is drawn around its centre line. The input is plain numbers for each column of pixels; the renderer
/// knows nothing of peak data or files.
package struct WaveformRenderer: Sendable {
    /// The columns of one channel, with a full scale of −1…1; arrays shorter than the picture leave the rest empty.
    package struct Channel: Sendable {
        /// The minimum value of each column.
        package var minimums: [Float]
        /// The maximum value of each column.
        package var maximums: [Float]
        /// The root mean square of each column; `nil` to omit it.
        package var levels: [Float]?

        /// Creates a channel.
        package init(minimums: [Float], maximums: [Float], levels: [Float]? = nil) {
            self.minimums = minimums
            self.maximums = maximums
            self.levels = levels
        }
    }

    /// The width of the picture in pixels.
    package let width: Int
    /// The height of the picture in pixels, including the axis.
    package let height: Int
    /// The appearance of the picture.
    package let style: WaveformStyle
    /// The time axis; `nil` for none.
    package let axis: TimeAxis?

    /// Returns the height of an axis in pixels for a text scale.
    package static func axisHeight(textScale: Int) -> Int { 15 * textScale }

    /// The size of the font of labels in pixels, for a text scale of 1.
    private static let labelSize = 10

    /// Creates a renderer.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` or `limitExceeded` if the size or the style is invalid.
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

    /// Returns the waveform as a bitmap; see ``drawing(_:)``.
    package func render(_ channels: [Channel]) throws(MediaError) -> Bitmap { try drawing(channels).bitmap() }

    /// Lays out the waveform as shapes.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` if there are fewer rows than channels.
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
            // Computed from the total, so that the channels' heights differ by at most one row.
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
            // A bar also represents the columns of the gap after it, so that no peak disappears in a gap.
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

    /// Returns the shapes for the filled rows of bars, or of single columns.
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

    /// Returns the rows covered by a range of values, at least one.
    private func extent(low: Float, high: Float, factor: Float, rows: Range<Int>) -> Range<Int> {
        let half = Float(rows.count) / 2
        let middle = Float(rows.lowerBound) + half
        // Halves are rounded outwards on both sides, so that symmetric values look symmetric.
        let top = Int((middle - height(of: high * factor) * half - 0.5).rounded(.up))
        let bottom = Int((middle - height(of: low * factor) * half + 0.5).rounded(.down))
        let upper = min(max(min(top, bottom), rows.lowerBound), rows.upperBound - 1)
        return upper..<min(max(bottom, top, upper + 1), rows.upperBound)
    }

    /// Returns the fraction of the half height for a value, −1…1; NaN counts as 0.
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
        let size = Self.labelSize * scale
        let ticks = axis.ticks(width: width, gap: 12 * scale) { Self.labelWidth($0, size: size) }
        var labels: [(columns: Range<Int>, shape: WaveformDrawing.Shape)] = []
        for tick in ticks {
            let length = (tick.label == nil ? 2 : 4) * scale
            shapes.append(.rectangle(x: tick.x, y: top + scale, width: scale, height: length))
            guard let label = tick.label else { continue }
            let half = Self.labelWidth(label, size: size) / 2
            // A label moves inwards at the left edge, but is omitted at the right edge.
            let isAtEdge = tick.x - half < scale
            let left = isAtEdge ? scale : tick.x - half
            guard left + 2 * half <= width else { continue }
            // Nor does the one at the left edge touch the next.
            if let last = labels.last, left < last.columns.upperBound + 4 * scale { labels.removeLast() }
            let shape = WaveformDrawing.Shape.text(
                label, x: isAtEdge ? scale : tick.x, baseline: top + 13 * scale, anchor: isAtEdge ? .start : .middle,
                size: size)
            labels.append((left..<left + 2 * half, shape))
        }
        drawing.add(shapes + labels.map(\.shape), color: style.axisColor)
    }

    /// Returns the width of a time in DejaVu Sans, rounded up.
    ///
    /// Places of labels do not depend on the fonts of the system, so that the picture is the same everywhere but for
    /// the shapes of letters.
    private static func labelWidth(_ label: String, size: Int) -> Int {
        let width = label.reduce(0.0) { $0 + ($1.isNumber ? 0.64 : 0.37) } * Double(size)
        return Int(width.rounded(.up))
    }
}
