internal import MediaAnalysis
package import MediaBase
package import Pictures

/// How the picture of a waveform is drawn.
package struct WaveformPicture: Sendable, Hashable {
    /// Pixels across, into which all of the sound is fitted.
    package var width = 1000
    /// Pixels down, with the time axis.
    package var height = 200
    /// What is behind the waveform.
    package var background = Color.white
    /// The colours of the channels, taken in turns; empty for the standard look.
    package var colors: [Color] = []
    /// Whether there is a time axis at the bottom.
    package var hasAxis = true
    /// By what samples are multiplied; `nil` so that the loudest reaches full height.
    package var amplitudeScale: Double? = 1

    /// The standard picture.
    package init() {}

    /// Throws ``MediaError`` `invalidArgument` or `limitExceeded` for what makes no picture.
    package func check() throws(MediaError) {
        guard (1...Self.mostColumns).contains(width) else {
            throw MediaError(.invalidArgument, "a picture is 1 to \(Self.mostColumns) pixels wide, not \(width)")
        }
        _ = try renderer(axis: nil)
    }

    /// Wider ones would need more peaks than are kept for a picture.
    private static let mostColumns = 1 << 16

    /// The PNG file.
    ///
    /// - Parameters:
    ///   - peaks: All of the sound, with mean squares.
    ///   - start: When it begins, for the axis.
    ///   - frames: How many frames it has.
    func png(of peaks: Peaks, from start: MediaTime, frames: Int64) throws(MediaError) -> [UInt8] {
        let columns = try WaveformColumns(peaks, width: width)
        let seconds = Double(frames) / Double(peaks.sampleRate)
        let axis = TimeAxis(startSeconds: start.seconds, secondsPerPixel: seconds / Double(width))
        let picture = try renderer(axis: hasAxis ? axis : nil).render(
            columns.channels.map { channel in
                WaveformRenderer.Channel(
                    minimums: channel.minimums, maximums: channel.maximums, levels: channel.rootMeanSquares)
            })
        return try PNGFile.encode(picture)
    }

    private func renderer(axis: TimeAxis?) throws(MediaError) -> WaveformRenderer {
        var style = WaveformStyle()
        style.background = background
        if let first = colors.first {
            style.colors = colors
            style.levelColor = .white.withOpacity(0.4)
            style.centerLineColor = colors.count == 1 ? first : style.axisColor
        }
        style.scale = amplitudeScale.map { .factor($0) } ?? .automatic
        return try WaveformRenderer(width: width, height: height, style: style, axis: axis)
    }
}
