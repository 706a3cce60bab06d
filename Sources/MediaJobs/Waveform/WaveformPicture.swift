internal import MediaAnalysis
package import MediaBase
package import Pictures

/// How the picture of a waveform is drawn.
package struct WaveformPicture: Sendable, Hashable {
    /// Pixels across, where nothing else says how wide it is.
    package static let standardWidth = 1000
    /// The greatest width to which sound is fitted; wider ones would need more peaks than are kept for it.
    package static let greatestWidth = 1 << 16

    /// Pixels down, with the time axis.
    package var height = 200
    /// What is behind the waveform.
    package var background = Color.white
    /// The colours of the channels, taken in turns; empty for the standard look.
    package var colors: [Color] = []
    /// The colour of the root mean square inside the peaks; `nil` for one that goes with ``colors``.
    package var levelColor: Color?
    /// Whether the root mean square is shown.
    package var hasLevel = true
    /// Whether there is a time axis at the bottom.
    package var hasAxis = true
    /// The colour of the axis with its labels; `nil` for the standard one.
    package var axisColor: Color?
    /// The size of the axis' letters in pixels a font dot, 1…16.
    package var textScale = 1
    /// Linear or dB.
    package var amplitude = WaveformStyle.Amplitude.linear
    /// By what samples are multiplied; `nil` so that the loudest reaches full height.
    package var amplitudeScale: Double? = 1
    /// Bars instead of an outline; `nil` for an outline.
    package var bars: WaveformStyle.Bars?

    /// The standard picture.
    package init() {}

    /// Throws ``MediaError`` `invalidArgument` or `limitExceeded` for what makes no picture of a width.
    package func check(width: Int = standardWidth) throws(MediaError) {
        guard (1...Self.greatestWidth).contains(width) else {
            throw MediaError(.invalidArgument, "a picture is 1 to \(Self.greatestWidth) pixels wide, not \(width)")
        }
        _ = try renderer(width: width, axis: nil)
    }

    /// The file of a picture.
    ///
    /// - Parameters:
    ///   - columns: What each column of pixels shows.
    ///   - format: PNG or SVG.
    ///   - startSeconds: When the first column begins, for the axis.
    ///   - secondsPerPixel: How long a column lasts.
    func file(
        of columns: WaveformColumns, as format: WaveformOutput.Format, startSeconds: Double, secondsPerPixel: Double
    ) throws(MediaError) -> [UInt8] {
        let axis = TimeAxis(startSeconds: startSeconds, secondsPerPixel: secondsPerPixel)
        let channels = columns.channels.map { channel in
            WaveformRenderer.Channel(
                minimums: channel.minimums, maximums: channel.maximums, levels: channel.rootMeanSquares)
        }
        let drawing = try renderer(width: columns.width, axis: hasAxis ? axis : nil).drawing(channels)
        return format == .svg ? drawing.svg() : try PNGFile.encode(drawing.bitmap())
    }

    private func renderer(width: Int, axis: TimeAxis?) throws(MediaError) -> WaveformRenderer {
        var style = WaveformStyle()
        style.background = background
        if let first = colors.first {
            style.colors = colors
            style.levelColor = .white.withOpacity(0.4)
            style.centerLineColor = colors.count == 1 ? first : style.axisColor
        }
        if let levelColor { style.levelColor = levelColor }
        if !hasLevel { style.levelColor = nil }
        if let axisColor { style.axisColor = axisColor }
        style.textScale = textScale
        style.amplitude = amplitude
        style.scale = amplitudeScale.map { .factor($0) } ?? .automatic
        style.bars = bars
        return try WaveformRenderer(width: width, height: height, style: style, axis: axis)
    }
}
