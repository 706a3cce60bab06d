import ArgumentParser
import MediaBase
import MediaJobs
import Peaks
import Pictures

/// The options of `waveform` that control the appearance of pictures.
struct WaveformPictureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The height in pixels, including the time axis.", valueName: "n"))
    var height = WaveformPicture().height

    @Option(
        help: ArgumentHelp(
            "The background: #rgb, #rrggbb, #rrggbbaa or a name such as white or transparent.",
            valueName: "color"),
        transform: CommonArgument.color)
    var background = Color.white

    @Option(
        help: ArgumentHelp(
            "The colour of the waveform; several, separated by commas, for the channels in turn.", valueName: "color,…"),
        transform: CommonArgument.list(CommonArgument.color))
    var color: [Color]?

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

    @Option(help: "The meaning of height: the sample value, or its level in dB.")
    var amplitude = Amplitude.linear

    @Option(
        help: ArgumentHelp("The level below full scale that has no height, for '--amplitude db'.", valueName: "db"))
    var dbRange = 60.0

    @Option(
        help: ArgumentHelp("Multiply samples by a number, or by the largest one that fits.", valueName: "n|auto"))
    var amplitudeScale = Scale(factor: 1)

    @Option(help: ArgumentHelp("Draw bars of this many pixels instead of an outline.", valueName: "n"))
    var barWidth: Int?

    @Option(help: ArgumentHelp("The pixels between two bars. (default: half of a bar, at least 1)", valueName: "n"))
    var barGap: Int?

    @Option(help: "The ends of bars.")
    var barStyle: BarStyle?

    /// The scale of the amplitude.
    enum Amplitude: String, ExpressibleByArgument, CaseIterable {
        case linear, db
    }

    /// The shape of the ends of bars.
    enum BarStyle: String, ExpressibleByArgument, CaseIterable {
        case square, rounded
    }

    /// A factor, or `auto`.
    struct Scale: ExpressibleByArgument {
        /// The factor; `nil` for `auto`.
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
        if noRms { try CommonArgument.exclude("--no-rms", ("--rms-color", rmsColor != nil)) }
        do throws(MediaError) {
            try picture().check()
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// The first option with a value other than its default; `nil` if there is none.
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

    /// Returns the picture settings that the options select.
    func picture() -> WaveformPicture {
        var picture = WaveformPicture()
        picture.height = height
        picture.background = background
        picture.colors = color ?? []
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

/// The options of `waveform` that select the audio to measure.
struct WaveformSoundOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The track: its index (3), a:N or id:N. (default: the first enabled audio track)", valueName: "track"),
        transform: CommonArgument.track)
    var track: TrackSelector?

    @Option(
        help: ArgumentHelp(
            """
            Read the input as samples without a header: s16le:44100:2. Formats: s8, u8, s16le, s16be, s24le, s32le, \
            f32le, f64le, alaw, mulaw and the like; one channel by default.
            """, valueName: "format:rate[:n]"), transform: CommonArgument.raw)
    var raw: RawSound?

    @OptionGroup var range: RangeOptions

    @Flag(help: "Measure each channel on its own instead of mixing them.")
    var splitChannels = false

    @Option(help: ArgumentHelp("Measure only this channel, counted from 0.", valueName: "n"))
    var channel: Int?

    @Flag(
        help: """
            Decode serially instead of in parallel. Slower; the results differ only in the random noise that AAC and AC-3 \
            decoders add.
            """)
    var serial = false

    func validate() throws {
        if splitChannels { try CommonArgument.exclude("--split-channels", ("--channel", channel != nil)) }
        if let channel, channel < 0 { throw ValidationError("Channels are counted from 0.") }
        for (name, time) in [("--start", range.start), ("--end", range.end)] {
            if case .time(let time) = time, time < .zero {
                throw ValidationError("'\(name)' is before the beginning: times count from 0.")
            }
        }
    }

    /// True if `--end` is an absolute position, not one derived from the duration of the track.
    var namesEnd: Bool { range.end?.isMoment ?? false }

    /// Returns the settings that the options select.
    func options() -> WaveformOptions {
        var options = WaveformOptions()
        options.track = track
        options.start = range.start
        options.end = range.end
        options.isSerial = serial
        options.channels = splitChannels ? .split : channel.map { .single($0) } ?? .mixed
        return options
    }
}
