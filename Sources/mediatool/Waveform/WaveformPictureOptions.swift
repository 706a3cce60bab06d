import ArgumentParser
import MediaBase
import MediaJobs
import Peaks
import Pictures

/// The options of `waveform` that control the appearance of pictures.
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

    /// The scale of the amplitude.
    enum Amplitude: String, ExpressibleByArgument, CaseIterable {
        case linear, db
    }

    /// The shape of the ends of bars.
    enum BarStyle: String, ExpressibleByArgument, CaseIterable {
        case square, rounded
    }

    /// Colours separated by commas.
    struct Colors {
        var values: [Color]
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
        if noRms, rmsColor != nil { throw ValidationError("'--no-rms' and '--rms-color' exclude each other.") }
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
            f32le, f64le, alaw, mulaw and the like; one channel where none are named.
            """, valueName: "format:rate[:n]"), transform: WaveformArgument.raw)
    var raw: RawSound?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where to begin, exact to the sample: 12.5, 1:30.25, 50%, 9009/30000…", valueName: "time"),
        transform: CommonArgument.time)
    var start: TimeExpression?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Where to end: the first moment that is not wanted.", valueName: "time"),
        transform: CommonArgument.time)
    var end: TimeExpression?

    @Flag(help: "Give each channel peaks of its own, instead of mixing them.")
    var splitChannels = false

    @Option(help: ArgumentHelp("Measure this channel alone, counted from 0.", valueName: "n"))
    var channel: Int?

    @Flag(
        help: """
            Decode in one go instead of in segments side by side. Slower; differs only in the noise that AAC and AC-3 \
            decoders add by chance.
            """)
    var serial = false

    func validate() throws {
        if splitChannels, channel != nil {
            throw ValidationError("'--split-channels' and '--channel' exclude each other.")
        }
        if let channel, channel < 0 { throw ValidationError("Channels are counted from 0.") }
        for (name, time) in [("--start", start), ("--end", end)] {
            if case .time(let time) = time, time < .zero {
                throw ValidationError("'\(name)' is before the beginning: times count from 0.")
            }
        }
        if case .time(let start) = start, case .time(let end) = end, start >= end {
            throw ValidationError("'--end' is not after '--start'.")
        }
    }

    /// True if `--end` is an absolute position, not one derived from the duration of the track.
    var namesEnd: Bool { end?.isMoment ?? false }

    /// Returns the settings that the options select.
    func options() -> WaveformOptions {
        var options = WaveformOptions()
        options.track = track
        options.start = start
        options.end = end
        options.isSerial = serial
        options.channels = splitChannels ? .split : channel.map { .single($0) } ?? .mixed
        return options
    }
}
