import ArgumentParser
import MediaBase
import MediaJobs
import Pictures

/// The options of `waveform` that say how pictures look.
struct WaveformPictureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Pixels down, with the time axis.", valueName: "n"))
    var height = WaveformPicture().height

    @Option(
        help: ArgumentHelp(
            "What is behind the waveform: #rgb, #rrggbb, #rrggbbaa or a name such as white or transparent.",
            valueName: "color"),
        transform: CommonArgument.color)
    var background = Color.white

    @Option(
        help: ArgumentHelp(
            "The colour of the waveform; several, parted by commas, for the channels in turn.", valueName: "color,…"),
        transform: WaveformArgument.colors)
    var color: Colors?

    @Option(
        help: ArgumentHelp("The colour of the root mean square inside the peaks.", valueName: "color"),
        transform: CommonArgument.color)
    var rmsColor: Color?

    @Flag(help: "Leave out the root mean square.")
    var noRms = false

    @Flag(help: "Leave out the time axis.")
    var noAxis = false

    @Option(
        help: ArgumentHelp("The colour of the axis and its labels.", valueName: "color"),
        transform: CommonArgument.color)
    var axisColor: Color?

    @Option(help: ArgumentHelp("The size of the labels, 1 to 16, for screens of high resolution.", valueName: "n"))
    var textScale = 1

    @Option(help: "Whether height stands for the sample value or for its level in dB.")
    var amplitude = Amplitude.linear

    @Option(
        help: ArgumentHelp("The level below full scale that has no height, with '--amplitude db'.", valueName: "db"))
    var dbRange = 60.0

    @Option(
        help: ArgumentHelp("Multiply samples by a number, or by as much as fits.", valueName: "n|auto"))
    var amplitudeScale = Scale(factor: 1)

    @Option(help: ArgumentHelp("Draw bars of so many pixels instead of an outline.", valueName: "n"))
    var barWidth: Int?

    @Option(help: ArgumentHelp("Pixels between two bars. (default: half of a bar, at least 1)", valueName: "n"))
    var barGap: Int?

    @Option(help: "The ends of bars.")
    var barStyle: BarStyle?

    /// What height stands for.
    enum Amplitude: String, ExpressibleByArgument, CaseIterable {
        case linear, db
    }

    /// How bars end.
    enum BarStyle: String, ExpressibleByArgument, CaseIterable {
        case square, rounded
    }

    /// Colours parted by commas.
    struct Colors {
        var values: [Color]
    }

    /// A factor, or `auto`.
    struct Scale: ExpressibleByArgument {
        /// `nil` for `auto`.
        var factor: Double?

        init(factor: Double?) { self.factor = factor }

        init?(argument: String) {
            if argument == "auto" { return }
            guard let factor = Double(argument), factor.isFinite, factor >= 0 else { return nil }
            self.factor = factor
        }

        var defaultValueDescription: String { factor.map { "\($0)" } ?? "auto" }
    }

    func validate() throws {
        if barWidth == nil, barGap != nil || barStyle != nil {
            throw ValidationError("'--bar-gap' and '--bar-style' need '--bar-width'.")
        }
        if noRms, rmsColor != nil { throw ValidationError("'--no-rms' and '--rms-color' exclude each other.") }
        do throws(MediaError) {
            try picture().check()
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// An option that was given another value than it has by itself; `nil` where there is none.
    var given: String? {
        let usual = WaveformPicture()
        let options: [(String, Bool)] = [
            ("--height", height != usual.height), ("--background", background != .white), ("--color", color != nil),
            ("--rms-color", rmsColor != nil), ("--no-rms", noRms), ("--no-axis", noAxis),
            ("--axis-color", axisColor != nil), ("--text-scale", textScale != 1), ("--amplitude", amplitude != .linear),
            ("--db-range", dbRange != 60), ("--amplitude-scale", amplitudeScale.factor != 1),
            ("--bar-width", barWidth != nil),
        ]
        return options.first { $0.1 }?.0
    }

    /// The picture that the options ask for.
    func picture() -> WaveformPicture {
        var picture = WaveformPicture()
        picture.height = height
        picture.background = background
        picture.colors = color?.values ?? []
        picture.levelColor = rmsColor
        picture.hasLevel = !noRms
        picture.hasAxis = !noAxis
        picture.axisColor = axisColor
        picture.textScale = textScale
        picture.amplitude = amplitude == .linear ? .linear : .decibels(range: dbRange)
        picture.amplitudeScale = amplitudeScale.factor
        picture.bars = barWidth.map { width in
            WaveformStyle.Bars(width: width, gap: barGap ?? max(1, width / 2), isRounded: barStyle == .rounded)
        }
        return picture
    }
}
