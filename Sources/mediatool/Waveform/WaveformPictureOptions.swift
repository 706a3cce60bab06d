import ArgumentParser
import MediaBase
import MediaJobs
import Pictures

/// The options of `waveform` that say how pictures look.
struct WaveformPictureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Pixels across, into which all of the sound is fitted.", valueName: "n"))
    var width = WaveformPicture().width

    @Option(help: ArgumentHelp("Pixels down, with the time axis.", valueName: "n"))
    var height = WaveformPicture().height

    @Option(
        help: ArgumentHelp(
            "What is behind the waveform: #rgb, #rrggbb, #rrggbbaa or a name such as white or transparent.",
            valueName: "color"),
        transform: WaveformArgument.color)
    var background = Color.white

    @Option(
        help: ArgumentHelp(
            "The colour of the waveform; several, parted by commas, for the channels in turn.", valueName: "color,…"))
    var color: Colors?

    @Flag(help: "Leave out the time axis.")
    var noAxis = false

    @Option(
        help: ArgumentHelp("Multiply samples by a number, or by as much as fits.", valueName: "n|auto"))
    var amplitudeScale = Scale(factor: 1)

    /// Colours parted by commas.
    struct Colors: ExpressibleByArgument {
        var values: [Color]

        init?(argument: String) {
            let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
            guard let values = try? parts.map({ try Color(String($0)) }) else { return nil }
            self.values = values
        }
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
        do throws(MediaError) {
            try picture().check()
        } catch {
            throw ValidationError(error.message)
        }
    }

    /// The picture that the options ask for.
    func picture() -> WaveformPicture {
        var picture = WaveformPicture()
        picture.width = width
        picture.height = height
        picture.background = background
        picture.colors = color?.values ?? []
        picture.hasAxis = !noAxis
        picture.amplitudeScale = amplitudeScale.factor
        return picture
    }
}
