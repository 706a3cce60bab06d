internal import MediaBase

/// How a waveform picture looks.
package struct WaveformStyle: Sendable, Hashable {
    /// How loudness becomes height.
    package enum Amplitude: Sendable, Hashable {
        /// Height in proportion to the sample value.
        case linear
        /// Height in proportion to the level in dB, from −`range` dB (nothing) to 0 dB (full height).
        case decibels(range: Double)
    }

    /// By what samples are multiplied before drawing.
    package enum Scale: Sendable, Hashable {
        /// So that the loudest sample of all channels reaches full height.
        case automatic
        /// By this number; what exceeds full height is cut.
        case factor(Double)
    }

    /// Upright bars instead of an unbroken outline.
    package struct Bars: Sendable, Hashable {
        /// Pixels across a bar, 1 or more.
        package var width: Int
        /// Pixels between two bars, 0 or more.
        package var gap: Int
        /// Whether the ends of a bar are round.
        package var isRounded: Bool

        /// Makes bars.
        package init(width: Int, gap: Int, isRounded: Bool = false) {
            self.width = width
            self.gap = gap
            self.isRounded = isRounded
        }
    }

    /// What is behind the waveform; transparent is allowed.
    package var background = Color.white
    /// The colour of the peaks, as each channel's turn comes; an empty list counts as one black.
    package var colors = [Color(red: 0x36, green: 0x5E, blue: 0x9E)]
    /// The colour of the root mean square inside the peaks; `nil` for none.
    package var levelColor: Color? = Color(red: 0x7B, green: 0xA3, blue: 0xDC)
    /// The colour of the line through the middle of each channel; `nil` for none.
    package var centerLineColor: Color? = Color(red: 0x36, green: 0x5E, blue: 0x9E)
    /// The colour of the axis with its labels; used only where an axis is drawn.
    package var axisColor = Color(red: 0x55, green: 0x5B, blue: 0x66)
    /// Linear or dB.
    package var amplitude = Amplitude.linear
    /// The amplitude scale.
    package var scale = Scale.factor(1)
    /// Bars instead of an outline; `nil` for an outline.
    package var bars: Bars?
    /// Empty rows between two channels, 0 or more.
    package var channelGap = 4
    /// The size of the axis' letters in pixels a font dot, 1…16.
    package var textScale = 1

    /// The standard look: blue on white, level inside, an outline with a centre line.
    package init() {}

    /// Refuses numbers that make no picture.
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
            throw MediaError(.invalidArgument, "letters have 1 to 16 pixels a dot, not \(textScale)")
        }
        guard (0...1 << 16).contains(channelGap) else {
            throw MediaError(.invalidArgument, "a channel gap has 0 to \(1 << 16) rows, not \(channelGap)")
        }
    }
}
