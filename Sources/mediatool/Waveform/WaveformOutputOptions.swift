import ArgumentParser
import MediaAnalysis
import MediaJobs
import SystemPackage

extension WaveformOutput.Format: ExpressibleByArgument {}

/// The options of `waveform` that say what is written where.
struct WaveformOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            An output; the extension (.dat, .json, .png) says what it is. Give it more than once for several; - is \
            standard output. {stem} stands for the input's name without extension, {spp} for the samples per pixel.
            """, valueName: "file"))
    var output: [PathArgument] = []

    @Option(help: "What the outputs are, whatever their names; peaksjs is a .dat of 8 bits.")
    var format: WaveformOutput.Format?

    @Option(help: ArgumentHelp("Bits of a value in peaks files: 8 or 16.", valueName: "8|16"))
    var bits: Int?

    @Option(
        help: ArgumentHelp(
            "Samples in a point of peaks files; with several, -o needs {spp}.", valueName: "n,…"))
    var samplesPerPixel = Levels(values: [256])

    /// One or several zoom levels, parted by commas.
    struct Levels: ExpressibleByArgument {
        var values: [Int]

        init(values: [Int]) { self.values = values }

        init?(argument: String) {
            let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            guard let values = numbers as? [Int], Set(values).count == values.count else { return nil }
            self.values = values
        }

        var defaultValueDescription: String { values.map(String.init).joined(separator: ",") }
    }

    func validate() throws {
        if let bits, bits != 8, bits != 16 { throw ValidationError("'--bits' is 8 or 16.") }
        if format == .peaksjs, bits == 16 { throw ValidationError("'--format peaksjs' has 8 bits.") }
        let range = PeakFile.minimumSamplesPerPixel...Int(Int32.max)
        guard samplesPerPixel.values.allSatisfy(range.contains) else {
            throw ValidationError("'--samples-per-pixel' takes whole numbers from \(range.lowerBound).")
        }
        for output in output where format(of: output) == nil {
            throw ValidationError(
                "'\(output.path.displayPath)' does not say what it is: end it with .dat, .json or .png, or add "
                    + "'--format'.")
        }
        guard output.count(where: \.isStandardStream) <= 1 else {
            throw ValidationError("Standard output ('-') can be named only once.")
        }
    }

    /// Refuses what does not fit the number of inputs or the form of the result.
    func check(inputs: Int, isJSON: Bool) throws {
        if output.isEmpty, !isJSON {
            throw ValidationError("Name an output with '-o', or ask for the measurements with '--json'.")
        }
        if isJSON, output.contains(where: \.isStandardStream) {
            throw ValidationError("'-o -' and '--json' both go to standard output.")
        }
        for output in output {
            let template = WaveformOutputTemplate(output.path)
            let isPeaks = format(of: output)?.peakFile != nil
            if inputs > 1, !template.tellsInputs {
                throw ValidationError("With several files '-o \(output.path.displayPath)' needs {stem} in it.")
            }
            if isPeaks, samplesPerPixel.values.count > 1, !template.tellsLevels {
                throw ValidationError(
                    "With several '--samples-per-pixel' '-o \(output.path.displayPath)' needs {spp} in it.")
            }
            if !isPeaks, template.tellsLevels {
                throw ValidationError("A picture is fitted to its width and has no {spp}.")
            }
        }
    }

    /// The outputs of one input.
    func requests(for input: FilePath) -> [WaveformOutput] {
        output.flatMap { output -> [WaveformOutput] in
            guard let format = format(of: output) else { return [] }
            let template = WaveformOutputTemplate(output.path)
            let levels = format.peakFile == nil ? [0] : samplesPerPixel.values
            return levels.map { level in
                WaveformOutput(
                    path: template.path(for: input, samplesPerPixel: level), format: format, samplesPerPixel: level,
                    bits: bits ?? 16)
            }
        }
    }

    private func format(of output: PathArgument) -> WaveformOutput.Format? {
        format ?? WaveformOutput.Format(extensionOf: output.path)
    }
}
